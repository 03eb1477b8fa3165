import RunnelBase

// The operations that read, change and delete accounts.

extension IdentityDecider {
  // MARK: Reading

  /// Source: authentication, sections 4.3 and 6.
  mutating func lookup() throws(IdentityStop) -> IdentityAnswer {
    let kind = IdentityDecider.kind("GetAccountInfoResponse")
    if !context.isPrivileged || fields.value("idToken") != nil {
      guard let token = try fields.filled("idToken") else { throw .refused("MISSING_ID_TOKEN") }
      let record = try holder(of: token).record
      return IdentityAnswer([kind, JSONMember("users", .array([record.shown]))])
    }
    var found: [String: AccountRecord] = [:]
    var order: [String] = []
    func note(_ record: AccountRecord?) {
      guard let record, found.updateValue(record, forKey: record.id) == nil else { return }
      order.append(record.id)
    }
    for id in try fields.texts("localId") { note(try account(id)) }
    for email in try fields.texts("email") { note(try account(email: EmailAddress(email))) }
    for phone in try fields.texts("phoneNumber") { note(try account(phone: phone)) }
    let users = order.compactMap { found[$0]?.shown }
    return IdentityAnswer(users.isEmpty ? [kind] : [kind, JSONMember("users", .array(users))])
  }

  // MARK: Deleting

  /// Source: authentication, section 4.7.
  mutating func delete() throws(IdentityStop) -> IdentityAnswer {
    let record: AccountRecord
    if context.isPrivileged, fields.value("idToken") == nil {
      guard let id = try fields.filled("localId") else { throw .refused("MISSING_LOCAL_ID") }
      guard let found = try account(id) else { throw .refused("USER_NOT_FOUND") }
      record = found
    } else {
      guard let token = try fields.filled("idToken") else { throw .refused("MISSING_ID_TOKEN") }
      let (holder, claims) = try holder(of: token)
      try checkIsRecent(claims, holder)
      record = holder
    }
    try remove(record)
    return IdentityAnswer([IdentityDecider.kind("DeleteAccountResponse")])
  }

  // MARK: Changing

  /// Source: authentication, section 4.4.
  mutating func update() throws(IdentityStop) -> IdentityAnswer {
    if let code = try fields.filled("oobCode") { return try applyCode(code) }
    if context.isPrivileged, fields.value("idToken") == nil { return try administrativeUpdate() }
    guard let token = try fields.filled("idToken") else {
      throw .refused("INVALID_REQ_TYPE : Unsupported request parameters.")
    }
    if fields.value("customAttributes") != nil { throw .refused("INSUFFICIENT_PERMISSION") }
    if fields.value("disableUser") != nil { throw .refused("OPERATION_NOT_ALLOWED") }
    if let value = fields.value("linkProviderUserInfo"), !value.isNull {
      throw .error(.unimplemented("linkProviderUserInfo"))
    }
    let (old, claims) = try holder(of: token)
    if try changesCredentials() {
      try checkIsRecent(claims, old)
      if !(try settings().allowsPasswords) { throw .refused("OPERATION_NOT_ALLOWED") }
    }
    var record = old
    try changeEmail(of: &record)
    try changePassword(of: &record)
    try changeProfile(of: &record)
    let isNew = record.email != old.email || record.password != old.password
    put(record)
    if !isNew { return IdentityAnswer(updateMembers(record, newEmail: nil)) }
    try endSessions(of: &record)
    let before = claims["firebase"]?["sign_in_provider"]?.string
    let provider = record.email != nil && record.password != nil ? "password" : before
    let newEmail = record.email != old.email ? record.email : nil
    put(record)
    guard let provider else { return IdentityAnswer(updateMembers(record, newEmail: newEmail)) }
    let grant = try grant(
      record, provider: provider, authTime: claims["auth_time"].time)
    return IdentityAnswer(updateMembers(record, newEmail: newEmail), grant: grant)
  }

  private func changesCredentials() throws(IdentityStop) -> Bool {
    let (email, password) = (try fields.filled("email"), try fields.filled("password"))
    let attributes = try fields.texts("deleteAttribute")
    let providers = try fields.texts("deleteProvider")
    return email != nil || password != nil || attributes.contains("EMAIL")
      || attributes.contains("PASSWORD") || providers.contains("password")
  }

  private func changeEmail(of record: inout AccountRecord) throws(IdentityStop) {
    guard let text = try fields.text("email") else { return }
    let email = try checked(email: text)
    // Another spelling of the same address is no change.
    if email.isSpelled(record.email) { return }
    try checkIsFree(email: email, for: record.id)
    (record.email, record.isEmailVerified) = (email.text, false)
  }

  private mutating func changePassword(of record: inout AccountRecord) throws(IdentityStop) {
    guard let password = try fields.filled("password") else { return }
    try check(password: password)
    record.password = try hash(of: password)
    record.passwordTime = now
  }

  private mutating func changeProfile(of record: inout AccountRecord) throws(IdentityStop) {
    if let name = try checked("displayName", bytesMax: IdentityPolicy.nameBytesMax) {
      record.displayName = name.isEmpty ? nil : name
    }
    // One client writes it differently.
    let name = fields.value("photoUrl") == nil ? "photoURL" : "photoUrl"
    if let url = try checked(name, bytesMax: IdentityPolicy.urlBytesMax) {
      record.photoURL = url.isEmpty ? nil : url
    }
    for attribute in try fields.texts("deleteAttribute") {
      switch attribute {
      case "DISPLAY_NAME": record.displayName = nil
      case "PHOTO_URL": record.photoURL = nil
      case "EMAIL": (record.email, record.isEmailVerified) = (nil, false)
      case "PASSWORD": (record.password, record.passwordTime) = (nil, nil)
      default: throw .error(.badJSON("Invalid value at 'delete_attribute'."))
      }
    }
    for provider in try fields.texts("deleteProvider") {
      switch provider {
      case "password":
        (record.password, record.passwordTime, record.hasEmailLink) = (nil, nil, false)
      case "phone": record.phoneNumber = nil
      default: record.otherProviders.removeAll { $0["providerId"]?.string == provider }
      }
    }
  }

  func updateMembers(_ record: AccountRecord, newEmail: String?) -> [JSONMember] {
    var members = MemberList()
    members.add("localId", record.id)
    members.add("email", record.email)
    members.add("emailVerified", .bool(record.isEmailVerified))
    members.add("displayName", record.displayName)
    members.add("photoUrl", record.photoURL)
    if !record.providers.isEmpty { members.add("providerUserInfo", .array(record.providers)) }
    members.add("passwordHash", record.password.map { _ in AccountRecord.hiddenHash })
    members.add("newEmail", newEmail)
    return [IdentityDecider.kind("SetAccountInfoResponse")] + members.all
  }

  // MARK: Changing as an administrator

  /// Source: authentication, section 6.
  private mutating func administrativeUpdate() throws(IdentityStop) -> IdentityAnswer {
    guard let id = try fields.filled("localId") else { throw .refused("MISSING_LOCAL_ID") }
    guard let old = try account(id) else { throw .refused("USER_NOT_FOUND") }
    var record = old
    try changeEmail(of: &record)
    try changePassword(of: &record)
    try changeProfile(of: &record)
    try changeFields(of: &record)
    if record.email != old.email || record.password != old.password {
      try endSessions(of: &record)
    }
    if let since = try fields.int("validSince") {
      try endSessions(of: &record)
      record.validSince = since
    }
    // What was refused while the account was disabled stays so when it is enabled.
    if old.isDisabled, !record.isDisabled, !policy.isEmulator, fields.value("validSince") == nil {
      try endSessions(of: &record)
    }
    if record.isDisabled != old.isDisabled || record.validSince != old.validSince {
      endTokens(of: record)
    }
    put(record)
    let newEmail = record.email != old.email ? record.email : nil
    return IdentityAnswer(updateMembers(record, newEmail: newEmail))
  }

  /// Changes what only administrators may change.
  private mutating func changeFields(of record: inout AccountRecord) throws(IdentityStop) {
    if let isVerified = try fields.flag("emailVerified") { record.isEmailVerified = isVerified }
    if let isDisabled = try fields.flag("disableUser") { record.isDisabled = isDisabled }
    if let phone = try fields.filled("phoneNumber") {
      record.phoneNumber = try checked(phone: phone, for: record.id)
    }
    if let text = try fields.text("customAttributes") {
      record.customClaims = try checked(claimsText: text)
    }
    if let time = try fields.int("createdAt") { record.creationTime = time }
    if let time = try fields.int("lastLoginAt") { record.lastLoginTime = time }
    let linked = fields.fields("linkProviderUserInfo")
    if let provider = try linked.filled("providerId"), let id = try linked.filled("rawId") {
      record.otherProviders.removeAll { $0["providerId"]?.string == provider }
      record.otherProviders.append(["providerId": .string(provider), "rawId": .string(id)])
    }
  }
}
