import Glibc
import RunnelBase

/// What the clock on the wall says: the offset from UTC at any time.
///
/// A value with a function in it, so that tests choose the zone.
public struct LocalTime: Sendable {
  /// Seconds to add to UTC at a time in milliseconds since 1970.
  public var offsetSeconds: @Sendable (_ milliseconds: Int64) -> Int

  /// Makes a local time from its offsets.
  public init(offsetSeconds: @escaping @Sendable (_ milliseconds: Int64) -> Int) {
    self.offsetSeconds = offsetSeconds
  }

  /// Coordinated universal time.
  public static let utc = LocalTime { _ in 0 }

  /// The zone of this system, as `TZ` or the system's settings name it.
  public static var system: LocalTime {
    tzset()
    return LocalTime { milliseconds in
      var seconds = time_t(milliseconds / 1000)
      var parts = tm()
      guard localtime_r(&seconds, &parts) != nil else { return 0 }
      return parts.tm_gmtoff
    }
  }

  /// Milliseconds since 1970, now.
  public static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  func civil(_ milliseconds: Int64) -> CivilTime {
    CivilTime(milliseconds: milliseconds, offsetSeconds: offsetSeconds(milliseconds))
  }
}
