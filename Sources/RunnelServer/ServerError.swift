import Glibc

/// An error because of which a server cannot start, or cannot apply a change.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for a person: what happened and what to do.
  public var message: String
  /// True if the command line, or a file that it names, must be changed.
  public var isUsage: Bool
  /// True if a disk has no space left, or none for this user.
  var isOfSpace = false

  /// Makes an error.
  public init(_ message: String, isUsage: Bool = false) {
    self.message = message
    self.isUsage = isUsage
  }

  /// The message.
  public var description: String { message }

  /// Makes the error of a failed system call, which has just set `errno`.
  static func system(_ what: String) -> ServerError {
    let code = errno
    var error = ServerError("\(what): \(String(cString: strerror(code))).")
    error.isOfSpace = [ENOSPC, EDQUOT, EFBIG].contains(code)
    return error
  }
}
