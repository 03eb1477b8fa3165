/// Decides by the clock when a server has lost its lease, and when it may end those of others.
///
/// A primary that answers and confirms nothing may have been replaced by another one, which this
/// server cannot reach: what it tells its clients is old soon. A primary that cannot be reached at all
/// tells nobody anything: the clients wait for its successor.
///
/// Source: several servers, sections 3 and 6.
package struct LeaseClock {
  package typealias Instant = ContinuousClock.Instant

  /// Between two renewals.
  static let renewalTime = Duration.seconds(2)
  /// From the first renewal that a reachable primary does not confirm until the sessions end: with the
  /// time since the one before, 6 seconds.
  package static let unconfirmedTime = Duration.seconds(4)
  /// Two renewals with more time between them are not seen as a row of them.
  private static let pauseMax = Duration.seconds(5)
  /// How long a server must have renewed its lease in time before it ends those of others: after an
  /// outage of the primary all of them look old.
  private static let steadyTime = Duration.seconds(10)
  /// From the loss of a lease until the next one, in which the sessions end.
  private static let pauseTime = Duration.seconds(2)

  /// True while this server may write.
  package var isHeld: Bool { lost == nil }
  /// When the lease was renewed last.
  package private(set) var renewed: Instant
  private var steadySince: Instant
  private var unconfirmedSince: Instant?
  private var lost: Instant?
  /// From the last renewal until the sessions end, if no primary is reached.
  private let patience: Duration

  /// Begins with a lease that was renewed now.
  package init(now: Instant, patience: Duration) {
    (renewed, steadySince, self.patience) = (now, now, patience)
  }

  /// True if the lease is to be renewed, or begun anew.
  package func isDue(_ now: Instant) -> Bool {
    if let lost { return lost.duration(to: now) >= LeaseClock.pauseTime }
    return unconfirmedSince != nil || renewed.duration(to: now) >= LeaseClock.renewalTime
  }

  /// True if this server may judge by the clock that others have ended.
  package func mayEndOthers(_ now: Instant) -> Bool {
    isHeld && steadySince.duration(to: now) >= LeaseClock.steadyTime
  }

  /// The lease was renewed, or begun.
  package mutating func didRenew(_ now: Instant) {
    if !isHeld || renewed.duration(to: now) > LeaseClock.pauseMax { steadySince = now }
    (lost, renewed, unconfirmedSince) = (nil, now, nil)
  }

  /// A renewal that was begun at `start` was not confirmed; `isReachable` tells whether there was a
  /// connection to a primary.
  package mutating func didFail(start: Instant, isReachable: Bool) {
    unconfirmedSince = isReachable ? unconfirmedSince ?? start : nil
  }

  /// Others have ended the lease.
  package mutating func didLose(_ now: Instant) { lost = now }

  /// Why the lease is lost by now, with the name of its store for people; nil if it is not.
  package mutating func loss(_ now: Instant, of store: String = "the store") -> String? {
    if !isHeld { return nil }
    if let start = unconfirmedSince, start.duration(to: now) >= LeaseClock.unconfirmedTime {
      lost = now
      return "The primary of \(store) has not confirmed the lease for 6 seconds"
    }
    if renewed.duration(to: now) >= patience {
      lost = now
      return
        "The primary of \(store) could not be reached for \(patience.components.seconds) seconds"
    }
    return nil
  }
}
