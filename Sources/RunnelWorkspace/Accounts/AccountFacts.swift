package import RunnelBase
import RunnelTerminal

/// The accounts of the user at the server whose database is shown.
package struct AccountFacts: Hashable, Sendable {
  /// An account that is signed in, or was.
  package struct Account: Hashable, Sendable {
    /// The id of the user.
    package var id: String
    /// The e-mail address; nil for none.
    package var email: String?
    /// The name for people; nil for none.
    package var name: String?
    /// Whether the address was confirmed.
    package var isVerified: Bool
    /// Whether it is that of a user who gave no address, and can sign in on this machine only.
    package var isAnonymous = false

    package init(id: String, email: String? = nil, name: String? = nil, isVerified: Bool = false) {
      (self.id, self.email, self.name, self.isVerified) = (id, email, name, isVerified)
    }

    /// The characters of the id of an anonymous user that are shown.
    private static let idLength = 6

    /// The title, and the beginning of the id.
    var titleWithID: String { "\(title) (\(id.prefix(Account.idLength)))" }

    /// The address, or else the name or the id.
    package var title: String {
      email ?? name ?? (isAnonymous ? "anonymous \(id.prefix(Account.idLength))" : id)
    }
  }

  /// The state of the session of the account whose data is shown.
  package enum Session: Hashable, Sendable {
    /// The data is shown without an account.
    case nobody
    case signedIn
    /// The session has ended for this reason; the data is shown from the replica, and writes wait.
    case ended(String)
  }

  /// Why the data of an account is shown only after a new sign-in.
  package enum Absence: String, Hashable, Sendable {
    /// The user signed out.
    case signedOut
    /// The user took this device away.
    case revoked
  }

  /// An account that is not shown, and whose writes wait; it is signed in, or was.
  package struct Waiting: Hashable, Sendable {
    package var account: Account
    /// The number of its writes that wait.
    package var count: Int
    /// Whether the account was deleted.
    package var isDeleted: Bool
    /// Why only a new sign-in shows the data; nil if they can be shown now.
    package var absence: Absence?

    package init(
      _ account: Account, count: Int, isDeleted: Bool = false, _ absence: Absence? = nil
    ) {
      (self.account, self.count) = (account, count)
      (self.isDeleted, self.absence) = (isDeleted, absence)
    }
  }

  /// The accounts that are signed in.
  package var accounts: [Account]
  /// The accounts other than the one that is shown whose writes wait.
  package var waiting: [Waiting] = []
  /// The number of the writes without an account that wait, while an account is shown.
  package var nobodyCount = 0
  /// The number of the writes without an account that were refused, while an account is shown.
  package var nobodyRefusedCount = 0
  /// The account whose data is shown; nil for none.
  package var current: Account?
  /// The state of its session.
  package var session: Session
  /// Whether the session, or the last one if nobody is signed in, has ended because the user took this
  /// device away.
  package var isRevoked = false
  /// The account of the user who took this device away, while nobody is signed in; nil for none.
  ///
  /// It stays known when the user has signed in again, and `isRevoked` is false.
  package var revokedAccount: Account?
  /// Whether the session has ended because the account was deleted: nobody can sign in to it.
  package var isDeleted = false
  /// Whether the session has ended because the account was disabled: nobody can sign in to it until it is
  /// enabled again.
  package var isDisabled = false

  package init(_ accounts: [Account] = [], current: Account? = nil, _ session: Session = .nobody) {
    (self.accounts, self.current, self.session) = (accounts, current, session)
  }

  /// The reason why the session of the account that is shown has ended; nil if it has not.
  var reasonEnded: String? { if case .ended(let reason) = session { reason } else { nil } }

  /// Whether signing in again lets the session go on.
  var goesOnBySignIn: Bool {
    reasonEnded != nil && !isDeleted && !isReplaced && current?.isAnonymous != true
  }

  /// Whether writes without an account wait or were refused, while an account is shown.
  package var tellsOfNobody: Bool { current != nil && nobodyCount + nobodyRefusedCount > 0 }

  /// Whether the session of the account that is shown has ended, and another account has its address now.
  var isReplaced: Bool { reasonEnded != nil && current.map { isReplaced($0) } ?? false }

  /// Whether an account is signed in.
  func isSignedIn(_ account: Account) -> Bool { accounts.contains { $0.id == account.id } }

  /// Whether another account that is signed in has the address of an account that is not.
  func isReplaced(_ account: Account) -> Bool {
    accounts.contains { $0.id != account.id && EmailAddress.areSame($0.email, account.email) }
  }

  /// The account whose writes wait, and whose address the account that is shown has now; nil if there is none.
  private var earlier: Waiting? {
    guard session == .signedIn, let current else { return nil }
    return waiting.first { waiting in
      EmailAddress.areSame(waiting.account.email, current.email) && waiting.account.id != current.id
        && !isSignedIn(waiting.account)
    }
  }

  /// Whether it is no wonder that rules forbid something, for nobody is signed in.
  package var explainsDenials: Bool { session != .signedIn }

  /// What is said where no account is listed.
  var emptyText: String {
    isRevoked ? "nobody is signed in: this device was revoked" : "nobody is signed in"
  }

  /// Why the data of an account is shown only after a new sign-in; nil if they can be shown now.
  func absence(of account: Account) -> Absence? {
    if account.id == current?.id || isSignedIn(account) { return nil }
    return waiting.first { $0.account.id == account.id }?.absence
  }

  /// All accounts to be listed: those signed in, the one that is shown, and others whose writes wait.
  package var listed: [Account] {
    let others = waiting.map(\.account).filter { $0.id != current?.id && !isSignedIn($0) }
    guard let current, !isSignedIn(current) else {
      return accounts + others
    }
    return [current] + accounts + others
  }

  /// The title of an account, with its id if another one in the list has the same title.
  func title(of account: Account) -> String {
    let isAlone = listed.count { $0.title == account.title } < 2
    return isAlone ? account.title : account.titleWithID
  }

  /// Returns the account of a user, or nil if it is not listed.
  package func account(of user: String) -> Account? { listed.first { $0.id == user } }
}

// MARK: The header

extension AccountFacts {
  /// The greatest number of columns of an account in the header.
  private static let widthMax = 32
  /// That number if the words that the session has ended follow, which are more.
  private static let endedWidthMax = 20

  /// Returns the account and its state, for the end of the header.
  func line(_ glyphs: Glyphs, isShort: Bool) -> StyledLine {
    switch session {
    case .nobody: StyledLine(isShort ? "" : "  not signed in ", .muted)
    case .signedIn:
      StyledLine(isShort ? "" : "  \(shortTitle(AccountFacts.widthMax)) ", .muted)
    case .ended:
      StyledLine(
        isShort
          ? " \(glyphs.failed)"
          : "  \(glyphs.failed) \(shortTitle(AccountFacts.endedWidthMax)): \(endWords) ", .error)
    }
  }

  private var endWords: String { isDeleted ? "account deleted" : "session ended" }

  private func shortTitle(_ widthMax: Int) -> String {
    var title = current?.title ?? ""
    if CellWidth.width(of: title) <= widthMax { return title }
    while CellWidth.width(of: title) >= widthMax { title.removeLast() }
    return title + "…"
  }

  /// Stores new facts, and shows a message if the session has ended.
  static func take(_ state: inout AppState, _ facts: AccountFacts) {
    let before = state.database.accounts
    state.database.accounts = facts
    // A link, or another program, has used the code.
    if let email = before?.current?.email, email != facts.current?.email {
      state.database.changingAddress = nil
    }
    AccountsScreen.refreshAccounts(&state)
    QueueScreen.refreshQueue(&state)
    if let ended = before?.reasonEnded, facts.session == .signedIn,
      before?.current?.id == facts.current?.id
    {
      // What was said of the end is true no more, whoever has signed in again.
      let isShown = state.toast?.toast.text.hasPrefix(ended) == true
      if FormScreen.closeIdleSignIn(&state) || isShown { state.say(.info, "signed in again") }
    }
    if before == nil || before?.current?.id != facts.current?.id { facts.sayEarlier(&state) }
    let again = before?.revokedAccount ?? (facts.isRevoked ? nil : facts.revokedAccount)
    if let user = again?.id, facts.session == .nobody,
      facts.accounts.contains(where: { $0.id == user }), FormScreen.closeIdleSignIn(&state)
    {
      // Another window, or a command, has signed the user in again.
      return Leaving.change(&state, to: AccountChange(to: user, saying: "signed in again"))
    }
    guard let reason = facts.reasonEnded, reason != before?.reasonEnded else { return }
    let signIn = facts.isDisabled ? "signs in once it is enabled" : "signs in again"
    let keys =
      facts.goesOnBySignIn
      ? AccountsScreen.signInHint(state, signIn)
      : KeyText.listKeys(state).hint(.accountsOpen, "lists the accounts")
    if facts.isRevoked {
      // What is kept on this machine is shown only after a new sign-in.
      var change = AccountChange(to: nil, because: reason + keys)
      if let component = state.layers.last?.component, component.textField != nil {
        // The text is kept as a draft, for the next sign-in.
        (change.wasTyping, change.reason) = (true, reason)
      }
      state.session.accountChange = change
      return
    }
    if facts.goesOnBySignIn, AccountsScreen.saysPasswordChanged(state) {
      return AccountsScreen.sayEndedByPassword(&state)
    }
    state.say(.warning, reason + keys)
  }

  /// Says that writes of an earlier account with the same address wait, if there are some.
  private func sayEarlier(_ state: inout AppState) {
    guard let earlier, let current else { return }
    let writes = earlier.count == 1 ? "1 write" : "\(earlier.count) writes"
    state.say(
      .warning,
      "This is another account of \(current.titleWithID): \(writes) of the earlier one "
        + (earlier.count == 1 ? "waits" : "wait")
        + KeyText.listKeys(state).hint(.accountsOpen, "lists it"))
  }
}

// MARK: Recording

extension AccountFacts {
  /// The facts as JSON, for recorded sessions; they hold no secrets.
  package var json: JSONValue {
    var members = [JSONMember("accounts", .array(accounts.map(\.json)))]
    if let current { members.append(JSONMember("current", current.json)) }
    if case .signedIn = session { members.append(JSONMember("signedIn", true)) }
    if let reasonEnded { members.append(JSONMember("ended", .string(reasonEnded))) }
    if isRevoked { members.append(JSONMember("revoked", true)) }
    if let revokedAccount { members.append(JSONMember("revokedAccount", revokedAccount.json)) }
    if nobodyCount > 0 {
      members.append(JSONMember("nobodyCount", .number(JSONNumber(Int64(nobodyCount)))))
    }
    if nobodyRefusedCount > 0 {
      members.append(
        JSONMember("nobodyRefused", .number(JSONNumber(Int64(nobodyRefusedCount)))))
    }
    if isDeleted { members.append(JSONMember("deleted", true)) }
    if isDisabled { members.append(JSONMember("disabled", true)) }
    if !waiting.isEmpty { members.append(JSONMember("waiting", .array(waiting.map(\.json)))) }
    return .object(members)
  }

  /// Reads facts that `json` wrote; nil if the JSON is something else.
  package init?(_ json: JSONValue) {
    guard let accounts = json["accounts"]?.array else { return nil }
    self.init(accounts.compactMap { Account($0) }, current: json["current"].flatMap { Account($0) })
    if json["signedIn"] == true { session = .signedIn }
    if let reason = json["ended"]?.string { session = .ended(reason) }
    (isRevoked, isDeleted) = (json["revoked"] == true, json["deleted"] == true)
    isDisabled = json["disabled"] == true
    // Earlier recordings have the id alone.
    revokedAccount =
      json["revokedAccount"].flatMap { Account($0) }
      ?? json["revokedUser"]?.string.map { Account(id: $0) }
    nobodyCount = json["nobodyCount"]?.int.map { Int($0) } ?? 0
    nobodyRefusedCount = json["nobodyRefused"]?.int.map { Int($0) } ?? 0
    waiting = json["waiting"]?.array?.compactMap { Waiting($0) } ?? []
  }
}

extension AccountFacts.Waiting {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("account", account.json), JSONMember("count", .number(JSONNumber(Int64(count)))),
    ]
    if isDeleted { members.append(JSONMember("deleted", true)) }
    if let absence { members.append(JSONMember("absence", .string(absence.rawValue))) }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let account = json["account"].flatMap({ AccountFacts.Account($0) }),
      let count = json["count"]?.int
    else { return nil }
    let absence = json["absence"]?.string.flatMap { AccountFacts.Absence(rawValue: $0) }
    self.init(account, count: count, isDeleted: json["deleted"] == true, absence)
  }
}

extension AccountFacts.Account {
  fileprivate var json: JSONValue {
    var members = [JSONMember("id", .string(id)), JSONMember("verified", .bool(isVerified))]
    if let email { members.append(JSONMember("email", .string(email))) }
    if let name { members.append(JSONMember("name", .string(name))) }
    if isAnonymous { members.append(JSONMember("anonymous", true)) }
    return .object(members)
  }

  fileprivate init?(_ json: JSONValue) {
    guard let id = json["id"]?.string else { return nil }
    self.init(
      id: id, email: json["email"]?.string, name: json["name"]?.string,
      isVerified: json["verified"] == true)
    isAnonymous = json["anonymous"] == true
  }
}
