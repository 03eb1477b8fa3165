import Foundation

extension DatabaseEnvironment {
  /// The clock and the random numbers of the machine; its user is the author.
  public static var system: DatabaseEnvironment {
    var environment = DatabaseEnvironment(
      now: { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) },
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
