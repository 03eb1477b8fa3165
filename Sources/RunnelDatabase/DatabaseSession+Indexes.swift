import RunnelStorage
package import RunnelTree

extension DatabaseSession {
  /// The indexes of the file, in the order in which they were declared.
  package var declaredIndexes: [IndexDefinition] { store.indexes.map(\.definition) }

  /// The orders of the children of a place that are kept in an index, in the order of declaration.
  package func indexedOrders(of path: Path) -> [QueryIndex] {
    store.indexes.filter { $0.covers(path.keys) }.map(\.order)
  }

  /// The orders of the children of a place that have an index now, including those that another
  /// connection declared since the last transaction.
  func presentOrders(of path: Path) throws -> [QueryIndex] {
    try store.read { transaction in
      transaction.indexes.filter { $0.covers(path.keys) }.map(\.order)
    }
  }

  /// The indexes that reads and listeners could have used since the last call, in the order in
  /// which they were needed.
  package func takeIndexAdvice() -> [IndexAdvice] { store.adviceLog.take() }

  /// Declares those indexes that are not declared yet, and fills them.
  ///
  /// O(n) in the children in the new indexes; nothing is done if all are declared.
  ///
  /// `progress` is called now and then with the rows entered so far; false stops the work.
  ///
  /// - Throws: `DatabaseError` (`cancelled`, or a failure of the storage); then none was declared.
  package func declareIndexes(
    _ definitions: [IndexDefinition],
    progress: @escaping (_ rows: Int) -> Bool = { _ in true }
  ) throws {
    try store.declare(definitions, progress: progress)
  }

  /// Removes declared indexes; returns those that existed.
  ///
  /// O(n) in the entries of all indexes. Queries in such an order read all children from then on.
  ///
  /// - Throws: `DatabaseError`; then nothing was changed.
  @discardableResult
  package func removeIndexes(_ definitions: Set<IndexDefinition>) throws -> [IndexDefinition] {
    try store.remove(definitions)
  }
}
