public import RunnelTree

/// An entry of an index, with the record that it names.
public struct IndexedRecord: StreamItem, Hashable, Sendable {
  /// The state of the record.
  public enum Target: Hashable, Sendable {
    /// The record is being loaded.
    case loading
    /// The record exists.
    case found(Node)
    /// The record does not exist.
    case missing
    /// It could not be read, for this reason.
    case failed(StreamFailure)
    /// The entry names no place.
    case unnamed
  }

  /// The entry.
  public var entry: Record
  /// The place that the entry names; nil if it names none.
  public var path: Path?
  /// The state of the record.
  public var target: Target

  /// The identity of the entry: two entries may name one record.
  public var id: String { entry.id }
  /// The key of the entry, which is also that of the record.
  public var key: String { entry.row.key.text }

  /// The record; nil unless it was found.
  public var node: Node? {
    if case .found(let node) = target { node } else { nil }
  }
}
