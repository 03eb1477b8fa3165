import RunnelBase

/// Times in the forms of the API.
package enum IdentityTime {
  /// A time in milliseconds since 1970, in the form of ISO 8601.
  package static func text(_ milliseconds: Int64) -> String {
    let time = CivilTime(milliseconds: milliseconds)
    func padded(_ number: Int, _ count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    let day = [padded(time.year, 4), padded(time.month, 2), padded(time.day, 2)]
    let clock = [padded(time.hour, 2), padded(time.minute, 2), padded(time.second, 2)]
    return day.joined(separator: "-") + "T" + clock.joined(separator: ":") + "."
      + padded(time.millisecond, 3) + "Z"
  }

  /// The whole seconds of a time in milliseconds.
  package static func seconds(_ milliseconds: Int64) -> Int64 {
    Int64((Double(milliseconds) / 1000).rounded(.down))
  }
}
