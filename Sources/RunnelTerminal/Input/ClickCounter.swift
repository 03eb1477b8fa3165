/// Tells double clicks from two clicks.
///
/// A press counts on from the one before if it is of the same button on the same cell, within
/// `intervalMilliseconds`. Nothing is delayed: the first press of two is told as a click of its own.
public struct ClickCounter: Hashable, Sendable {
  /// How long after a press the next one belongs to it.
  public static let intervalMilliseconds: Int64 = 500

  private var last: MouseEvent?
  private var time: Int64 = 0
  private var count = 0

  /// Makes a counter that saw nothing.
  public init() {}

  /// Takes a press.
  ///
  /// - Parameters:
  ///   - event: the press.
  ///   - now: milliseconds of any clock; one that was set back begins anew.
  /// - Returns: 1 for a click, 2 for the second of a double click, and so on.
  public mutating func press(_ event: MouseEvent, now: Int64) -> Int {
    let isNext = last == event && 0...Self.intervalMilliseconds ~= now - time
    count = isNext ? count + 1 : 1
    last = event
    time = now
    return count
  }
}
