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

  /// The name of the user who runs the program: `USER` of the environment, or else the name of the
  /// process's user; empty if the system does not know it.
  package static var userName: String {
    if let name = getenv("USER"), name.pointee != 0 { return String(cString: name) }
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "" }
    return String(cString: name)
  }
}
