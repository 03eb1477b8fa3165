// What the origin does when this client goes away. Source: tree semantics, section 12.

/// What the origin was asked to do then.
///
/// Nothing of it outlives the process: the origin does it when that ends.
struct DisconnectBook: Sendable {
  struct Asked: Sendable {
    var id: Int64
    var request: DisconnectRequest
    var isSent = false
  }

  /// What the origin has not answered, the oldest first.
  var asked: [Asked] = []
  /// What it will do.
  var accepted = OnDisconnect()

  /// Removes and returns what was asked under an id.
  mutating func take(_ id: Int64) -> DisconnectRequest? {
    guard let index = asked.firstIndex(where: { $0.id == id }) else { return nil }
    return asked.remove(at: index).request
  }
}

extension ReplicaEngine {
  /// Asks the origin for something that is to be done when this client goes away; while the origin
  /// cannot be talked to, this waits.
  ///
  /// No data change now. It is done once: after a loss it is to be asked for anew. Returns the id under
  /// which the origin's answer is completed, as that of a write.
  ///
  /// - Throws: `TreeError` for what a write would refuse; then nothing is asked.
  public mutating func ask(
    _ request: DisconnectRequest, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (id: Int64, outcome: ReplicaOutcome) {
    var probe = OnDisconnect()
    try probe.register(request)
    let id = try storage.takeWriteID()
    disconnects.asked.append(DisconnectBook.Asked(id: id, request: request))
    var outcome = ReplicaOutcome()
    if isConnected { sendDisconnectRequests(&outcome) }
    return (id, outcome)
  }

  /// Sends what was asked for and not sent.
  ///
  /// It waits for no answer of a query, and goes before writes: who says that he is here has first said
  /// what is to become of that.
  mutating func sendDisconnectRequests(_ outcome: inout ReplicaOutcome) {
    for index in disconnects.asked.indices where !disconnects.asked[index].isSent {
      disconnects.asked[index].isSent = true
      let asked = disconnects.asked[index]
      outcome.commands.append(.onDisconnect(id: asked.id, asked.request))
    }
  }

  /// The origin answered what was asked for under an id; false if that was something else.
  mutating func answered(
    disconnectRequest id: Int64, _ error: TreeError?, _ outcome: inout ReplicaOutcome
  ) throws(TreeError) -> Bool {
    guard let request = disconnects.take(id) else { return false }
    if let error {
      outcome.completions.append(.rejected(id: id, error))
    } else {
      try disconnects.accepted.register(request)
      outcome.completions.append(.acknowledged(id: id))
    }
    return true
  }

  /// The origin is gone: shows what it will do now, as if it had told it; transactions there end.
  ///
  /// Returns the places touched.
  mutating func simulateDisconnect(
    now: Int64, _ outcome: inout ReplicaOutcome, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    for asked in disconnects.asked where asked.isSent {
      outcome.completions.append(.rejected(id: asked.id, ReplicaEngine.lost))
    }
    disconnects.asked.removeAll(where: \.isSent)
    var touched: [Path] = []
    for write in disconnects.accepted.execute() {
      for part in try partsAtOrigin(of: write, now: now, storage) {
        touched += try replica.receive(assigned: part, &storage)
        touched += try failTransactions(
          where: { $0.concerns(part.path) }, ReplicaEngine.overwritten, now: now, &outcome,
          &storage)
      }
    }
    return touched
  }

  /// What a write comes to where the origin does it; nothing if it will be refused there.
  private func partsAtOrigin(
    of write: Write, now: Int64, _ storage: some ReplicaStorage
  ) throws(TreeError) -> [Assignment] {
    let reader = ReplicaReader(storage: storage, book: replica.book, writes: .none)
    do throws(TreeError) {
      return try write.assignments(now: originTime(now), reader: reader)
    } catch  where error.code != .storage {
      return []
    }
  }
}

extension Replica {
  /// The origin has, or will have, carried out a part of a write.
  mutating func receive(
    assigned part: Assignment, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    try receive(.merge([part]), at: .root, &storage)
  }
}
