import RunnelBase
package import RunnelStore

/// The claims of an ID token, which are read without verifying them: servers do that.
package struct TokenClaims {
  private static let bytesMax = 65_536

  private let json: JSONValue

  /// Reads the claims; nil if the text is not a token.
  package init?(_ token: Secret<String>) {
    let text = token.reveal().utf8
    guard text.count <= TokenClaims.bytesMax else { return nil }
    let pieces = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A text that is not JSON is not a token.
    guard pieces.count == 3, let bytes = Base64URL.bytes(pieces[1]),
      let json = try? JSONValue(parsing: bytes), json.object != nil
    else { return nil }
    self.json = json
  }

  /// The id of the user; nil if the token has none.
  var userID: String? {
    // Early servers of Feathers have the user in `userId`, and one `sub` for all.
    for name in ["user_id", "userId", "sub"] {
      if let id = json[name]?.string, !id.isEmpty { return id }
      if let id = json[name]?.int { return String(id) }
    }
    return nil
  }

  /// The time of the sign-in in milliseconds since 1970; nil if the token does not tell it.
  package var signIn: Int64? { json["auth_time"]?.int.map { Int64($0) * 1000 } }

  /// True if the sign-in was surely after a time in milliseconds since 1970; false if it may have been before it, or
  /// if the token does not tell.
  ///
  /// The time of a sign-in is in whole seconds: one in the same second does not count.
  package func isSignIn(after time: Int64) -> Bool { signIn.map { $0 > time } ?? false }

  /// The time at which the token was made, in seconds since 1970.
  var issued: Int64? { json["iat"]?.int.map { Int64($0) } }

  /// The time from which servers refuse the token, in seconds since 1970.
  var expires: Int64? { json["exp"]?.int.map { Int64($0) } }

  /// True if the token says something else of a user than what is known; false for services whose tokens
  /// tell only who it is.
  func differs(from user: AccountUser) -> Bool {
    guard json["firebase"] != nil else { return false }
    var told = user
    fill(&told)
    return told.email != user.email || told.isEmailVerified != user.isEmailVerified
      || told.displayName != user.displayName || told.photoURL != user.photoURL
  }

  /// Fills in what the token says of the user.
  func fill(_ user: inout AccountUser) {
    // A token that tells the id only leaves the rest as it is known.
    let names = ["firebase", "user_id", "provider_id", "email", "name", "auth_time"]
    guard names.contains(where: { json[$0] != nil }) else { return }
    user.email = json["email"]?.string
    user.isEmailVerified = json["email_verified"]?.bool ?? false
    user.displayName = json["name"]?.string
    user.photoURL = json["picture"]?.string
    user.method =
      json["firebase"]?["sign_in_provider"]?.string ?? json["provider_id"]?.string ?? user.method
    user.lastSignIn = signIn ?? user.lastSignIn
  }
}
