import RunnelTree

/// The children of a place in the order of keys, page after page.
///
/// The larger their values are, the fewer are in a page, so that a page is never much larger than its bound.
struct ExportPages: Sendable {
  /// The most children of a page.
  private static let rowsMax = 64
  /// About how many bytes the values of a page have at most.
  private static let bytesMax = 1 << 20

  private let path: Path
  /// How many children the next page has.
  private var count = 2
  /// The last key of the page before; nil before the first.
  private var last: Key?
  private var isAtEnd = false

  /// Begins before the first child of a place.
  init(_ path: Path) { self.path = path }

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
      of: path, in: RowSlice(query.limited(to: count, from: .first)), detail: .shallow)
    isAtEnd = rows.count < count
    guard let end = rows.last else { return nil }
    last = end.key
    let bytes = rows.reduce(0) { $0 + ExportPages.byteCount(of: $1.summary) }
    let fitting = ExportPages.bytesMax / max(bytes / rows.count, 1)
    count = max(min(fitting, ExportPages.rowsMax, count * 2), 1)
    return rows
  }

  private static func byteCount(of summary: NodeSummary) -> Int {
    if case .leaf(.string(let text)) = summary.kind { text.utf8.count } else { 8 }
  }
}
