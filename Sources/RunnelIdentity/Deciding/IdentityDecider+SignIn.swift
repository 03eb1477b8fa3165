import RunnelBase

// The operations by which a client gets tokens.

extension IdentityDecider {
  private static let kind = "identitytoolkit#"

  static func kind(_ name: String) -> JSONMember {
    JSONMember("kind", .string(kind + name))
  }

  // MARK: Granting

  /// Begins a session of an account, and makes its tokens; the account is put into the draft.
  mutating func grant(
    _ record: AccountRecord, provider: String, claims: JSONValue? = nil, authTime: Int64? = nil
  ) throws(IdentityStop) -> TokenGrant {
    var record = record
    record.lastRefreshTime = now
    if let since = record.validSince, since > seconds, record.epoch != nil {
      // The clock was set back, or a client's that gave the time is ahead. What ended before is known
      // by its epoch; it is a new one, so that the end of before does not count for this sign-in.
      record.validSince = seconds
      record.epoch = newEpoch(after: record.epoch)
      endTokens(of: record)
    }
    put(record)
    let token = Base64URL.text(record.id.utf8) + "." + randomText(43)
    let session = RefreshSession(
      hash: SecretHash.of(token), account: record.id, provider: provider,
      claims: claims?.jsonText(),
      authTime: authTime ?? IdentityTime.seconds(record.lastLoginTime ?? now), time: now)
    var sessions = try sessions(of: record.id)
    sessions.append(session)
    if sessions.count > IdentityPolicy.sessionsMax {
      sessions.sort { ($0.useTime, $0.hash) < ($1.useTime, $1.hash) }
      sessions.removeFirst(sessions.count - IdentityPolicy.sessionsMax)
    }
    draft.sessions[record.id] = sessions
    return TokenGrant(
      claims: idClaims(record, session), refreshToken: token,
      seconds: IdentityPolicy.tokenSeconds)
  }

  /// The claims of an ID token.
  ///
  /// Source: authentication, section 3.
  func idClaims(_ record: AccountRecord, _ session: RefreshSession) -> JSONValue {
    var members: [JSONMember] = []
    func set(_ name: String, _ value: JSONValue?) {
      guard let value else { return }
      members.removeAll { $0.name == name }
      members.append(JSONMember(name, value))
    }
    set("name", record.displayName.map { .string($0) })
    set("picture", record.photoURL.map { .string($0) })
    for text in [record.customClaims, session.claims] {
      // Claims were checked when they were stored, but not by earlier versions if they were imported.
      let claims = text.flatMap { try? JSONValue(parsing: $0) }?.object ?? []
      for claim in claims where !isReserved(claim: claim.name) { set(claim.name, claim.value) }
    }
    set("email", record.email.map { .string($0) })
    if record.email != nil || record.isEmailVerified {
      set("email_verified", .bool(record.isEmailVerified))
    }
    set("phone_number", record.phoneNumber.map { .string($0) })
    if session.provider == "anonymous" { set("provider_id", "anonymous") }
    set("auth_time", .number(JSONNumber(session.authTime)))
    set("user_id", .string(record.id))
    set("firebase", firebase(record, session.provider))
    set("iat", .number(JSONNumber(seconds)))
    set("exp", .number(JSONNumber(seconds + IdentityPolicy.tokenSeconds)))
    set("aud", .string(policy.project))
    set("iss", .string(policy.issuer))
    set("sub", .string(record.id))
    return .object(members)
  }

  private func firebase(_ record: AccountRecord, _ provider: String) -> JSONValue {
    var identities = MemberList()
    if let email = record.email { identities.add("email", .array([.string(email)])) }
    if let phone = record.phoneNumber { identities.add("phone", .array([.string(phone)])) }
    for other in record.otherProviders {
      guard let name = other["providerId"]?.string, let id = other["rawId"]?.string else {
        continue
      }
      identities.add(name, .array([.string(id)]))
    }
    var members = MemberList()
    members.add("identities", .object(identities.all))
    members.add("sign_in_provider", provider)
    members.add(TokenEnd.claim, record.epoch)
    return .object(members.all)
  }

  // MARK: Sign-up

  /// Source: authentication, section 4.1.
  mutating func signUp() throws(IdentityStop) -> IdentityAnswer {
    if fields.value("localId") != nil { throw .refused("UNEXPECTED_PARAMETER : User ID") }
    if try fields.filled("tenantId") != nil { throw .error(.unimplemented("tenantId")) }
    let (email, password) = (try fields.text("email"), try fields.text("password"))
    let token = try fields.filled("idToken")
    if email == nil, password ?? "" == "", token == nil { return try signUpAnonymously() }
    if email == "" {
      throw .refused(password ?? "" == "" ? "INVALID_EMAIL" : "MISSING_EMAIL")
    }
    guard let email else { throw .refused("MISSING_EMAIL") }
    guard let password, !password.isEmpty else { throw .refused("MISSING_PASSWORD") }
    if !(try settings().allowsPasswords) { throw .refused("OPERATION_NOT_ALLOWED") }
    let address = try checked(email: email)
    var record: AccountRecord
    if let token {
      let (holder, claims) = try holder(of: token)
      try checkIsRecent(claims, holder)
      record = holder
    } else {
      record = AccountRecord(id: try newID())
      record.creationTime = now
    }
    try checkIsFree(email: address, for: token == nil ? nil : record.id)
    try check(password: password)
    record.displayName =
      try checked("displayName", bytesMax: IdentityPolicy.nameBytesMax)
      ?? record.displayName
    if !address.isSpelled(record.email) {
      (record.email, record.isEmailVerified) = (address.text, false)
    }
    try set(password: password, of: &record)
    record.lastLoginTime = now
    let grant = try grant(record, provider: "password")
    provenAccount = record.id
    return IdentityAnswer(signUpMembers(record), grant: grant)
  }

  private mutating func signUpAnonymously() throws(IdentityStop) -> IdentityAnswer {
    if !(try settings().allowsAnonymous) { throw .refused("ADMIN_ONLY_OPERATION") }
    var record = AccountRecord(id: try newID())
    (record.creationTime, record.lastLoginTime) = (now, now)
    record.epoch = newEpoch(after: nil)
    let grant = try grant(record, provider: "anonymous")
    return IdentityAnswer(signUpMembers(record), grant: grant)
  }

  func signUpMembers(_ record: AccountRecord) -> [JSONMember] {
    var members = MemberList()
    members.add("localId", record.id)
    members.add("email", record.email)
    members.add("displayName", record.displayName)
    return [IdentityDecider.kind("SignupNewUserResponse")] + members.all
  }

  /// An id that no account has.
  mutating func newID() throws(IdentityStop) -> String {
    while true {
      let id = randomText(28, isForURL: false)
      if try account(id) == nil { return id }
    }
  }

  /// Sets a new password, which ends all sessions.
  mutating func set(password: String, of record: inout AccountRecord) throws(IdentityStop) {
    record.password = try hash(of: password)
    record.passwordTime = now
    try endSessions(of: &record)
  }

  // MARK: Sign-in

  /// Source: authentication, section 4.2.
  mutating func signInWithPassword() throws(IdentityStop) -> IdentityAnswer {
    if !(try settings().allowsPasswords) { throw .refused("PASSWORD_LOGIN_DISABLED") }
    guard let email = try fields.text("email") else { throw .refused("MISSING_EMAIL") }
    let address = try checked(email: email)
    guard let password = try fields.filled("password") else { throw .refused("MISSING_PASSWORD") }
    if password.utf8.count > IdentityPolicy.passwordBytesMax {
      throw .refused(try hidesEmails() ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
    }
    let found = try account(email: address)
    if !(try hidesEmails()) {
      guard let found else { throw .refused("EMAIL_NOT_FOUND") }
      if found.isDisabled { throw .refused("USER_DISABLED") }
    }
    // The work takes as long without an account.
    let isRight = try isRight(password, found?.password)
    guard var record = found, let hash = record.password, isRight else {
      throw .refused(try hidesEmails() ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
    }
    if record.isDisabled { throw .refused("USER_DISABLED") }
    if hash.function != .scrypt(policy.cost) { record.password = try self.hash(of: password) }
    record.lastLoginTime = now
    let grant = try grant(record, provider: "password")
    provenAccount = record.id
    return IdentityAnswer(
      [
        IdentityDecider.kind("VerifyPasswordResponse"), JSONMember("registered", true),
        JSONMember("localId", .string(record.id)),
        JSONMember("email", .string(record.email ?? address.text)),
      ], grant: grant)
  }

  private static let customAudience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  /// Source: authentication, sections 3 and 4.8.
  mutating func signInWithCustomToken() throws(IdentityStop) -> IdentityAnswer {
    guard let text = try fields.filled("token") else { throw .refused("MISSING_CUSTOM_TOKEN") }
    let token = try customClaims(text)
    guard let id = token["uid"]?.string ?? token["user_id"]?.string, !id.isEmpty else {
      throw .refused("MISSING_IDENTIFIER")
    }
    let uid = try checked(id: id)
    var claims: JSONValue?
    if let given = token["claims"], !given.isNull {
      try check(claims: given)
      claims = given
    }
    let found = try account(uid)
    if found == nil { _ = try checked(newID: uid) }
    var record = found ?? AccountRecord(id: uid)
    if record.isDisabled { throw .refused("USER_DISABLED") }
    if found == nil { (record.creationTime, record.epoch) = (now, newEpoch(after: nil)) }
    record.isCustom = true
    record.lastLoginTime = now
    let grant = try grant(record, provider: "custom", claims: claims)
    return IdentityAnswer(
      [
        IdentityDecider.kind("VerifyCustomTokenResponse"),
        JSONMember("isNewUser", .bool(found == nil)),
      ], grant: grant)
  }

  private func customClaims(_ text: String) throws(IdentityStop) -> JSONValue {
    if policy.isEmulator, let bare = try? JSONValue(parsing: text), case .object = bare {
      return bare
    }
    switch context.customClaims(text) {
    case .failure(.invalid(let reason)): throw .refused("INVALID_CUSTOM_TOKEN : \(reason)")
    case .success(let claims):
      guard claims["aud"]?.string == IdentityDecider.customAudience else {
        throw .refused("INVALID_CUSTOM_TOKEN : ((Invalid aud (audience) claim of the token.))")
      }
      return claims
    }
  }

  /// Signs in by a mailed link, and makes the account if there is none.
  mutating func signInWithEmailLink() throws(IdentityStop) -> IdentityAnswer {
    if !(try settings().allowsEmailLinks) { throw .refused("OPERATION_NOT_ALLOWED") }
    guard let email = try fields.text("email") else { throw .refused("MISSING_EMAIL") }
    let address = try checked(email: email)
    guard let text = try fields.filled("oobCode") else { throw .refused("MISSING_OOB_CODE") }
    let code = try code(text)
    guard code.kind == .emailSignIn else { throw .refused("INVALID_OOB_CODE") }
    guard address.isSpelled(code.email) else { throw .refused("INVALID_EMAIL") }
    draft.codes[code.hash] = .some(nil)
    // The account to which the mail went.
    let owned = EmailAddress(code.email)
    let found = try account(email: owned)
    var record: AccountRecord
    if let token = try fields.filled("idToken") {
      let (holder, claims) = try holder(of: token)
      if !address.isSpelled(holder.email) { try checkIsRecent(claims, holder) }
      record = holder
      try checkIsFree(email: owned, for: record.id)
      // A new address ends sessions, as everywhere.
      if !address.isSpelled(record.email), !policy.isEmulator { try endSessions(of: &record) }
    } else {
      let id = try newID()
      record = found ?? AccountRecord(id: id)
    }
    if record.isDisabled { throw .refused("USER_DISABLED") }
    let isNew: Bool
    if try fields.filled("idToken") == nil, try isOfAnother(record) {
      (record, isNew) = (try parted(record), true)
    } else {
      isNew = found == nil
    }
    if isNew { record.creationTime = record.creationTime ?? now }
    if let found, found.id == record.id, !found.isEmailVerified, !policy.isEmulator {
      // Whoever registered the address has not proven it: the owner must not share the account.
      (record.password, record.passwordTime, record.otherProviders) = (nil, nil, [])
      try endSessions(of: &record)
    }
    if !address.isSpelled(record.email) { record.email = address.text }
    (record.isEmailVerified, record.hasEmailLink) = (true, true)
    record.lastLoginTime = now
    let grant = try grant(record, provider: "password")
    provenAccount = record.id
    return IdentityAnswer(
      [
        IdentityDecider.kind("EmailLinkSigninResponse"), JSONMember("email", .string(code.email)),
        JSONMember("localId", .string(record.id)), JSONMember("isNewUser", .bool(isNew)),
      ], grant: grant)
  }

  // MARK: Refresh

  /// Source: authentication, section 5.
  mutating func refresh() throws(IdentityStop) -> IdentityAnswer {
    guard let type = try fields.filled("grantType") else { throw .refused("MISSING_GRANT_TYPE") }
    if type != "refresh_token" { throw .refused("INVALID_GRANT_TYPE") }
    guard let token = try fields.filled("refreshToken") else {
      throw .refused("MISSING_REFRESH_TOKEN")
    }
    let first = token.utf8.prefix { $0 != UInt8(ascii: ".") }
    let hash = SecretHash.of(token)
    guard let bytes = Base64URL.bytes(first), let id = String(validating: bytes, as: UTF8.self),
      !id.isEmpty, id.utf8.count <= AccountRecord.idBytesMax, var record = try account(id)
    else { throw .refused("INVALID_REFRESH_TOKEN") }
    var sessions = try sessions(of: id)
    guard let index = sessions.firstIndex(where: { $0.hash == hash }) else {
      throw .refused("INVALID_REFRESH_TOKEN")
    }
    let since = record.validSince ?? 0
    if !policy.isEmulator, IdentityTime.seconds(sessions[index].time) < since {
      throw .refused("TOKEN_EXPIRED")
    }
    if record.isDisabled { throw .refused("USER_DISABLED") }
    sessions[index].useTime = now
    draft.sessions[id] = sessions
    record.lastRefreshTime = now
    put(record)
    let grant = TokenGrant(
      claims: idClaims(record, sessions[index]), refreshToken: token,
      seconds: IdentityPolicy.tokenSeconds)
    var answer = IdentityAnswer(
      [
        JSONMember("user_id", .string(id)), JSONMember("project_id", .string(policy.project)),
      ], grant: grant)
    answer.form = .refresh
    return answer
  }

  // MARK: Sign-in methods

  /// Source: authentication, section 4.9.
  mutating func signInMethods() throws(IdentityStop) -> IdentityAnswer {
    guard let identifier = try fields.filled("identifier") else {
      throw .refused("MISSING_IDENTIFIER")
    }
    guard let uri = try fields.filled("continueUri") else {
      throw .refused("MISSING_CONTINUE_URI")
    }
    let email: EmailAddress
    do throws(IdentityStop) {
      email = try checked(email: identifier)
    } catch {
      throw .refused("INVALID_IDENTIFIER")
    }
    if !IdentityDecider.isAbsolute(uri) { throw .refused("INVALID_CONTINUE_URI") }
    var members = [IdentityDecider.kind("CreateAuthUriResponse")]
    if !(try hidesEmails()) {
      let record = try account(email: email)
      var methods: [JSONValue] = []
      if record?.password != nil { methods.append("password") }
      if record?.hasEmailLink == true { methods.append("emailLink") }
      let providers: [JSONValue] = methods.isEmpty ? [] : ["password"]
      members += [
        JSONMember("registered", .bool(record != nil)),
        JSONMember("allProviders", .array(providers)),
        JSONMember("signinMethods", .array(methods)),
      ]
    }
    members.append(JSONMember("sessionId", .string(randomText(27))))
    return IdentityAnswer(members)
  }
}
