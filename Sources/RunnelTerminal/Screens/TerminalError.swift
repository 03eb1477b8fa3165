import Glibc

/// The reason why there is no screen.
public struct TerminalError: Error, Hashable, Sendable {
  /// The kind of a terminal error.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the kind.
    public let rawValue: String

    /// Makes a kind from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The process has no terminal.
    public static let noTerminal = Code(rawValue: "no_terminal")
    /// TERM is unset, or names a terminal that cannot place the cursor.
    public static let unsupportedTerminal = Code(rawValue: "unsupported_terminal")
    /// TERM names a terminal that is not in the terminfo database.
    public static let unknownTerminal = Code(rawValue: "unknown_terminal")
    /// The process has a curses screen already.
    public static let alreadyOpen = Code(rawValue: "already_open")
    /// The system refused a call.
    public static let systemCall = Code(rawValue: "system_call")
  }

  /// The kind.
  public let code: Code
  /// The message in one line for the user: what happened, and what to do.
  public let message: String

  /// Makes an error.
  public init(code: Code, message: String) {
    self.code = code
    self.message = message
  }

  static func systemCall(_ name: String, _ number: Int32) -> TerminalError {
    TerminalError(
      code: .systemCall, message: "\(name) failed: \(String(cString: strerror(number)))")
  }
}

extension TerminalError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
