import Glibc
public import RunnelWorkspace

// The time zone and the clock of this system.

extension LocalTime {
  /// The time zone of this system, from `TZ` or the system's settings.
  public static var system: LocalTime {
    tzset()
    return LocalTime(name: zoneName) { milliseconds in
      var seconds = time_t(milliseconds / 1000)
      var parts = tm()
      guard localtime_r(&seconds, &parts) != nil else { return 0 }
      return parts.tm_gmtoff
    }
  }

  /// Returns the time zone of a name, and sets it for the whole process.
  ///
  /// Must be called before threads are started that read the environment.
  static func zone(named name: String) -> LocalTime {
    if name == utc.name { return .utc }
    if !name.isEmpty { setenv("TZ", name, 1) }
    return system
  }

  /// The name of this system's time zone: the value of `TZ`, or the target of `/etc/localtime`.
  private static var zoneName: String {
    if let named = getenv("TZ").map({ String(cString: $0) }), !named.isEmpty { return named }
    guard let resolved = realpath("/etc/localtime", nil) else { return "" }
    defer { free(resolved) }
    let parts = String(cString: resolved).split(separator: "/")
    guard let folder = parts.lastIndex(of: "zoneinfo") else { return "" }
    return parts[(folder + 1)...].joined(separator: "/")
  }

  /// Returns the present time in milliseconds since 1970.
  public static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
