import RunnelBase
import RunnelTree
import Synchronization

extension Reference {
  /// Replaces this node by the result of a function, with no other write in between.
  ///
  /// On a tree of its own the function runs once, within the write. On a replica it runs on the
  /// node as far as it is known, at first maybe on an empty one, and again until the origin has
  /// done its result on exactly the node that it was given. Only then this returns; without a
  /// connection it waits. The function runs on the tree's thread: it should be quick, and must not
  /// wait for this database. The priority stays, unless the function gives one.
  ///
  /// On a replica, cancelling the task ends the wait. A result that was not sent to the origin is
  /// then taken back, and never done. One that was sent may still be done: it is shown until the
  /// origin answers, and the function is not called again. `purgePendingWrites` ends the wait, too.
  ///
  /// Source: tree semantics, section 11.
  ///
  /// - Parameters:
  ///   - appliesLocally: on a replica, whether observers see results before the origin has done
  ///     them.
  ///   - body: is given the node, and returns the new one, or `.abort`.
  /// - Returns: whether it was committed, and the node afterwards.
  /// - Throws: the errors of `body`; `DataCodingError` for a result that cannot be written;
  ///   `DatabaseError` (`refused` if the tree refuses the result, or a failure of the storage).
  ///   Then nothing was written. On a replica also a `DatabaseError` with the origin's status as its
  ///   code (`permissionDenied`), or `overwritten` (a write was made here meanwhile), `retryLimit`,
  ///   `disconnected` (it may have been done), or `writeCanceled` (it was given up by
  ///   `purgePendingWrites`); and `CancellationError` if the task was cancelled.
  @discardableResult
  public func runTransaction(
    appliesLocally: Bool = true,
    _ body: @escaping @Sendable (DataSnapshot) throws -> TransactionResult
  ) async throws -> (committed: Bool, snapshot: DataSnapshot) {
    // The error of the body, which ends the transaction.
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
    let result = try await database.run(request)
    if let error = failure.withLock({ $0 }) { throw error }
    return (result.isCommitted, DataSnapshot(reference: self, node: result.node))
  }
}
