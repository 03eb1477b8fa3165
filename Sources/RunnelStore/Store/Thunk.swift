/// An action that is a function: it reads the state and dispatches other actions.
///
/// Source: ReSwift-Thunk. For a function that waits for something, see the asynchronous action
/// creators of `DatabaseStore` in RunnelDatabase.
public struct Thunk<State>: CommandAction {
  /// The middleware that the store must be given.
  package static var middlewareName: String { "thunkMiddleware()" }

  let body: @Sendable (_ dispatch: DispatchFunction, _ getState: () -> State?) -> Void

  /// Makes an action from a function.
  ///
  /// Each action that it dispatches is handled at once, so `getState` returns the state after it,
  /// as in ReSwift. What subscribers dispatch meanwhile is handled after the function has returned.
  public init(
    _ body: @escaping @Sendable (_ dispatch: DispatchFunction, _ getState: () -> State?) -> Void
  ) {
    self.body = body
  }
}

/// Makes the middleware that runs thunks and passes on every other action.
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
