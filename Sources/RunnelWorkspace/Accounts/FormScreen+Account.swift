import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Forms for accounts. Passwords and codes are typed into hidden fields; they go out as secrets.

extension AccountDeed {
  /// The title of the form, the word for its end, and what is said while the answer is awaited.
  var words: (title: String, done: String, progress: String) {
    switch self {
    case .signIn: ("Sign in", "sign in", "signing in")
    case .signUp: ("New account", "make it", "making the account")
    case .signInAnonymously: ("Sign in", "sign in", "signing in")
    case .upgrade: ("Give the account an address", "give", "changing the account")
    case .sendReset: ("Forgot the password", "send", "sending a message")
    case .resetPassword: ("Set a new password", "set", "setting the password")
    case .changePassword: ("Change the password", "change", "changing the password")
    case .changeEmail: ("Change the e-mail address", "send", "sending a message")
    case .applyCode, .applyChange:
      ("Confirm the e-mail address", "confirm", "confirming the address")
    case .delete: ("Delete the account", "delete", "deleting the account")
    case .signOut: ("Sign out", "sign out", "signing out")
    case .use: ("Show the database", "show", "opening the database")
    case .giveUp: ("Give up the writes", "give up", "giving up the writes")
    case .sendVerification: ("Confirm the e-mail address", "send", "sending a message")
    }
  }

  /// The note of the form; empty for none.
  fileprivate var note: String {
    switch self {
    case .sendReset: "A message with a code is sent to this address."
    case .upgrade: "What the account wrote stays its own."
    case .resetPassword: "The code is in the message; its link will do as well."
    case .applyCode: "The code is in the message; its link will do as well."
    case .applyChange:
      "Use the code of the message: its link ends this session."
    case .changeEmail: "A message with a code is sent to the new address."
    case .delete: "What the account wrote stays on the server."
    default: ""
    }
  }

  /// The fields of the form.
  fileprivate var fields: [AccountField] {
    switch self {
    case .signIn: [.email, .password]
    case .signUp, .upgrade: [.email, .password, .again]
    case .sendReset: [.email]
    case .resetPassword: [.code, .password, .again]
    case .changePassword: [.current, .password, .again]
    case .changeEmail: [.email, .current]
    case .applyCode, .applyChange: [.code]
    case .delete: [.current]
    case .signInAnonymously, .signOut, .use, .giveUp, .sendVerification: []
    }
  }
}

/// A field of a form for accounts; a refusal names it.
package enum AccountField: String, Hashable, Sendable {
  case email
  case password
  /// The password once more.
  case again
  /// The present password.
  case current
  /// The code of a message.
  case code

  fileprivate var label: String {
    switch self {
    case .email: "e-mail"
    case .password: "password"
    case .again: "again"
    case .current: "present password"
    case .code: "code"
    }
  }

  private var key: RunnelTree.Key { RunnelTree.Key(unchecked: rawValue) }
  var path: Path { Path(unchecked: [key]) }

  /// Returns the empty field, or one with a text.
  fileprivate func field(_ text: String, of deed: AccountDeed) -> FormScreen.Field {
    // Beside the present password, or in place of a forgotten one.
    let isNew = self == .password && (deed == .changePassword || deed == .resetPassword)
    let label = isNew ? "new password" : self.label
    let rule = FieldRule(key, .text(), isRequired: true)
    let value: JSONValue = text.isEmpty ? .null : .string(text)
    var field = FormScreen.Field(label, path: path, FieldInput(rule: rule, value))
    // Unlike other texts, these have one line.
    field.input.editor = self == .email ? LineEditor(text) : LineEditor("", isSecret: true)
    return field
  }
}

extension FormScreen {
  /// Opens the form for something that is done with accounts; `account` is one that is to sign in.
  static func openAccountForm(
    _ state: inout AppState, _ deed: AccountDeed, as account: AccountFacts.Account? = nil
  ) {
    let facts = state.database.accounts
    // Only who signs in again is known; to add an account, another address is typed.
    let isAgain = facts?.goesOnBySignIn == true || facts?.session == .nobody
    // After a revocation nobody is shown, and the user of this device signs in again.
    let shown = facts?.session == .nobody ? facts?.revokedAccount : facts?.current
    let known = deed == .sendReset || deed == .signIn && isAgain ? shown : nil
    let email = (account ?? known)?.email ?? ""
    var form = FormScreen(
      purpose: .account(deed), title: deed.words.title,
      fields: deed.fields.map { $0.field($0 == .email ? email : "", of: deed) })
    form.note = note(of: deed, state)
    if !email.isEmpty, form.fields.count > 1 { form.focus = 1 }
    state.layers.append(.form(form))
  }

  /// The note of a form at rest; of a deletion, with the account and its writes that wait.
  private static func note(of deed: AccountDeed, _ state: AppState) -> String {
    guard deed == .delete, let current = state.database.accounts?.current else { return deed.note }
    let waiting = WaitingWrites(state).entry(of: current)
    let writes =
      waiting.map { "\($0.words): \($0.count == 1 ? "it is" : "they are") never sent then · " }
      ?? ""
    return "\(current.title) · \(writes)\(deed.note)"
  }

  /// The request for which the form waits, or nil if it waits for none.
  static func awaitedAccountRequest(_ state: AppState, _ form: FormScreen) -> AppRequestID? {
    guard case .account = form.purpose, let attempt = form.attempt,
      state.requests[attempt] != nil
    else { return nil }
    return attempt
  }

  /// Sends the request of a form for accounts; the form stays open until the answer comes.
  static func submitAccount(
    _ state: inout AppState, _ form: inout FormScreen, _ deed: AccountDeed,
    _ values: [(path: Path, value: JSONValue)]
  ) {
    if awaitedAccountRequest(state, form) != nil {
      return state.say(.info, "wait for the answer, or \(cancelKeys(state)) stops")
    }
    var texts: [AccountField: String] = [:]
    for (path, value) in values {
      if let field = AccountField(rawValue: path.text) { texts[field] = value.string }
    }
    if let again = texts[.again], again != texts[.password] {
      let index = form.fields.firstIndex { $0.path == AccountField.again.path } ?? form.focus
      _ = form.refuse(index, "the two differ")
      return
    }
    if deed == .changeEmail,
      EmailAddress.areSame(state.database.accounts?.current?.email, texts[.email])
    {
      let index = form.fields.firstIndex { $0.path == AccountField.email.path } ?? form.focus
      _ = form.refuse(index, "it is the address of this account already")
      return
    }
    guard let request = deed.request(texts) else { return }
    form.attempt = AccountsScreen.ask(&state, request, for: deed)
    form.note = "\(deed.words.progress)… · \(cancelKeys(state)) stops"
  }

  /// Stops the request for which the form in front waits; returns false if it waits for none.
  static func stopAccountRequest(_ state: inout AppState) -> Bool {
    guard case .form(var form)? = state.layers.last,
      let id = awaitedAccountRequest(state, form)
    else { return false }
    state.requests.remove(id)
    state.effects.append(.stopAccount(id))
    form.rest(state)
    state.layers[state.layers.count - 1] = .form(form)
    state.say(.info, "stopped")
    return true
  }

  /// Notes that the form waits for no answer any more.
  private mutating func rest(_ state: AppState) {
    attempt = nil
    if case .account(let deed) = purpose { note = FormScreen.note(of: deed, state) }
  }

  private static func accountForm(_ state: AppState, of id: AppRequestID) -> Int? {
    state.layers.firstIndex { layer in
      guard case .form(let form) = layer, case .account = form.purpose else { return false }
      return form.attempt == id
    }
  }

  /// Closes the form of a request that was done.
  static func closeAccountForm(_ state: inout AppState, of id: AppRequestID) {
    if let index = accountForm(state, of: id) { state.layers.remove(at: index) }
  }

  /// Closes the form for a sign-in that is not needed any more; returns false if a sign-in is under way here.
  static func closeIdleSignIn(_ state: inout AppState) -> Bool {
    guard case .form(let form)? = state.layers.last, case .account(let deed) = form.purpose else {
      return true
    }
    if awaitedAccountRequest(state, form) != nil { return false }
    if deed == .signIn { state.layers.removeLast() }
    return true
  }

  /// Empties the hidden field of a password that was wrong: nobody can see what to mend in it.
  private mutating func emptyWrongPassword() {
    guard case .account(let deed) = purpose else { return }
    for (index, field) in fields.enumerated() where field.input.error != nil {
      let isOld = field.path == AccountField.current.path
      let isOfSignIn = deed == .signIn && field.path == AccountField.password.path
      if isOld || isOfSignIn { fields[index].input.editor = LineEditor("", isSecret: true) }
    }
  }

  /// Shows a refusal at the fields of the form that asked; returns false if there is none.
  static func refuseAccountForm(
    _ state: inout AppState, of id: AppRequestID, _ refusal: Refusal
  ) -> Bool {
    guard let index = accountForm(state, of: id), case .form(var form) = state.layers[index] else {
      return false
    }
    form.rest(state)
    form.take(refusal)
    form.emptyWrongPassword()
    state.layers[index] = .form(form)
    return true
  }
}

extension AccountDeed {
  /// Returns the request with the typed texts; nil if one is missing.
  fileprivate func request(_ texts: [AccountField: String]) -> AccountRequest? {
    let secrets = texts.mapValues { Secret($0) }
    switch self {
    case .signIn:
      guard let email = texts[.email], let password = secrets[.password] else { return nil }
      return .signIn(email: email, password)
    case .signUp:
      guard let email = texts[.email], let password = secrets[.password] else { return nil }
      return .signUp(email: email, password)
    case .upgrade:
      guard let email = texts[.email], let password = secrets[.password] else { return nil }
      return .upgrade(email: email, password)
    case .sendReset: return texts[.email].map { .sendReset(email: $0) }
    case .resetPassword:
      guard let code = secrets[.code], let password = secrets[.password] else { return nil }
      return .resetPassword(code: code, password)
    case .changePassword:
      guard let current = secrets[.current], let password = secrets[.password] else { return nil }
      return .changePassword(password, current: current)
    case .changeEmail:
      guard let email = texts[.email], let current = secrets[.current] else { return nil }
      return .changeEmail(email, current: current)
    case .applyCode, .applyChange: return secrets[.code].map { .applyCode($0) }
    case .delete: return secrets[.current].map { .delete(current: $0) }
    case .signInAnonymously, .signOut, .use, .giveUp, .sendVerification: return nil
    }
  }
}
