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
  /// The id of the user for the rules of the origin; nil if it is not known.
  package var userID: String?
  /// What gives the access, in words, if it is no user; nil for a user's access.
  package var title: String?
  /// True if the provider is asked for each connection: it finds out whether there may be one.
  package var isAskedEachTime = false
  /// Returns what the user is to be told of the newest credential, once; nil for nothing.
  package var remark: (@Sendable () -> String?)?

  /// Makes an access.
  public init(user: String, provider: Provider?) {
    (self.user, self.provider) = (user, provider)
  }

  /// Unauthenticated access, to public data only.
  public static let nobody = OriginAccess(user: "public", provider: nil)

  /// Returns the access with a token, or with the database's secret.
  ///
  /// A token with an `iat` claim is a user's; every other text is sent as an administrator's
  /// credential. The user is the one that the server finds in the token: no two users share a
  /// replica.
  ///
  /// Source: wire protocol, section A4.5.
  public static func token(_ text: String) -> OriginAccess {
    let claims = OriginAccess.claims(of: text)
    let isUser = claims?["iat"] != nil
    let credential = Credential(text, isAdministrator: !isUser)
    guard isUser, let claims else {
      var access = OriginAccess(user: administrator) { _ in credential }
      access.title = claims == nil ? "secret" : "administrator"
      return access
    }
    var access = OriginAccess(user: user(of: claims)) { _ in credential }
    access.userID = userID(in: claims)
    return access
  }

  /// The user of the secret, and of tokens with its rights.
  private static let administrator = "admin"
  /// The name under which tokens without a known user once shared a replica.
  static let unknownUser = "user"
  private static let reservedNames = ["public", administrator, unknownUser]
  /// What begins the names of users of tokens that no account has.
  private static let tokenPrefixes = ["uid:", "claims:"]
  /// The claims in which two tokens of one user differ.
  private static let passingClaims = ["iat", "exp", "nbf", "jti"]

  /// Whether the name of a user may be that of an account, or of nobody: not of the secret, nor of a token without
  /// a user.
  static func mayBeAccount(_ user: String) -> Bool {
    user != administrator && !tokenPrefixes.contains { user.hasPrefix($0) }
  }

  /// Returns the name of a token's user: `d.uid` in a custom token, `sub` or `user_id` in others.
  ///
  /// A token without any is known by its other claims, so that it shares a replica only with
  /// tokens that mean the same.
  private static func user(of claims: JSONValue) -> String {
    let isCustom = claims["d"]?.object != nil
    let isOfSecret = claims["v"] != nil && claims["sub"] == nil
    if isOfSecret, claims["admin"]?.bool == true { return administrator }
    if let user = userID(in: claims) {
      // A user may have a name that stands for somebody else here.
      return reservedNames.contains(user) ? "uid:" + user : user
    }
    var identity = claims
    if isCustom, let members = claims["d"] {
      identity = ["d": members]
    } else {
      for name in passingClaims { identity[name] = Optional.none }
    }
    return "claims:" + ReplicaFolder.checksum(of: identity.jsonText())
  }

  /// Returns the id of a token's user: `d.uid` in a custom token, `sub` or `user_id` in others; nil for none.
  private static func userID(in claims: JSONValue) -> String? {
    let isCustom = claims["d"]?.object != nil
    let names = isCustom ? [claims["d"]?["uid"]] : [claims["sub"], claims["user_id"]]
    return names.lazy.compactMap { $0?.string }.first { !$0.isEmpty }
  }

  /// Returns the variable `auth` of the rules for a token's owner; nil if the text names no user.
  ///
  /// Source: wire protocol, section A4.5; authentication, section 3.
  static func auth(of token: String) -> JSONValue? {
    guard let claims = claims(of: token) else { return nil }
    if case .object(let members)? = claims["d"] { return .object(members) }
    guard let user = userID(in: claims) else { return nil }
    let provider =
      claims["firebase"]?["sign_in_provider"]?.string ?? claims["provider_id"]?.string ?? "custom"
    return ["uid": .string(user), "provider": .string(provider), "token": claims]
  }

  /// Returns the claims of a token, without verifying them; nil if the text is not a token.
  private static func claims(of token: String) -> JSONValue? {
    let pieces = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard pieces.count == 3, let bytes = Base64URL.bytes(pieces[1]) else { return nil }
    // A text that is not JSON is not a token.
    return try? JSONValue(parsing: bytes)
  }
}

/// The error of a provider that has no other credential than one that the origin refused.
///
/// The link is refused then, until the user tries again.
package struct NoCredential: Error, Hashable, CustomStringConvertible {
  /// The reason, for the user.
  package var description: String

  /// Makes the error with a reason.
  package init(_ description: String) { self.description = description }

  /// The reason as that of a refusal.
  var refusal: CredentialRefusal { CredentialRefusal(.invalidToken, description) }
}
