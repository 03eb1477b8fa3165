// Queries that are asked once. Source: tree semantics, section 14.

/// A question that the origin has not answered.
struct OpenGet: Sendable {
  /// The time for which a question waits for a connection before it is answered from the cache.
  static let patienceMilliseconds: Int64 = 3000

  let id: Int64
  let query: Query
  var isSent: Bool
  /// The time at which it stops waiting for a connection, in milliseconds since 1970.
  var deadline: Int64
}

extension ReplicaEngine {
  /// Asks once for the result of a query; returns the id under which the answer is completed.
  ///
  /// If the query has a listener, its answer is known at once. Otherwise the origin is asked.
  /// Without a connection the question waits until `nextDeadline`; then a previously kept answer is
  /// used. The answer is kept like that of a query with listeners. `now` is in milliseconds since
  /// 1970. With `isPatient` false, as if nobody is about to connect, it does not wait.
  ///
  /// - Throws: `TreeError` (`storage`); then nothing is asked.
  package mutating func get(
    _ query: Query, now: Int64, isPatient: Bool = true, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (id: Int64, outcome: ReplicaOutcome) {
    let id = try storage.takeWriteID()
    var outcome = ReplicaOutcome()
    if query.path.isInfo {
      outcome.completions.append(.got(id: id, try value(of: query, connectionInfo)))
    } else if try isLive(query, storage) {
      outcome.completions.append(.got(id: id, try value(of: query, reader(storage))))
    } else {
      let deadline = isPatient ? now + OpenGet.patienceMilliseconds : now
      gets.append(OpenGet(id: id, query: query, isSent: false, deadline: deadline))
      if isConnected { sendGets(&outcome) }
    }
    return (id, outcome)
  }

  /// Drops a question: its answer completes nothing.
  package mutating func cancel(get id: Int64) { gets.removeAll { $0.id == id } }

  /// The time of the next call of `giveUpGets`, in milliseconds since 1970; nil if no question
  /// waits for a connection.
  package var nextDeadline: Int64? { gets.filter { !$0.isSent }.map(\.deadline).min() }

  /// Answers the questions that have waited long enough for a connection from the cache, or with an
  /// error if the cache has no answer.
  package mutating func giveUpGets(
    now: Int64, _ storage: some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    for get in gets where !get.isSent && get.deadline <= now {
      let path = get.query.path.description
      let error = TreeError(
        .offline,
        "Client is offline, and no whole answer is kept: connect first, or ask for what is kept of it "
          + "(`get(from: .cache)`).",
        path: path)
      outcome.completions.append(try kept(get, orElse: error, storage))
    }
    gets.removeAll { !$0.isSent && $0.deadline <= now }
    return outcome
  }

  /// The answer that was kept earlier, or the error if there is none.
  private func kept(
    _ get: OpenGet, orElse error: TreeError, _ storage: some ReplicaStorage
  ) throws(TreeError) -> ReplicaCompletion {
    guard try replica.book.knowledge(of: get.query, storage).isAnswer else {
      return .getFailed(id: get.id, error)
    }
    return .got(id: get.id, try value(of: get.query, reader(storage)))
  }

  /// True if a query has a listener, and its whole answer is known.
  private func isLive(
    _ query: Query, _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    let book = replica.book
    let isHeard = book.isActive(atOrAbove: query.path) || book.record(of: query)?.isActive == true
    if !isHeard { return false }
    return try book.knowledge(of: query, storage).isAnswer
  }

  /// The result of a query as one node.
  private func value(of query: Query, _ reader: some TreeReader) throws(TreeError) -> Node {
    var view = View(ListenRequest(query: query, events: .value))
    try view.load(reader)
    return view.value
  }
}

// MARK: The origin

extension ReplicaEngine {
  /// Sends the questions that were not sent.
  mutating func sendGets(_ outcome: inout ReplicaOutcome) {
    for index in gets.indices where !gets[index].isSent {
      gets[index].isSent = true
      outcome.commands.append(.get(id: gets[index].id, gets[index].query.asked(reach)))
    }
  }

  /// Notes that the connection ended: unanswered questions are asked again on the next one.
  mutating func keepGetsForLater(now: Int64) {
    for index in gets.indices where gets[index].isSent {
      gets[index].isSent = false
      gets[index].deadline = now + OpenGet.patienceMilliseconds
    }
  }

  /// Takes the answer to a question; returns the places touched.
  mutating func answered(
    get id: Int64, _ node: Node, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let get = take(get: id) else { return [] }
    // The query counts as active while the answer is read, so that knowledge follows from this
    // answer.
    let wasActive = try replica.beginAnswer(to: get.query, now: now / 1000, &storage)
    let touched = try replica.receive(
      .set(node), at: get.query.path, for: get.query, isOnce: true, &storage)
    // Where no write of this client is shown, a whole answer is what was just stored: it is not read again.
    let isResult =
      get.query.loadsAllData && replica.book.changedChildren(of: get.query.path)?.isEmpty == true
    let value = try isResult ? node : value(of: get.query, reader(storage))
    outcome.completions.append(.got(id: id, value))
    if !wasActive { try replica.deactivate(get.query, now: now / 1000, &storage) }
    return touched
  }

  /// Takes the refusal of a question; returns false if the id is not that of a question.
  mutating func refused(
    get id: Int64, _ error: TreeError, _ outcome: inout ReplicaOutcome,
    _ storage: some ReplicaStorage
  ) throws(TreeError) -> Bool {
    guard let get = take(get: id) else { return false }
    outcome.completions.append(try kept(get, orElse: error, storage))
    return true
  }

  private mutating func take(get id: Int64) -> OpenGet? {
    guard let index = gets.firstIndex(where: { $0.id == id }) else { return nil }
    return gets.remove(at: index)
  }
}

extension Replica {
  /// Makes a query count as active; returns whether it was active before.
  ///
  /// `now` is in seconds since 1970.
  fileprivate mutating func beginAnswer(
    to query: Query, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> Bool {
    var record = book.recordOrNew(of: query)
    try record.wake(storage)
    let wasActive = record.isActive
    record.isActive = true
    record.lastUse = now
    try put(record, &storage)
    return wasActive
  }
}
