/// The states that a sequence of actions led to, for going back and forth between them.
///
/// It keeps the actions and every 64th state; the other states are reduced again from these.
///
/// ```swift
/// store.restore(history.state(after: 12))
/// ```
public struct ActionHistory<State> {
  private static var interval: Int { 64 }

  /// The actions in their order.
  public private(set) var actions: [any Action] = []

  private let reducer: Reducer<State>
  /// The states after 0, 64, 128 actions and so on.
  private var snapshots: [State]
  private var newest: State

  /// Makes a history that begins with a state.
  public init(_ state: State, reducer: @escaping Reducer<State>) {
    self.reducer = reducer
    snapshots = [state]
    newest = state
  }

  /// Adds an action that was just reduced.
  public mutating func append(_ action: any Action) {
    actions.append(action)
    reducer(&newest, action)
    if actions.count.isMultiple(of: Self.interval) { snapshots.append(newest) }
  }

  /// Drops all actions after the first `count`, so that other actions can follow them.
  ///
  /// - Precondition: `count` is not negative and not more than there are.
  public mutating func cut(after count: Int) {
    newest = state(after: count)
    actions.removeSubrange(count...)
    snapshots.removeSubrange((count / Self.interval + 1)...)
  }

  /// The state after the first `count` actions; the initial state for 0.
  ///
  /// Reduces at most 63 actions.
  ///
  /// - Precondition: `count` is not negative and not more than there are.
  public func state(after count: Int) -> State {
    precondition((0...actions.count).contains(count), "There is no action \(count).")
    if count == actions.count { return newest }
    let snapshot = count / Self.interval
    var state = snapshots[snapshot]
    for action in actions[(snapshot * Self.interval)..<count] { reducer(&state, action) }
    return state
  }
}
