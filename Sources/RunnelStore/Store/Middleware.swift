/// Takes an action.
public typealias DispatchFunction = (_ action: any Action) -> Void

/// Sees every action on its way to the reducer.
///
/// It is called once, when the store is made, with what it may use for as long as it lives:
/// - `dispatch` hands an action to the whole chain, after those that wait. It does nothing once the
///   store is gone.
/// - `getState` gives the present state: before `next` returned the old one, after it the new one. It
///   gives nil once the store is gone.
/// - `next` hands an action on to the following middleware, and from the last to the reducer. Not to
///   call it keeps the action back; to call it several times makes several actions of one, and
///   subscribers are told once, after the last.
///
/// Source: the shape is that of ReSwift.
public typealias Middleware<State> = (
  _ dispatch: @escaping DispatchFunction, _ getState: @escaping () -> State?
) -> (_ next: @escaping DispatchFunction) -> DispatchFunction

/// Makes one middleware of several: the first is the outermost, which sees an action first.
public func combineMiddleware<State>(_ layers: Middleware<State>...) -> Middleware<State> {
  combineMiddleware(layers)
}

/// Makes one middleware of a list: the first is the outermost, which sees an action first.
public func combineMiddleware<State>(_ layers: [Middleware<State>]) -> Middleware<State> {
  { dispatch, getState in
    { next in
      layers.reversed().reduce(next) { inner, layer in layer(dispatch, getState)(inner) }
    }
  }
}
