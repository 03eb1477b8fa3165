import RunnelStorage
import RunnelTree

/// The tree that a replica shows, with the knowledge about it.
struct ShownTree: DelegatingReader {
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

  var reader: some TreeReader { transaction }
}
