/// A road on which the address or the password of an account changes, or its sessions end.
///
/// This is the one table of what is owed on each road. A request names its road by `IdentityDecider.road`, and
/// `IdentityDecider.settle` does what is owed once it is decided: no operation has to think of it.
package enum CredentialRoad: Hashable, Sendable, CaseIterable {
  /// A change with an ID token, also the removal of the address or the password.
  case tokenUpdate
  /// A sign-up with the ID token of an account, which gets the address and the password.
  case tokenSignUp
  /// A mailed link that is used with an ID token, whose account gets the address.
  case tokenLink
  /// A request, with an ID token, for a code that changes the address.
  case changeRequest
  case tokenDeletion
  /// The code that changes the address.
  case changeCode
  /// The code that takes a change of address back.
  case takeBackCode
  case verificationCode
  case resetCode
  /// A mailed link by which its reader signs in.
  case mailedLink
  case administrator
  /// An administrator puts accounts in place of others, or deletes them: their sessions end, and nobody is told.
  case replacement
  /// All that changes neither: a password, a custom token, a refresh and so on.
  case none

  /// What the owner of an address is told that an account loses.
  enum News: Hashable, Sendable {
    case nothing
    /// A plain notice.
    case notice
    /// A code that takes the change back if the owner has proved the address, and else a notice.
    case takeBack
  }

  /// What is owed on a road.
  struct Duties: Hashable, Sendable {
    /// Whether the user of the ID token has to have signed in a moment ago.
    var needsRecentSignIn = false
    /// What is told to an address that is replaced or removed.
    var news = News.takeBack
    /// Whether an emulator gives a code for the first change, as the official emulator does.
    var isToldByEmulator = false
  }

  var duties: Duties {
    switch self {
    case .tokenUpdate: Duties(needsRecentSignIn: true, isToldByEmulator: true)
    case .tokenSignUp, .tokenLink, .changeRequest, .tokenDeletion: Duties(needsRecentSignIn: true)
    // The code was asked for after a recent sign-in.
    case .changeCode: Duties(isToldByEmulator: true)
    // Who lost the address had taken it, or is not to undo what an administrator did.
    case .takeBackCode, .administrator: Duties(news: .notice)
    // An account may lose an address that it had not proved to the one who does.
    case .verificationCode, .resetCode, .mailedLink: Duties(news: .notice)
    case .replacement: Duties(news: .nothing)
    // Nothing is owed here; if something should change all the same, the owner is told.
    case .none: Duties()
    }
  }
}
