/// Changes a state by an action, without side effects: equal states and actions give equal results.
public typealias Reducer<State> = (_ state: inout State, _ action: any Action) -> Void

/// Combines several reducers: each gets the state that those before it have changed.
public func combineReducers<State>(_ reducers: Reducer<State>...) -> Reducer<State> {
  { state, action in
    for reducer in reducers { reducer(&state, action) }
  }
}

/// Makes a reducer of a state from a reducer of a part of it.
///
/// - Parameters:
///   - part: the key path of the part.
///   - reducer: the reducer of the part.
/// - Returns: a reducer that changes nothing but the part.
public func reducing<State, Part>(
  _ part: WritableKeyPath<State, Part>, by reducer: @escaping Reducer<Part>
) -> Reducer<State> {
  { state, action in reducer(&state[keyPath: part], action) }
}
