public import RunnelStore
public import RunnelTree

/// An action that is an asynchronous function: it reads states, waits, and dispatches actions.
///
/// A `DatabaseStore` runs it. At most one thunk with a name runs: a new one cancels the one before.
/// So of several searches that are started while a user types, only the last has a result.
public struct AsyncThunk<State: Sendable>: CommandAction {
  package static var middlewareName: String { "of a DatabaseStore" }

  /// The name under which it can be cancelled; nil if it cannot.
  let name: String?
  let body: @Sendable (AsyncThunkContext<State>) async throws -> Void

  /// Makes an action from a function.
  ///
  /// If the function throws, `ThunkFailed` is dispatched, unless the thunk was cancelled.
  public init(
    _ name: String? = nil,
    _ body: @escaping @Sendable (AsyncThunkContext<State>) async throws -> Void
  ) {
    self.name = name
    self.body = body
  }
}

/// An action that cancels the asynchronous thunk with a name; it does nothing if none is running.
public struct CancelThunk: CommandAction {
  package static var middlewareName: String { "of a DatabaseStore" }

  let name: String

  /// Makes the action.
  public init(_ name: String) { self.name = name }
}

/// An asynchronous thunk failed.
public struct ThunkFailed: FailureAction, Hashable {
  /// The name of the thunk, if it has one.
  public var name: String?
  /// The error.
  public var error: TreeError
}

/// The store for an asynchronous thunk.
///
/// Once the thunk was cancelled, every call throws `CancellationError`, and the thunk can no longer
/// affect the store.
public struct AsyncThunkContext<State: Sendable>: Sendable {
  let store: DatabaseStore<State>
  let id: Int

  /// The database of the store.
  public var database: Database { store.database }

  /// The present state.
  ///
  /// - Throws: `CancellationError` if the thunk was cancelled.
  public func state() async throws -> State { try await store.state(forThunk: id) }

  /// Dispatches an action.
  ///
  /// - Throws: `CancellationError` if the thunk was cancelled; the action is then not dispatched.
  public func dispatch(_ action: any Action) async throws {
    try await store.dispatch(action, fromThunk: id)
  }
}

/// Collects the asynchronous thunks among dispatched actions, for their store to run.
final class ThunkQueue<State: Sendable> {
  /// The work of the store.
  enum Work {
    case start(AsyncThunk<State>)
    case cancel(name: String)
  }

  private var work: [Work] = []

  /// Removes and returns the work since the last call, in order.
  func take() -> [Work] {
    defer { work = [] }
    return work
  }

  var middleware: Middleware<State> {
    { _, _ in
      { next in
        { action in self.receive(action, next) }
      }
    }
  }

  private func receive(_ action: any Action, _ next: DispatchFunction) {
    switch action {
    case let thunk as AsyncThunk<State>: work.append(.start(thunk))
    case let cancel as CancelThunk: work.append(.cancel(name: cancel.name))
    default: next(action)
    }
  }
}
