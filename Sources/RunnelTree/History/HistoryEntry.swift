public import RunnelBase

/// A past write: its author, its time, and the values before and after.
public struct HistoryEntry: Hashable, Sendable, Identifiable {
  /// The change at one place.
  public struct Part: Hashable, Sendable {
    /// The values at a place before and after.
    public struct Values: Hashable, Sendable {
      /// The value before, in the export format; null for none.
      public var old: JSONValue
      /// The value after.
      public var new: JSONValue

      /// Makes the pair.
      package init(old: JSONValue, new: JSONValue) {
        self.old = old
        self.new = new
      }
    }

    /// The place.
    public var path: Path
    /// True if only the priority of the place was written.
    public var isPriority: Bool
    /// The two values; nil if they were too large to keep, or if a replica did not know all that stood there.
    ///
    /// What stood before may be kept nevertheless, so that the write can be undone.
    public var values: Values?
    /// The value before an import that replaced too much to keep both values; nil otherwise.
    package var before: Before?
    /// True if a replica knew only a part of what stood there, so that nothing can bring it back.
    package var isPartlyKnown = false

    /// The value at a place before an import.
    package enum Before: Hashable, Sendable {
      /// The value in the export format; null for none.
      case value(JSONValue)
      /// A file beside the database, with this suffix after the database's name.
      case file(suffix: String, byteCount: Int, checksum: UInt64)
    }

    /// Makes a part.
    package init(
      path: Path, isPriority: Bool = false, values: Values?, before: Before? = nil
    ) {
      self.path = path
      self.isPriority = isPriority
      self.values = values
      self.before = before
    }
  }

  /// The id.
  ///
  /// Ids ascend with every write and may skip numbers, since imports and messages of an origin use
  /// them, too.
  public var id: Int64
  /// The time of the write, in milliseconds since 1970.
  public var at: Int64
  /// The author, as the writing program named it; empty if it did not.
  public var author: String
  /// The entry that this one undid; nil if it undid none.
  public var undoes: Int64?
  /// The changes, place by place.
  public var parts: [Part]
  /// The record of the operation on a resource that made the write, if more follows from it than the
  /// record: it is undone by operations; nil for any other write.
  package var operation: Path?

  /// Makes an entry.
  package init(
    id: Int64, at: Int64, author: String, undoes: Int64? = nil, parts: [Part],
    operation: Path? = nil
  ) {
    self.operation = operation
    self.id = id
    self.at = at
    self.author = author
    self.undoes = undoes
    self.parts = parts
  }

  /// True if a place, or something above or below it, was written.
  package func concerns(_ path: Path) -> Bool {
    parts.contains { $0.path.contains(path) || path.contains($0.path) }
  }

  /// True if what stood before was kept at all its places, so that it can be undone.
  public var isUndoable: Bool { parts.allSatisfy { $0.values != nil || $0.before != nil } }
}

extension HistoryEntry.Part: CustomStringConvertible {
  /// The place, and the values before and after: `/guests/ana/seats: 1 -> 3`; or what is kept of
  /// values that are too large.
  ///
  /// O(n) in the values.
  public var description: String {
    let place = isPriority ? "the priority of \(path)" : path.description
    guard let values else {
      return "\(place): "
        + (before == nil
          ? "values too large to keep" : "too large to show; what stood there before is kept")
    }
    return "\(place): \(values.old) -> \(values.new)"
  }
}

extension HistoryEntry: CustomStringConvertible {
  /// The id, the author and the changes: `write 7 by ana: /guests/ana/seats: 1 -> 3`.
  ///
  /// O(n) in the values.
  public var description: String {
    let undone = undoes.map { ", which undid \($0)" } ?? ""
    let name = "write \(id)" + (author.isEmpty ? "" : " by \(author)") + undone
    return name + ": " + parts.map(\.description).joined(separator: "; ")
  }
}
