import RunnelBase

/// A day as people and programs write it: `2026-08-24`, or day first with points, `24.8.2026`.
///
/// A day with slashes, `1/2/2026`, is none: people read it in two ways.
struct WrittenDay: Hashable {
  let year: Int
  let month: Int
  let day: Int

  /// Reads a text that has the form of a day; nil if it has another form.
  ///
  /// There may be no such day. O(1).
  init?(_ text: Substring) {
    guard (8...10).contains(text.utf8.count) else { return nil }
    let sign: Character = text.utf8.dropFirst(4).first == UInt8(ascii: "-") ? "-" : "."
    let parts = text.split(separator: sign, omittingEmptySubsequences: false)
    let numbers = parts.compactMap(WrittenDay.number)
    guard numbers.count == 3, parts.count == 3 else { return nil }
    let isYearFirst = sign == "-"
    let (longest, others) = (isYearFirst ? 0 : 2, isYearFirst ? [1, 2] : [0, 1])
    guard parts[longest].utf8.count == 4,
      others.allSatisfy({ (1...2).contains(parts[$0].utf8.count) })
    else { return nil }
    (year, month, day) = (numbers[longest], numbers[1], numbers[isYearFirst ? 2 : 0])
  }

  /// The day as a date; nil if there is no such day.
  var civil: CivilTime? { CivilTime(year: year, month: month, day: day) }

  /// Whether the text names a day that a month does not have, as a slip of a finger does: `2026-06-31`.
  var isSlip: Bool { civil == nil && (1...12).contains(month) && (1...31).contains(day) }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  /// Whether a text is a day in the form that people read in two ways: `1/2/2026`.
  static func isAmbiguous(_ text: String) -> Bool {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 3 && parts.allSatisfy { number($0) != nil }
      && parts.contains { $0.utf8.count == 4 }
  }
}
