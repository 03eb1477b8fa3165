/// The values that a subscriber wants of a state, and when it wants them.
///
/// Steps are applied in order, each to the values that the step before passes on. The first value
/// passes every step, so that a subscriber knows the initial value.
///
/// ```swift
/// store.subscribe(selecting: { $0.select(\.level).skip { abs($0 - $1) < 5 } }) { show($0) }
/// ```
///
/// The functions are inlinable, because a store applies every selection after every action:
/// compiled for the types of the program, each costs a few nanoseconds.
public struct Selection<State, Value> {
  /// Makes a function that takes states and passes the selected values to `sink`.
  ///
  /// It is called once for each subscription; the result remembers the subscription's former
  /// values.
  @usableFromInline
  let attach: (_ sink: @escaping (Value) -> Void) -> (State) -> Void

  @inlinable
  init(attach: @escaping (_ sink: @escaping (Value) -> Void) -> (State) -> Void) {
    self.attach = attach
  }
}

extension Selection where Value == State {
  /// Every state.
  @inlinable
  init() { self.init { sink in sink } }
}

extension Selection {
  /// A part of each value.
  @inlinable
  public func select<Part>(_ part: @escaping (Value) -> Part) -> Selection<State, Part> {
    Selection<State, Part> { sink in attach { value in sink(part(value)) } }
  }

  /// Skips the values for which a function, given the previous value and this one, returns true.
  ///
  /// The previous value is the last one that reached this step, whether or not it was skipped.
  @inlinable
  public func skip(when isSkipped: @escaping (_ old: Value, _ new: Value) -> Bool) -> Self {
    Selection { sink in
      var old: Value?
      return attach { new in
        defer { old = new }
        if let old, isSkipped(old, new) { return }
        sink(new)
      }
    }
  }

  /// Passes on the values for which a function, given the previous value and this one, returns
  /// true.
  @inlinable
  public func only(when isWanted: @escaping (_ old: Value, _ new: Value) -> Bool) -> Self {
    skip { old, new in !isWanted(old, new) }
  }
}

extension Selection where Value: Equatable {
  /// Passes on the values that differ from the previous one.
  @inlinable
  public func skipRepeats() -> Self { skip(when: ==) }
}
