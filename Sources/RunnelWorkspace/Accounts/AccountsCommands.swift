package import RunnelTerminal

extension KeymapContext {
  /// The context of the list of accounts.
  package static let accounts = KeymapContext("accounts")
}

extension ActionID {
  static let accountsAnonymous = ActionID("accounts.anonymous")
  static let accountsDelete = ActionID("accounts.delete")
  static let accountsEmail = ActionID("accounts.email")
  static let accountsForgot = ActionID("accounts.forgot")
  static let accountsOpen = ActionID("accounts.open")
  static let accountsPassword = ActionID("accounts.password")
  static let accountsSignIn = ActionID("accounts.signIn")
  static let accountsSignOut = ActionID("accounts.signOut")
  static let accountsSignUp = ActionID("accounts.signUp")
  static let accountsUpgrade = ActionID("accounts.upgrade")
  static let accountsUse = ActionID("accounts.use")
  static let accountsVerify = ActionID("accounts.verify")
}

/// The commands of the list of accounts.
package enum AccountsCommands {
  package static let table = CommandTable(
    .accounts, "With this account", over: .belowPage, takesCounts: true, hints: hints
  ) {
    Command(
      .accountsUse, "show", "show the database as this account", keys: ["Enter", "l", "Right"],
      needs: .nothing,
      disabled: { AccountsCommands.reasonNotUsed($0) }
    ) { state, _ in AccountsScreen.useAccount(&state) }
    Command(.accountsSignIn, "sign in", "sign in…", keys: ["s"], needs: .nothing) { state, _ in
      FormScreen.openAccountForm(&state, .signIn)
    }
    Command(.accountsSignUp, "new account", "make a new account…", keys: ["a"], needs: .nothing) {
      state, _ in
      FormScreen.openAccountForm(&state, .signUp)
    }
    Command(
      .accountsAnonymous, "without address", "be a new user without an address…", keys: ["o"],
      needs: .nothing
    ) { state, _ in AccountsScreen.confirmAnonymous(&state) }
    Command(
      .accountsForgot, "forgot password", "get a message that sets a new password…", keys: ["f"],
      needs: .nothing
    ) { state, _ in
      FormScreen.openAccountForm(&state, .sendReset, as: AccountsScreen.accountAtHand(state))
    }
    Command(
      .accountsSignOut, "sign out", "sign out…", keys: ["d", "Del"], needs: .nothing,
      disabled: { AccountsCommands.reasonNoAccount($0) }
    ) { state, _ in AccountsScreen.confirmSignOut(&state) }
    own
    GlobalCommands.stepBack.inner("back", "go back", keys: ["h", "Left"])
    SharedCommands.searching
  }

  /// The commands that change the account that is shown.
  private static let own: [Command] = [
    Command(
      .accountsUpgrade, "give address", "give the anonymous account that is shown an address…",
      keys: ["u"], needs: .nothing, disabled: { AccountsCommands.reasonNotUpgraded($0) }
    ) { state, _ in FormScreen.openAccountForm(&state, .upgrade) },
    Command(
      .accountsPassword, "password", "change the password of the account that is shown…",
      keys: ["p"], needs: .nothing, disabled: { AccountsCommands.reasonNoPassword($0) }
    ) { state, _ in FormScreen.openAccountForm(&state, .changePassword) },
    Command(
      .accountsEmail, "e-mail", "change the e-mail address of the account that is shown…",
      keys: ["e"], needs: .nothing, disabled: { AccountsCommands.reasonNoPassword($0) }
    ) { state, _ in FormScreen.openAccountForm(&state, .changeEmail) },
    Command(
      .accountsVerify, "confirm", "get a message that confirms the e-mail address…", keys: ["c"],
      needs: .nothing,
      disabled: { AccountsCommands.reasonNotConfirmed($0) }
    ) { state, _ in AccountsScreen.sendVerification(&state) },
    Command(
      .accountsDelete, "delete", "delete the account that is shown, for ever…", keys: ["X"],
      needs: .nothing,
      disabled: { AccountsCommands.reasonNotChanged($0) }
    ) { state, _ in AccountsScreen.openDeletion(&state) },
  ]

  /// The command that opens the list.
  static let open = Command(
    .accountsOpen, "accounts", "sign in, change, sign out",
    keys: ["A"], needs: .nothing, disabled: { AccountsCommands.reasonNotOpened($0) }
  ) { state, _ in AccountsScreen.openAccounts(&state) }.keepingAwaitedRow

  @Sendable
  private static func hints(_: AppState, _: AtHand) -> [CommandHint] {
    [
      CommandHint(.accountsUse), CommandHint(.accountsSignIn), CommandHint(.accountsSignUp),
      CommandHint(.accountsForgot), CommandHint(.accountsSignOut), CommandHint(.stepBack),
      // Where there is room.
      CommandHint(.accountsPassword), CommandHint(.accountsEmail), CommandHint(.accountsVerify),
      CommandHint(.accountsUpgrade), CommandHint(.accountsDelete),
    ]
  }
}

// MARK: - Disabled reasons

extension AccountsCommands {
  private static func screen(_ state: AppState) -> AccountsScreen? {
    if case .accounts(let screen)? = state.layers.last { screen } else { nil }
  }

  static func reasonNotOpened(_ state: AppState) -> String? {
    guard state.database.accounts != nil else {
      return "no accounts here: a file, or opened by a token"
    }
    return screen(state) != nil ? "these are the accounts" : nil
  }

  /// The reason why there is no account at the cursor, or nil if there is one.
  static func reasonNoAccount(_ state: AppState) -> String? {
    guard let screen = screen(state), screen.cursorAccount == nil else { return nil }
    if screen.isAtNobody {
      return state.phrase("nobody is signed in there", .accountsUse, "shows the writes")
    }
    return screen.facts.listed.isEmpty
      ? state.phrase("nobody is signed in", .accountsSignIn, "signs in") : "move to an account"
  }

  static func reasonNotUsed(_ state: AppState) -> String? {
    if screen(state)?.isAtNobody == true { return nil }
    if let reason = reasonNoAccount(state) { return reason }
    if let screen = screen(state), let account = screen.cursorAccount, account.isAnonymous,
      screen.facts.absence(of: account) != nil
    {
      return state.phrase("nobody can sign in to it again", .accountsSignOut, "gives up its writes")
    }
    guard let screen = screen(state), screen.cursorAccount?.id == screen.facts.current?.id else {
      return nil
    }
    if screen.facts.isDeleted { return "the account was deleted" }
    if screen.facts.isReplaced { return "another account has its address now" }
    return screen.facts.reasonEnded == nil ? "the database is shown as this account" : nil
  }

  static func reasonNotUpgraded(_ state: AppState) -> String? {
    if let reason = reasonNotChanged(state) { return reason }
    guard let account = state.database.accounts?.current, !account.isAnonymous else { return nil }
    return "this account is not anonymous"
  }

  /// The reason why neither the password nor the address can be changed, which both take the present password.
  static func reasonNoPassword(_ state: AppState) -> String? {
    if let reason = reasonNotChanged(state) { return reason }
    guard let account = state.database.accounts?.current, account.email == nil else { return nil }
    let words = "the account has no address and no password"
    return account.isAnonymous ? state.phrase(words, .accountsUpgrade, "gives it both") : words
  }

  static func reasonNotChanged(_ state: AppState) -> String? {
    guard let facts = state.database.accounts else { return nil }
    switch facts.session {
    case .nobody: return state.phrase("no account is shown", .accountsSignIn, "signs in")
    case .ended where facts.isDeleted: return "the account was deleted"
    case .ended:
      return state.phrase("the session has ended", .accountsSignIn, "signs in again")
    case .signedIn: return nil
    }
  }

  static func reasonNotConfirmed(_ state: AppState) -> String? {
    if let reason = reasonNotChanged(state) { return reason }
    guard let account = state.database.accounts?.current else { return nil }
    if account.email == nil {
      let words = "the account has no e-mail address"
      return account.isAnonymous ? state.phrase(words, .accountsUpgrade, "gives it one") : words
    }
    if !state.database.services.isEmpty { return "a Feathers server confirms no addresses" }
    if AccountsScreen.changesAddress(state) { return nil }
    return account.isVerified ? "the address is confirmed" : nil
  }
}
