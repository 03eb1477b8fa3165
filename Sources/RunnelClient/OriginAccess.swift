import RunnelBase
public import RunnelSync

/// As whom an origin is talked to.
public struct OriginAccess: Sendable {
  /// Gets the credential, or nil for nobody.
  ///
  /// `isRefresh` if the origin refused the last one, so that it must be another one. After an error it is
  /// asked again at the next connection.
  public typealias Provider = @Sendable (_ isRefresh: Bool) async throws -> Credential?

  /// By what the replicas of several users are told apart: letters, digits and a few signs.
  public var user: String
  /// Where credentials come from; nil for none.
  public var provider: Provider?

  /// Makes an access.
  public init(user: String, provider: Provider?) {
    (self.user, self.provider) = (user, provider)
  }

  /// Nobody: what is public.
  public static let nobody = OriginAccess(user: "public", provider: nil)

  /// Who has a token, or a secret of the database.
  ///
  /// A token of a user is one that says when it was made; everything else is taken for an administrator's.
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

  /// What a token says of itself, which is not verified; nil if it is none.
  private static func claims(of token: String) -> JSONValue? {
    let pieces = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count == 3, let bytes = Base64URL.bytes(pieces[1]) else { return nil }
    // What is no JSON is no token.
    return try? JSONValue(parsing: bytes)
  }
}
