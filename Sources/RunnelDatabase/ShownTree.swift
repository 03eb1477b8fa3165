import RunnelStorage
import RunnelTree

/// The tree that a replica shows, with the knowledge about it.
struct ShownTree: TreeReader {
  private let transaction: StoreTransaction
  private let book: ReplicaBook

  init(_ transaction: StoreTransaction, _ book: ReplicaBook) {
    self.transaction = transaction
    self.book = book
  }

  var hasOrigin: Bool { true }

  func knowledge(of query: Query) throws(TreeError) -> Knowledge {
    try book.knowledge(of: query, transaction)
  }

  func node(at path: Path) throws(TreeError) -> Node { try transaction.node(at: path) }

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try transaction.summary(at: path)
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    try transaction.row(key, of: path, in: slice, detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try transaction.rows(of: path, in: slice, detail: detail)
  }
}
