import RunnelBase
import RunnelTree
import Synchronization

extension Reference {
  /// Replaces what stands here by what a function makes of it, with nobody writing in between.
  ///
  /// On a tree of its own the function runs once, within the write. On a replica it runs on what is
  /// known, at first maybe on nothing, and again until the origin has done its result on exactly the
  /// state that it was given; this returns then, which without a connection is never. It runs on the
  /// tree's thread: it should be quick, and must not wait for this database. The priority stays, unless
  /// the function gives one.
  ///
  /// Source: tree semantics, section 11.
  ///
  /// - Parameters:
  ///   - appliesLocally: on a replica, whether observers see results before the origin has done them.
  ///   - body: is given what stands here, and returns what is to stand here, or `.abort`.
  /// - Returns: whether it was committed, and what stands here then.
  /// - Throws: what `body` throws; `DataCodingError` for a result that cannot be written; `DatabaseError`
  ///   (`refused` for one that the tree refuses, or a failure of the storage). Nothing was written then.
  ///   On a replica also a `DatabaseError` with the origin's word as its code (`permission_denied`), or
  ///   `set` (a write was made here meanwhile), `maxretry`, or `disconnect` (it may have been done).
  @discardableResult
  public func runTransaction(
    appliesLocally: Bool = true,
    _ body: @escaping @Sendable (DataSnapshot) throws -> TransactionResult
  ) async throws -> (committed: Bool, snapshot: DataSnapshot) {
    // What the body threw, which gives the transaction up.
    let failure = Mutex<(any Error)?>(nil)
    let request = TransactionRequest(path, appliesLocally: appliesLocally) { node in
      do {
        switch try body(DataSnapshot(reference: self, node: node)).outcome {
        case .success(let json): return json
        case .failure(let error): throw error
        case .abort: return Optional<JSONValue>.none
        }
      } catch {
        failure.withLock { $0 = error }
        return Optional<JSONValue>.none
      }
    }
    if let result = try await database.runOnReplica(request) {
      if let error = failure.withLock({ $0 }) { throw error }
      return (result.isCommitted, DataSnapshot(reference: self, node: result.node))
    }
    let outcome = try await database.change { session in
      let outcome = try session.transaction(at: path) { node in
        try body(DataSnapshot(reference: self, node: node))
      }
      return (outcome, outcome.deliveries)
    }
    return (outcome.isCommitted, DataSnapshot(reference: self, node: outcome.node))
  }
}
