/// The window of a query without a limit: all rows between its ends.
struct RangeWindow: Window {
  let query: Query
  let slice: RowSlice
  let hasMore: Bool

  init(_ query: Query, hasMore: Bool) {
    self.query = query
    slice = RowSlice(query)
    self.hasMore = hasMore
  }
}
