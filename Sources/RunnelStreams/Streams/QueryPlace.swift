import RunnelTree

/// Where a row of a query stream belongs: the row as the tree told it, and the window that did.
struct QueryPlace {
  let row: TreeRow
  let window: Int

  /// True if the row stands before another in the tree's order.
  func precedes(_ other: QueryPlace) -> Bool {
    row.value == other.row.value ? row.key < other.row.key : row.value < other.row.value
  }
}
