import RunnelAccounts
import RunnelWorkspace

// What the workspace shows of accounts, made of what the account library tells.

extension AccountFacts {
  /// Makes the facts of kept accounts.
  ///
  /// - Parameters:
  ///   - kept: the accounts that are signed in.
  ///   - user: the id of the user whose data is shown; nil for nobody.
  ///   - state: the state of the user's session; nil before it is opened.
  ///   - ended: the end of the user's session, also in an earlier run; for nobody, the last one; nil for none.
  init(
    _ kept: [KeptAccount], of user: String?, _ state: AccountState?, ended: EndedAccount? = nil
  ) {
    self.init(
      kept.map { Account($0.user) }.sorted { ($0.title, $0.id) < ($1.title, $1.id) })
    guard let user else {
      isRevoked = ended?.isRevoked == true
      revokedAccount = isRevoked ? ended.map { Account($0.user) } : nil
      return
    }
    current = account(of: user) ?? ended.map { Account($0.user) } ?? Account(id: user)
    let end = Session.ended(ended?.reason ?? "You are signed out.")
    switch state {
    case .signedIn(let known)?, .refreshing(let known)?:
      (current, session) = (Account(known), .signedIn)
    case .ended(let known, let failure)?:
      // Another program may have learnt why before it forgot the account.
      let told = failure.code == .signedOutElsewhere || ended?.isDeleted == true ? ended : nil
      (current, session) = (Account(known), .ended(told?.reason ?? failure.message))
      let code = told?.failure.code ?? failure.code
      (isRevoked, isDeleted) = (code == .revoked, code == .accountDeleted)
      isDisabled = code == .userDisabled
    case .signedOut?: session = end
    case .signingIn?: session = .signedIn
    case nil:
      session = accounts.contains { $0.id == user } ? .signedIn : end
    }
    if session == end {
      isDeleted = ended?.isDeleted == true
      isDisabled = ended?.failure.code == .userDisabled
    }
  }
}

extension AccountFacts.Waiting {
  /// Makes an account whose session has ended.
  init(_ end: EndedAccount, count: Int) {
    self.init(
      AccountFacts.Account(end.user), count: count, isDeleted: end.isDeleted,
      end.isRevoked ? .revoked : nil)
  }

  /// Makes an account whose user is signed out.
  init(left user: AccountUser) { self.init(AccountFacts.Account(user), count: 0, .signedOut) }
}

extension AccountFacts.Account {
  fileprivate init(_ user: AccountUser) {
    self.init(
      id: user.id, email: user.email, name: user.displayName, isVerified: user.isEmailVerified)
    isAnonymous = user.isAnonymous
  }
}

extension Refusal {
  /// Makes the refusal of a request for an account; it names the field that it is about, if it is
  /// about one.
  init(_ failure: AccountFailure, of request: AccountRequest) {
    self.init(failure.message)
    if let field = Refusal.field(of: failure.code, request) {
      fields = [Refusal.Field(name: field.rawValue, message: failure.message)]
    }
  }

  private static func field(
    of code: AccountFailure.Code, _ request: AccountRequest
  ) -> AccountField? {
    switch code {
    case .emailInUse, .invalidEmail, .missingEmail, .userNotFound: .email
    case .weakPassword: .password
    case .wrongPassword, .invalidCredential, .missingPassword:
      switch request {
      case .changePassword, .changeEmail, .delete: .current
      case .signInAnonymously: nil
      default: .password
      }
    case .invalidCode, .expiredCode: .code
    default: nil
    }
  }
}
