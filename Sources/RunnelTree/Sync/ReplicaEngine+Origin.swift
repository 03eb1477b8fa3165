// The origin's side of a replica's engine. Source: tree semantics, sections 7.4, 7.7 and 13.

extension ReplicaEngine {
  /// Connects the origin: it is asked every wanted query, and once it has answered, pending writes
  /// are sent in order.
  ///
  /// `now` is in milliseconds since 1970, and so is `originTime`, the time on the origin's clock,
  /// if the origin tells it; one that no key can hold is brought into `ConnectionInfo.originTimes`.
  /// `/.info/connected` is true once everything has been sent.
  package mutating func connect(
    now: Int64, originTime: Int64? = nil, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    if let originTime {
      let offset = ConnectionInfo.offset(ofOriginTime: originTime, now: now)
      try tellInfo(&outcome) { $0.serverTimeOffset = offset }
    }
    try storage.noteSpeaking(true)
    outcome.append(try takeBackLost(now: now, &storage))
    // What is left of an earlier connection, which ended with its process.
    let passed = try endPassing(now: now, &outcome, &storage)
    try refresh(passed, now: now, &outcome, &storage)
    outcome.append(try askForOthers(now: now, &storage))
    plan.forgetNumbers()
    replica.book.talk.reset()
    for ask in plan.current { outcome.commands.append(try command(for: ask, storage)) }
    sendDisconnectRequests(&outcome)
    sendGets(&outcome)
    let awaited = replica.book.talk.open.map { ($0.value.id, $0.key.path) }
    link = .connected(
      Backlog(
        awaiting: Dictionary(uniqueKeysWithValues: awaited),
        holding: replica.book.pending.filter(\.isDurable).map(\.id)))
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Disconnects the origin: listeners keep the known data, and writes wait.
  ///
  /// The writes that the origin does at the disconnection show at once.
  package mutating func disconnect(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    link = .offline
    try storage.noteSpeaking(false)
    plan.forgetNumbers()
    replica.book.talk.reset()
    var touched = try failTransactions(
      where: \.isSent, ReplicaEngine.lost, now: now, &outcome, &storage)
    touched += try endPassing(now: now, &outcome, &storage)
    try tellInfo(&outcome) { $0.isConnected = false }
    outcome.append(try leaveOthers(now: now, &storage))
    try settlePages(now: now, &outcome, &storage)
    keepGetsForLater(now: now)
    touched += try simulateDisconnect(now: now, &outcome, &storage)
    try refresh(touched, now: now, &outcome, &storage)
    return outcome
  }

  static let lost = TreeError(
    .disconnected, "The origin was lost before it answered: whether it did this is unknown.")

  /// Takes one message of the origin.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// - Throws: `TreeError` (`storage`, or the mistake in the message); then nothing changed.
  package mutating func receive(
    _ message: OriginMessage, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    switch message {
    case .push(let push, let path, let tag):
      let touched = try receive(push, path, tag, &storage)
      try changed(touched, now: now, &outcome, &storage)
    case .ranges(let merges, let path, let tag):
      guard let query = tag.map({ plan.query(tag: $0) }) ?? Query(path) else { break }
      let touched = try replica.receive(merges, for: query, &storage)
      try changed(touched, now: now, &outcome, &storage)
    case .listenComplete(let id):
      // An ask that was ended meanwhile is ignored.
      guard let query = plan.query(id) else { break }
      let touched = try replica.receiveComplete(query, &storage)
      try changed(touched, known: [query.path], now: now, &outcome, &storage)
    case .listenRefused(let id, let error):
      guard let query = plan.query(id) else { break }
      outcome = try cancel(query, error, now: now, &storage)
    case .listenRevoked(let query, let error):
      // The refusal is meant for an ended ask of the same query, or the new ask will be refused,
      // too.
      let asked = query.asked(reach)
      guard plan.asks(asked), !replica.book.talk.awaitsEnds(asked) else { break }
      outcome = try cancel(asked, error, now: now, &storage)
    case .unlistened(let id): replica.book.talk.confirmEnd(id)
    case .answer(let id, let node):
      let touched = try self.answered(get: id, node, now: now, &outcome, &storage)
      try changed(touched, now: now, &outcome, &storage)
    case .acknowledged(let id):
      try acknowledged(id, now: now, &outcome, &storage)
    case .partlyDone(let id, let places):
      let touched = try replica.narrow(id, done: Set(places), &storage)
      try changed(touched, now: now, &outcome, &storage)
    case .rejected(let id, let error):
      try rejected(id, error, now: now, &outcome, &storage)
    case .stale(let id):
      if try isStale(write: id, now: now, &outcome, &storage) { break }
      try recompute(answered: id, now: now, &outcome, &storage)
    }
    try advancePages(now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  private mutating func receive(
    _ push: Replica.Push, _ path: Path, _ tag: Int?, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> [Path] {
    guard let tag else { return try replica.receive(push, at: path, &storage) }
    // An unknown tag belongs to a query that was ended meanwhile.
    guard let query = plan.query(tag: tag) else { return [] }
    return try replica.receive(push, at: path, for: query, &storage)
  }

  /// Tells listeners of the origin's changes, and of places of which only the knowledge changed; computes the
  /// transactions there anew.
  private mutating func changed(
    _ touched: [Path], known: [Path] = [], now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    let rewritten = try recompute(after: touched + known, now: now, &outcome, &storage)
    try refresh(touched + rewritten, known: known, now: now, &outcome, &storage)
  }

  mutating func acknowledged(
    _ id: Int64, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if try answered(disconnectRequest: id, nil, &outcome) { return }
    if transactions.contains(where: { $0.command == id }) {
      return try commitTransactions(answered: id, now: now, &outcome, &storage)
    }
    // A write that was given up meanwhile has ended already.
    guard replica.book.isPending(id) else { return }
    let touched = try replica.acknowledge(id, &storage)
    outcome.completions.append(.acknowledged(id: id))
    try refresh(touched, now: now, &outcome, &storage)
  }

  mutating func rejected(
    _ id: Int64, _ error: TreeError, now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if try answered(disconnectRequest: id, error, &outcome) { return }
    if try refused(get: id, error, &outcome, storage) { return }
    let write = replica.book.pendingWrite(id)?.write
    var touched = try replica.reject(id, .refused(error), &storage)
    touched += try failTransactions(
      where: { $0.command == id }, error, now: now, &outcome, &storage)
    if let write, isAnsweredHere(write) {
      outcome.completions.append(.rejected(id: id, error))
    }
    let rewritten = try recompute(after: touched, now: now, &outcome, &storage)
    try refresh(touched + rewritten, now: now, &outcome, &storage)
  }
}
