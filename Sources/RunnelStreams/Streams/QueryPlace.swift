import RunnelTree

/// Where a row of a query stream belongs: the row as the tree told it, and the window that did.
struct QueryPlace {
  let row: TreeRow
  let window: Int
}
