import Glibc

extension DatabaseEnvironment {
  /// The clock and the random numbers of the machine; its user is the author.
  public static var system: DatabaseEnvironment {
    var environment = DatabaseEnvironment(
      now: {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
      },
      random: SystemRandomNumberGenerator())
    environment.author = userName
    return environment
  }

  /// The name of the user who runs the program; empty if the system does not know it.
  private static var userName: String {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "" }
    return String(cString: name)
  }
}
