/// Passes on an action.
public typealias DispatchFunction = (_ action: any Action) -> Void

/// A function that sees every action on its way to the reducer.
///
/// It is called once, when the store is made, with three functions to be used later:
/// - `dispatch` sends an action through the whole chain, at once if the middleware is handling an
///   action: `getState` then returns the result. Called while subscribers are told, it lets the action
///   wait. It does nothing once the store is gone.
/// - `getState` returns the present state: the old one until `next` returns, then the new one. It
///   returns nil once the store is gone.
/// - `next` passes an action on to the following middleware, or from the last middleware to the
///   reducer. If it is not called, the action is kept back. If it is called several times, one
///   action becomes several, and subscribers are told once, after the last or before the middleware
///   dispatches a further action.
///
/// Source: the shape is that of ReSwift.
public typealias Middleware<State> = (
  _ dispatch: @escaping DispatchFunction, _ getState: @escaping () -> State?
) -> (_ next: @escaping DispatchFunction) -> DispatchFunction

/// Combines several middleware functions: the first is the outermost, which sees an action first.
public func combineMiddleware<State>(_ layers: Middleware<State>...) -> Middleware<State> {
  combineMiddleware(layers)
}

/// Combines a list of middleware functions: the first is the outermost, which sees an action first.
public func combineMiddleware<State>(_ layers: [Middleware<State>]) -> Middleware<State> {
  { dispatch, getState in
    { next in
      layers.reversed().reduce(next) { inner, layer in layer(dispatch, getState)(inner) }
    }
  }
}
