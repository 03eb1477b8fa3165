public import RunnelStore
public import RunnelTree

/// An action that is an asynchronous function: it reads states, waits, and dispatches what follows.
///
/// A `DatabaseStore` runs it. Under a name there is at most one: a new one cancels the one before, so that
/// of many searches that are begun as a user types only the last is heard of.
public struct AsyncThunk<State: Sendable>: CommandAction {
  package static var middlewareName: String { "of a DatabaseStore" }

  /// The name under which it can be cancelled; nil if it cannot.
  let name: String?
  let body: @Sendable (AsyncThunkContext<State>) async throws -> Void

  /// Makes an action of a function.
  ///
  /// An error that the function throws is told as `ThunkFailed`, unless the thunk was cancelled.
  public init(
    _ name: String? = nil,
    _ body: @escaping @Sendable (AsyncThunkContext<State>) async throws -> Void
  ) {
    self.name = name
    self.body = body
  }
}

/// An action that cancels the asynchronous thunk of a name; nothing happens if none is running.
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
  /// Why it failed.
  public var error: TreeError
}

/// The store, as an asynchronous thunk sees it.
///
/// Once the thunk was cancelled, every call throws `CancellationError`, and nothing of it reaches the
/// store any more.
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

/// Takes asynchronous thunks out of what is dispatched, for their store to run.
final class ThunkQueue<State: Sendable> {
  /// What is to be done.
  enum Work {
    case start(AsyncThunk<State>)
    case cancel(name: String)
  }

  private var work: [Work] = []

  /// What is to be done since this was asked last, in order.
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
