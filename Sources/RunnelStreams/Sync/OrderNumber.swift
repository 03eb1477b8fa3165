public import RunnelBase

/// Numbers for rows that a user arranges by hand.
///
/// A row that is dropped between two others gets a number between theirs, which is written to its
/// record; the others stay unchanged.
public enum OrderNumber {
  /// The distance of a number at an end from the next one.
  private static let step: Int64 = 1024

  /// A number between two others, an integer if there is one.
  ///
  /// O(1).
  ///
  /// - Parameters:
  ///   - lower: the number of the row before; nil if there is none.
  ///   - upper: the number of the row after, which must be greater than `lower`; nil if there is
  ///     none.
  /// - Returns: the number; nil if there is none between, so that all rows need new numbers from
  ///   `spread`.
  public static func between(_ lower: JSONNumber?, _ upper: JSONNumber?) -> JSONNumber? {
    switch (lower, upper) {
    case (nil, nil): return JSONNumber(0)
    case (let lower?, nil): return after(lower, by: step)
    case (nil, let upper?): return after(upper, by: -step)
    case (let lower?, let upper?):
      if let middle = integer(between: lower, upper) { return JSONNumber(middle) }
      let middle = JSONNumber(lower.double + (upper.double - lower.double) / 2)
      guard let middle, lower < middle, middle < upper else { return nil }
      return middle
    }
  }

  /// Returns `count` numbers in ascending order, with space between them; none if `count` is below 1.
  ///
  /// O(n).
  public static func spread(_ count: Int) -> [JSONNumber] {
    (0..<max(count, 0)).map { JSONNumber(Int64($0) * step) }
  }

  private static func after(_ number: JSONNumber, by step: Int64) -> JSONNumber? {
    let sum = number.integer.map { $0.addingReportingOverflow(step) }
    if let sum, !sum.overflow { return JSONNumber(sum.partialValue) }
    let next = JSONNumber((number.double + Double(step)).rounded())
    guard let next, step > 0 ? number < next : next < number else { return nil }
    return next
  }

  private static func integer(between lower: JSONNumber, _ upper: JSONNumber) -> Int64? {
    guard let low = lower.integer, let high = upper.integer else { return nil }
    let (difference, overflow) = high.subtractingReportingOverflow(low)
    return overflow || difference < 2 ? nil : low + difference / 2
  }
}
