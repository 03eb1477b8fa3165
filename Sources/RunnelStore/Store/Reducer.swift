/// Changes a state by an action: without effects, and the same for the same state and action.
public typealias Reducer<State> = (_ state: inout State, _ action: any Action) -> Void

/// Makes one reducer of several: each sees what those before it made of the state.
public func combineReducers<State>(_ reducers: Reducer<State>...) -> Reducer<State> {
  { state, action in
    for reducer in reducers { reducer(&state, action) }
  }
}

/// Makes a reducer of the whole of one of a part.
///
/// - Parameters:
///   - part: the place of the part in the whole.
///   - reducer: the reducer of the part.
/// - Returns: a reducer that leaves everything but the part as it is.
public func reducing<State, Part>(
  _ part: WritableKeyPath<State, Part>, by reducer: @escaping Reducer<Part>
) -> Reducer<State> {
  { state, action in reducer(&state[keyPath: part], action) }
}
