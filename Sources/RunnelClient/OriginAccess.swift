import RunnelBase
public import RunnelSync

/// The identity for an origin: the user, and where the credentials come from.
public struct OriginAccess: Sendable {
  /// Returns the credential, or nil for unauthenticated access.
  ///
  /// `isRefresh` is true if the origin refused the last credential, so that a new one is needed.
  /// After an error the provider is called again for the next connection.
  public typealias Provider = @Sendable (_ isRefresh: Bool) async throws -> Credential?

  /// The name of the user, which distinguishes the replicas of several users.
  public var user: String
  /// The source of credentials; nil for unauthenticated access.
  public var provider: Provider?

  /// Makes an access.
  public init(user: String, provider: Provider?) {
    (self.user, self.provider) = (user, provider)
  }

  /// Unauthenticated access, to public data only.
  public static let nobody = OriginAccess(user: "public", provider: nil)

  /// Returns the access with a token, or with the database's secret.
  ///
  /// A token with an `iat` claim is a user's; every other text is sent as an administrator's
  /// credential.
  ///
  /// Source: wire protocol, section A4.5.
  public static func token(_ text: String) -> OriginAccess {
    let claims = OriginAccess.claims(of: text)
    let isUser = claims?["iat"] != nil
    let credential = Credential(text, isAdministrator: !isUser)
    return OriginAccess(user: isUser ? user(of: claims) : "admin") { _ in credential }
  }

  private static func user(of claims: JSONValue?) -> String {
    for name in ["user_id", "sub", "uid"] {
      if case .string(let text)? = claims?[name], !text.isEmpty { return text }
    }
    return "user"
  }

  /// Returns the claims of a token, without verifying them; nil if the text is not a token.
  private static func claims(of token: String) -> JSONValue? {
    let pieces = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count == 3, let bytes = Base64URL.bytes(pieces[1]) else { return nil }
    // A text that is not JSON is not a token.
    return try? JSONValue(parsing: bytes)
  }
}
