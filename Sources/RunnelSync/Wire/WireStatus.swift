public import RunnelTree

/// The status of a request in its answer.
///
/// Source: wire protocol, section A4.
public struct WireStatus: RawRepresentable, Hashable, Sendable {
  /// The word, in its spelling on the wire.
  public var rawValue: String

  /// Makes a status from its word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The request was done.
  public static let ok = WireStatus(rawValue: "ok")
  /// The rules do not allow the request.
  public static let permissionDenied = WireStatus(rawValue: "permission_denied")
  /// The condition of a conditional write does not hold.
  public static let stale = WireStatus(rawValue: "datastale")
  /// The credential cannot be read, or is not valid.
  public static let invalidToken = WireStatus(rawValue: "invalid_token")
  /// The credential has expired.
  public static let expiredToken = WireStatus(rawValue: "expired_token")
  /// The request failed for the reason in the text.
  public static let failed = WireStatus(rawValue: "failed")
  /// The request or its answer is too large.
  public static let tooBig = WireStatus(rawValue: "too_big")
  /// The request cannot be done now.
  public static let unavailable = WireStatus(rawValue: "unavailable")

  /// The text of `permissionDenied`, which clients show.
  static let permissionDeniedText = "Permission denied"

  /// Makes the status of an error.
  public init(_ error: TreeError) {
    switch error.code {
    case .permissionDenied: self = .permissionDenied
    case .tooBig: self = .tooBig
    case .unavailable, .storage: self = .unavailable
    default: self = .failed
    }
  }

  /// The error that a status and a text describe.
  ///
  /// An unknown status becomes a code of its own, so that it is kept.
  public func error(_ text: String, path: Path? = nil) -> TreeError {
    let message = text.isEmpty ? rawValue : text
    let code = TreeError.Code(rawValue: rawValue)
    return TreeError(code, message, path: path?.description)
  }
}
