package import RunnelTree

/// The reasons to keep a replica away from its origin.
public enum OfflineReason {
  /// The reason if none is named: the user or the program wants it.
  public static let wish = "the program went offline"
}

extension DatabaseSession {
  /// Keeps the replica offline for one more reason; a connection ends.
  ///
  /// Meanwhile listeners get cached data, and writes wait. Several reasons may hold at once; each
  /// is identified by its words. A reason holds until this session ends.
  ///
  /// Source: tree semantics, section 13.
  ///
  /// - Parameter reason: the reason, in words.
  /// - Returns: the deliveries for listeners of this session.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func goOffline(because reason: String = OfflineReason.wish) throws -> [Delivery] {
    try requireReplica().goOffline(because: reason)
  }

  /// Withdraws a reason to stay offline; a reason that was not given is ignored.
  ///
  /// - Returns: true if the origin may be connected now, since no reason is left.
  package func goOnline(because reason: String = OfflineReason.wish) -> Bool {
    replica?.goOnline(because: reason) ?? true
  }
}

extension Database {
  /// Keeps a replica offline for one more reason; see `DatabaseSession.goOffline`.
  ///
  /// `/.info/connected` becomes false. Meanwhile `connectOrigin` does nothing. A replica with an
  /// origin of your own is disconnected by this for good: see `goOnline`.
  ///
  /// - Throws: `DatabaseError` (`refused` on a tree of its own, `closed`).
  public func goOffline(because reason: String = OfflineReason.wish) throws {
    try checkIsOpen()
    post(try session.goOffline(because: reason))
    postOriginOutput()
    originSink.setOffline?(true)
  }

  /// Withdraws a reason to stay offline; a reason that was not given is ignored.
  ///
  /// With `Database.connect` the link connects again by itself. An origin of your own has to be
  /// reported again by `connectOrigin()`, if this returns true; nothing is sent to it before.
  ///
  /// - Returns: true if the origin may be connected now, since no reason is left.
  /// - Throws: `DatabaseError` (`closed`).
  @discardableResult
  public func goOnline(because reason: String = OfflineReason.wish) throws -> Bool {
    try checkIsOpen()
    let mayConnect = session.goOnline(because: reason)
    if mayConnect { originSink.setOffline?(false) }
    return mayConnect
  }
}
