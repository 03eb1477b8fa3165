/// The window of a query with a limit: it slides over the order as rows come and go.
struct LimitedWindow: Window {
  let query: Query
  let slice: RowSlice
  let hasMore: Bool

  init(_ query: Query, hasMore: Bool) {
    self.query = query
    slice = RowSlice(query)
    self.hasMore = hasMore
  }

  /// Returns `anyRow` if a touched child is shown or would come in.
  ///
  /// The view then tells the difference between the two windows, so that a row that would only pass
  /// through while the batch is applied step by step never shows (section 6.5, row 23).
  func effect(
    of keys: Set<Key>, on view: View, _ reader: some TreeReader
  ) throws(TreeError) -> WindowEffect {
    for key in keys {
      if view.shows(key) { return .anyRow }
      if let row = try view.row(key, reader), admits(row.position, to: view.rows) {
        return .anyRow
      }
    }
    return .nothing
  }

  /// True if a row at a position would fill the window, or push another row out of it.
  private func admits(_ position: IndexPosition, to rows: [TreeRow]) -> Bool {
    guard let limit = slice.limit, rows.count >= limit.count else { return true }
    switch limit.side {
    case .first: return rows.last.map { position < $0.position } ?? true
    case .last: return rows.first.map { $0.position < position } ?? true
    }
  }
}
