import RunnelBase

/// The decision of one request: what is answered, written and mailed.
///
/// A decision is a function of the stored accounts, the request, the time and random numbers. When
/// it needs a password hashed or checked, it stops and says so; the request is then decided again
/// from its beginning, with the results. So each decision is made from the accounts as they are
/// when it is written, whatever happened while the password was checked.
package struct IdentityDecider {
  let call: IdentityCall
  let context: IdentityContext
  let reader: any IdentityReader
  var random: any RandomNumberGenerator
  package internal(set) var draft = IdentityDraft()
  var mails: [AccountMail] = []
  var provenAccount: String?

  var fields: CallFields { call.fields }
  var policy: IdentityPolicy { context.policy }
  var now: Int64 { context.now }
  var seconds: Int64 { IdentityTime.seconds(context.now) }

  package init(
    _ call: IdentityCall, _ context: IdentityContext, _ reader: any IdentityReader,
    random: any RandomNumberGenerator
  ) {
    (self.call, self.context, self.reader, self.random) = (call, context, reader, random)
  }

  /// Decides the request.
  ///
  /// - Throws: `IdentityStop` with the error, the work that has to be done first, or the failure of
  ///   the storage.
  package mutating func decide() throws(IdentityStop) -> IdentityDecision {
    let answer = try answer()
    try settle()
    owe()
    return IdentityDecision(
      answer: answer, draft: draft, mails: mails, provenAccount: provenAccount)
  }

  private mutating func answer() throws(IdentityStop) -> IdentityAnswer {
    try checkAccess()
    switch call.operation {
    case .signUp: return try context.isPrivileged ? create() : signUp()
    case .create: return try create()
    case .signInWithPassword: return try signInWithPassword()
    case .signInWithCustomToken: return try signInWithCustomToken()
    case .signInWithEmailLink: return try signInWithEmailLink()
    case .lookup: return try lookup()
    case .update: return try update()
    case .delete: return try delete()
    case .sendOobCode: return try sendCode()
    case .resetPassword: return try resetPassword()
    case .createAuthUri: return try signInMethods()
    case .refresh: return try refresh()
    case .project: return project()
    case .batchGet: return try batchGet()
    case .batchCreate: return try batchCreate()
    case .batchDelete: return try batchDelete()
    case .query: return try query()
    case .createSessionCookie: return try createSessionCookie()
    case .getConfig: return try configuration()
    case .updateConfig: return try updateConfiguration()
    case .ready: return ready()
    case .wipe: return wipe()
    case .emulatorConfig: return try emulatorConfiguration()
    case .updateEmulatorConfig: return try updateEmulatorConfiguration()
    case .mailedCodes: return try mailedCodes()
    case .verificationCodes: return IdentityAnswer([JSONMember("verificationCodes", [])])
    case .action: return try clickedLink()
    case .publicKeys: return IdentityAnswer()
    }
  }

  /// Checks that the caller may use the operation.
  private func checkAccess() throws(IdentityStop) {
    switch call.operation {
    case .ready, .wipe, .emulatorConfig, .updateEmulatorConfig, .mailedCodes, .verificationCodes,
      .action:
      if !policy.isEmulator { throw .error(.unknownURL) }
      return
    case .publicKeys: return
    default: break
    }
    if context.isPrivileged { return }
    if case .bearer = call.credential { throw .error(.badCredential) }
    if call.isAdministrative { throw .error(.unauthenticated) }
    if !call.hasKey { throw .error(.missingKey) }
  }

  // MARK: Records, with the changes of this decision

  func account(_ id: String) throws(IdentityStop) -> AccountRecord? {
    if let changed = draft.accounts[id] { return changed }
    return draft.isWiping ? nil : try reader.account(id)
  }

  /// The account with an address: the one with the given spelling, if files of older versions have several.
  func account(email: EmailAddress) throws(IdentityStop) -> AccountRecord? {
    for spelling in email.spellings {
      let drafted = draft.accounts.values.first {
        $0?.email?.utf8.elementsEqual(spelling.utf8) == true
      }
      let record = try found(drafted ?? nil) { (reader) throws(IdentityStop) in
        try reader.account(email: spelling)
      }
      if let record { return record }
    }
    return nil
  }

  func account(phone: String) throws(IdentityStop) -> AccountRecord? {
    try found(draft.accounts.values.first { $0?.phoneNumber == phone } ?? nil) {
      (reader) throws(IdentityStop) in try reader.account(phone: phone)
    }
  }

  /// The account of the draft, or the stored one if the draft does not touch it.
  private func found(
    _ drafted: AccountRecord?,
    _ stored: (any IdentityReader) throws(IdentityStop) -> AccountRecord?
  ) throws(IdentityStop) -> AccountRecord? {
    if let drafted { return drafted }
    guard !draft.isWiping, let record = try stored(reader), draft.accounts[record.id] == nil else {
      return nil
    }
    return record
  }

  mutating func put(_ record: AccountRecord) { draft.accounts[record.id] = record }

  func sessions(of account: String) throws(IdentityStop) -> [RefreshSession] {
    if let changed = draft.sessions[account] { return changed }
    return draft.isWiping ? [] : try reader.sessions(of: account)
  }

  /// Removes an account, its sessions and its codes; its tokens are not valid any more.
  mutating func remove(_ record: AccountRecord) throws(IdentityStop) {
    draft.accounts[record.id] = .some(nil)
    draft.sessions[record.id] = []
    draft.revocations[record.id] = seconds + 1
    for code in try reader.codes(of: record.id) { draft.codes[code.hash] = .some(nil) }
  }

  /// Ends the sessions and tokens of an account, because its credentials changed; other changes are
  /// made by the caller.
  mutating func endSessions(of record: inout AccountRecord) throws(IdentityStop) {
    record.validSince = seconds
    record.epoch = newEpoch(after: record.epoch)
    if try account(record.id) != nil { endTokens(of: record) }
    // An emulator's refresh tokens and codes stay valid, as the official emulator's do.
    if !policy.isEmulator { draft.sessions[record.id] = [] }
  }

  /// Ends the tokens of an account that are not valid any more: those from before its sessions were
  /// ended, and all that were issued by now while it is disabled.
  mutating func endTokens(of record: AccountRecord) {
    let since = record.validSince ?? 0
    draft.revocations[record.id] = record.isDisabled ? max(since, seconds + 1) : since
    draft.epochs[record.id] = record.epoch
  }

  /// A new epoch of an account: later than its last one, and than those of a removed account with
  /// its id; nil for an emulator, whose tokens anybody can make.
  func newEpoch(after old: Int64?) -> Int64? {
    policy.isEmulator ? nil : max((old ?? 0) + 1, now)
  }

  // MARK: Settings

  func settings() throws(IdentityStop) -> IdentitySettings {
    if let settings = draft.settings { return settings }
    return try reader.settings()
  }

  /// True if answers hide which addresses have accounts.
  func hidesEmails() throws(IdentityStop) -> Bool {
    try settings().hidesEmails ?? !policy.isEmulator
  }

  // MARK: Work with passwords

  /// True if a password fits a hash; nil takes as long, and is false.
  func isRight(_ password: String, _ hash: PasswordHash?) throws(IdentityStop) -> Bool {
    let work = PasswordWork.verify(password, hash)
    guard case .verified(let isRight)? = context.done[work] else { throw .work([work]) }
    return isRight
  }

  /// The hash of a new password.
  func hash(of password: String) throws(IdentityStop) -> PasswordHash {
    let work = PasswordWork.make(password)
    guard case .made(let hash)? = context.done[work] else { throw .work([work]) }
    return hash
  }

  // MARK: Random texts

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// A random text of letters and digits, and with `isForURL` also `-` and `_`.
  mutating func randomText(_ count: Int, isForURL: Bool = true) -> String {
    let letters = IdentityDecider.letters.prefix(isForURL ? 64 : 62)
    var text: [UInt8] = []
    for _ in 0..<count {
      text.append(letters[Int(random.next(upperBound: UInt64(letters.count)))])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
