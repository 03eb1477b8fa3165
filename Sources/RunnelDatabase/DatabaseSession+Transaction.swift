import RunnelBase
public import RunnelTree

extension DatabaseSession {
  /// Replaces what stands at a place by what a function makes of it.
  ///
  /// The function runs once, within the write: no process writes between what it is given and what it
  /// returns, so it is never run again. The priority stays, unless the function gives one.
  ///
  /// Source: tree semantics, sections 8.3 and 11, steps 3 and 4.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - body: is given what stands there.
  /// - Returns: what came of it. After an abort nobody is told anything.
  /// - Throws: what `body` throws, and `DatabaseError` as for `set`, `refused` on a replica: see
  ///   `startTransaction`. Nothing was written then.
  public func transaction(
    at path: Path, _ body: (Node) throws -> TransactionResult
  ) throws -> TransactionOutcome {
    try core.transaction(at: path, body)
  }
}

extension SessionCore {
  /// Runs a transaction at once.
  ///
  /// - Throws: what `body` throws, and `DatabaseError`: on a replica `refused`, for a transaction ends
  ///   there when the origin has answered. Nothing was written then.
  func transaction(
    at path: Path, _ body: (Node) throws -> TransactionResult
  ) throws -> TransactionOutcome {
    var node = Node.empty
    // Why the write was ended without a commit, if it was not the storage.
    var ending: TransactionEnding?
    do {
      let deliveries = try perform(.transaction) { transaction, now in
        try path.checkIsWritable(by: "transaction")
        node = try transaction.storedNode(at: path)
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
        node = try transaction.storedNode(at: path)
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

/// Why a transaction writes nothing.
private enum TransactionEnding: Error {
  case aborted
  case failed(any Error)
}

extension TransactionResult {
  /// What is to be written.
  fileprivate func json() throws -> JSONValue {
    switch outcome {
    case .success(let json): json
    case .failure(let error): throw error
    case .abort: throw TransactionEnding.aborted
    }
  }
}

extension Assignment {
  /// The same part of a write, whose node has a priority.
  fileprivate func with(priority: Leaf?) -> Assignment {
    guard case .node(let node) = target else { return self }
    return Assignment(path: path, target: .node(node.with(priority: priority)))
  }
}
