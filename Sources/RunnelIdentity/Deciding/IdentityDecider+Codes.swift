import RunnelBase

// The codes that are mailed: making, showing and using them.

extension IdentityDecider {
  /// Makes a code and its mail, and drops codes of the same user that have expired or are too many.
  ///
  /// Returns the code and its link.
  @discardableResult
  mutating func issue(
    _ kind: MailedCode.Kind, to record: AccountRecord?, email: String, newEmail: String? = nil,
    isMailed: Bool = true
  ) throws(IdentityStop) -> MailedCode.Shown {
    let text = randomText(54)
    var link = link(kind, text)
    // Elsewhere it is not checked.
    if call.operation == .sendOobCode, let next = try fields.filled("continueUrl") {
      link += "&continueUrl=" + PercentEncoding.encoded(next)
    }
    var code = MailedCode(
      hash: SecretHash.of(text), kind: kind, account: record?.id, email: email,
      newEmail: newEmail, time: now)
    code.isProved = kind == .recoverEmail && record?.isEmailVerified == true
    let shown = MailedCode.Shown(code: text, link: link)
    if policy.isEmulator { code.shown = shown }
    try dropOldCodes(of: code.owner)
    draft.codes[code.hash] = code
    if isMailed {
      let recipient = kind == .verifyAndChangeEmail ? newEmail ?? email : email
      // Others read no text that a user chose.
      let isOwn = record?.isEmailVerified == true && record?.email == recipient
      mails.append(
        AccountMail(
          kind: kind, recipient: recipient, oldEmail: recipient == email ? nil : email,
          newEmail: newEmail, displayName: isOwn ? record?.displayName : nil, link: link,
          code: text))
    }
    return shown
  }

  /// Drops the codes of a user that have expired, and the oldest ones if there are too many.
  private mutating func dropOldCodes(of owner: String) throws(IdentityStop) {
    var open = try reader.codes(of: owner).filter { draft.codes[$0.hash] == nil }
    for code in open where code.isExpired(now: now, isEmulator: policy.isEmulator) {
      draft.codes[code.hash] = .some(nil)
    }
    // An emulator shows all codes until they are used; it has few users.
    if policy.isEmulator { return }
    open.removeAll { draft.codes[$0.hash] != nil }
    open.sort { ($0.time, $0.hash) < ($1.time, $1.hash) }
    // Whoever has taken an account over must not push the codes out that take it back.
    let recoveries = open.filter { $0.kind == .recoverEmail }
    for code in recoveries.dropFirst(IdentityPolicy.codesMax - 1) {
      draft.codes[code.hash] = .some(nil)
    }
    open.removeAll { $0.kind == .recoverEmail }
    for code in open.dropLast(IdentityPolicy.codesMax - 1) { draft.codes[code.hash] = .some(nil) }
  }

  /// The code with a text.
  ///
  /// - Throws: `IdentityStop` (`INVALID_OOB_CODE`, `EXPIRED_OOB_CODE`).
  func code(_ text: String) throws(IdentityStop) -> MailedCode {
    guard let code = try reader.code(SecretHash.of(text)) else {
      throw .refused("INVALID_OOB_CODE")
    }
    if code.isExpired(now: now, isEmulator: policy.isEmulator) {
      throw .refused("EXPIRED_OOB_CODE")
    }
    return code
  }

  /// The account that a code is about.
  ///
  /// - Throws: `IdentityStop` (`INVALID_OOB_CODE`, `USER_DISABLED`).
  func owner(of code: MailedCode) throws(IdentityStop) -> AccountRecord {
    guard let id = code.account, let record = try account(id) else {
      throw .refused("INVALID_OOB_CODE")
    }
    if record.isDisabled { throw .refused("USER_DISABLED") }
    return record
  }

  // MARK: Sending

  /// Source: authentication, section 4.5.
  mutating func sendCode() throws(IdentityStop) -> IdentityAnswer {
    guard let type = try fields.filled("requestType"), type != "OOB_REQ_TYPE_UNSPECIFIED" else {
      throw .refused("MISSING_REQ_TYPE")
    }
    guard let kind = MailedCode.Kind(rawValue: type), kind != .recoverEmail else {
      throw .refused("INVALID_REQ_TYPE : Unsupported request parameters.")
    }
    try checkContinueURL()
    let returnsLink = try fields.flag("returnOobLink") ?? false
    if returnsLink, !context.isPrivileged { throw .refused("INSUFFICIENT_PERMISSION") }
    guard let (record, email, newEmail) = try addressee(kind) else {
      // No account has the address, which the answer hides.
      let email = JSONMember("email", .string(try fields.text("email") ?? ""))
      return IdentityAnswer([IdentityDecider.kind("GetOobConfirmationCodeResponse"), email])
    }
    if record?.isDisabled == true {
      let hidesEmails = try hidesEmails()
      // Whoever proves the address by an ID token may know.
      let isHidden = (kind == .passwordReset || kind == .emailSignIn) && hidesEmails
      if !isHidden { throw .refused("USER_DISABLED") }
      return IdentityAnswer(codeMembers(email, nil))
    }
    let shown = try issue(
      kind, to: record, email: email, newEmail: newEmail, isMailed: !returnsLink)
    return IdentityAnswer(codeMembers(email, returnsLink ? shown : nil))
  }

  private func codeMembers(_ email: String, _ shown: MailedCode.Shown?) -> [JSONMember] {
    var members = MemberList()
    members.add("email", email)
    members.add("oobCode", shown?.code)
    members.add("oobLink", shown?.link)
    return [IdentityDecider.kind("GetOobConfirmationCodeResponse")] + members.all
  }

  /// The account for a code, its address and the new one; nil if there is none, which is hidden.
  private func addressee(
    _ kind: MailedCode.Kind
  ) throws(IdentityStop) -> (AccountRecord?, String, String?)? {
    switch kind {
    case .passwordReset:
      let email = try requestedEmail()
      if let record = try account(email: email) { return (record, record.email ?? email.text, nil) }
      if try hidesEmails() { return nil }
      throw .refused("EMAIL_NOT_FOUND")
    case .emailSignIn:
      if !(try settings().allowsEmailLinks) { throw .refused("OPERATION_NOT_ALLOWED") }
      let email = try requestedEmail()
      let record = try account(email: email)
      return (record, record?.email ?? email.text, nil)
    case .verifyEmail:
      let record = try requester()
      guard let email = record.email else { throw .refused("MISSING_EMAIL") }
      return (record, email, nil)
    case .verifyAndChangeEmail:
      guard let text = try fields.filled("newEmail") else { throw .refused("MISSING_NEW_EMAIL") }
      let newEmail = try checked(email: text)
      let record = try requester(isRecent: true)
      guard let email = record.email else { throw .refused("MISSING_EMAIL") }
      try checkIsFree(email: newEmail)
      return (record, email, newEmail.text)
    case .recoverEmail: throw .refused("INVALID_REQ_TYPE : Unsupported request parameters.")
    }
  }

  private func requestedEmail() throws(IdentityStop) -> EmailAddress {
    guard let email = try fields.filled("email") else { throw .refused("MISSING_EMAIL") }
    return try checked(email: email)
  }

  /// The account that asks for a code; an administrator may name it by its address.
  private func requester(isRecent: Bool = false) throws(IdentityStop) -> AccountRecord {
    if context.isPrivileged, fields.value("idToken") == nil {
      let email = try requestedEmail()
      guard let record = try account(email: email) else { throw .refused("USER_NOT_FOUND") }
      return record
    }
    guard let token = try fields.filled("idToken") else { throw .refused("INVALID_ID_TOKEN") }
    let (record, claims) = try holder(of: token)
    if isRecent { try checkIsRecent(claims, record) }
    return record
  }

  /// True if a text is an absolute address of the web or of an application.
  static func isAbsolute(_ text: String) -> Bool {
    guard text.utf8.count <= IdentityPolicy.urlBytesMax,
      text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }),
      let colon = text.firstRange(of: "://")
    else { return false }
    let scheme = text[..<colon.lowerBound]
    return scheme.first?.isLetter == true
      && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
      && colon.upperBound < text.endIndex
  }

  /// Checks the address to which a mailed link leads on.
  ///
  /// - Throws: `IdentityStop` (`INVALID_CONTINUE_URI`, `UNAUTHORIZED_DOMAIN`).
  private func checkContinueURL() throws(IdentityStop) {
    guard let text = try fields.text("continueUrl") else { return }
    guard IdentityDecider.isAbsolute(text) else {
      throw .refused("INVALID_CONTINUE_URI : ((continueUrl) is not an absolute address)")
    }
    if policy.isEmulator { return }
    let isWeb = text.hasPrefix("https://") || text.hasPrefix("http://")
    guard isWeb, let host = IdentityDecider.host(of: text),
      host == "localhost" || policy.continueHosts.contains(host)
    else {
      throw .refused("UNAUTHORIZED_DOMAIN : The domain of continueUrl is not allowed here")
    }
  }

  /// The host of an absolute address, in small letters.
  package static func host(of text: String) -> String? {
    // For some a backslash ends the host, for others it is part of the name before an @.
    if text.contains("\\") { return nil }
    guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    // What stands before an @ is a name of a user.
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    if place.hasPrefix("[") { return place.prefix { $0 != "]" }.lowercased() + "]" }
    let host = place.prefix { $0 != ":" }.lowercased()
    return host.isEmpty ? nil : host
  }

  // MARK: Using

  /// Source: authentication, section 4.6.
  mutating func resetPassword() throws(IdentityStop) -> IdentityAnswer {
    guard let text = try fields.filled("oobCode") else { throw .refused("MISSING_OOB_CODE") }
    let code = try code(text)
    guard let password = try fields.filled("newPassword") else {
      return IdentityAnswer(resetMembers(code))
    }
    guard code.kind == .passwordReset else { throw .refused("INVALID_OOB_CODE") }
    if !(try settings().allowsPasswords) { throw .refused("OPERATION_NOT_ALLOWED") }
    try check(password: password)
    var record = try owner(of: code)
    guard record.email == code.email else { throw .refused("INVALID_OOB_CODE") }
    let isNew = try isOfAnother(record)
    if isNew { record = try parted(record) }
    try set(password: password, of: &record)
    // The mail proves the address, and nothing proves the others any more.
    record.isEmailVerified = true
    record.otherProviders = []
    draft.codes[code.hash] = .some(nil)
    put(record)
    provenAccount = record.id
    let told = [JSONMember("localId", .string(record.id)), JSONMember("isNewUser", true)]
    return IdentityAnswer(resetMembers(code) + (isNew ? told : []))
  }

  private func resetMembers(_ code: MailedCode) -> [JSONMember] {
    var members = MemberList()
    members.add("requestType", code.kind.rawValue)
    if code.kind != .emailSignIn { members.add("email", code.email) }
    members.add("newEmail", code.newEmail)
    return [IdentityDecider.kind("ResetPasswordResponse")] + members.all
  }

  /// Applies a code of `accounts:update`.
  mutating func applyCode(_ text: String) throws(IdentityStop) -> IdentityAnswer {
    let code = try code(text)
    var record = try owner(of: code)
    draft.codes[code.hash] = .some(nil)
    var grant: TokenGrant?
    switch code.kind {
    case .verifyEmail:
      guard record.email == code.email else { throw .refused("INVALID_OOB_CODE") }
      record.isEmailVerified = true
    case .verifyAndChangeEmail:
      guard record.email == code.email, let email = code.newEmail else {
        throw .refused("INVALID_OOB_CODE")
      }
      try checkIsFree(email: EmailAddress(email), for: record.id)
      let claims = try claims(ofHolder: record.id)
      (record.email, record.isEmailVerified) = (email, true)
      try endSessions(of: &record)
      if let claims { grant = try newGrant(record, replacing: claims) }
    case .recoverEmail:
      try takeBack(EmailAddress(code.email), for: record.id)
      (record.email, record.isEmailVerified) = (code.email, true)
      if record.initialEmail == code.email { record.initialEmail = nil }
      try replaceCredentials(of: &record)
      try endSessions(of: &record)
      try dropTakeBacks(after: code)
    case .passwordReset, .emailSignIn: throw .refused("INVALID_OOB_CODE")
    }
    // A grant has put the record.
    if grant == nil { put(record) }
    provenAccount = record.id
    return IdentityAnswer(updateMembers(record, newEmail: nil), grant: grant)
  }

  /// The claims of the ID token that a request shows with a code, if it is one of the code's account.
  ///
  /// The code alone allows the change: another token is no error, and gets no new tokens.
  private func claims(ofHolder id: String) throws(IdentityStop) -> JSONValue? {
    guard let token = try fields.filled("idToken") else { return nil }
    do throws(IdentityStop) {
      let (record, claims) = try holder(of: token)
      // In an expression `nil` would be JSON's null.
      guard record.id == id else { return nil }
      return claims
    } catch {
      if case .error = error { return nil }
      throw error
    }
  }

  /// Makes the tokens of a session that goes on after a change that ended all.
  private mutating func newGrant(
    _ record: AccountRecord, replacing claims: JSONValue
  ) throws(IdentityStop) -> TokenGrant {
    let provider = claims["firebase"]?["sign_in_provider"]?.string ?? "password"
    return try grant(record, provider: provider, authTime: claims["auth_time"].time)
  }

  /// Makes an address free for the account that had it, and whose owner has proven by the code that it is
  /// theirs: an account that has it since, without such a proof, loses it.
  ///
  /// - Throws: `IdentityStop` (`EMAIL_EXISTS`) if another account has proven it too.
  private mutating func takeBack(
    _ email: EmailAddress, for id: String
  ) throws(IdentityStop) {
    guard var other = try account(email: email), other.id != id else { return }
    if other.isEmailVerified { throw .refused("EMAIL_EXISTS") }
    try release(&other)
  }

  /// Replaces the password of an account that is given back to its owner, by that of the request or by none: whoever
  /// changed the address knew the present one, or has set it.
  ///
  /// - Throws: `IdentityStop` (`WEAK_PASSWORD`, `OPERATION_NOT_ALLOWED`).
  private mutating func replaceCredentials(
    of record: inout AccountRecord
  ) throws(IdentityStop) {
    if let password = try fields.filled("password") {
      if !(try settings().allowsPasswords) { throw .refused("OPERATION_NOT_ALLOWED") }
      try check(password: password)
      record.password = try hash(of: password)
      record.passwordTime = now
    } else if !policy.isEmulator {
      // An emulator's passwords stay, as the official emulator's do.
      (record.password, record.passwordTime) = (nil, nil)
    }
    if !policy.isEmulator { record.otherProviders = [] }
  }

  /// Takes the address from an account, and with it the password and the sessions.
  private mutating func release(_ record: inout AccountRecord) throws(IdentityStop) {
    // Without an address there is no sign-in by password.
    (record.email, record.password, record.passwordTime) = (nil, nil, nil)
    record.hasEmailLink = false
    try endSessions(of: &record)
    put(record)
  }

  /// True if an account has an address that it has not proved in place of one that it had proved, and that can
  /// still be taken back.
  ///
  /// Then the account is of the owner of the former one, and whoever reads the mails of the present one without
  /// being signed in is another person, as far as anybody knows.
  func isOfAnother(_ record: AccountRecord) throws(IdentityStop) -> Bool {
    if policy.isEmulator || record.isEmailVerified { return false }
    return try reader.codes(of: record.id).contains { code in
      code.kind == .recoverEmail && code.isProved && !code.isExpired(now: now, isEmulator: false)
    }
  }

  /// Takes the address from an account of another person; returns a new account with it, for whoever has proved it.
  mutating func parted(_ record: AccountRecord) throws(IdentityStop) -> AccountRecord {
    var other = record
    try release(&other)
    var own = AccountRecord(id: try newID())
    (own.email, own.creationTime, own.epoch) = (record.email, now, newEpoch(after: nil))
    return own
  }

  /// Drops the codes that take later changes back than the one that was.
  private mutating func dropTakeBacks(after used: MailedCode) throws(IdentityStop) {
    for code in try reader.codes(of: used.owner)
    where code.hash != used.hash && code.kind == .recoverEmail && code.time >= used.time {
      draft.codes[code.hash] = .some(nil)
    }
  }
}
