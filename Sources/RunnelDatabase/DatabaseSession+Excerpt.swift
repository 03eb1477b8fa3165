import RunnelBase
package import RunnelTree

extension DatabaseSession {
  /// Ends an export once enough was read.
  private struct Enough: Error {}

  /// Reads the beginning of the node at a place.
  ///
  /// O(`countMax`), however large the node is, apart from one more record.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - textMax: about the most bytes of text.
  ///   - countMax: the most bytes that are counted for the size.
  /// - Returns: the excerpt; `null` for an empty place.
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

  /// The number of grandchildren of a place; nil if it has too many children.
  private func countGrandchildren(of path: Path) throws -> Int? {
    let most = NodeExcerpt.countedChildrenMax
    let query = try Query(path).ordered(by: .key).limited(to: most + 1, from: .first)
    let children = try rows(query, detail: .shallow)
    if children.count > most { return nil }
    return children.reduce(0) { count, child in
      if case .children(let below) = child.summary.kind { count + below } else { count }
    }
  }

  /// Whether the history keeps a value of this size when it is removed.
  private func wouldKeep(_ byteCount: Int) throws -> Bool {
    guard byteCount <= History.valueBytesMax, core.canUndoRemovals else { return false }
    return try store.read { try $0.historyLimit() } > 0
  }

  /// The first lines of the node at a place.
  private func beginning(of path: Path, _ bytesMax: Int) throws -> String {
    var bytes: [UInt8] = []
    do {
      try exportJSON(path, layout: .pretty) { chunk in
        bytes += chunk.prefix(bytesMax - bytes.count)
        if bytes.count == bytesMax { throw Enough() }
      }
    } catch is Enough {
      // The text is long enough.
    }
    // A cut within a line might also be within a character.
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}
