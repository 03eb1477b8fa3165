// Writes that the origin does when this client disconnects. Source: tree semantics, section 12.

/// The requests to the origin for the time when this client disconnects.
///
/// They do not outlive the process: the origin carries them out when it ends.
struct DisconnectBook: Sendable {
  struct Asked: Sendable {
    var id: Int64
    var request: DisconnectRequest
    var isSent = false
  }

  /// The requests that the origin has not answered, the oldest first.
  var asked: [Asked] = []
  /// The requests that the origin has accepted.
  var accepted = OnDisconnect()

  /// Removes and returns the request with an id.
  mutating func take(_ id: Int64) -> DisconnectRequest? {
    guard let index = asked.firstIndex(where: { $0.id == id }) else { return nil }
    return asked.remove(at: index).request
  }
}

extension ReplicaEngine {
  /// Asks the origin to do a write when this client disconnects; without a connection the request
  /// waits.
  ///
  /// No data change now. The request is carried out once; after a disconnection it must be made
  /// again. Returns the id under which the origin's answer is completed, like that of a write.
  ///
  /// - Throws: `TreeError` if a write like it would be refused; then nothing is asked.
  package mutating func ask(
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

  /// True if the origin removes all of some places, each as a whole, when this client disconnects, and
  /// there is one: their values last no longer than the connection.
  ///
  /// O(n) in the accepted requests, for each place.
  package func removesAtDisconnection(_ paths: [Path]) -> Bool {
    if disconnects.accepted.isEmpty || paths.isEmpty { return false }
    return paths.allSatisfy(disconnects.accepted.removes)
  }

  /// Sends the requests that were not sent yet.
  ///
  /// They wait for no answer and go before writes: onDisconnect writes are registered before a
  /// client announces its presence.
  mutating func sendDisconnectRequests(_ outcome: inout ReplicaOutcome) {
    for index in disconnects.asked.indices where !disconnects.asked[index].isSent {
      disconnects.asked[index].isSent = true
      let asked = disconnects.asked[index]
      outcome.commands.append(.onDisconnect(id: asked.id, asked.request))
    }
  }

  /// Takes the answer to a request; returns false if the id is not that of a request.
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

  /// Shows now, at a disconnection, the writes that the origin will do by request; transactions at
  /// these places end.
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

  /// The parts of a write as the origin will do it; none if the origin will refuse it.
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
  /// Takes a part of a write that the origin has carried out, or will.
  mutating func receive(
    assigned part: Assignment, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    try receive(.merge([part]), at: .root, &storage)
  }
}
