import Crypto
package import RunnelBase

/// A sign-in that can be continued by its refresh token, which only its client knows.
package struct RefreshSession: Hashable, Sendable {
  /// The hash of the refresh token.
  package var hash: String
  package var account: String
  /// The provider of the sign-in: `password`, `anonymous`, `custom`.
  package var provider: String
  /// The claims of the custom token: the JSON text of an object; nil for none.
  package var claims: String?
  /// When the user signed in, in seconds since 1970.
  package var authTime: Int64
  /// When the session began, in milliseconds since 1970.
  package var time: Int64
  /// When its token was last used, in milliseconds since 1970.
  package var useTime: Int64

  package init(
    hash: String, account: String, provider: String, claims: String?, authTime: Int64, time: Int64
  ) {
    (self.hash, self.account, self.provider, self.claims) = (hash, account, provider, claims)
    (self.authTime, self.time, useTime) = (authTime, time, time)
  }

  private enum Field {
    static let provider = "provider"
    static let claims = "claims"
    static let authTime = "authTime"
    static let time = "made"
    static let useTime = "used"
  }

  package init?(stored json: JSONValue, hash: String, account: String) {
    guard let provider = json[Field.provider]?.string, let authTime = json[Field.authTime].time,
      let time = json[Field.time].time
    else { return nil }
    self.init(
      hash: hash, account: account, provider: provider, claims: json[Field.claims]?.string,
      authTime: authTime, time: time)
    useTime = json[Field.useTime].time ?? time
  }

  package var stored: JSONValue {
    var members = MemberList()
    members.add(Field.provider, provider)
    members.add(Field.claims, claims)
    members.add(Field.authTime, authTime)
    members.add(Field.time, time)
    members.add(Field.useTime, useTime)
    return .object(members.all)
  }
}

/// A code that was mailed, and what its owner may do with it, once.
package struct MailedCode: Hashable, Sendable {
  /// The purpose of a code.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case passwordReset = "PASSWORD_RESET"
    case verifyEmail = "VERIFY_EMAIL"
    case emailSignIn = "EMAIL_SIGNIN"
    case verifyAndChangeEmail = "VERIFY_AND_CHANGE_EMAIL"
    case recoverEmail = "RECOVER_EMAIL"

    /// The name in links.
    package var mode: String {
      switch self {
      case .passwordReset: "resetPassword"
      case .verifyEmail: "verifyEmail"
      case .emailSignIn: "signIn"
      case .verifyAndChangeEmail: "verifyAndChangeEmail"
      case .recoverEmail: "recoverEmail"
      }
    }

    /// The lifetime, in milliseconds; that of an emulator's codes has no end.
    package var lifetime: Int64 {
      let hour: Int64 = 3_600_000
      return switch self {
      case .passwordReset: hour
      case .emailSignIn: 6 * hour
      case .verifyEmail, .verifyAndChangeEmail: 72 * hour
      case .recoverEmail: 30 * 24 * hour
      }
    }
  }

  /// The hash of the code.
  package var hash: String
  package var kind: Kind
  /// The account; nil for the sign-in of a user who may have none.
  package var account: String?
  /// The address that the code is about.
  package var email: String
  package var newEmail: String?
  /// True if the account had proved the address; not known of codes of earlier versions.
  package var isProved = false
  /// When the code was made, in milliseconds since 1970.
  package var time: Int64
  /// The code itself and its link, which only an emulator keeps and shows.
  package var shown: Shown?

  /// What an emulator shows of a code.
  package struct Shown: Hashable, Sendable {
    package var code: String
    package var link: String
  }

  package init(
    hash: String, kind: Kind, account: String?, email: String, newEmail: String?, time: Int64
  ) {
    (self.hash, self.kind, self.account) = (hash, kind, account)
    (self.email, self.newEmail, self.time) = (email, newEmail, time)
  }

  /// The name by which the codes of one user are found.
  package var owner: String { account ?? "email:" + email }

  /// True if the code has expired.
  package func isExpired(now: Int64, isEmulator: Bool) -> Bool {
    !isEmulator && now - time >= kind.lifetime
  }

  /// The names of the stored members.
  package enum Field {
    package static let owner = "owner"
    package static let time = "made"
    static let kind = "kind"
    static let account = "account"
    static let email = "email"
    static let newEmail = "newEmail"
    static let isProved = "proved"
    static let code = "code"
    static let link = "link"
  }

  package init?(stored json: JSONValue, hash: String) {
    guard let kind = json[Field.kind]?.string.flatMap(Kind.init),
      let email = json[Field.email]?.string, let time = json[Field.time].time
    else { return nil }
    self.init(
      hash: hash, kind: kind, account: json[Field.account]?.string, email: email,
      newEmail: json[Field.newEmail]?.string, time: time)
    isProved = json[Field.isProved]?.bool ?? false
    if let code = json[Field.code]?.string, let link = json[Field.link]?.string {
      shown = Shown(code: code, link: link)
    }
  }

  package var stored: JSONValue {
    var members = MemberList()
    members.add(Field.kind, kind.rawValue)
    members.add(Field.owner, owner)
    members.add(Field.account, account)
    members.add(Field.email, email)
    members.add(Field.newEmail, newEmail)
    members.add(Field.isProved, ifTrue: isProved)
    members.add(Field.time, time)
    members.add(Field.code, shown?.code)
    members.add(Field.link, shown?.link)
    return .object(members.all)
  }
}

/// The settings of the project that administrators change while the server runs.
package struct IdentitySettings: Hashable, Sendable {
  /// Whether answers hide which addresses have accounts; nil for the default of the server.
  package var hidesEmails: Bool?
  package var allowsPasswords = true
  package var allowsAnonymous = true
  package var allowsEmailLinks = true

  package init() {}

  private enum Field {
    static let hidesEmails = "hidesEmails"
    static let allowsPasswords = "passwords"
    static let allowsAnonymous = "anonymous"
    static let allowsEmailLinks = "emailLinks"
  }

  package init(stored json: JSONValue) {
    hidesEmails = json[Field.hidesEmails]?.bool
    allowsPasswords = json[Field.allowsPasswords]?.bool ?? true
    allowsAnonymous = json[Field.allowsAnonymous]?.bool ?? true
    allowsEmailLinks = json[Field.allowsEmailLinks]?.bool ?? true
  }

  package var stored: JSONValue {
    var members = MemberList()
    members.add(Field.hidesEmails, hidesEmails.map { .bool($0) })
    members.add(Field.allowsPasswords, .bool(allowsPasswords))
    members.add(Field.allowsAnonymous, .bool(allowsAnonymous))
    members.add(Field.allowsEmailLinks, .bool(allowsEmailLinks))
    return .object(members.all)
  }
}

/// The hash under which a secret text is stored.
package enum SecretHash {
  /// SHA-256, because the texts are random and long.
  package static func of(_ text: String) -> String {
    Base64URL.text(SHA256.hash(data: Array(text.utf8)))
  }
}
