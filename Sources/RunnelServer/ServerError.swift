import Glibc

/// Why a server cannot start, or go on as it was told.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened and what to do, for a person.
  public var message: String
  /// True if the command line, or a file that it names, is to be changed.
  public var isUsage: Bool

  /// Makes an error.
  public init(_ message: String, isUsage: Bool = false) {
    self.message = message
    self.isUsage = isUsage
  }

  /// The message.
  public var description: String { message }

  /// The failure of a system call, which has just set `errno`.
  static func system(_ what: String) -> ServerError {
    ServerError("\(what): \(String(cString: strerror(errno))).")
  }
}
