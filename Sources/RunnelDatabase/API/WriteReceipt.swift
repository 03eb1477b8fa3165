import Synchronization

/// The result of a write after it is on disk here.
///
/// On a tree of its own the write is final then. On a replica it is shown and pending until the
/// origin has answered, which may be much later, or in another run of the program.
public final class WriteReceipt: Sendable {
  private struct State {
    var result: Result<Void, DatabaseError>?
    var nextWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
  }

  /// False if a write with this name was requested before, so that nothing changed; see `WriteID`.
  ///
  /// The receipt then tells the result of that earlier write.
  public let isApplied: Bool
  private let state = Mutex(State())

  init(isApplied: Bool = true) { self.isApplied = isApplied }

  /// True until the origin has answered.
  public var isPending: Bool { state.withLock { $0.result == nil } }

  /// Returns when the write is final, and all handlers have been told of the changes by the answer.
  ///
  /// - Throws: `DatabaseError` if the origin refused the write, which is then no longer shown; its
  ///   code is the origin's (`PERMISSION_DENIED`). `closed` means that the database was closed
  ///   before: the write is still pending in the file. `CancellationError` if the task was
  ///   cancelled; the write goes on.
  public func acknowledgement() async throws {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if let result = state.result { return result.mapError { $0 } }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.resume(throwing: CancellationError())
    }
  }

  /// Sets the result; only the first call counts.
  func settle(_ result: Result<Void, DatabaseError> = .success(())) {
    let waiters = state.withLock { state in
      if state.result != nil { return [Int: CheckedContinuation<Void, any Error>]() }
      state.result = result
      defer { state.waiters = [:] }
      return state.waiters
    }
    for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) {
      waiter.resume(with: result.mapError { $0 })
    }
  }
}

extension WriteReceipt: CustomStringConvertible {
  /// What is known of the write: `final`, `pending`, or why the origin refused it.
  public var description: String {
    let result =
      switch state.withLock({ $0.result }) {
      case nil: "pending"
      case .success?: "final"
      case .failure(let error)?: "refused (\(error.code)): \(error)"
      }
    return isApplied ? result : "\(result); it was requested before"
  }
}
