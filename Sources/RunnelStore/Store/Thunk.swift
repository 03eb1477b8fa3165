/// An action that is a function: it reads the state and dispatches what follows from it.
///
/// Source: ReSwift-Thunk. One that waits for something is an asynchronous action creator: see
/// `DatabaseStore` in RunnelDatabase.
public struct Thunk<State>: CommandAction {
  /// What is to be given to the store.
  package static var middlewareName: String { "thunkMiddleware()" }

  let body: @Sendable (_ dispatch: DispatchFunction, _ getState: () -> State?) -> Void

  /// Makes an action of a function.
  ///
  /// What it dispatches is handled after it returned, so `getState` gives one state all the while.
  public init(
    _ body: @escaping @Sendable (_ dispatch: DispatchFunction, _ getState: () -> State?) -> Void
  ) {
    self.body = body
  }
}

/// The middleware that runs thunks; every other action it hands on.
public func thunkMiddleware<State>() -> Middleware<State> {
  { dispatch, getState in
    { next in
      { action in
        if let thunk = action as? Thunk<State> {
          thunk.body(dispatch, getState)
        } else {
          next(action)
        }
      }
    }
  }
}
