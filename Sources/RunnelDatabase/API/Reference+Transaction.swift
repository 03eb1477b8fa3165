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
    let call = TransactionCall(body, on: self)
    defer { call.end() }
    let result = try await database.run(
      TransactionRequest(path, appliesLocally: appliesLocally) { call.result(for: $0) })
    if let error = call.failure { throw error }
    return (result.isCommitted, DataSnapshot(reference: self, node: result.node))
  }
}

/// A call of `runTransaction`, which holds its function and its reference until it has ended.
///
/// The database keeps a transaction that waits for the origin, also beyond the call; it must not keep
/// itself by it.
private final class TransactionCall: Sendable {
  private typealias Body = @Sendable (DataSnapshot) throws -> TransactionResult

  private struct State {
    var body: Body
    var reference: Reference
  }

  private let state: Mutex<State?>
  /// The error of the function, which ends the transaction.
  private let thrown = Mutex<(any Error)?>(nil)

  init(
    _ body: @escaping @Sendable (DataSnapshot) throws -> TransactionResult,
    on reference: Reference
  ) {
    state = Mutex(State(body: body, reference: reference))
  }

  var failure: (any Error)? { thrown.withLock { $0 } }

  /// Forgets the function: it is not called again.
  func end() {
    // The function is released after the lock, since its release may call anything.
    let ended = state.withLock { $0.take() }
    withExtendedLifetime(ended) {}
  }

  /// The new node for a node; nil to give up.
  func result(for node: Node) -> JSONValue? {
    guard let state = state.withLock({ $0 }) else { return nil }
    do {
      switch try state.body(DataSnapshot(reference: state.reference, node: node)).outcome {
      case .success(let json): return json
      case .failure(let error): throw error.below(state.reference.path)
      case .abort: return nil
      }
    } catch {
      thrown.withLock { $0 = error }
      return nil
    }
  }
}
