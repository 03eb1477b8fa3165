import RunnelBase

/// A local time: the offset from UTC at any time.
///
/// It is a value with a function, so that tests can choose the zone.
public struct LocalTime: Sendable {
  /// The name of the zone, by which zones are compared; empty if it has none.
  public var name: String
  /// The seconds to add to UTC at a time in milliseconds since 1970.
  public var offsetSeconds: @Sendable (_ milliseconds: Int64) -> Int
  /// The style of hours.
  public var clock = Clock.hours24

  /// The style of hours.
  public enum Clock: String, Hashable, Sendable, CaseIterable {
    /// Hours from 0 to 23: `17:45`.
    case hours24 = "24h"
    /// Hours from 1 to 12, twice a day: `5:45p`.
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

  /// The greatest distance from 1970, in milliseconds: 200,000 years.
  private static let millisecondsMax: Int64 = 200_000 * 365 * 86_400_000

  /// Returns the local date and time at a moment, in milliseconds since 1970; moments that are too
  /// far away, as any number in the data may be taken for a time, count as the farthest one.
  func civil(_ milliseconds: Int64) -> CivilTime {
    let near = min(max(milliseconds, -LocalTime.millisecondsMax), LocalTime.millisecondsMax)
    return CivilTime(milliseconds: near, offsetSeconds: offsetSeconds(near))
  }

  /// Returns the moment of a local date and time, in milliseconds since 1970; it is off by an hour
  /// for a time that clocks skip.
  func milliseconds(_ civil: CivilTime) -> Int64 {
    let guess = civil.milliseconds(offsetSeconds: offsetSeconds(civil.milliseconds()))
    return civil.milliseconds(offsetSeconds: offsetSeconds(guess))
  }

  /// Returns the time of day at a moment: `17:45`, or `5:45p`.
  package func timeText(_ milliseconds: Int64) -> String {
    let civil = civil(milliseconds)
    guard clock == .hours12 else { return civil.timeText }
    let hour = civil.hour % 12 == 0 ? 12 : civil.hour % 12
    return "\(hour):\(civil.timeText.suffix(2))\(civil.hour < 12 ? "a" : "p")"
  }

  /// The width of the longest `timeText`, in columns.
  var timeWidth: Int { clock == .hours12 ? 6 : 5 }

  /// Returns the moment when the next day begins; it is off by an hour if clocks are changed in
  /// between.
  func midnight(after milliseconds: Int64) -> Int64 {
    let tomorrow = CivilTime(dayNumber: civil(milliseconds).dayNumber + 1)
    return max(
      tomorrow.milliseconds(offsetSeconds: offsetSeconds(milliseconds)), milliseconds + 1)
  }
}

extension LocalTime: Hashable {
  /// Whether both have the same name.
  public static func == (left: LocalTime, right: LocalTime) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
