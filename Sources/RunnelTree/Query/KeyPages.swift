/// The children of a place in key order, page by page.
///
/// Large nodes are walked with it: memory holds one page for each level.
package struct KeyPages {
  /// The number of children in a page.
  static let rowsMax = 512

  private let path: Path
  private let detail: TreeRow.Detail
  private var slice = RowSlice(
    index: .key, limit: Query.Limit(count: KeyPages.rowsMax, side: .first))
  private var isAtEnd = false

  /// Begins before the first child of a place.
  ///
  /// Only `detail: .full` reads more than the stored rows of the children.
  package init(_ path: Path, detail: TreeRow.Detail = .shallow) {
    self.path = path
    self.detail = detail
  }

  /// The next page; nil after the last.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read; call it again then.
  package mutating func next(from reader: some TreeReader) throws(TreeError) -> [TreeRow]? {
    if isAtEnd { return nil }
    let rows = try reader.rows(of: path, in: slice, detail: detail)
    isAtEnd = rows.count < KeyPages.rowsMax
    guard let last = rows.last else { return nil }
    slice.start = Query.Bound(
      IndexPosition(value: .null, key: .key(last.key)), isInclusive: false)
    return rows
  }
}
