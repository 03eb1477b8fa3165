/// The reason why rows could not be loaded or fetched, or a write of a stream was refused.
///
/// A string literal makes a failure with that message and no code.
public struct StreamFailure: Error, Hashable, Sendable {
  /// The kind of failure, to match on: the word of a database's error, as `closed`, or that of the
  /// origin, as `permission_denied`; empty if it has none.
  public var code: String
  /// What happened and what to do, for a person.
  public var message: String

  /// Makes a failure.
  public init(_ message: String, code: String = "") {
    (self.message, self.code) = (message, code)
  }
}

extension StreamFailure: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension StreamFailure: ExpressibleByStringInterpolation {
  /// Makes a failure without a code.
  public init(stringLiteral message: String) { self.init(message) }
}
