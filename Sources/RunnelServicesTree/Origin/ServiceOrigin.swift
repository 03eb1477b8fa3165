package import RunnelBase
package import RunnelServices
package import RunnelTree

/// Answers a replica in the place of an origin, from the services of a Feathers server; without a
/// network and a clock.
///
/// The tree has a child for each service, and below it one for each record: see `ServiceMirror`. So
/// lists, filters, the queue of writes and undo work on services as on any server's database.
///
/// Responsibilities:
/// - A query that is listened to becomes calls of `find`, page by page, as far as its answer needs
///   them; a place in a record becomes a call of `get`. Events keep what was read current.
/// - A write becomes a call of `create`, `patch`, `update` or `remove`, and is acknowledged when the
///   server has answered. Writes of one record are sent in their order, and those that wait become
///   one call.
/// - A write of which nobody knows whether it was done is not repeated blindly: see `SentWrites`.
///
/// Invariants:
/// - O1. What a query is told is right for all records that its runs have read; before that it is
///   told nothing.
/// - O2. At most one call of a record's writes is under way.
/// - O3. Each write is answered once on a connection, unless the connection is lost before.
/// - O4. A write that may have been done is kept on disk until the replica was told what became of it.
/// - O5. A record of a write of several is sent only after those before it are done; it goes on there on the
///   next connection, too.
/// - O6. A write that is neither ready nor of unknown outcome has a call under way, or waits for one that is.
/// - O7. The creation of a single record leaves after all those of its service that were written before it, unless
///   their outcome is unknown or they were sent before; over REST, after these are answered.
///
/// The owner carries out effects in order, reports answers and events in the order in which they
/// come, and calls `tick` at the deadline. Times are milliseconds since 1970.
///
/// Source: services protocol, sections 8 and 11.
package struct ServiceOrigin: Sendable {
  /// What has to be done.
  package enum Effect: Sendable {
    /// Make a call, and report the answer under the number.
    case call(Int, path: String, ServiceRequest)
    /// Tell the replica, in one step.
    case tell([OriginMessage])
    /// Keep what was sent, on disk, before any later effect is carried out.
    case save(SentWrites)
    /// Begin to listen to the events of a service.
    case listen(path: String)
    /// The server wants to know who asks: writes wait until somebody has signed in.
    case signedOut(String)
    /// Tell who reads the log.
    case note(String)
    /// The server is asked for the records of a service that meet a condition.
    case asked(path: String, ChildPredicate)
    /// The server does not check a condition on the records of a service: that is done here.
    case declined(path: String, ChildPredicate)
    /// The server does not send all records of a service, in words.
    case limited(path: String, String)
    /// The records of a service could not be read, and are asked for again: why, in words; nil once they were.
    case troubled(path: String, String?)
    /// A record may be there twice, in words.
    case doubled(path: String, String)
  }

  /// A call under way.
  enum Call: Sendable {
    case page(Key, ServiceRun.ID, ServiceRun.Page, since: Int)
    case record(Key, Key, since: Int)
    /// The first records, which tell the name of the id.
    case sample(Key, limit: Int)
    case write(WriteCall)
    /// The search for a record that may have been created, and what its earlier pages have.
    case search(RecordID, [JSONValue])
    /// The newest records, one of which may be that record, changed by another; and what earlier pages have.
    case changed(RecordID, [JSONValue])
    /// The newest record of a service.
    case mark(Key)

    /// The last event before the call; nil if no event counts for its answer.
    var since: Int? {
      switch self {
      case .page(_, _, _, let since), .record(_, _, let since): since
      case .write(let call): call.since
      case .sample, .search, .changed, .mark: nil
      }
    }
  }

  /// The pause before a call that failed for a while is made again, in milliseconds.
  static let retryPause: Int64 = 2_000

  /// The longest pause before calls are made again, in milliseconds.
  static let pauseMax: Int64 = 30_000

  /// True if the values of queries are sent as texts, so that the server may find no numbers.
  package var isTextual = false
  /// True if the server is asked as a user, not as nobody.
  package var isSignedIn = false
  var mirror = ServiceMirror()
  var services: [Key: ServiceState] = [:]
  var asks: [ListenerID: Ask] = [:]
  var engine = TreeEngine()
  var queue = ServiceWrites()
  /// What may have been done although no answer came; it outlives connections.
  package internal(set) var sent: SentWrites
  /// True if what is kept on disk is older than `sent`.
  var isUnsaved = false
  /// True if that is kept at the end of the step, though no call follows.
  var isToSave = false
  /// The writes that were done: the replica has been told when the next step begins.
  var settledIDs: [Int64] = []
  /// The records that others have changed since a write of them was sent.
  var checks: [RecordID: VersionCheck] = [:]
  /// The records, by their keys here, that were just read for the writes that wait.
  var fresh: Set<RecordID> = []
  /// The records that could not be read for them.
  var unreadRecords = UnreadRecords()
  var calls: [Int: Call] = [:]
  /// What events have told; it counts more than answers to calls that were made before.
  var news = RecordNews()
  /// The places of records that got another key at the server, with the new ones, until they are taken.
  package var newPlaces: [Path: Path] = [:]
  /// The keys at the server of records that have just got them: writes may still name their former keys.
  var newKeys: [RecordID: Key] = [:]
  /// What the server has made of them beyond what was sent.
  var newChanges: [RecordID: NodeChange] = [:]
  /// The pauses before the server is searched again for a record whose creation was broken off, in milliseconds.
  package var searchPauses: [Int64] = [1_000, 2_000, 4_000, 8_000, 15_000]
  /// The creations that may still be done, by write.
  var awaited: [Int64: AwaitedCreation] = [:]
  /// The creations that ended at their time limits, by the number of the call.
  var late: [Int: WriteCall] = [:]
  /// The creations that were sent again, by write.
  var repeats: [Int64: RepeatedCreation] = [:]
  /// The new records, by the creation that may have made them.
  var births: [Int64: Births] = [:]
  /// What was sent to be created, and was answered before the program ended.
  var formerData: [JSONValue] = []
  private var lastCall = 0
  private var lastListener = 0
  /// When calls may be made again after a failure.
  var retryTime: Int64?
  /// New records that may be those of calls under way, until these are answered.
  var held: [Key: [Child]] = [:]
  var heldTime: Int64?
  /// The effects of the present step.
  var effects: [Effect] = []
  /// The messages of the present step, told together at its end.
  var messages: [OriginMessage] = []
  /// What the replica is told before them: of writes that go on, or end, in their middle.
  var progress: [OriginMessage] = []
  /// The writes of which it is told after them how far they have come, when the rows of what is done are there; of
  /// one that ends in the present step that is told before.
  var laterProgress: Set<Int64> = []
  /// What events of the present step have told of records that were not read on this connection.
  var unread: [OriginMessage] = []

  /// What is known of a service.
  struct ServiceState: Sendable {
    var runs: [ServiceRun.ID: ServiceRun] = [:]
    /// The conditions that the server does not check.
    var declined: Set<ChildPredicate> = []

    /// True if all records are known for which the server checked a condition, or none.
    func isWhole(_ condition: ChildPredicate?) -> Bool {
      runs.values.contains {
        $0.isExhausted && ($0.id.condition == nil || $0.id.condition == condition)
      }
    }
    /// Records that the server does not have.
    var absent: Set<Key> = []
    /// Records that are being asked for.
    var asked: Set<Key> = []
    /// Records of which the server told anything.
    var seen: Set<Key> = []
    /// What is known of the newest record.
    var newest = NewestRecord()
    /// True once it is known that there are no records, or what the name of the id is.
    var isSampled = false
    var isSampling = false
    /// True if the server cannot find a record by its version.
    var ignoresVersions = false
    /// The failures of the last questions about the records.
    var trouble = ServiceTrouble()
    /// The record that is written without its version, to see whether the version was what was refused.
    var versionDoubt: RecordID?
  }

  /// A query that the replica listens to, or has asked once.
  struct Ask: Sendable {
    enum Kind: Sendable {
      case listen(AskID, tag: Int?)
      case get(Int64)
    }
    var kind: Kind
    var query: Query
    var isAnswered = false
    /// The node that was told last, for a query below a record.
    var told = Node.empty
  }

  /// Makes an origin.
  ///
  /// - Parameter sent: what an earlier run may have sent.
  package init(sent: SentWrites = SentWrites()) { self.sent = sent }

  /// When `tick` has to be called; nil for never.
  package var deadline: Int64? {
    [retryTime, heldTime, troubleTime, searchTime].compactMap(\.self).min()
  }

  /// True if everything that the replica listens to was answered.
  package var isSettled: Bool { asks.values.allSatisfy(\.isAnswered) }

  mutating func number(_ call: Call) -> Int {
    lastCall += 1
    calls[lastCall] = call
    return lastCall
  }

  mutating func listener() -> ListenerID {
    lastListener += 1
    return ListenerID(lastListener)
  }

  /// Takes the effects of a step.
  private mutating func output() -> [Effect] {
    // The refusal of the rest of a write comes after the rest is known.
    if !progress.isEmpty { effects.append(.tell(progress)) }
    if !messages.isEmpty { effects.append(.tell(messages)) }
    let later = takeLaterProgress()
    if !later.isEmpty { effects.append(.tell(later)) }
    defer { (effects, messages, progress) = ([], [], []) }
    return effects
  }
}

// MARK: Steps

extension ServiceOrigin {
  /// Forgets the connection: nothing that was asked on it is answered any more.
  package mutating func disconnected() {
    (mirror, services, asks, engine) = (ServiceMirror(), [:], [:], TreeEngine())
    (queue, checks, fresh, calls, retryTime) = (ServiceWrites(), [:], [], [:], nil)
    (held, heldTime, unreadRecords.failures) = ([:], nil, [:])
    // Whether the replica was told of these, its pending writes tell.
    settledIDs = []
    (births, awaited, late) = ([:], [:], [:])
  }

  /// Begins a connection.
  ///
  /// - Parameter pending: the ids of all writes that the replica has not got answered.
  package mutating func connected(pending: Set<Int64>) {
    disconnected()
    noteFormer(pending: pending)
    sent.keep(pending: pending)
  }

  /// Takes commands of the replica, in order; `bases` are the known nodes upon which each write was made, by
  /// the write's id and their places; `done` are the numbers of records that were done of writes before.
  package mutating func send(
    _ commands: [OriginCommand], bases: [Int64: [Path: Node]] = [:], done: [Int64: Int] = [:],
    now: Int64
  ) -> [Effect] {
    forgetSettled()
    for command in commands {
      switch command {
      case .listen(let id, let query, let tag, _): listen(id, query, tag)
      case .unlisten(let id, let query, _): unlisten(id, query)
      case .get(let id, let query): get(id, query)
      case .write(let id, let write), .writeIf(let id, let write, _):
        enqueue(id, write, bases[id] ?? [:], doneBefore: done[id] ?? 0)
      case .compareAndSet(let id, _, _, _):
        messages.append(.rejected(id: id, ServiceOrigin.noTransactions))
      case .onDisconnect(let id, _):
        messages.append(.rejected(id: id, ServiceOrigin.noDisconnects))
      }
    }
    advance(now)
    return output()
  }

  private static let noTransactions = TreeError(
    .unavailable, "A Feathers service has no transactions, and no writes under conditions.")
  private static let noDisconnects = TreeError(
    .unavailable, "A Feathers service does nothing when a client goes away.")

  /// Takes the answer to a call; one of an earlier connection is ignored.
  package mutating func answered(
    _ number: Int, _ answer: Result<JSONValue, FeathersError>, now: Int64
  ) -> [Effect] { answered([(number, answer)], now: now) }

  /// Takes the answers to calls, in the order in which they came, in one step: the replica keeps them
  /// together.
  package mutating func answered(
    _ answers: [(number: Int, answer: Result<JSONValue, FeathersError>)], now: Int64
  ) -> [Effect] {
    let known = answers.filter { calls[$0.number] != nil }
    if known.isEmpty { return [] }
    forgetSettled()
    for (number, answer) in known { take(number, answer, now) }
    advance(now)
    return output()
  }

  private mutating func take(
    _ number: Int, _ answer: Result<JSONValue, FeathersError>, _ now: Int64
  ) {
    guard let call = calls.removeValue(forKey: number) else { return }
    switch call {
    case .page(let service, let run, let page, let since):
      answered(service, run, page, since: since, answer, now)
    case .record(let service, let key, let since):
      answered(service, key, since: since, answer, now)
    case .sample(let service, let limit): sampled(service, limit: limit, answer, now)
    case .write(let call):
      if call.kind == .create, case .failure(let error) = answer, error.code == 408 {
        late[number] = call
      }
      answered(call, answer, now)
    case .search(let record, let earlier): found(record, earlier, answer, now)
    case .changed(let record, let earlier): foundChanged(record, earlier, answer, now)
    case .mark(let service): marked(service, answer, now)
    }
  }

  /// Takes events of services, in order.
  package mutating func take(
    _ events: [(path: String, event: ServiceEvent, record: JSONValue)], now: Int64
  ) -> [Effect] {
    forgetSettled()
    for event in events { take(event.path, event.event, event.record, now) }
    adoptAwaited()
    advance(now)
    return output()
  }

  /// Does what is due.
  package mutating func tick(now: Int64) -> [Effect] {
    forgetSettled()
    // After a step back of the clock, nothing waits longer than the longest pause.
    if let retryTime, retryTime <= now || retryTime > now + ServiceOrigin.pauseMax {
      self.retryTime = nil
      queue.retry()
    }
    endPauses(now)
    endAwaiting(now)
    if let heldTime, heldTime <= now {
      adoptBirths()
      releaseHeld()
    }
    advance(now)
    return output()
  }

  /// Ends a step in the middle of a connection, or without one.
  mutating func finishStep(_ now: Int64) -> [Effect] {
    advance(now)
    return output()
  }

  /// Makes the calls that are needed, and answers what can be answered.
  private mutating func advance(_ now: Int64) {
    tellChanges()
    answerAsks()
    if retryTime == nil {
      for listener in asks.keys.sorted() { read(for: listener) }
      sendWrites(now)
    }
    if isToSave, isUnsaved { save() }
    isToSave = false
  }

  /// Forgets writes of which the replica was told in an earlier step.
  private mutating func forgetSettled() {
    forget(settledIDs)
    for id in settledIDs { sent.progress[id] = nil }
    settledIDs = []
  }

  /// Has what was sent kept on disk.
  mutating func save() {
    effects.append(.save(sent))
    isUnsaved = false
  }

  /// Takes what has to be kept on disk though no call follows; nil if all of it is.
  package mutating func takeUnsaved() -> SentWrites? {
    if !isUnsaved { return nil }
    isUnsaved = false
    return sent
  }

  /// Notes that the server cannot answer for a while.
  mutating func pause(_ now: Int64, _ milliseconds: Int64 = ServiceOrigin.retryPause) {
    retryTime = max(retryTime ?? 0, now + milliseconds)
  }
}

extension FeathersError {
  /// True if the same call may succeed a little later.
  var isPassing: Bool { [408, 429, 502, 503, 504].contains(code) }

  /// The error as that of a tree.
  var treeError: TreeError {
    let kind: TreeError.Code =
      switch code {
      case 401, 403, 405: .permissionDenied
      case 404, 410: .notFound
      case 408, 429, 500, 502...: .unavailable
      default: .invalidValue
      }
    // The code of the tree's error says these names in other words.
    let isNamed = ["NotFound", "Unavailable"].contains(name)
    var text = isNamed ? message : "\(message) (\(name))"
    let fields = fieldMessages
    if !fields.isEmpty {
      text +=
        ": "
        + fields.map { $0.name.isEmpty ? $0.message : "\($0.name): \($0.message)" }
        .joined(separator: "; ")
    }
    return TreeError(kind, text.count > 2_000 ? text.prefix(2_000) + "…" : text)
  }
}

extension ServiceOrigin {
  /// Traps if an invariant does not hold.
  ///
  /// For tests.
  package func checkInvariants() {
    let busy = queue.busyRecords
    precondition(busy.count == queue.busyCount, "O2: busy records are counted.")
    var written: [RecordID: Int] = [:]
    for call in calls.values {
      switch call {
      case .write(let write): written[write.record, default: 0] += 1
      case .search(let record, _), .changed(let record, _): written[record, default: 0] += 1
      case .page, .record, .sample, .mark: break
      }
    }
    precondition(written.values.allSatisfy { $0 == 1 }, "O2: there is one call.")
    for record in busy {
      if queue.isWaiting(record) {
        precondition(isAsked(for: record), "O6: what a write waits for is asked.")
      } else {
        precondition(written[record] == 1, "O6: a write that is sent or looked for has a call.")
      }
    }
  }

  /// True if a call is under way for which the writes of a record wait.
  private func isAsked(for record: RecordID) -> Bool {
    guard let state = services[record.service] else { return false }
    if state.newest.waiting.contains(record) { return state.newest.isAsked || state.isSampling }
    return state.asked.contains(target(of: record))
  }
}
