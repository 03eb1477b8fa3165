/// A replica, its listeners, and its conversation with the origin.
///
/// Responsibilities:
/// - It takes requests from here and messages from the origin, one input at a time, and returns
///   deliveries, completions and commands.
/// - It sends nothing and delivers nothing itself, and it has no clock but the times it is given.
///
/// It is a value: a caller whose storage cannot commit drops the changed copy.
///
/// States of the link:
/// ```
///   offline --connect--> connected, with a backlog --answers--> connected, and nothing waits
///      ^                             |                                        |
///      +---------- disconnect -------+----------------------------------------+
/// ```
/// At a connection all queries are asked. Earlier writes wait where an answer may show that others
/// changed the same place: see `Backlog`.
///
/// Source: tree semantics, sections 7, 8.4, 11 and 13.
package struct ReplicaEngine: Sendable {
  enum Link: Sendable {
    case offline
    /// A connection, with the writes that wait for answers.
    case connected(Backlog)
  }

  /// The copy of the origin's tree, and the pending writes.
  package internal(set) var replica: Replica
  var engine = TreeEngine()
  var plan = ListenPlan()
  var link = Link.offline
  var transactions: [Transaction] = []
  var nextTransactionID: Int64 = 0
  var disconnects = DisconnectBook()
  /// The questions that were asked once and are not answered, the oldest first.
  var gets: [OpenGet] = []
  /// The state of the connection, and its listeners.
  var info = InfoEngine(.offline)
  let policy: ConflictPolicy
  private let hashing: RangeHashing
  var listened: [ListenerID: Query] = [:]
  /// The paged windows among the listeners.
  var pages: [ListenerID: PagedListen] = [:]
  /// The paged listeners that are not told an answer of an earlier connection.
  var unconfirmed: Set<ListenerID> = []
  private var kept: Set<Query> = []
  /// The queries that are asked for other sessions on the storage.
  var foreign: Set<Query> = []
  /// The places of waiting writes that are asked for.
  var watched: [Query] = []
  /// The pending state last told to each listener that wants it.
  private var toldPending: [ListenerID: PendingState] = [:]
  /// The revision of the pending writes for which they were told; nil if a listener has come since.
  private var toldRevision: Int?
  /// The number of this session on the storage.
  let session: Int64

  /// Makes an engine, new or from the book that a storage kept.
  ///
  /// `session` is a number that no other session on the storage has or had; `reach` is what the origin
  /// can answer.
  package init(
    book: ReplicaBook = ReplicaBook(), session: Int64 = PendingWrite.noSession,
    policy: ConflictPolicy = .fieldWise, hashing: RangeHashing = RangeHashing(),
    reach: OriginReach = .ranges
  ) {
    replica = Replica(book: book)
    replica.book.reach = reach
    plan.reach = reach
    self.session = session
    self.hashing = hashing
    self.policy = policy
  }

  /// True if anyone listens.
  package var hasListeners: Bool { engine.hasListeners || info.hasListeners }

  /// The state of the connection, as it stands at `/.info`.
  package var connectionInfo: ConnectionInfo { info.info }

  /// The estimated time on the origin's clock when the clock here shows `now`.
  package func originTime(_ now: Int64) -> Int64 { now + (connectionInfo.serverTimeOffset ?? 0) }

  /// What the origin can answer.
  var reach: OriginReach { plan.reach }

  /// True while the origin can be reached.
  package var isConnected: Bool {
    if case .offline = link { false } else { true }
  }
}

// MARK: Listening

extension ReplicaEngine {
  /// Registers a listener; it is told the known data at once.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// - Precondition: no listener with this name is registered.
  /// - Throws: `TreeError` (`storage`); then nothing is registered.
  package mutating func listen(
    _ listener: ListenerID, _ request: ListenRequest, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    if request.query.path.isInfo {
      var outcome = ReplicaOutcome()
      outcome.deliveries = try info.listen(listener, request)
      return outcome
    }
    var outcome: ReplicaOutcome
    if let paging = request.paging {
      outcome = try listenPaged(listener, request, paging, now: now, &storage)
    } else {
      outcome = try carryOut(plan.want(request.query), now: now, &storage)
      outcome.deliveries += try engine.listen(listener, request, reader: reader(storage))
    }
    listened[listener] = request.query
    if request.events.contains(.pending) {
      toldPending[listener] = PendingState()
      toldRevision = nil
    }
    tellPending(&outcome)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Removes a listener; one that is not registered is ignored.
  package mutating func unlisten(
    _ listener: ListenerID, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    engine.unlisten(listener)
    info.unlisten(listener)
    unconfirmed.remove(listener)
    toldPending[listener] = nil
    guard let query = listened.removeValue(forKey: listener) else { return ReplicaOutcome() }
    let asked = pages.removeValue(forKey: listener)?.wanted ?? [query]
    var outcome = try want([], insteadOf: asked, now: now, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Keeps a query answered although it has no listener, or stops keeping it.
  ///
  /// Keeping a query twice has no further effect.
  ///
  /// Source: tree semantics, section 14.
  package mutating func keepSynced(
    _ query: Query, _ isKept: Bool, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    // The state of the connection is in memory anyway.
    if query.path.isInfo { return ReplicaOutcome() }
    let isChanged = isKept ? kept.insert(query).inserted : kept.remove(query) != nil
    guard isChanged else { return ReplicaOutcome() }
    let change = isKept ? plan.want(query) : plan.unwant(query)
    var outcome = try carryOut(change, now: now, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Starts and ends asks as a change of the plan says.
  mutating func carryOut(
    _ change: ListenPlan.Change, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    for ask in change.started { try replica.activate(ask.query, now: now / 1000, &storage) }
    if !isConnected { try forgetRefusals(of: change.started, &storage) }
    for ask in change.ended { try replica.deactivate(ask.query, now: now / 1000, &storage) }
    if isConnected {
      for ask in change.started { outcome.commands.append(try command(for: ask, storage)) }
      for ask in change.ended {
        guard let id = ask.id else { continue }
        replica.book.talk.end(id, ask.query)
        outcome.commands.append(.unlisten(id, ask.query, tag: ask.tag))
      }
    }
    let touched = (change.started + change.ended).map(\.query.path)
    outcome.touched = touched
    outcome.deliveries = try engine.apply(touched: touched, reader: reader(storage))
    return outcome
  }

  /// The command that asks a query, under an id of its own.
  mutating func command(
    for ask: ListenPlan.Ask, _ storage: some ReplicaStorage
  ) throws(TreeError) -> OriginCommand {
    let known = try replica.knownHash(of: ask.query, hashing, storage)
    let id = plan.number(ask.query)
    replica.book.talk.ask(id, ask.query)
    return .listen(id, ask.query, tag: ask.tag, known: known)
  }

  /// True if the origin has answered exactly this query on this connection, and sends its changes.
  func hasAnswered(_ query: Query) -> Bool {
    isConnected && plan.asks(query) && !replica.book.talk.isOpen(query)
  }

  func reader<Storage: ReplicaStorage>(_ storage: Storage) -> ReplicaReader<Storage> {
    ReplicaReader(storage: storage, book: replica.book)
  }

  /// Removes the listeners of a query that the origin refused.
  ///
  /// If a default query is refused, so are all queries of its place.
  mutating func cancel(
    _ query: Query, _ error: TreeError, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    let isRefused = { [reach] (other: Query) in
      query.loadsAllData ? other.path == query.path : other.asked(reach) == query.asked(reach)
    }
    let refused = listened.filter { listener, query in
      (pages[listener]?.wanted ?? [query]).contains(where: isRefused)
    }.keys.sorted()
    var unwanted: [Query] = []
    for listener in refused {
      engine.unlisten(listener)
      unconfirmed.remove(listener)
      listened[listener] = nil
      toldPending[listener] = nil
      unwanted += pages.removeValue(forKey: listener)?.wanted ?? []
    }
    kept = kept.filter { !isRefused($0) }
    watched.removeAll(where: isRefused)
    for index in transactions.indices where isRefused(Query(transactions[index].request.path)) {
      transactions[index].isListening = false
    }
    try replica.deactivate(query, now: now / 1000, &storage)
    for open in replica.book.talk.open.keys where isRefused(open) {
      _ = replica.book.talk.close(open)
      replica.book.talk.fallSilent(open)
    }
    var outcome = try carryOut(plan.drop(where: isRefused), now: now, &storage)
    outcome.append(
      try want([], insteadOf: unwanted.filter { !isRefused($0) }, now: now, &storage))
    let placed = TreeError(
      error.code, error.message, path: error.path ?? query.path.description)
    try noteRefusals(where: isRefused, placed, &storage)
    outcome.completions += refused.map { .cancelled($0, query, placed) }
    try refresh([query.path], now: now, &outcome, &storage)
    return outcome
  }
}

// MARK: Writing

extension ReplicaEngine {
  /// Does a write here, and sends it when there is a connection.
  ///
  /// `now` is in milliseconds since 1970; the origin's time is estimated from it. Returns the id
  /// under which the origin's answer is completed. A write that is not visible is sent like any
  /// other, but it is shown only when the origin has taken it. A passing one ends with the connection,
  /// and is refused without one. With a `place`, the origin does the write only if that still is as it
  /// is known here; what it replaces around the places in `comparing` has to be as it is known, too. If it
  /// `holdsBases`, that is what is known now, also if it waits for a connection.
  ///
  /// - Precondition: no write that is pending, or was done, has the same name; and the write changes
  ///   nothing outside of `place`.
  /// - Throws: `TreeError` that names the refused place; nothing is written then.
  package mutating func write(
    _ write: Write, isVisible: Bool = true, isPassing: Bool = false, name: WriteID? = nil,
    ifUnchanged place: Path? = nil, comparing: [Path] = [], holdsBases: Bool = false, now: Int64,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> (id: Int64, outcome: ReplicaOutcome) {
    var outcome = ReplicaOutcome()
    if isPassing, let id = try refusePassing(&outcome, &storage) { return (id, outcome) }
    var seen: SeenNode?
    if let place { seen = try self.seen(at: place, storage) }
    let (pending, written) = try replica.write(
      write, isVisible: isVisible, upon: seen, comparing: comparing, holdsBases: holdsBases,
      by: isPassing ? .passing(session: session) : .anyone(name: name), now: originTime(now),
      &storage)
    if pending.parts.isEmpty {
      // The write changes nothing, so the origin is not asked.
      _ = try replica.acknowledge(pending.id, &storage)
      outcome.completions.append(.acknowledged(id: pending.id))
      return (pending.id, outcome)
    }
    var touched = written
    touched += try abortTransactions(by: pending, now: now, &outcome, &storage)
    try send(pending, &outcome, &storage)
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return (pending.id, outcome)
  }

  /// Gives up every pending write, and every transaction of this session; the origin's data show
  /// again.
  ///
  /// What was sent may be done nevertheless; it then shows when the origin sends it.
  ///
  /// Source: tree semantics, section 15.4.
  package mutating func purgePendingWrites(
    now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    let error = ReplicaEngine.givenUp
    var touched = try failTransactions(
      where: { _ in true }, error, now: now, &outcome, &storage)
    for write in replica.book.pending where !write.isOfTransaction {
      touched += try replica.reject(write.id, .refused(error), &storage)
      outcome.completions.append(.rejected(id: write.id, error))
    }
    reviewBacklog { $0.review() }
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  /// Gives up one pending write, as if the origin had refused it.
  ///
  /// If the write was sent and the origin did it, its result is shown when the origin sends it.
  ///
  /// Source: tree semantics, sections 7.7 and 15.4.
  ///
  /// - Returns: nil if no such write is pending; the writes of a transaction end only with it.
  package mutating func dropPendingWrite(
    _ id: Int64, now: Int64, _ storage: inout some ReplicaStorage
  ) throws(TreeError) -> ReplicaOutcome? {
    guard replica.book.pendingWrite(id)?.write.isDurable == true else { return nil }
    var outcome = ReplicaOutcome()
    let error = ReplicaEngine.givenUp
    var touched = try replica.reject(id, .refused(error), &storage)
    outcome.completions.append(.rejected(id: id, error))
    touched += try recompute(after: touched, now: now, &outcome, &storage)
    reviewBacklog { $0.review() }
    try refresh(touched, now: now, &outcome, &storage)
    try refillPages(now: now, &outcome, &storage)
    try sendReady(now: now, &outcome, &storage)
    return outcome
  }

  static let givenUp = TreeError(
    .writeCanceled, "The write was given up before the origin took it.")

  /// Tells listeners of the touched places, and of those of which only the knowledge changed; computes
  /// transactions there anew.
  mutating func refresh(
    _ touched: [Path], known: [Path] = [], now: Int64, _ outcome: inout ReplicaOutcome,
    _ storage: inout some ReplicaStorage
  ) throws(TreeError) {
    if !touched.isEmpty || !known.isEmpty {
      outcome.deliveries += try engine.apply(
        touched: touched, known: known, reader: reader(storage))
    }
    tellPending(&outcome)
    outcome.touched += touched + known
    try sendTransactions(&outcome, &storage)
  }

  /// Tells listeners whose pending state has changed.
  ///
  /// O(1) if no write has come or gone, or been cut, since they were told.
  mutating func tellPending(_ outcome: inout ReplicaOutcome) {
    if toldRevision == replica.book.pendingRevision { return }
    toldRevision = replica.book.pendingRevision
    for listener in toldPending.keys.sorted() {
      guard let path = listened[listener]?.path else { continue }
      let state = replica.book.pendingState(at: path)
      if state == toldPending[listener] { continue }
      toldPending[listener] = state
      outcome.deliveries.append(Delivery(listener: listener, event: .pending(state)))
    }
  }

  /// Changes the state of the connection, and tells those who listen to it.
  mutating func tellInfo(
    _ outcome: inout ReplicaOutcome, _ change: (inout ConnectionInfo) -> Void
  ) throws(TreeError) {
    var changed = connectionInfo
    change(&changed)
    outcome.deliveries += try info.update(changed)
  }
}

extension ReplicaOutcome {
  /// Adds the outcome of a later input.
  package mutating func append(_ other: ReplicaOutcome) {
    deliveries += other.deliveries
    completions += other.completions
    commands += other.commands
    touched += other.touched
  }
}
