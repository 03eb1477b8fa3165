import RunnelBase

/// A refusal by a tree, and its place.
public struct TreeError: Error, Hashable, Sendable {
  /// The kind of refusal: a stable word to match on.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word, as it appears in machine-readable output.
    public var rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A key that the tree does not allow.
    public static let invalidKey = Code(rawValue: "invalid_key")
    /// A path that is too long, too deep, or ill-formed.
    public static let invalidPath = Code(rawValue: "invalid_path")
    /// A value that the tree does not allow.
    public static let invalidValue = Code(rawValue: "invalid_value")
    /// A message of the origin that cannot be read.
    public static let invalidMessage = Code(rawValue: "invalid_message")
    /// A query whose parts contradict each other.
    public static let invalidQuery = Code(rawValue: "invalid_query")
    /// A multi-path update in which one path lies above another.
    public static let conflictingPaths = Code(rawValue: "conflicting_paths")
    /// A place that must hold something, and holds nothing.
    public static let notFound = Code(rawValue: "not_found")
    /// A listener that is not, or no longer, registered.
    public static let unknownListener = Code(rawValue: "unknown_listener")
    /// A transaction ended because another write was made at its place.
    public static let overwritten = Code(rawValue: "set")
    /// The connection to the origin was lost before the answer.
    public static let disconnected = Code(rawValue: "disconnect")
    /// A request that needs a connection to the origin: there is none, and no answer is kept.
    public static let offline = Code(rawValue: "offline")
    /// The origin holds something else than a write was made upon.
    public static let changed = Code(rawValue: "changed")
    /// A transaction was tried as often as possible.
    public static let retryLimit = Code(rawValue: "maxretry")
    /// A pending write was given up.
    public static let writeCanceled = Code(rawValue: "write_canceled")
    /// The answer is larger than an origin gives.
    public static let tooBig = Code(rawValue: "too_big")
    /// The origin cannot answer now.
    public static let unavailable = Code(rawValue: "unavailable")
    /// The origin does not allow the request.
    public static let permissionDenied = Code(rawValue: "permission_denied")
    /// The storage could not be read.
    public static let storage = Code(rawValue: "storage")
  }

  /// The kind of refusal.
  public var code: Code
  /// The message for a person: what happened and what to do.
  public var message: String
  /// The place in the tree that the message is about, as text, if there is one.
  public var path: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, path: String? = nil) {
    self.code = code
    self.message = message
    self.path = path
  }
}

extension TreeError.Code: CustomStringConvertible {
  /// The word.
  public var description: String { rawValue }
}

extension TreeError: CustomStringConvertible {
  /// The place, where there is one, with its control characters escaped, and the message.
  public var description: String {
    if let path { "\(ControlCharacters.escapedLine(path)): \(message)" } else { message }
  }
}
