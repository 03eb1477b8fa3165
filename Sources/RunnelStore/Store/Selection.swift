/// What a subscriber wants of a state, and when.
///
/// Steps are taken in their order, each on what the step before lets through. The first value passes
/// every step, so that a subscriber knows where it begins.
///
/// ```swift
/// store.subscribe(selecting: { $0.select(\.level).skip { abs($0 - $1) < 5 } }) { show($0) }
/// ```
///
/// The functions are inlinable, because a store asks every selection after every action: compiled for
/// the types of the program, one costs some nanoseconds.
public struct Selection<State, Value> {
  /// Makes the function that takes states, and gives `sink` what comes of them.
  ///
  /// It is called once for each subscription, whose memory of former values it holds.
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

  /// The values of which a function does not say, given the value before and this one, that this one is
  /// to be skipped.
  ///
  /// The value before is the last one that came to this step, whether or not it was skipped.
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

  /// The values of which a function says, given the value before and this one, that this one is wanted.
  @inlinable
  public func only(when isWanted: @escaping (_ old: Value, _ new: Value) -> Bool) -> Self {
    skip { old, new in !isWanted(old, new) }
  }
}

extension Selection where Value: Equatable {
  /// The values that differ from the one before.
  @inlinable
  public func skipRepeats() -> Self { skip(when: ==) }
}
