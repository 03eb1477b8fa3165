import RunnelPostgres

/// A namespace that could not be opened because its store could not be used then; it is tried again when the store
/// can.
struct HeldUpNamespace: Sendable {
  /// The shortest time between two attempts.
  private static let pauseMin = Duration.milliseconds(250)

  /// The name of the store.
  let store: String
  /// Why it could not be opened.
  let reason: String
  /// When it may be tried again.
  private let next: ContinuousClock.Instant
  private var isUnderWay = false

  /// Notes an attempt that began at `start` and has failed now.
  ///
  /// An attempt that took long holds up others, so it is followed by a longer pause.
  init(_ store: String, _ reason: String, since start: ContinuousClock.Instant) {
    (self.store, self.reason) = (store, reason)
    let now = ContinuousClock.now
    next = now + max(HeldUpNamespace.pauseMin, start.duration(to: now) * 2)
  }

  /// True if a failure to open a namespace is one of the store, which passes.
  static func isOfStore(_ error: any Error) -> Bool {
    guard let error = error as? PostgresError else { return false }
    return error.isOutage || error.kind == .leaseEnded || error.kind == .inDoubt
  }

  /// Begins the next attempt; false if it is not time for it.
  fileprivate mutating func begin() -> Bool {
    if isUnderWay || next > .now { return false }
    isUnderWay = true
    return true
  }

  /// True if it is not being opened at this moment.
  fileprivate var isIdle: Bool { !isUnderWay }
}

extension ServedDatabases.State {
  /// Notes that a namespace is opened now; false if it is already, or is not to be tried again yet.
  ///
  /// `isUsable` says whether its store can be used.
  mutating func begin(opening name: String, isUsable: Bool) -> Bool {
    if opening.insert(name).inserted { return true }
    return isUsable && heldUp[name]?.begin() == true
  }

  /// Forgets the namespaces of a store that wait to be opened and are not there any more.
  mutating func forgetHeldUp(of store: String, except present: Set<String>) {
    for (name, held) in heldUp where held.store == store && held.isIdle && !present.contains(name) {
      heldUp[name] = nil
      opening.remove(name)
    }
  }
}
