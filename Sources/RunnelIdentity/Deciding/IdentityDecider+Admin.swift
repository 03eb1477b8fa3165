import RunnelBase

// The operations of administrators. Source: authentication, section 6.

extension IdentityDecider {
  private static let batchMax = 1000

  // MARK: Creating

  mutating func create() throws(IdentityStop) -> IdentityAnswer {
    var record: AccountRecord
    if let id = try fields.filled("localId") {
      record = AccountRecord(id: try checked(newID: id))
      if try account(id) != nil { throw .refused("DUPLICATE_LOCAL_ID") }
    } else {
      record = AccountRecord(id: try newID())
    }
    (record.creationTime, record.epoch) = (now, newEpoch(after: nil))
    if let email = try fields.filled("email") {
      let address = try checked(email: email)
      try checkIsFree(email: address)
      record.email = address.text
    }
    if let phone = try fields.filled("phoneNumber") {
      record.phoneNumber = try checked(phone: phone, for: record.id)
    }
    record.displayName = try checked("displayName", bytesMax: IdentityPolicy.nameBytesMax)
    record.photoURL = try checked("photoUrl", bytesMax: IdentityPolicy.urlBytesMax)
    record.isEmailVerified = try fields.flag("emailVerified") ?? false
    record.isDisabled = try fields.flag("disabled") ?? false
    if let password = try fields.filled("password") {
      try check(password: password)
      try set(password: password, of: &record)
    }
    put(record)
    return IdentityAnswer(signUpMembers(record))
  }

  // MARK: Reading

  mutating func batchGet() throws(IdentityStop) -> IdentityAnswer {
    let count = try fields.int("maxResults") ?? 20
    let page = try reader.accounts(
      after: try fields.filled("nextPageToken"),
      count: Int(min(max(count, 1), Int64(IdentityDecider.batchMax))), isDescending: false)
    var members = [IdentityDecider.kind("DownloadAccountResponse")]
    if !page.isEmpty { members.append(JSONMember("users", .array(page.map(\.shown)))) }
    if Int64(page.count) == min(max(count, 1), Int64(IdentityDecider.batchMax)),
      let last = page.last
    {
      members.append(JSONMember("nextPageToken", .string(last.id)))
    }
    return IdentityAnswer(members)
  }

  mutating func query() throws(IdentityStop) -> IdentityAnswer {
    if let order = try fields.text("sortBy"), order != "USER_ID" {
      throw .error(.unimplemented("sortBy \(order.prefix(30))"))
    }
    let count = try reader.accountCount()
    var members = [JSONMember("recordsCount", .string(String(count)))]
    if try fields.flag("returnUserInfo") ?? true {
      let limit = try fields.int("limit") ?? Int64(IdentityDecider.batchMax)
      let users = try reader.accounts(
        after: nil, count: Int(min(max(limit, 1), Int64(IdentityDecider.batchMax))),
        isDescending: try fields.text("order") == "DESC")
      members.append(JSONMember("userInfo", .array(users.map(\.shown))))
    }
    return IdentityAnswer(members)
  }

  // MARK: Deleting

  mutating func batchDelete() throws(IdentityStop) -> IdentityAnswer {
    let ids = try fields.texts("localIds")
    if ids.count > IdentityDecider.batchMax || ids.isEmpty {
      throw .refused("LOCAL_ID_LIST_EXCEEDS_LIMIT")
    }
    let isForced = try fields.flag("force") ?? false
    var errors: [JSONValue] = []
    for (index, id) in ids.enumerated() {
      guard let record = try account(id) else { continue }
      if !isForced, !record.isDisabled {
        errors.append([
          "index": .number(JSONNumber(Int64(index))), "localId": .string(id),
          "message": "NOT_DISABLED : Disable the account before batch deletion.",
        ])
        continue
      }
      try remove(record)
    }
    return IdentityAnswer(errors.isEmpty ? [] : [JSONMember("errors", .array(errors))])
  }

  // MARK: Importing

  mutating func batchCreate() throws(IdentityStop) -> IdentityAnswer {
    guard let users = try fields.list("users"), !users.isEmpty else {
      throw .refused("MISSING_USER_ACCOUNT")
    }
    if users.count > IdentityDecider.batchMax {
      throw .refused("MAXIMUM_USER_COUNT_EXCEEDED")
    }
    let function = try PasswordHash.function(imported: fields)
    var errors: [JSONValue] = []
    var missing: [PasswordWork] = []
    for (index, user) in users.enumerated() {
      do throws(IdentityStop) {
        try importUser(CallFields(user), function)
      } catch {
        switch error {
        case .work(let work): missing += work
        case .storage: throw error
        case .error(let error):
          errors.append([
            "index": .number(JSONNumber(Int64(index))), "message": .string(error.message),
          ])
        }
      }
    }
    if !missing.isEmpty { throw .work(missing) }
    let kind = IdentityDecider.kind("UploadAccountResponse")
    return IdentityAnswer(errors.isEmpty ? [kind] : [kind, JSONMember("error", .array(errors))])
  }

  /// Adds one account to the draft, or replaces it.
  private mutating func importUser(
    _ user: CallFields, _ function: PasswordHash.Function?
  ) throws(IdentityStop) {
    guard let text = try user.filled("localId") else { throw .refused("MISSING_LOCAL_ID") }
    let id = try checked(newID: text)
    let old = try account(id)
    if old != nil, try !(fields.flag("allowOverwrite") ?? true) {
      throw .refused("DUPLICATE_LOCAL_ID")
    }
    if let factors = try user.list("mfaInfo"), !factors.isEmpty, !policy.isEmulator {
      // Without it the account would be easier to take over, and nobody would know.
      throw .refused(
        "UNSUPPORTED_SECOND_FACTOR : The account has a second factor, which is not served here: remove mfaInfo "
          + "to import it without")
    }
    var record = AccountRecord(id: id)
    if let email = try user.filled("email") {
      let address = try checked(email: email)
      if let other = try account(email: address), other.id != id {
        throw .refused("DUPLICATE_EMAIL")
      }
      record.email = address.text
    }
    if let phone = try user.filled("phoneNumber") {
      record.phoneNumber = try checked(phone: phone, for: id)
    }
    record.isEmailVerified = try user.flag("emailVerified") ?? false
    record.displayName = try user.filled("displayName")
    record.photoURL = try user.filled("photoUrl")
    record.isDisabled = try user.flag("disabled") ?? false
    record.isCustom = try user.flag("customAuth") ?? false
    record.hasEmailLink = try user.flag("emailLinkSignin") ?? false
    record.creationTime = try user.int("createdAt") ?? now
    // An export of Firebase names it differently.
    let signedInTime = try user.int("lastSignedInAt")
    record.lastLoginTime = try user.int("lastLoginAt") ?? signedInTime
    record.validSince = try user.int("validSince")
    record.initialEmail = try user.filled("initialEmail")
    if let claims = try user.text("customAttributes") {
      record.customClaims = try checked(claimsText: claims)
    }
    record.otherProviders = try (user.list("providerUserInfo") ?? []).filter { provider in
      let name = provider["providerId"]?.string
      return name != nil && name != "password" && name != "phone"
    }
    record.password = try importedPassword(user, function)
    if record.password != nil { record.passwordTime = try user.int("passwordUpdatedAt") ?? now }
    record.epoch = newEpoch(after: old?.epoch)
    if let old {
      try remove(old)
      // Whoever had proved an earlier address can still take the account back.
      for code in try reader.codes(of: id) where code.kind == .recoverEmail && code.isProved {
        draft.codes.removeValue(forKey: code.hash)
      }
      // The account goes on, with other credentials.
      record.validSince = max(record.validSince ?? 0, seconds)
      endTokens(of: record)
    }
    put(record)
  }

  private func importedPassword(
    _ user: CallFields, _ function: PasswordHash.Function?
  ) throws(IdentityStop) -> PasswordHash? {
    if let password = try user.filled("rawPassword") {
      try check(password: password)
      return try hash(of: password)
    }
    guard let text = try user.filled("passwordHash"), text != AccountRecord.hiddenHash else {
      return nil
    }
    if text.hasPrefix("$"), let hash = PasswordHash(text) { return hash }
    guard let function else {
      throw .refused(
        "INVALID_HASH_ALGORITHM : Name the function of the hashes: "
          + PasswordHash.importNames.joined(separator: ", "))
    }
    guard let key = PasswordHash.bytes(base64: text),
      let salt = PasswordHash.bytes(base64: try user.text("salt") ?? "")
    else { throw .refused("INVALID_PASSWORD_HASH : The hash or the salt is not Base64") }
    let hash = PasswordHash(function, salt: salt, key: key)
    guard hash.isUsable else {
      if case .firebase(let signerKey, _, _, _) = function, signerKey.isEmpty {
        throw .refused("INVALID_PASSWORD_HASH : Hashes of SCRYPT need the key of their project")
      }
      if case .hmac(let secret, _) = function, secret.isEmpty {
        throw .refused("INVALID_PASSWORD_HASH : Hashes of HMAC_SHA256 need their key")
      }
      throw .refused("INVALID_PASSWORD_HASH : The hash or a parameter is out of range")
    }
    return hash
  }

  // MARK: Session cookies

  private static let cookieSeconds: ClosedRange<Int64> = 300...1_209_600

  mutating func createSessionCookie() throws(IdentityStop) -> IdentityAnswer {
    guard let token = try fields.filled("idToken") else { throw .refused("MISSING_ID_TOKEN") }
    let duration = try fields.int("validDuration") ?? IdentityDecider.cookieSeconds.upperBound
    guard IdentityDecider.cookieSeconds.contains(duration) else {
      throw .refused("INVALID_DURATION")
    }
    let claims = try holder(of: token).claims
    var members = (claims.object ?? []).filter { !["iss", "iat", "exp"].contains($0.name) }
    members += [
      JSONMember("iss", .string(policy.cookieIssuer)),
      JSONMember("iat", .number(JSONNumber(seconds))),
      JSONMember("exp", .number(JSONNumber(seconds + duration))),
    ]
    var answer = IdentityAnswer(
      [],
      grant: TokenGrant(claims: .object(members), refreshToken: nil, seconds: duration))
    answer.form = .cookie
    return answer
  }

  // MARK: Configuration

  func project() -> IdentityAnswer {
    IdentityAnswer([
      JSONMember("projectId", .string(policy.project)),
      JSONMember(
        "authorizedDomains",
        .array(["localhost"] + policy.continueHosts.sorted().map { .string($0) })),
    ])
  }

  func configuration() throws(IdentityStop) -> IdentityAnswer {
    let settings = try settings()
    return IdentityAnswer([
      JSONMember("name", .string("projects/\(policy.project)/config")),
      JSONMember(
        "signIn",
        [
          "email": [
            "enabled": .bool(settings.allowsPasswords),
            "passwordRequired": .bool(!settings.allowsEmailLinks),
          ],
          "anonymous": ["enabled": .bool(settings.allowsAnonymous)],
          "allowDuplicateEmails": false,
        ]),
      JSONMember(
        "emailPrivacyConfig", ["enableImprovedEmailPrivacy": .bool(try hidesEmails())]),
    ])
  }

  mutating func updateConfiguration() throws(IdentityStop) -> IdentityAnswer {
    var settings = try settings()
    let signIn = fields.fields("signIn")
    if try signIn.flag("allowDuplicateEmails") == true {
      throw .error(.unimplemented("allowDuplicateEmails"))
    }
    if let flag = try signIn.fields("email").flag("enabled") { settings.allowsPasswords = flag }
    if let flag = try signIn.fields("email").flag("passwordRequired") {
      settings.allowsEmailLinks = !flag
    }
    if let flag = try signIn.fields("anonymous").flag("enabled") {
      settings.allowsAnonymous = flag
    }
    let privacy = fields.fields("emailPrivacyConfig")
    if let flag = try privacy.flag("enableImprovedEmailPrivacy") { settings.hidesEmails = flag }
    draft.settings = settings
    return try configuration()
  }
}
