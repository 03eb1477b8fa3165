import RunnelBase

// The checks of values that several operations share.

extension IdentityDecider {
  /// Returns an address.
  ///
  /// - Throws: `IdentityStop` (`INVALID_EMAIL`) if it is none.
  func checked(email given: String) throws(IdentityStop) -> EmailAddress {
    let address = EmailAddress(given)
    let email = address.text
    let halves = email.split(separator: "@", omittingEmptySubsequences: false)
    let isPlain = email.unicodeScalars.allSatisfy { scalar in
      scalar.value > 0x20 && scalar.value != 0x7F && !scalar.properties.isWhitespace
        && !"<>,;\"\\()".unicodeScalars.contains(scalar) && !IdentityDecider.isUnseen(scalar)
    }
    guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty, isPlain,
      email.utf8.count <= IdentityPolicy.emailBytesMax
    else { throw .refused("INVALID_EMAIL") }
    return address
  }

  /// True for what makes two addresses look alike: no glyph, or another direction of writing.
  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned: true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Checks that no other account has an address.
  ///
  /// - Throws: `IdentityStop` (`EMAIL_EXISTS`).
  func checkIsFree(email: EmailAddress, for id: String? = nil) throws(IdentityStop) {
    if let other = try account(email: email), other.id != id { throw .refused("EMAIL_EXISTS") }
  }

  /// Returns a phone number.
  ///
  /// - Throws: `IdentityStop` (`INVALID_PHONE_NUMBER`, `PHONE_NUMBER_EXISTS`).
  func checked(phone text: String, for id: String?) throws(IdentityStop) -> String {
    let digits = text.dropFirst()
    guard text.hasPrefix("+"), (4...20).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { throw .refused("INVALID_PHONE_NUMBER : Invalid format.") }
    if let other = try account(phone: text), other.id != id {
      throw .refused("PHONE_NUMBER_EXISTS")
    }
    return text
  }

  /// Checks a new password.
  ///
  /// - Throws: `IdentityStop` (`WEAK_PASSWORD`).
  func check(password: String) throws(IdentityStop) {
    if password.count < policy.passwordLengthMin {
      throw .refused(
        "WEAK_PASSWORD : Password should be at least \(policy.passwordLengthMin) characters")
    }
    if password.utf8.count > IdentityPolicy.passwordBytesMax {
      throw .refused(
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Password should have at most "
          + "\(IdentityPolicy.passwordBytesMax) bytes")
    }
  }

  /// Returns a text of limited length.
  func checked(_ name: String, bytesMax: Int) throws(IdentityStop) -> String? {
    guard let text = try fields.text(name) else { return nil }
    if text.utf8.count > bytesMax {
      throw .error(.badJSON("Invalid value at '\(name)' (too long)."))
    }
    return text
  }

  func checked(id: String) throws(IdentityStop) -> String {
    guard (1...AccountRecord.idBytesMax).contains(id.utf8.count) else {
      throw .refused(
        "INVALID_LOCAL_ID : An id has 1 to \(AccountRecord.idBytesMax) bytes")
    }
    return id
  }

  /// Returns the id of an account that is made or imported: one under which a tree can keep the user's data.
  ///
  /// - Throws: `IdentityStop` (`INVALID_LOCAL_ID`) if no key of a tree is like it.
  func checked(newID id: String) throws(IdentityStop) -> String {
    let id = try checked(id: id)
    if let byte = id.utf8.first(where: { $0 < 0x20 || $0 == 0x7F || ".#$/[]".utf8.contains($0) }) {
      let what =
        byte < 0x20 || byte == 0x7F
        ? "a control character" : "'\(Character(Unicode.Scalar(byte)))'"
      throw .refused(
        "INVALID_LOCAL_ID : The id holds \(what), which no key of a tree holds: give it another id")
    }
    return id
  }

  /// The names of claims that only the server sets.
  private static let reservedClaims: Set<String> = [
    "iss", "aud", "sub", "iat", "exp", "nbf", "jti", "nonce", "azp", "acr", "amr", "cnf",
    "auth_time", "firebase", "at_hash", "c_hash",
  ]
  /// The names of claims that tell of the account itself: others would stand in their place.
  private static let accountClaims: Set<String> = [
    "email", "email_verified", "name", "picture", "phone_number", "user_id",
  ]
  private static let claimsLengthMax = 1000

  /// Whether additional claims cannot have a name.
  ///
  /// An emulator lets those of the account be replaced, as the official one does.
  func isReserved(claim name: String) -> Bool {
    IdentityDecider.reservedClaims.contains(name)
      || !policy.isEmulator && IdentityDecider.accountClaims.contains(name)
  }

  /// Checks the additional claims of a user.
  ///
  /// - Throws: `IdentityStop` (`INVALID_CLAIMS`, `FORBIDDEN_CLAIM`, `CLAIMS_TOO_LARGE`).
  func check(claims: JSONValue) throws(IdentityStop) {
    guard case .object(let members) = claims else { throw .refused("INVALID_CLAIMS") }
    for member in members where isReserved(claim: member.name) {
      throw .refused("FORBIDDEN_CLAIM : \(member.name)")
    }
    if claims.jsonText().count > IdentityDecider.claimsLengthMax {
      throw .refused("CLAIMS_TOO_LARGE")
    }
  }

  /// Checks the text of additional claims; nil or an empty text for none.
  ///
  /// - Throws: `IdentityStop` as `check(claims:)`.
  func checked(claimsText text: String) throws(IdentityStop) -> String? {
    if text.isEmpty { return nil }
    // Text that is no JSON is no object either.
    guard let claims = try? JSONValue(parsing: text) else { throw .refused("INVALID_CLAIMS") }
    if text.count > IdentityDecider.claimsLengthMax { throw .refused("CLAIMS_TOO_LARGE") }
    try check(claims: claims)
    return claims.object?.isEmpty == true ? nil : text
  }

  // MARK: Tokens of clients

  /// The account and the claims of an ID token.
  ///
  /// - Throws: `IdentityStop` (`INVALID_ID_TOKEN`, `USER_NOT_FOUND`, `TOKEN_EXPIRED`,
  ///   `USER_DISABLED`).
  func holder(of token: String) throws(IdentityStop) -> (record: AccountRecord, claims: JSONValue) {
    guard let claims = context.claims(token),
      let id = claims["user_id"]?.string ?? claims["sub"]?.string
    else { throw .refused("INVALID_ID_TOKEN") }
    guard let record = try account(id) else { throw .refused("USER_NOT_FOUND") }
    let issued = claims["iat"]?.double ?? 0
    if issued < Double(record.validSince ?? 0) { throw .refused("TOKEN_EXPIRED") }
    if !policy.isEmulator, TokenEnd.epoch(ofToken: claims) < record.epoch ?? 0 {
      throw .refused("TOKEN_EXPIRED")
    }
    if !policy.isEmulator, claims["exp"]?.double ?? 0 <= Double(now) / 1000 {
      throw .refused("TOKEN_EXPIRED")
    }
    if record.isDisabled { throw .refused("USER_DISABLED") }
    return (record, claims)
  }

  /// Checks that the user has signed in a moment ago, before credentials change.
  ///
  /// An anonymous user cannot sign in again.
  ///
  /// - Throws: `IdentityStop` (`CREDENTIAL_TOO_OLD_LOGIN_AGAIN`).
  func checkIsRecent(_ claims: JSONValue, _ record: AccountRecord) throws(IdentityStop) {
    if policy.isEmulator || record.isAnonymous { return }
    let authTime = claims["auth_time"]?.double ?? 0
    if Double(seconds) - authTime > Double(IdentityPolicy.recentSeconds) {
      throw .refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    }
  }
}
