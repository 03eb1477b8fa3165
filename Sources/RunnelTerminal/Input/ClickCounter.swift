/// Distinguishes double clicks from two single clicks.
///
/// A press counts on from the one before if it is of the same button on the same cell, within
/// `intervalMilliseconds`. Nothing is delayed: the first press of a double click is also reported
/// as a single click.
package struct ClickCounter: Hashable, Sendable {
  /// The longest time between two presses that belong together, in milliseconds.
  package static let intervalMilliseconds: Int64 = 500

  private var last: MouseEvent?
  private var time: Int64 = 0
  private var count = 0

  /// Makes a counter without a press.
  package init() {}

  /// Takes a press.
  ///
  /// - Parameters:
  ///   - event: the press.
  ///   - now: the milliseconds of any clock; if it was set back, counting begins anew.
  /// - Returns: 1 for a click, 2 for the second of a double click, and so on.
  package mutating func press(_ event: MouseEvent, now: Int64) -> Int {
    let isNext = last == event && 0...Self.intervalMilliseconds ~= now - time
    count = isNext ? count + 1 : 1
    last = event
    time = now
    return count
  }
}
