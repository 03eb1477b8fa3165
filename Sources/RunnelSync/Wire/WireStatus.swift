public import RunnelTree

/// The word that says what became of a request.
///
/// Source: wire protocol, section A4.
public struct WireStatus: RawRepresentable, Hashable, Sendable {
  /// The word, in its spelling on the wire.
  public var rawValue: String

  /// Makes a status from its word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// It was done.
  public static let ok = WireStatus(rawValue: "ok")
  /// The rules do not allow it.
  public static let permissionDenied = WireStatus(rawValue: "permission_denied")
  /// A conditional write met something else than was thought.
  public static let stale = WireStatus(rawValue: "datastale")
  /// A credential that cannot be read, or is not valid.
  public static let invalidToken = WireStatus(rawValue: "invalid_token")
  /// A credential whose time is over.
  public static let expiredToken = WireStatus(rawValue: "expired_token")
  /// It failed for a reason that the text tells.
  public static let failed = WireStatus(rawValue: "failed")
  /// It, or its answer, is too large.
  public static let tooBig = WireStatus(rawValue: "too_big")
  /// It cannot be done now.
  public static let unavailable = WireStatus(rawValue: "unavailable")

  /// The text beside a status of what the rules do not allow, which clients show.
  static let permissionDeniedText = "Permission denied"

  /// The status of a refusal.
  public init(_ error: TreeError) {
    switch error.code {
    case .permissionDenied: self = .permissionDenied
    case .tooBig: self = .tooBig
    case .unavailable, .storage: self = .unavailable
    default: self = .failed
    }
  }

  /// The refusal of which a status and a text tell.
  ///
  /// A status without a code of its own becomes one, so that it is told as it came.
  public func error(_ text: String, path: Path? = nil) -> TreeError {
    let message = text.isEmpty ? rawValue : text
    let code = TreeError.Code(rawValue: rawValue)
    return TreeError(code, message, path: path?.description)
  }
}
