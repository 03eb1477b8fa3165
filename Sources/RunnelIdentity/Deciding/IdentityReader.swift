package import RunnelBase

/// The stored accounts, as a decision reads them.
package protocol IdentityReader {
  /// The account with an id.
  func account(_ id: String) throws(IdentityStop) -> AccountRecord?
  /// The account whose address is spelled so, in small letters.
  func account(email: String) throws(IdentityStop) -> AccountRecord?
  /// The account with a phone number.
  func account(phone: String) throws(IdentityStop) -> AccountRecord?
  /// The accounts in the order of their ids, after one of them.
  func accounts(
    after id: String?, count: Int, isDescending: Bool
  ) throws(IdentityStop) -> [AccountRecord]
  /// The number of accounts.
  func accountCount() throws(IdentityStop) -> Int
  /// The code with a hash.
  func code(_ hash: String) throws(IdentityStop) -> MailedCode?
  /// The codes of one owner.
  func codes(of owner: String) throws(IdentityStop) -> [MailedCode]
  /// All codes, the oldest first, up to a number.
  func codes(count: Int) throws(IdentityStop) -> [MailedCode]
  /// The sessions of an account.
  func sessions(of account: String) throws(IdentityStop) -> [RefreshSession]
  /// The settings of the project.
  func settings() throws(IdentityStop) -> IdentitySettings
}

/// The changes that a decision makes: the final state of each touched record.
package struct IdentityDraft: Hashable, Sendable {
  /// The touched accounts; nil for a removed one.
  package var accounts: [String: AccountRecord?] = [:]
  /// The touched codes by hash; nil for a removed one.
  package var codes: [String: MailedCode?] = [:]
  /// The sessions of each account whose sessions were touched.
  package var sessions: [String: [RefreshSession]] = [:]
  /// The ends of tokens by account: those issued before this second are not valid.
  package var revocations: [String: Int64] = [:]
  /// The epochs of the accounts whose tokens end: those of an earlier one are not valid.
  package var epochs: [String: Int64] = [:]
  /// The touched mails that are owed; nil for one that is owed no more.
  package var owed: [String: OwedMail?] = [:]
  package var settings: IdentitySettings?
  /// True if all accounts, codes and sessions are removed first.
  package var isWiping = false

  package init() {}

  /// True if an account, and so what is known of a person, is removed.
  package var removesAccounts: Bool { isWiping || accounts.values.contains { $0 == nil } }

  /// True if there is nothing to write.
  package var isEmpty: Bool { self == IdentityDraft() }
}

/// The end of an account's tokens.
package struct TokenEnd: Hashable, Sendable {
  /// The name of the member of the claim `firebase` that has the epoch.
  package static let claim = "epoch"

  /// Tokens that were issued before are not valid; in seconds since 1970.
  package var second: Int64
  /// Tokens of an earlier epoch are not valid: those of the same second, too.
  package var epoch: Int64

  package init(second: Int64, epoch: Int64 = 0) { (self.second, self.epoch) = (second, epoch) }

  /// The epoch of a token; 0 for one that has none.
  package static func epoch(ofToken claims: JSONValue) -> Int64 {
    claims["firebase"]?[claim].time ?? 0
  }

  /// True if a token is not valid any more.
  package func ends(issued second: Int64, epoch: Int64) -> Bool {
    second < self.second || epoch < self.epoch
  }

  /// The end of all tokens that one of two ends.
  ///
  /// Of two with epochs the later is the whole: its epoch ends what the other does, whose second may be
  /// the next one, while tokens of the new epoch are issued in this one.
  package func joined(_ other: TokenEnd) -> TokenEnd {
    if epoch != other.epoch, epoch != 0, other.epoch != 0 {
      return epoch > other.epoch ? self : other
    }
    return TokenEnd(second: max(second, other.second), epoch: max(epoch, other.epoch))
  }

  /// Reads the stored form: an object, or the second alone; nil if it is neither.
  package init?(stored json: JSONValue) {
    guard let second = json["second"].time ?? json.int.map({ Int64($0) }) else { return nil }
    self.init(second: second, epoch: json[TokenEnd.claim].time ?? 0)
  }

  /// The stored form.
  package var stored: JSONValue {
    if epoch == 0 { return .number(JSONNumber(second)) }
    return ["second": .number(JSONNumber(second)), "epoch": .number(JSONNumber(epoch))]
  }
}

/// Work with a password, which takes long on purpose.
package enum PasswordWork: Hashable, Sendable {
  /// Check a password; without a hash the work takes as long, and fails.
  case verify(String, PasswordHash?)
  /// Make the hash of a new password.
  case make(String)
}

/// The result of work with a password.
package enum PasswordResult: Hashable, Sendable {
  case verified(Bool)
  case made(PasswordHash)
}

/// Tokens that an answer gives its client.
package struct TokenGrant: Hashable, Sendable {
  /// The claims of the ID token, which is still to be signed.
  package var claims: JSONValue
  /// The refresh token; nil in an answer without one.
  package var refreshToken: String?
  /// The lifetime of the ID token, in seconds.
  package var seconds: Int64
}

/// The answer to a request: a body, and tokens that are still to be signed.
package struct IdentityAnswer: Hashable, Sendable {
  /// The form in which tokens are added to the body.
  package enum Form: Hashable, Sendable {
    /// `idToken`, `refreshToken`, `expiresIn`.
    case signIn
    /// `id_token`, `access_token`, `expires_in` and so on, for a refresh.
    case refresh
    /// `sessionCookie`.
    case cookie
  }

  package var members: [JSONMember]
  package var grant: TokenGrant?
  package var form = Form.signIn
  /// The address to which the client is sent on; nil for none.
  package var redirect: String?

  package init(_ members: [JSONMember] = [], grant: TokenGrant? = nil) {
    (self.members, self.grant) = (members, grant)
  }

  /// The body; `sign` makes a token of claims.
  package func json(_ sign: (JSONValue) -> String) -> JSONValue {
    guard let grant else { return .object(members) }
    let token = JSONValue.string(sign(grant.claims))
    var all = MemberList()
    switch form {
    case .signIn:
      all.add("idToken", token)
      all.add("refreshToken", grant.refreshToken)
      all.add("expiresIn", String(grant.seconds))
    case .refresh:
      all.add("id_token", token)
      all.add("access_token", token)
      all.add("expires_in", String(grant.seconds))
      all.add("refresh_token", grant.refreshToken)
      all.add("token_type", "Bearer")
    case .cookie: all.add("sessionCookie", token)
    }
    return .object(form == .refresh ? all.all + members : members + all.all)
  }
}

/// A mail to a user.
package struct AccountMail: Hashable, Sendable {
  package var kind: MailedCode.Kind
  /// The address of the recipient.
  package var recipient: String
  /// The account's present address, if it is not the recipient's.
  package var oldEmail: String?
  package var newEmail: String?
  /// The name of the user; nil unless the address is one that the user has confirmed.
  package var displayName: String?
  /// The link to click; nil in a notice.
  package var link: String?
  /// The code in the link; nil in a notice.
  package var code: String?
  /// What happened; nil for a mail with a code.
  package var notice: Notice?
  /// The name under which it is kept until it was sent; nil for one that is not.
  package var owed: String?

  /// What a mail without a code tells the owner of an address.
  package enum Notice: String, Hashable, Sendable {
    /// The account has another address now, or none.
    case replaced
    /// The address before was taken back.
    case takenBack
  }
}

extension AccountMail {
  /// Makes a notice.
  ///
  /// It has no text that a user chose: who reads it may be anybody.
  init(notice: Notice, to address: String) {
    self.init(kind: .recoverEmail, recipient: address, notice: notice)
  }
}

/// A decision: the answer, the changes that have to be on disk before it, and the mails to send
/// after that.
package struct IdentityDecision: Sendable {
  package var answer: IdentityAnswer
  package var draft: IdentityDraft
  package var mails: [AccountMail]
  /// The account that a password or a mailed code proved; its failed attempts are forgotten.
  package var provenAccount: String?
}
