import RunnelBase
import RunnelStorage
package import RunnelTree

extension DatabaseSession {
  /// Replaces the node at a place by the result of a function.
  ///
  /// The function runs once, within the write: no process can write between its input and its
  /// result. The priority stays, unless the function gives one.
  ///
  /// Source: tree semantics, sections 8.3 and 11, steps 3 and 4.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - body: is given the node.
  /// - Returns: the result. After an abort there are no deliveries.
  /// - Throws: the errors of `body`, and `DatabaseError` as for a write, `refused` on a replica:
  ///   see `startTransaction`. Then nothing was written.
  package func transaction(
    at path: Path, _ body: (Node) throws -> TransactionResult
  ) throws -> TransactionOutcome {
    try core.transaction(at: path, body)
  }
}

extension SessionCore {
  /// Runs a transaction at once.
  ///
  /// - Throws: the errors of `body`, and `DatabaseError`: on a replica `refused`, because a
  ///   transaction ends there only when the origin has answered. Nothing was written then.
  func transaction(
    at path: Path, _ body: (Node) throws -> TransactionResult
  ) throws -> TransactionOutcome {
    var node = Node.empty
    // The reason why the write ended without a commit, except failures of the storage.
    var ending: TransactionEnding?
    do {
      let deliveries = try perform(.transaction) { transaction, now in
        try path.checkIsWritable(by: "transaction")
        node = try transaction.tree.storedNode(at: path)
        let json: JSONValue
        do {
          json = try body(node).json()
        } catch {
          let reason = error as? TransactionEnding ?? .failed(error)
          ending = reason
          throw reason
        }
        let parts = try Write.set(path, json).assignments(now: now, reader: transaction)
          .map { json[ReservedName.priority] == nil ? $0.with(priority: node.priority) : $0 }
        try context.carryOut(parts, transaction, now: now)
        node = try transaction.tree.storedNode(at: path)
        return parts.map(\.path)
      }
      return TransactionOutcome(isCommitted: true, node: node, deliveries: deliveries)
    } catch {
      switch ending {
      case nil: throw error
      case .failed(let error): throw error
      case .aborted: return TransactionOutcome(isCommitted: false, node: node, deliveries: [])
      }
    }
  }
}

/// The reason why a transaction writes nothing.
private enum TransactionEnding: Error {
  case aborted
  case failed(any Error)
}

extension TransactionResult {
  /// The JSON to write.
  fileprivate func json() throws -> JSONValue {
    switch outcome {
    case .success(let json): json
    case .failure(let error): throw error
    case .abort: throw TransactionEnding.aborted
    }
  }
}

extension Assignment {
  /// The same assignment with a priority for its node.
  fileprivate func with(priority: Leaf?) -> Assignment {
    guard case .node(let node) = target else { return self }
    return Assignment(path: path, target: .node(node.with(priority: priority)))
  }
}
