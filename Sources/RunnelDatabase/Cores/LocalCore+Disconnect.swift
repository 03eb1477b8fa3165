import RunnelTree

// Disconnect writes of a tree of its own: writes that are done when a session is closed, or its
// process ends in any way. A session that registers some holds a lock that marks it as running; the
// system releases the lock when the process ends. The other sessions on the file are woken when the
// beacon of the ended session is closed. They find the mark gone, and do its writes; so does the
// next session that opens the file.
//
// Source: tree semantics, section 12.

extension LocalCore {
  /// Stores or cancels disconnect writes of this session in the file.
  ///
  /// Only the rows of the places that the request concerns are written.
  func ask(_ request: DisconnectRequest) throws -> Decision<[Delivery]> {
    let (session, deliveries) = try markedSession()
    var asked = disconnects
    var bytes = disconnectBytes
    try context.store.write { transaction in
      try asked.register(request)
      for place in try disconnects.places(changedBy: request) {
        let old = disconnects.registered(at: place).compactMap(DisconnectRow.init)
        let new = asked.registered(at: place).compactMap(DisconnectRow.init)
        bytes += new.reduce(0) { $0 + $1.byteCount } - old.reduce(0) { $0 + $1.byteCount }
        try transaction.replaceDisconnects(old, by: new, of: session)
      }
      if bytes > DisconnectWrites.bytesMax {
        throw DatabaseError(
          .refused,
          "The disconnect writes have more than \(DisconnectWrites.bytesMax) bytes: register fewer."
        )
      }
      if asked.isEmpty {
        try transaction.removeDisconnect(of: session)
      } else if disconnects.isEmpty {
        try transaction.setDisconnectAuthor(context.environment.author, of: session)
      }
    }
    (disconnects, disconnectBytes) = (asked, bytes)
    return .made(deliveries)
  }

  /// Marks this session as running; returns its number, and deliveries for listeners.
  ///
  /// - Throws: `DatabaseError` (`refused`) if it cannot be marked: other sessions would then regard
  ///   it as ended.
  private func markedSession() throws -> (Int64, [Delivery]) {
    if let session = context.beacon?.session { return (session, []) }
    let number = context.markedNumber()
    guard context.beacon?.session == number else {
      throw DatabaseError(
        .refused,
        "Disconnect writes cannot be registered: \(context.file) was opened for reading only, or "
          + "the file system has no locks for \(ChangeBeacon.path(ofDatabase: context.file)).")
    }
    // An ended session may have had this number; other sessions cannot notice its end any more.
    return (number, try carryOutDisconnect(of: number))
  }

  /// Does the disconnect writes of this session, before it is closed.
  func leave() throws {
    guard !disconnects.isEmpty, let session = context.beacon?.session else { return }
    _ = try carryOutDisconnect(of: session)
    (disconnects, disconnectBytes) = (OnDisconnect(), 0)
  }

  func tidyUpAfterOthers() throws {
    waitingSessions = try context.store.read { try $0.sessionsWithDisconnects() }
    _ = try finishEndedSessions()
  }

  /// True if other running sessions have disconnect writes.
  var awaitsOthers: Bool { waitingSessions.contains { $0 != context.beacon?.session } }

  /// Does the disconnect writes of sessions that have ended; returns the deliveries for listeners.
  func finishEndedSessions() throws -> [Delivery] {
    guard let beacon = context.beacon else { return [] }
    var deliveries: [Delivery] = []
    for session in waitingSessions where session != beacon.session {
      if beacon.isMarked(session: session) { continue }
      deliveries += try carryOutDisconnect(of: session, lookingAt: beacon)
    }
    return deliveries
  }

  /// Does the disconnect writes of a session as one write, unless another session has done them, or the
  /// beacon says that a new session has the number of the one that ended.
  ///
  /// A session is marked before it registers anything. So if it is not marked while nobody else writes, all
  /// that is registered is of one that has ended.
  private func carryOutDisconnect(
    of session: Int64, lookingAt beacon: ChangeBeacon? = nil
  ) throws -> [Delivery] {
    var isRunning = false
    let author = context.environment.author
    defer { context.environment.author = author }
    if try context.store.read({ try $0.disconnect(of: session) }) == nil { return [] }
    let deliveries = try perform { transaction, now in
      isRunning = beacon?.isMarked(session: session) ?? false
      guard !isRunning, let kept = try transaction.disconnect(of: session) else { return [] }
      try transaction.removeDisconnect(of: session)
      var parts: [Assignment] = []
      for write in kept.writes {
        do throws(TreeError) {
          parts += try write.assignments(now: now, reader: transaction)
        } catch {
          // A write that the tree refuses now is left out; the others are done.
          if error.code == .storage { throw error }
        }
      }
      context.environment.author = kept.author
      try context.carryOut(parts, transaction, now: now)
      return parts.map(\.path)
    }
    if !isRunning { waitingSessions.removeAll { $0 == session } }
    return deliveries
  }
}
