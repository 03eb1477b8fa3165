package import RunnelTerminal

/// How the user is told of new rows in views that ask for notices.
public struct NoticeSettings: Hashable, Sendable {
  /// The ways for views that do not name their own.
  package var ways: [TerminalNotice.Way] = [.bell]
  /// The hours in which nothing is told; nil for none.
  public var quiet: QuietHours?

  /// Makes the default settings: the bell, at any time.
  public init() {}
}

/// The part of each day in which the user is not told of anything.
public struct QuietHours: Hashable, Sendable {
  /// The description of the format for messages.
  public static let help = "two times of day, such as 22:00-07:00"

  /// The first and the last minute, counted from midnight; the last one does not belong to it.
  private let (from, to): (Int, Int)

  /// Reads `22:00-07:00`; nil if the text is something else.
  public init?(_ text: String) {
    let times = text.split(separator: "-", omittingEmptySubsequences: false)
    guard times.count == 2, let from = QuietHours.minute(times[0]),
      let to = QuietHours.minute(times[1]), from != to
    else { return nil }
    (self.from, self.to) = (from, to)
  }

  private static func minute(_ text: Substring) -> Int? {
    let parts = text.drop { $0 == " " }.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
      let hour = Int(parts[0]), let minute = Int(parts[1].prefix { $0 != " " }),
      (0...23).contains(hour), (0...59).contains(minute)
    else { return nil }
    return hour * 60 + minute
  }

  /// Returns whether a minute of the day, counted from midnight, belongs to the hours.
  package func contains(minute: Int) -> Bool {
    from < to ? (from..<to).contains(minute) : minute >= from || minute < to
  }
}

/// Whether a view asks for notices of new rows.
package enum ViewNotices: Hashable, Sendable {
  /// It asks for none.
  case none
  /// It asks for notices by the ways of the settings.
  case usual
  /// It asks for notices by these ways.
  case by([TerminalNotice.Way])
}
