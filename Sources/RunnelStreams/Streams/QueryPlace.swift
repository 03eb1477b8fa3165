import RunnelTree

/// A row of a query stream that is being loaded, and the window that it came from.
struct QueryPlace {
  let row: TreeRow
  let window: Int
}
