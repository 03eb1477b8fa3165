package import RunnelTree

// The refused writes of a replica: one queue in its file, which all sessions share.

/// Refused writes that leave the queue in the transaction of the write that stands for them.
package struct RefusedTaking: Hashable, Sendable {
  /// The ids of the refused writes.
  package var ids: [Int64]
  /// Whether nothing is written unless all of them are still kept.
  package var isRequired: Bool

  /// Makes a taking.
  package init(_ ids: [Int64], isRequired: Bool) {
    self.ids = ids
    self.isRequired = isRequired
  }

  /// Removes the refused writes, and returns them.
  ///
  /// - Throws: `DatabaseError` (`dealtWith`) if one is needed that is not kept any more.
  func take(_ transaction: StoreTransaction) throws -> [KeptRefusal] {
    try ids.compactMap { id in
      if let kept = try transaction.takeKept(id) { return kept }
      if isRequired { throw DatabaseError.dealtWith }
      return nil
    }
  }
}

extension DatabaseError.Code {
  /// Somebody else has sent a refused write again, or dropped it.
  package static let dealtWith = DatabaseError.Code(rawValue: "dealt_with")
}

extension DatabaseError {
  /// The error of a refused write that is not kept any more.
  static let dealtWith = DatabaseError(
    .dealtWith, "another window sent or dropped it")
}

extension KeptRefusal {
  /// The places that the write was for.
  var places: [Path] { write.parts.map(\.path) }
}

/// The refused writes of a file as a session knows them.
struct KnownRefusals {
  /// The number of the changes of which it knows.
  private var changes: Int64 = 0
  private var refusals: [KeptRefusal] = []
  /// Whether they have changed since they were told.
  private var isNews = false

  /// Returns the refused writes as they are now.
  ///
  /// O(1) if nothing has changed.
  func read(_ transaction: StoreTransaction) throws -> KnownRefusals {
    let changes = try transaction.keptChanges()
    if changes == self.changes { return self }
    var known = self
    known.changes = changes
    known.refusals = try transaction.keptRefusals()
    if known.refusals != refusals { known.isNews = true }
    return known
  }

  /// Returns the refused writes, if they have changed since the last call.
  mutating func takeNews() -> [KeptRefusal]? {
    defer { isNews = false }
    return isNews ? refusals : nil
  }
}

extension DatabaseSession {
  /// The writes that the origin refused and nobody has sent again or dropped, oldest first; none on a tree of its
  /// own.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  package func refusedWrites() throws -> [KeptRefusal] {
    replica == nil ? [] : try store.read { try $0.keptRefusals() }
  }

  /// The refused writes, if they have changed since the last call.
  ///
  /// They are told to sessions that keep them; see `DatabaseEnvironment.keepsRefusals`.
  package func takeRefusedNews() -> DatabaseMessage? { replica?.takeRefusedNews() }

  /// Runs `body`, whose write stands for refused ones.
  package func taking<Result>(
    _ taking: RefusedTaking, _ body: () throws -> Result
  ) rethrows -> Result {
    context.taking = taking
    defer { context.taking = nil }
    return try body()
  }

  /// Drops a refused write.
  ///
  /// - Returns: the deliveries for listeners of this session, about earlier writes of others.
  /// - Throws: `DatabaseError`; then nothing changed. If it is not kept any more: `dealtWith`; on a tree of its own:
  ///   `refused`.
  package func dropRefusedWrite(_ id: Int64) throws -> [Delivery] {
    try requireReplica().step { (_, storage, _) in
      guard let kept = try storage.takeKept(id) else { throw DatabaseError.dealtWith }
      return DatabaseSession.outcome(of: [kept])
    }
  }

  /// Takes over refused writes that were kept elsewhere, under new ids; those that are kept already are left out.
  ///
  /// `read` is called within the transaction, so that of two sessions only one finds them.
  ///
  /// - Returns: the deliveries for listeners of this session, about earlier writes of others.
  /// - Throws: `DatabaseError`; then nothing changed. On a tree of its own: `refused`.
  package func adoptRefusedWrites(_ read: () -> [KeptRefusal]) throws -> [Delivery] {
    try requireReplica().step { (_, storage, _) in
      let known = Set(try storage.keptRefusals().map { Adopted($0) })
      var added: [KeptRefusal] = []
      for var refusal in read() where !known.contains(Adopted(refusal)) {
        // The numbers of another file may be those of other writes here.
        refusal.write.id = try storage.takeWriteID()
        try storage.keep(refusal)
        added.append(refusal)
      }
      return DatabaseSession.outcome(of: added)
    }
  }

  /// Names refused writes by the places to which their records have moved.
  ///
  /// O(refused writes).
  ///
  /// - Returns: the deliveries for listeners of this session, about earlier writes of others.
  /// - Throws: `DatabaseError`; then nothing changed.
  func followRefusals() throws -> [Delivery] {
    let moves = moves
    if moves.isEmpty { return [] }
    let isNamed = try refusedWrites().contains { moves.followed($0.write) != $0.write }
    if !isNamed { return [] }
    return try requireReplica().step { (_, storage, _) in
      var changed: [KeptRefusal] = []
      for var refusal in try storage.keptRefusals() {
        let write = moves.followed(refusal.write)
        if write == refusal.write { continue }
        refusal.write = write
        try storage.keep(refusal)
        changed.append(refusal)
      }
      return DatabaseSession.outcome(of: changed)
    }
  }

  /// The places are told to the other sessions, which then look at the refused writes.
  private static func outcome(of changed: [KeptRefusal]) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    outcome.touched = changed.flatMap(\.places)
    return outcome
  }

  /// What makes two refused writes the same, whatever their ids are.
  private struct Adopted: Hashable {
    var write: Write
    var at: Int64

    init(_ refusal: KeptRefusal) { (write, at) = (refusal.write.write, refusal.at) }
  }

  // MARK: The user's own writes

  /// Notes the places of a replica where the program writes by itself, for all who count what waits.
  ///
  /// - Throws: `DatabaseError`; then nothing changed.
  package func noteOwnPlaces(_ places: OwnPlaces) throws {
    if replica == nil { return }
    if try store.read({ try $0.ownPlaces() }) == places { return }
    try store.write { try $0.noteOwnPlaces(places) }
  }

  /// The places where the program writes by itself.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  package func ownPlaces() throws -> OwnPlaces { try store.read { try $0.ownPlaces() } }

  /// The writes of the user that the origin has not answered, oldest first.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  package func pendingWritesOfUser() throws -> [PendingWrite] {
    let own = try ownPlaces()
    return replica?.waitingWrites.filter { !own.cover($0) } ?? []
  }
}
