import RunnelTree

// What is to be done when a session ends: when it is closed, or its process ends in any way. A session
// that asks for something is marked as running by a lock, which the system takes away at its end. The
// others on the file, which are woken when its beacon is closed, find the mark gone and do what it left;
// so does the next session that opens the file.
//
// Source: tree semantics, section 12.

extension LocalCore {
  /// Keeps in the file what is to be done when this session ends.
  func ask(_ request: DisconnectRequest) throws -> Decision<[Delivery]> {
    let (session, deliveries) = try markedSession()
    var asked = disconnects
    try context.store.write { transaction in
      try asked.register(request)
      var left = asked
      let writes = left.execute()
      let author = context.environment.author
      try transaction.setDisconnect(
        writes.isEmpty ? nil : DisconnectWrites(author: author, writes: writes), of: session)
    }
    disconnects = asked
    return .made(deliveries)
  }

  /// The number under which this session is marked as running, and what listeners are to be told.
  ///
  /// - Throws: `DatabaseError` (`refused`) if it cannot be marked, so that others would take it for one
  ///   that has ended.
  private func markedSession() throws -> (Int64, [Delivery]) {
    if let session = context.beacon?.session { return (session, []) }
    let number = context.markedNumber()
    guard context.beacon?.session == number else {
      throw DatabaseError(
        .refused,
        "Nothing can be left to be done at the end: \(context.file) was opened for reading only, or "
          + "the file system has no locks for \(ChangeBeacon.path(ofDatabase: context.file)).")
    }
    // If another session ended that had this number, nobody else will find that out any more.
    return (number, try carryOutDisconnect(of: number))
  }

  /// Does what this session left to be done, before it is closed.
  func leave() throws {
    guard !disconnects.isEmpty, let session = context.beacon?.session else { return }
    _ = try carryOutDisconnect(of: session)
    disconnects = OnDisconnect()
  }

  func tidyUpAfterOthers() throws {
    waitingSessions = try context.store.read { try $0.sessionsWithDisconnects() }
    _ = try finishEndedSessions()
  }

  /// True if other sessions left something to be done that have not ended yet.
  var awaitsOthers: Bool { waitingSessions.contains { $0 != context.beacon?.session } }

  /// Does what sessions left to be done that have ended; returns what listeners are to be told.
  func finishEndedSessions() throws -> [Delivery] {
    guard let beacon = context.beacon else { return [] }
    var deliveries: [Delivery] = []
    for session in waitingSessions where session != beacon.session {
      if beacon.isMarked(session: session) { continue }
      deliveries += try carryOutDisconnect(of: session)
    }
    return deliveries
  }

  /// Does what a session left to be done, as one write; does nothing if another has done it meanwhile.
  private func carryOutDisconnect(of session: Int64) throws -> [Delivery] {
    let author = context.environment.author
    defer { context.environment.author = author }
    if try context.store.read({ try $0.disconnect(of: session) }) == nil { return [] }
    let deliveries = try perform { transaction, now in
      guard let kept = try transaction.disconnect(of: session) else { return [] }
      try transaction.setDisconnect(nil, of: session)
      var parts: [Assignment] = []
      for write in kept.writes {
        do throws(TreeError) {
          parts += try write.assignments(now: now, reader: transaction)
        } catch {
          // One that the tree refuses now is left out; the others are done nevertheless.
          if error.code == .storage { throw error }
        }
      }
      context.environment.author = kept.author
      try context.carryOut(parts, transaction, now: now)
      return parts.map(\.path)
    }
    waitingSessions.removeAll { $0 == session }
    return deliveries
  }
}
