import RunnelBase

// What is owed to the owners of accounts whose address, password or sessions change: see `CredentialRoad`.

extension IdentityDecider {
  /// The road of the request.
  ///
  /// - Throws: `IdentityStop` if a field is of a wrong kind.
  func road() throws(IdentityStop) -> CredentialRoad {
    let hasToken = try fields.filled("idToken") != nil
    // An administrator may send the token of a user.
    let isAdministrator = context.isPrivileged && fields.value("idToken") == nil
    switch call.operation {
    case .signUp: return context.isPrivileged ? .administrator : hasToken ? .tokenSignUp : .none
    case .create: return .administrator
    case .signInWithEmailLink: return hasToken ? .tokenLink : .mailedLink
    case .update:
      if let code = try fields.filled("oobCode") { return try road(ofCode: code) }
      return isAdministrator ? .administrator : .tokenUpdate
    case .delete: return isAdministrator ? .replacement : .tokenDeletion
    case .sendOobCode: return isAdministrator ? .administrator : .changeRequest
    case .resetPassword: return .resetCode
    case .action: return try fields.filled("oobCode").map(road(ofCode:)) ?? .none
    case .batchCreate, .batchDelete, .wipe: return .replacement
    case .signInWithPassword, .signInWithCustomToken, .lookup, .createAuthUri, .refresh, .project,
      .batchGet, .query, .createSessionCookie, .getConfig, .updateConfig, .ready, .emulatorConfig,
      .updateEmulatorConfig, .mailedCodes, .verificationCodes, .publicKeys:
      return .none
    }
  }

  private func road(ofCode text: String) throws(IdentityStop) -> CredentialRoad {
    switch try reader.code(SecretHash.of(text))?.kind {
    case .verifyEmail: .verificationCode
    case .verifyAndChangeEmail: .changeCode
    case .recoverEmail: .takeBackCode
    case .passwordReset: .resetCode
    case .emailSignIn: .mailedLink
    case nil: .none
    }
  }

  /// Does what is owed on the road of the request, once all else is decided.
  ///
  /// - Throws: `IdentityStop` (`CREDENTIAL_TOO_OLD_LOGIN_AGAIN`).
  mutating func settle() throws(IdentityStop) {
    if draft.isWiping { return }
    let duties = try road().duties
    for (id, changed) in draft.accounts.sorted(by: { $0.key < $1.key }) {
      guard let old = try reader.account(id) else { continue }
      if duties.needsRecentSignIn, AccountChange(old, changed).isOfCredentials {
        try checkIsRecent(old)
      }
      guard var record = changed else { continue }
      if endsCodes(AccountChange(old, record)) { try dropCodes(of: record) }
      if record.email != old.email { try tell(of: &record, old, duties) }
    }
    guard duties.needsRecentSignIn else { return }
    for code in draft.codes.values {
      guard let code, code.kind == .verifyAndChangeEmail, let id = code.account,
        let record = try account(id)
      else { continue }
      try checkIsRecent(record)
    }
  }

  /// Checks that the user of the request's ID token has signed in a moment ago.
  private func checkIsRecent(_ record: AccountRecord) throws(IdentityStop) {
    let claims = try fields.filled("idToken").flatMap { context.claims($0) }
    try checkIsRecent(claims ?? .null, record)
  }

  /// True for a change after which the codes that were mailed before must not count: whoever asked for them may
  /// be another person.
  private func endsCodes(_ change: AccountChange) -> Bool {
    // An emulator's codes stay valid, as the official emulator's do.
    !policy.isEmulator && (change.endsSessions || change.disables || change.provesAddress)
  }

  /// Drops the codes that could change the address or the password of an account.
  ///
  /// Those stay that give the account back to an owner who had proved an earlier address.
  private mutating func dropCodes(of record: AccountRecord) throws(IdentityStop) {
    for code in try reader.codes(of: record.id) {
      switch code.kind {
      case .recoverEmail where code.isProved, .verifyEmail: continue
      case .recoverEmail, .passwordReset, .emailSignIn, .verifyAndChangeEmail:
        draft.codes[code.hash] = .some(nil)
      }
    }
  }

  /// Tells the owner of an address that the account has it no more.
  private mutating func tell(
    of record: inout AccountRecord, _ old: AccountRecord, _ duties: CredentialRoad.Duties
  ) throws(IdentityStop) {
    guard let address = old.email else { return }
    if policy.isEmulator {
      let isTold = duties.isToldByEmulator && record.email != nil && old.initialEmail == nil
      guard isTold else { return }
    }
    switch duties.news {
    case .nothing: return
    case .takeBack:
      record.initialEmail = record.initialEmail ?? address
      put(record)
      // Who has not proved the address may be another person than the one who reads its mails.
      if old.isEmailVerified || policy.isEmulator {
        try issue(.recoverEmail, to: old, email: address, newEmail: record.email)
        return
      }
    case .notice: break
    }
    let isTakenBack = try road() == .takeBackCode
    mails.append(AccountMail(notice: isTakenBack ? .takenBack : .replaced, to: address))
  }
}

/// The change of an account by one request.
private struct AccountChange {
  /// True if the address or the password is another, or the account is removed.
  let isOfCredentials: Bool
  /// True if the sessions from before do not count any more.
  let endsSessions: Bool
  let disables: Bool
  /// True if the address is known to be the user's from now on.
  let provesAddress: Bool

  init(_ old: AccountRecord, _ new: AccountRecord?) {
    isOfCredentials = new?.email != old.email || new?.password != old.password || new == nil
    endsSessions = new?.epoch != old.epoch
    disables = new?.isDisabled == true && !old.isDisabled
    provesAddress = new?.isEmailVerified == true && !old.isEmailVerified
  }
}
