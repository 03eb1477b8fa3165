import RunnelBase
package import RunnelTree

/// The beginning of what stands at a place, to be looked at.
public struct NodeExcerpt: Hashable, Sendable {
  /// The JSON in the export format, a member a line; if it is cut, up to the end of a line.
  public var text: String
  /// The size of the whole as compact JSON, in bytes; if it is not counted, how far it was.
  public var byteCount: Int
  /// Whether all of it was counted.
  public var isCounted: Bool
  /// Whether the text is all of it.
  public var isWhole: Bool
  /// Whether the history would keep all of it, were it removed: then the removal can be undone.
  public var isUndoable: Bool
  /// How many children its children have; nil if it has too many to count theirs.
  public var grandchildCount: Int?

  /// The most children whose own children are counted.
  public static let countedChildrenMax = 100

  /// Makes an excerpt.
  public init(
    text: String, byteCount: Int, isCounted: Bool, isWhole: Bool, isUndoable: Bool = false,
    grandchildCount: Int? = nil
  ) {
    self.grandchildCount = grandchildCount
    self.isUndoable = isUndoable
    self.text = text
    self.byteCount = byteCount
    self.isCounted = isCounted
    self.isWhole = isWhole
  }
}

extension DatabaseSession {
  /// Ends an export that has gone far enough.
  private struct Enough: Error {}

  /// Reads the beginning of what stands at a place.
  ///
  /// O(`countMax`), however large the place is, but for one record beyond it.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - textMax: about how many bytes of text at most.
  ///   - countMax: how far the size is counted, in bytes.
  /// - Returns: the excerpt; of nothing, `null`.
  /// - Throws: `DatabaseError` if it cannot be read.
  package func excerpt(of path: Path, textMax: Int, countMax: Int) throws -> NodeExcerpt {
    var whole: [UInt8] = []
    var count = 0
    var isCounted = true
    do {
      try exportJSON(path) { bytes in
        count += bytes.count
        if count <= textMax { whole += bytes }
        if count > countMax { throw Enough() }
      }
    } catch is Enough {
      isCounted = false
    }
    let isWhole = isCounted && count <= textMax
    return NodeExcerpt(
      text: isWhole
        ? try JSONValue(parsing: String(decoding: whole, as: UTF8.self)).jsonText(pretty: true)
        : try beginning(of: path, textMax),
      byteCount: count, isCounted: isCounted, isWhole: isWhole,
      isUndoable: try isCounted && wouldKeep(count),
      grandchildCount: try countGrandchildren(of: path))
  }

  /// How many children the children of a node have; nil if it has too many itself.
  private func countGrandchildren(of path: Path) throws -> Int? {
    let most = NodeExcerpt.countedChildrenMax
    let query = try Query(path).ordered(by: .key).limited(to: most + 1, from: .first)
    let children = try rows(query, detail: .shallow)
    if children.count > most { return nil }
    return children.reduce(0) { count, child in
      if case .children(let below) = child.summary.kind { count + below } else { count }
    }
  }

  /// Whether the history keeps a value of so many bytes when it is removed.
  private func wouldKeep(_ byteCount: Int) throws -> Bool {
    guard byteCount <= History.valueBytesMax, core.canUndoRemovals else { return false }
    return try store.read { try $0.historyLimit() } > 0
  }

  /// The first lines of what stands at a place.
  private func beginning(of path: Path, _ bytesMax: Int) throws -> String {
    var bytes: [UInt8] = []
    do {
      try exportJSON(path, layout: .pretty) { chunk in
        bytes += chunk.prefix(bytesMax - bytes.count)
        if bytes.count == bytesMax { throw Enough() }
      }
    } catch is Enough {
      // What was wanted is there.
    }
    // A line that is cut might be cut within a character.
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}
