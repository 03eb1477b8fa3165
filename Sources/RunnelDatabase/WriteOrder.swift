import Synchronization

/// Keeps writes in order when one of them finds the file locked for too long.
///
/// Writes that were requested before the caller could know of this failure are refused too.
/// Otherwise they would be done, without the first one, if another process released the file in
/// between.
///
/// Any thread may use it.
final class WriteOrder: Sendable {
  private struct State {
    /// The number of the newest request.
    var newest = 0
    /// Requests up to this number are refused.
    var refusedUpTo = 0
  }

  private let state = Mutex(State())

  /// The number of the next request.
  func nextNumber() -> Int {
    state.withLock { state in
      state.newest += 1
      return state.newest
    }
  }

  /// Notes the answer to a write.
  func note(_ messages: [DatabaseMessage]) {
    let isLocked = messages.contains { message in
      if case .refused(_, let error) = message { error.code == .locked } else { false }
    }
    if isLocked { state.withLock { $0.refusedUpTo = $0.newest } }
  }

  /// The error of a write that is refused without being tried; nil if it may be tried.
  func refusal(ofRequest number: Int, _ file: String) -> DatabaseError? {
    guard state.withLock({ number <= $0.refusedUpTo }) else { return nil }
    return DatabaseError(
      .locked,
      "\(file) was locked by another process when a write before this one was tried. This one was not "
        + "tried, so that they stay in order: close the other one, or try again.")
  }
}

extension DatabaseRequest {
  /// True if the request writes to the tree.
  var isWrite: Bool {
    switch self {
    case .write, .push, .pushAll, .perform, .undo, .writeIf, .performIf, .undoWrite: true
    case .taking(_, let request): request.isWrite
    case .listen, .unlisten, .extend, .history, .dropPending, .dropRefused, .get, .excerpt, .search,
      .level, .orders, .copyPages, .endCopy, .connectOrigin, .disconnectOrigin, .receive:
      false
    }
  }
}
