import RunnelStore
import Synchronization

/// Keeps accounts between two runs of a program.
///
/// One account is signed in. Others are *departing*: their users signed out, and their credentials
/// are needed until something is done on the server, such as removing a device.
public protocol AccountStorage: Sendable {
  /// Reads the account that is signed in; nil if there is none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  func signedIn() throws(AccountFailure) -> KeptAccount?
  /// Reads the account of a user, signed in or departing; nil if there is none.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  func account(of user: String) throws(AccountFailure) -> KeptAccount?
  /// Reads the departing accounts.
  ///
  /// - Throws: `AccountFailure` (`storage`) if they cannot be read.
  func departing() throws(AccountFailure) -> [KeptAccount]
  /// Keeps an account as signed in.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - isSignIn: true if the user has just signed in, so that `signedIn` returns this account from
  ///     now on; false for new tokens, while another account may have been made the one by now.
  /// - Throws: `AccountFailure` (`storage`) if it cannot be written.
  func keep(_ account: KeptAccount, isSignIn: Bool) throws(AccountFailure)
  /// Keeps an account as departing, and no longer as signed in.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be written.
  func depart(_ account: KeptAccount) throws(AccountFailure)
  /// Forgets an account that is signed in.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be removed.
  func forget(_ user: String) throws(AccountFailure)
  /// Forgets a departing account.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be removed.
  func forgetDeparting(_ user: String) throws(AccountFailure)
  /// Remembers that the session of a user was ended, and why, until the user signs in again; it comes before
  /// the account is forgotten.
  ///
  /// - Throws: `AccountFailure` (`storage`) if that cannot be written.
  func rememberEnd(of user: AccountUser, _ failure: AccountFailure) throws(AccountFailure)
  /// Reads why the session of a user was ended, which another process may have learnt; nil if it was not, or
  /// if the user signed out.
  ///
  /// - Throws: `AccountFailure` (`storage`) if it cannot be read.
  func end(of user: String) throws(AccountFailure) -> AccountFailure?
}

extension AccountStorage {
  /// Does nothing: the end of a session is not remembered.
  public func rememberEnd(of user: AccountUser, _ failure: AccountFailure) throws(AccountFailure) {}
  /// Returns nil: no end of a session is remembered.
  public func end(of user: String) throws(AccountFailure) -> AccountFailure? { nil }
}

/// A user whose session was ended, but not by signing out.
package struct EndedAccount: Hashable, Sendable {
  /// The user, as far as the service told.
  package var user: AccountUser
  /// Why.
  package var failure: AccountFailure

  /// The reason, as a sentence for people.
  package var reason: String { failure.message }
  /// True if the user took this device away: the data on it is shown only after a new sign-in.
  package var isRevoked: Bool { failure.code == .revoked }
  /// True if the account is no more, so that nobody can sign in to it.
  package var isDeleted: Bool { failure.code == .accountDeleted }
  /// True if nobody can sign in to the account again: it was deleted, or has no address.
  package var isFinal: Bool { isDeleted || user.isAnonymous }
}

/// Keeps accounts in memory only: they end with the program.
public final class AccountMemory: AccountStorage {
  private struct State {
    var signedIn: KeptAccount?
    var departing: [String: KeptAccount] = [:]
  }

  private let state = Mutex(State())

  /// Makes an empty memory.
  public init() {}

  /// The account that is signed in.
  public func signedIn() -> KeptAccount? { state.withLock { $0.signedIn } }

  /// The account of a user.
  public func account(of user: String) -> KeptAccount? {
    state.withLock { state in
      state.signedIn.flatMap { $0.user.id == user ? $0 : nil } ?? state.departing[user]
    }
  }

  /// The departing accounts.
  public func departing() -> [KeptAccount] {
    state.withLock { $0.departing.values.sorted { $0.user.id < $1.user.id } }
  }

  /// Keeps the account that is signed in.
  public func keep(_ account: KeptAccount, isSignIn: Bool) {
    state.withLock { $0.signedIn = account }
  }

  /// Keeps an account as departing.
  public func depart(_ account: KeptAccount) {
    state.withLock { state in
      if state.signedIn?.user.id == account.user.id { state.signedIn = nil }
      state.departing[account.user.id] = account
    }
  }

  /// Forgets an account that is signed in.
  public func forget(_ user: String) {
    state.withLock { state in
      if state.signedIn?.user.id == user { state.signedIn = nil }
    }
  }

  /// Forgets a departing account.
  public func forgetDeparting(_ user: String) { state.withLock { $0.departing[user] = nil } }
}

// MARK: Descriptions

extension KeptAccount: CustomStringConvertible {
  /// The id of the user; never a token.
  public var description: String { "account of \(user.id)" }
}
