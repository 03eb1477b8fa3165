import Glibc
public import RunnelWorkspace

// The zone and the clock of this system.

extension LocalTime {
  /// The zone of this system, as `TZ` or the system's settings name it.
  public static var system: LocalTime {
    tzset()
    return LocalTime(name: zoneName) { milliseconds in
      var seconds = time_t(milliseconds / 1000)
      var parts = tm()
      guard localtime_r(&seconds, &parts) != nil else { return 0 }
      return parts.tm_gmtoff
    }
  }

  /// The zone of a name; the whole process is in it from then on.
  ///
  /// To be called before threads are started that ask for the environment.
  static func zone(named name: String) -> LocalTime {
    if name == utc.name { return .utc }
    if !name.isEmpty { setenv("TZ", name, 1) }
    return system
  }

  /// The name of this system's zone: what `TZ` says, or where `/etc/localtime` leads.
  private static var zoneName: String {
    if let named = getenv("TZ").map({ String(cString: $0) }), !named.isEmpty { return named }
    guard let resolved = realpath("/etc/localtime", nil) else { return "" }
    defer { free(resolved) }
    let parts = String(cString: resolved).split(separator: "/")
    guard let folder = parts.lastIndex(of: "zoneinfo") else { return "" }
    return parts[(folder + 1)...].joined(separator: "/")
  }

  /// Milliseconds since 1970, now.
  public static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
