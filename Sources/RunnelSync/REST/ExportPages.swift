package import RunnelTree

/// How an export reads the children of a place.
package struct ExportReading: Hashable, Sendable {
  /// What is read of each child: `stored` or `shallow`.
  package var detail: TreeRow.Detail
  /// The most children of a page.
  package var rowsMax: Int

  /// Children are looked at one by one, because they may be large.
  package static let walking = ExportReading(detail: .shallow, rowsMax: 64)
  /// Children come with what their stored rows hold, which is little.
  package static let stored = ExportReading(detail: .stored, rowsMax: 64)
  /// As `stored`, in longer pages, because each takes a round trip.
  package static let remote = ExportReading(detail: .stored, rowsMax: 512)
}

/// The children of a place in the order of keys, page after page.
///
/// The larger their values are, the fewer are in a page, so that a page is never much larger than its bound.
struct ExportPages: Sendable {
  /// About how many bytes the values of a page have at most.
  private static let bytesMax = 1 << 20

  private let path: Path
  let reading: ExportReading
  /// How many children the next page has.
  private var count = 2
  /// The last key of the page before; nil before the first.
  private var last: Key?
  private var isAtEnd = false

  /// Begins before the first child of a place.
  init(_ path: Path, _ reading: ExportReading) { (self.path, self.reading) = (path, reading) }

  /// The next page; nil after the last.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read; call it again then.
  mutating func next(from source: some TreeReader) throws(TreeError) -> [TreeRow]? {
    if isAtEnd { return nil }
    var query = try Query(path).ordered(by: .key)
    if let last {
      query = try query.starting(at: .leaf(.string(last.text)), isInclusive: false)
    }
    let rows = try source.rows(
      of: path, in: RowSlice(query.limited(to: count, from: .first)), detail: reading.detail)
    isAtEnd = rows.count < count
    guard let end = rows.last else { return nil }
    last = end.key
    let bytes = rows.reduce(0) { $0 + ExportPages.byteCount(of: $1) }
    let fitting = ExportPages.bytesMax / max(bytes / rows.count, 1)
    count = max(min(fitting, reading.rowsMax, count * 2), 1)
    return rows
  }

  private static func byteCount(of row: TreeRow) -> Int {
    if let node = row.node { return byteCount(of: node) }
    if case .leaf(.string(let text)) = row.summary.kind { return text.utf8.count }
    return 8
  }

  private static func byteCount(of node: Node) -> Int {
    switch node.content {
    case .empty: 0
    case .leaf(.string(let text)): text.utf8.count
    case .leaf: 8
    case .children(let children):
      children.reduce(0) { $0 + $1.key.text.utf8.count + byteCount(of: $1.node) }
    }
  }
}
