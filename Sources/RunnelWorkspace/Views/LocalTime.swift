import RunnelBase

/// What the clock on the wall says: the offset from UTC at any time.
///
/// A value with a function in it, so that tests choose the zone.
public struct LocalTime: Sendable {
  /// The name of the zone, by which two are compared; empty if it has none.
  public var name: String
  /// Seconds to add to UTC at a time in milliseconds since 1970.
  public var offsetSeconds: @Sendable (_ milliseconds: Int64) -> Int
  /// How hours are counted.
  public var clock = Clock.hours24

  /// How hours are counted.
  public enum Clock: String, Hashable, Sendable, CaseIterable {
    /// From 0 to 23: `17:45`.
    case hours24 = "24h"
    /// From 1 to 12, twice: `5:45p`.
    case hours12 = "12h"
  }

  /// Makes a local time from its offsets.
  public init(
    name: String = "", offsetSeconds: @escaping @Sendable (_ milliseconds: Int64) -> Int
  ) {
    self.name = name
    self.offsetSeconds = offsetSeconds
  }

  /// Coordinated universal time.
  public static let utc = LocalTime(name: "UTC") { _ in 0 }

  /// The farthest moment that is told apart, in milliseconds from 1970: 200,000 years.
  private static let millisecondsMax: Int64 = 200_000 * 365 * 86_400_000

  /// What clocks show at a moment; one beyond all calendars counts as the farthest there is, for any
  /// number of the data may be taken for a time.
  func civil(_ milliseconds: Int64) -> CivilTime {
    let near = min(max(milliseconds, -LocalTime.millisecondsMax), LocalTime.millisecondsMax)
    return CivilTime(milliseconds: near, offsetSeconds: offsetSeconds(near))
  }

  /// The moment at which clocks show a time, in milliseconds since 1970; an hour off for one that they
  /// skip.
  func milliseconds(_ civil: CivilTime) -> Int64 {
    let guess = civil.milliseconds(offsetSeconds: offsetSeconds(civil.milliseconds()))
    return civil.milliseconds(offsetSeconds: offsetSeconds(guess))
  }

  /// What a clock shows at a moment: `17:45`, or `5:45p`.
  package func timeText(_ milliseconds: Int64) -> String {
    let civil = civil(milliseconds)
    guard clock == .hours12 else { return civil.timeText }
    let hour = civil.hour % 12 == 0 ? 12 : civil.hour % 12
    return "\(hour):\(civil.timeText.suffix(2))\(civil.hour < 12 ? "a" : "p")"
  }

  /// The columns of the longest `timeText`.
  var timeWidth: Int { clock == .hours12 ? 6 : 5 }

  /// When the day after the one at a moment begins; an hour off if clocks are changed in between.
  func midnight(after milliseconds: Int64) -> Int64 {
    let tomorrow = CivilTime(dayNumber: civil(milliseconds).dayNumber + 1)
    return max(
      tomorrow.milliseconds(offsetSeconds: offsetSeconds(milliseconds)), milliseconds + 1)
  }
}

extension LocalTime: Equatable {
  /// Whether both are the zone of one name.
  public static func == (left: LocalTime, right: LocalTime) -> Bool { left.name == right.name }
}
