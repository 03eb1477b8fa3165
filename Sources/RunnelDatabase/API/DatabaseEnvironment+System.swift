import Glibc

extension DatabaseEnvironment {
  /// The clock and the random numbers of the machine.
  public static var system: DatabaseEnvironment {
    DatabaseEnvironment(
      now: {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
      },
      random: SystemRandomNumberGenerator())
  }
}
