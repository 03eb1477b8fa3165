public import RunnelTree

/// Why a replica may be kept away from its origin.
public enum OfflineReason {
  /// The user, or the program, wants it: the reason if none is named.
  public static let wish = "the program went offline"
}

extension DatabaseSession {
  /// Keeps the replica away from its origin, for one more reason; a connection ends.
  ///
  /// Meanwhile listeners are served with what is kept, and writes wait. Reasons may coexist, and each is
  /// known by its words. A reason holds until this session ends.
  ///
  /// Source: tree semantics, section 13.
  ///
  /// - Parameter reason: why, in words.
  /// - Returns: what listeners of this session are to be told.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  public func goOffline(because reason: String = OfflineReason.wish) throws -> [Delivery] {
    try requireReplica().goOffline(because: reason)
  }

  /// Takes a reason to stay offline back; one that was not given is ignored.
  ///
  /// - Returns: true if the origin may be connected now: no other reason is left.
  public func goOnline(because reason: String = OfflineReason.wish) -> Bool {
    replica?.goOnline(because: reason) ?? true
  }
}

extension Database {
  /// Keeps a replica away from its origin, for one more reason; see `DatabaseSession.goOffline`.
  ///
  /// `/.info/connected` becomes false. Who talks to the origin is refused `connectOrigin` meanwhile.
  ///
  /// - Throws: `DatabaseError` (`refused` on a tree of its own, `closed`).
  public func goOffline(because reason: String = OfflineReason.wish) throws {
    try checkIsOpen()
    post(try session.goOffline(because: reason))
    postOriginOutput()
  }

  /// Takes a reason to stay offline back; one that was not given is ignored.
  ///
  /// - Returns: true if the origin may be connected now: no other reason is left.
  /// - Throws: `DatabaseError` (`closed`).
  @discardableResult
  public func goOnline(because reason: String = OfflineReason.wish) throws -> Bool {
    try checkIsOpen()
    return session.goOnline(because: reason)
  }
}
