// Values of limits in the form that people write: 1000, 64K, 256M, 30s.

extension ServerLimit {
  private static let byteFactors: [(letter: String, factor: Int64)] = [
    ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
  ]
  private static let timeFactors: [(letter: String, factor: Int64)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  private var factors: [(letter: String, factor: Int64)] {
    switch unit {
    case .count: []
    case .bytes: ServerLimit.byteFactors
    case .milliseconds: ServerLimit.timeFactors
    }
  }

  /// Reads a value.
  ///
  /// - Throws: `ServerError` with the expected form.
  public func value(_ text: String) throws(ServerError) -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let letters = text.dropFirst(digits.count)
    let factor =
      letters.isEmpty && unit != .milliseconds
      ? 1 : factors.first { $0.letter.lowercased() == letters.lowercased() }?.factor
    guard let number = Int64(digits), let factor,
      !number.multipliedReportingOverflow(by: factor).overflow, range.contains(number * factor)
    else {
      let any = standard == nil ? ", or \(self.text(of: nil))" : ""
      throw ServerError("give \(expected)\(any).", isUsage: true)
    }
    return number * factor
  }

  private var expected: String {
    let (least, most) = (text(of: range.lowerBound), text(of: range.upperBound))
    switch unit {
    case .count: return "a number from \(least) to \(most)"
    case .bytes: return "a number of bytes from 1, like 1000, 64K, 256M or 1G"
    case .milliseconds: return "a time like 500ms, 30s, 5m or 1h"
    }
  }

  /// The text of a value.
  public func text(of value: Int64?) -> String {
    guard let value else { return "any" }
    let fitting = factors.first { value >= $0.factor && value % $0.factor == 0 }
    return fitting.map { "\(value / $0.factor)\($0.letter)" } ?? String(value)
  }
}
