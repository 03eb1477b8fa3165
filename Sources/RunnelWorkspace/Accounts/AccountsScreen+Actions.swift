import RunnelBase
import RunnelStreams
import RunnelTerminal

// The actions of the list of accounts, and the answers to requests for accounts.

extension AccountsScreen {
  /// Whether the accounts are listed on the screen.
  package static func isListed(_ state: AppState) -> Bool {
    state.layers.contains { if case .accounts = $0 { true } else { false } }
  }

  /// Whether the accounts are listed, with nothing over the list.
  package static func isInFront(_ state: AppState) -> Bool {
    if case .accounts? = state.layers.last { true } else { false }
  }

  /// Opens the list, with the cursor on the account that is shown.
  ///
  /// The form to sign in is one key away also if the session has ended: a key for the list that is typed at once must
  /// not go into a hidden field.
  static func openAccounts(_ state: inout AppState) {
    guard let facts = state.database.accounts, !isInFront(state) else { return }
    var screen = AccountsScreen()
    screen.confirmsAddresses = state.database.services.isEmpty
    screen.show(facts, height: state.height)
    state.layers.append(.accounts(screen))
  }

  /// A separator, the keys that open the form to sign in, and what that does, to follow other words; empty if there
  /// are no keys.
  static func signInHint(_ state: AppState, _ deed: String) -> String {
    let signIn = KeyText(state.settings.keymap, [.accounts]).keys(.accountsSignIn)
    guard let signIn, let open = KeyText.listKeys(state).keys(.accountsOpen) else { return "" }
    return " · \(open) \(signIn) \(deed)"
  }

  /// Whether the server refused the list in front, and nobody is signed in: who is nobody may be refused for that.
  static func isListRefusedToNobody(_ state: AppState) -> Bool {
    guard state.database.accounts?.session == .nobody, let list = state.tabs.frontList,
      case .failed(let failure) = list.reach.phase
    else { return false }
    // Servers of trees and of services spell it differently.
    return failure.code.lowercased() == "permission_denied"
  }

  /// Brings open lists up to date.
  static func refreshAccounts(_ state: inout AppState) {
    guard let facts = state.database.accounts else { return }
    for (index, layer) in state.layers.enumerated() {
      guard case .accounts(var screen) = layer else { continue }
      screen.show(facts, height: state.height)
      state.layers[index] = .accounts(screen)
    }
  }

  /// The account under the cursor of the list in front, or nil.
  static func accountAtHand(_ state: AppState) -> AccountFacts.Account? {
    if case .accounts(let screen)? = state.layers.last { screen.cursorAccount } else { nil }
  }

  /// Sends a request to the account service and records its purpose; returns the id that the answer
  /// will carry.
  @discardableResult
  static func ask(
    _ state: inout AppState, _ request: AccountRequest, for deed: AccountDeed
  ) -> AppRequestID {
    let id = state.requests.add(.account(deed))
    state.effects.append(.account(id, request))
    return id
  }

  /// Shows the database as the account under the cursor, or without one at the row of nobody.
  ///
  /// If the session of the account has ended, or only a new sign-in shows its
  /// data, opens the form to sign in again.
  static func useAccount(_ state: inout AppState) {
    if case .accounts(let screen)? = state.layers.last, screen.isAtNobody {
      // Commands act as before: nobody is signed out.
      let queue = KeyText.listKeys(state).hint(.syncOpen, "lists its writes")
      let news = "the database is shown without an account\(queue)"
      return Leaving.change(&state, to: AccountChange(to: nil, saying: news))
    }
    guard let account = accountAtHand(state), let facts = state.database.accounts else { return }
    if account.id == facts.current?.id { return FormScreen.openAccountForm(&state, .signIn) }
    if facts.absence(of: account) != nil {
      return FormScreen.openAccountForm(&state, .signIn, as: account)
    }
    ask(&state, .use(account.id), for: .use(account.id))
    state.say(.info, "opening the database as \(account.title)")
  }

  /// Asks whether to sign out of the account under the cursor; if it is signed out, whether to give up its writes.
  static func confirmSignOut(_ state: inout AppState) {
    guard let account = accountAtHand(state) else { return }
    let waiting = WaitingWrites(state).entry(of: account)
    if let waiting, isSignedOut(account, waiting, state) {
      return confirmGivingUp(&state, account, waiting)
    }
    var message = [
      StyledLine(state.database.accounts?.title(of: account) ?? account.title)
    ]
    if let waiting { message.append(StyledLine("\(waiting.words): \(waiting.end)", .warn)) }
    if waiting?.fate == .replaced {
      message += [
        StyledLine("another account has the address: if this one has a new address", .warn),
        StyledLine("now, sign in with that; only otherwise give them up", .warn),
      ]
    }
    if account.isAnonymous, waiting?.fate != .deleted {
      let keys = state.phrase("", .accountsUpgrade, "gives it an address")
      message.append(StyledLine("nobody can sign in to this account again\(keys)", .warn))
    }
    let question = Question(
      .signOut(account.id), title: "Sign out", message: message,
      explanation: [
        StyledLine("The copy of the data on this machine stays for the next time.", .muted)
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "sign out", no: "stay")
  }

  /// Whether an account is signed out already, and nothing but its writes is left of it here; so is one whose
  /// session has ended, and to which nobody can sign in again.
  private static func isSignedOut(
    _ account: AccountFacts.Account, _ waiting: WaitingWrites.Entry, _ state: AppState
  ) -> Bool {
    if waiting.absence != nil { return true }
    let facts = state.database.accounts
    let isKept =
      account.id == facts?.current?.id || facts?.accounts.contains { $0.id == account.id } == true
    return !isKept && [.deleted, .neverSent].contains(waiting.fate)
  }

  /// Asks whether to give up the writes of an account that is signed out.
  private static func confirmGivingUp(
    _ state: inout AppState, _ account: AccountFacts.Account, _ waiting: WaitingWrites.Entry
  ) {
    let them = waiting.count == 1 ? "it" : "them"
    var explanation = [
      StyledLine("`runnel sync drop` lists the places, before it asks the same.", .muted)
    ]
    if waiting.fate == .sentLater {
      explanation.insert(StyledLine("A sign-in as this user sends \(them).", .muted), at: 0)
    }
    let question = Question(
      .giveUp(account.id), title: "Give up the writes",
      message: [
        StyledLine(waiting.title),
        StyledLine("\(waiting.words): nothing brings \(them) back then", .warn),
      ],
      explanation: explanation, openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "give up", no: "keep")
  }

  /// Gives up the writes of an account that is signed out.
  static func giveUp(_ state: inout AppState, _ user: String) {
    ask(&state, .giveUp(user), for: .giveUp(user))
    state.say(.info, "giving up the writes")
  }

  static func signOut(_ state: inout AppState, _ user: String) {
    ask(&state, .signOut(user), for: .signOut(user))
    state.say(.info, "signing out")
  }

  /// Opens the form that deletes the account that is shown; one without an address has no password to ask for,
  /// and a question takes its place.
  static func openDeletion(_ state: inout AppState) {
    guard let current = state.database.accounts?.current, current.email == nil else {
      return FormScreen.openAccountForm(&state, .delete)
    }
    var message = [StyledLine(state.database.accounts?.title(of: current) ?? current.title)]
    if let waiting = WaitingWrites(state).entry(of: current) {
      let them = waiting.count == 1 ? "it is" : "they are"
      message.append(StyledLine("\(waiting.words): \(them) never sent then", .warn))
    }
    let question = Question(
      .deleteAccount, title: "Delete the account, for ever", message: message,
      explanation: [StyledLine("What the account wrote stays on the server.", .muted)],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "delete", no: "keep")
  }

  /// Deletes the account that is shown, which has no password.
  static func delete(_ state: inout AppState) {
    ask(&state, .delete(current: nil), for: .delete)
    state.say(.info, AccountDeed.delete.words.progress)
  }

  /// Asks whether to be a new user without an address.
  static func confirmAnonymous(_ state: inout AppState) {
    let question = Question(
      .signInAnonymously, title: "New user without an address",
      message: [StyledLine("a new account is made, and the database is shown as it")],
      explanation: [
        StyledLine("It is known on this machine only, until it gets an address.", .muted)
      ],
      openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "make it", no: "go back")
  }

  /// Signs in as a new user without an address.
  static func signInAnonymously(_ state: inout AppState) {
    ask(&state, .signInAnonymously, for: .signInAnonymously)
    state.say(.info, "signing in")
  }

  /// Requests a message that confirms the address, and opens the form for the code in it; if a code for another
  /// one was sent, which is to replace it, opens the form for that.
  static func sendVerification(_ state: inout AppState) {
    if changesAddress(state) {
      FormScreen.openAccountForm(&state, .applyChange)
      return state.say(.info, "the code is in the message to the new address")
    }
    ask(&state, .sendVerification, for: .sendVerification)
    state.say(.info, "a message is being sent")
  }
}

// MARK: - Answers

extension AccountsScreen {
  /// Whether a code for another address was sent and not used.
  static func changesAddress(_ state: AppState) -> Bool {
    guard let account = state.database.accounts?.current else { return false }
    return state.database.changingAddress == account.id
  }

  /// Shows that a request for an account was done.
  ///
  /// `user` is the id of the user who is signed in by it, or whose account comes next; of a new password, the
  /// address if it is that of a new account now. `isLater` says that the server has not confirmed a sign-out.
  static func finish(
    _ state: inout AppState, _ id: AppRequestID, _ deed: AccountDeed, user: String?,
    isLater: Bool = false
  ) {
    FormScreen.closeAccountForm(&state, of: id)
    let current = state.database.accounts?.current
    let address = current?.email ?? "your address"
    switch deed {
    case .signIn, .signUp, .signInAnonymously:
      guard let user, user == current?.id else {
        return Leaving.change(&state, to: AccountChange(to: user))
      }
      state.say(.info, "signed in again")
    case .use(let user): Leaving.change(&state, to: AccountChange(to: user))
    case .giveUp: state.say(.info, "the writes were given up")
    case .signOut(let gone):
      let end = isLater ? " on this machine: the server has not confirmed it yet" : ""
      guard let current, gone == current.id else {
        return state.say(.info, "\(signedOut)\(end)")
      }
      let news = "\(signedOut) of \(current.title)\(end)"
      Leaving.change(&state, to: AccountChange(to: user, saying: news))
    case .delete:
      let news = "the account \(current?.title ?? "") was deleted"
      Leaving.change(&state, to: AccountChange(to: user, saying: news))
    case .sendReset:
      FormScreen.openAccountForm(&state, .resetPassword)
      state.say(.info, "if there is such an account, a message was sent")
    case .upgrade: state.say(.info, addressGiven)
    case .resetPassword where user != nil:
      state.say(
        .warning,
        "\(user ?? address) belongs to a new account now. The earlier one has no address and no password: the link "
          + "that was sent to its former address takes the address back")
    case .resetPassword where state.database.accounts?.goesOnBySignIn == true:
      sayEndedByPassword(&state)
    case .resetPassword, .changePassword: state.say(.info, passwordChanged)
    case .changeEmail:
      state.database.changingAddress = current?.id
      FormScreen.openAccountForm(&state, .applyChange)
      state.say(.info, "a message was sent to the new address")
    case .sendVerification where current?.isVerified == true:
      state.say(.info, "\(address) is confirmed already")
    case .sendVerification:
      FormScreen.openAccountForm(&state, .applyCode)
      state.say(.info, "a message was sent to \(address)")
    case .applyCode, .applyChange:
      state.database.changingAddress = nil
      state.say(.info, addressConfirmed)
    }
  }

  /// What is said when the password was changed.
  private static let passwordChanged = "the password was changed"
  private static let addressGiven = "the account has an address now"
  private static let addressConfirmed = "the address is confirmed"
  private static let signedOut = "signed out"

  /// Whether that is being said.
  static func saysPasswordChanged(_ state: AppState) -> Bool { says([passwordChanged], state) }

  /// Whether something is being said after which the server wants another credential.
  static func saysChange(_ state: AppState) -> Bool {
    says([passwordChanged, addressGiven, addressConfirmed, signedOut], state)
  }

  private static func says(_ texts: [String], _ state: AppState) -> Bool {
    guard let toast = state.toast, state.now < toast.until else { return false }
    return texts.contains { toast.toast.text.hasPrefix($0) }
  }

  /// Says that the password was changed by a code, and that the session ended.
  static func sayEndedByPassword(_ state: inout AppState) {
    let keys = signInHint(state, "signs in again")
    state.say(.warning, "\(passwordChanged), and the session ended\(keys)")
  }

  /// Shows that a request for an account failed: at the fields of its form, or else as a message.
  static func fail(_ state: inout AppState, _ id: AppRequestID, _ refusal: Refusal) {
    if !FormScreen.refuseAccountForm(&state, of: id, refusal) {
      state.say(.error, refusal.message)
    }
  }
}
