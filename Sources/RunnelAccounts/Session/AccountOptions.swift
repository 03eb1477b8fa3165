/// The options of a session with an account service.
public struct AccountOptions: Sendable {
  /// The clock.
  public var clock = AccountClock.system
  /// The seed of the random times of refreshes, by which many clients do not return at one moment.
  public var seed = UInt64.random(in: 0...(.max))
  /// The longest time that signing out waits for what is done before, in milliseconds; the rest is
  /// done later.
  public var signOutMilliseconds: Int64 = 2000
  /// The time after which what could not be done for a user who signed out is given up, and the
  /// credential forgotten, in milliseconds.
  public var departureMilliseconds: Int64 = 30 * 86_400_000
  /// The function that receives what went wrong beside the requests, such as a file that cannot be
  /// written; called on the session's actor.
  public var notice: @Sendable (AccountFailure) -> Void = { _ in }

  /// Makes the default options.
  public init() {}
}

/// What is done for a user who signs out, before the credential is forgotten; see
/// `AccountSession.beforeForgetting`.
public enum DepartureResult: Hashable, Sendable {
  /// It is done, or can never be done.
  case done
  /// It could not be done yet; try again later.
  case later
}
