import Foundation
import RunnelBase
import RunnelTree
import TestSupport
import Testing

/// A replica against an origin that does everything right, with every message late: what is shown, what is
/// told and what is known in the end must be what a naive reading of the same state gives.
@Suite struct ReplicaOracleTests {
  @Test(arguments: Seeds.first(200))
  func listenersSeeWhatIsKnownAndInTheEndWhatIsTrue(seed: UInt64) throws {
    var story = ReplicaStory(seed: seed)
    do {
      try story.run(steps: 60)
    } catch let fault as StoryFault {
      // Told again, for its log; writing one down costs more than the story.
      story = ReplicaStory(seed: seed, isLogged: true)
      _ = try? story.run(steps: 60)
      Issue.record(
        "seed \(seed): \(fault.text)\n  \(story.log.suffix(40).joined(separator: "\n  "))")
    }
  }
}

private struct StoryFault: Error {
  var text: String
}

/// One random story; the seed says all of it.
private struct ReplicaStory {
  private var random: RandomTree
  private var origin: FakeOrigin
  private var storage: MemoryReplicaStorage
  private let policy: ConflictPolicy
  private let hashing: RangeHashing
  private var engine: ReplicaEngine
  private var mirrors: [ListenerID: WindowMirror] = [:]
  /// What is on its way to the origin.
  private var upstream: [OriginCommand] = []
  private var kept: [Query] = []
  private var listenerCount = 0
  /// The transactions that were begun since the last restart.
  private var begun: [Int64] = []
  private var now: Int64 = 1_700_000_000_000
  private let isLogged: Bool
  /// What happened, for a failure to show.
  private(set) var log: [String] = []

  init(seed: UInt64, isLogged: Bool = false) {
    self.isLogged = isLogged
    policy = seed % 2 == 0 ? .lastWriteWins : .fieldWise
    let textMin = [512, 1, 30][Int(seed % 3)]
    hashing = RangeHashing(sizeMax: textMin == 512 ? 1024 : 4, textMin: textMin)
    engine = ReplicaEngine(policy: policy, hashing: hashing)
    storage = MemoryReplicaStorage(awakeKeysMax: seed % 4 < 2 ? 0 : TrackedQuery.awakeKeysMax)
    random = RandomTree(seed: seed)
    origin = FakeOrigin(seed: seed)
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      now += 1
      try step()
    }
    try settle()
  }

  private mutating func step() throws {
    switch random.number(0..<100) {
    case 0..<12: try listen()
    case 12..<17: try unlisten()
    case 17..<33: try write()
    case 33..<36: try transact()
    case 36: try cancelTransaction()
    case 37..<39: try askForLater()
    case 39..<42: try get()
    case 42..<50: try changeOrigin()
    case 50..<54: try keep()
    case 54..<58: try connect()
    case 58..<60: try disconnect()
    case 60: try restart()
    case 61: try settle()
    case 62 where random.chance(30): try giveUp()
    case 62..<64: try extend()
    case 64..<82: try sendOne()
    default: try receiveOne()
    }
  }
}

// MARK: What happens here

extension ReplicaStory {
  /// Few places, so that what happens meets.
  private mutating func place() throws -> Path {
    try Path(random.pick(["", "a", "a", "a", "b", "a/b", "a/1", "b/a", "a/b/c"]))
  }

  private mutating func query() throws -> Query {
    let path = try place()
    return random.chance(30) ? Query(path) : try random.query(path)
  }

  private mutating func randomWrite() throws -> Write {
    let path = try place()
    let key = random.pick(["a", "b", "c", "1", "2"])
    switch random.number(0..<10) {
    case 0: return .remove(path)
    case 1: return .set(path, try random.node(depth: 2).exportJSON)
    case 2:
      return .update(path, [JSONMember(".priority", random.priority()?.json ?? .null)])
    case 3: return .set(try path.appending(Path(key)), [".sv": ["increment": 1]])
    case 4:
      return .update(
        path,
        [
          JSONMember(key, try random.node(depth: 1).exportJSON),
          JSONMember("d", try random.node(depth: 0).exportJSON),
          JSONMember("10/x", random.leaf().json),
        ])
    case 5: return .remove(try path.appending(Path(key)))
    default:
      return .set(try path.appending(Path(key)), try random.node(depth: 1).exportJSON)
    }
  }

  private mutating func listen() throws {
    if mirrors.count >= 6 { return try unlisten() }
    listenerCount += 1
    let (id, query) = (ListenerID(listenerCount), try query())
    var paging: Paging?
    if query.limit == nil, random.chance(20) {
      paging = Paging(anchor: random.pick([.first, .last]), count: random.number(1..<4))
    }
    let request = ListenRequest(
      query: query, paging: paging, events: random.chance(70) ? .all : .children)
    note("\(id.rawValue) listens \(request)")
    mirrors[id] = WindowMirror(request)
    try take(engine.listen(id, request, now: now, &storage))
  }

  private mutating func unlisten() throws {
    guard let id = mirrors.keys.sorted().first(where: { _ in random.chance(40) }) else { return }
    note("\(id.rawValue) stops")
    mirrors[id] = nil
    try take(engine.unlisten(id, now: now, &storage))
  }

  private mutating func extend() throws {
    for id in mirrors.keys.sorted() where mirrors[id]?.request.paging != nil {
      note("\(id.rawValue) is extended")
      try take(engine.extend(id, by: random.number(0..<3), now: now, &storage))
    }
  }

  private mutating func keep() throws {
    if let query = kept.popLast() {
      note("lets go \(query)")
      return try take(engine.keepSynced(query, false, now: now, &storage))
    }
    let query = try query()
    note("keeps \(query)")
    kept.append(query)
    try take(engine.keepSynced(query, true, now: now, &storage))
  }

  private mutating func write() throws {
    let write = try randomWrite()
    note("\(write)")
    // A conflict within an update is refused: nothing has happened then.
    var (newEngine, newStorage) = (engine, storage)
    guard let outcome = try? newEngine.write(write, now: now, &newStorage).outcome else { return }
    (engine, storage) = (newEngine, newStorage)
    try take(outcome)
  }

  private mutating func giveUp() throws {
    note("gives up writes")
    try take(engine.purgePendingWrites(now: now, &storage))
  }

  private mutating func get() throws {
    let query = try query()
    note("gets \(query)")
    try take(engine.get(query, now: now, &storage).outcome)
    try take(engine.giveUpGets(now: now, storage))
    now += 500
  }

  private mutating func askForLater() throws {
    var request = DisconnectRequest.cancel(try place())
    switch try randomWrite() {
    case .set(let path, let json) where random.chance(80): request = .set(path, json)
    case .update(let path, let members): request = .update(path, members)
    case .set, .copy, .move: break
    }
    note("on disconnect: \(request)")
    // A conflict within an update is refused: nothing has happened then.
    guard let outcome = try? engine.ask(request, &storage).outcome else { return }
    try take(outcome)
  }

  private mutating func transact() throws {
    let path = try place().appending(Path(random.pick(["a", "1"])))
    note("transaction \(path)")
    let request = TransactionRequest(path, appliesLocally: random.chance(60)) { node in
      guard case .number(let old)? = node.leaf else { return .number(1) }
      return .number(JSONNumber((old.integer ?? 0) + 1))
    }
    let (id, outcome) = try engine.run(request, now: now, &storage)
    begun.append(id)
    try take(outcome)
  }

  /// Gives up a transaction; maybe one that has ended.
  private mutating func cancelTransaction() throws {
    if begun.isEmpty { return }
    let id = random.pick(begun)
    note("gives up transaction \(id)")
    try take(engine.cancel(transaction: id, now: now, &storage))
  }
}

// MARK: The connection

extension ReplicaStory {
  private mutating func changeOrigin() throws {
    let write = try randomWrite()
    note("origin: \(write)")
    // Half of them refused, as above.
    try? origin.change(write, now: now + 7)
  }

  private mutating func connect() throws {
    if engine.isConnected { return }
    note("connects")
    try take(engine.connect(now: now, &storage))
  }

  private mutating func cut() {
    origin.disconnect(now: now + 7)
    upstream = []
  }

  private mutating func disconnect() throws {
    if !engine.isConnected { return }
    note("disconnects")
    cut()
    try take(engine.disconnect(now: now, &storage))
  }

  private mutating func restart() throws {
    note("restarts")
    cut()
    mirrors = [:]
    (kept, begun) = ([], [])
    engine = ReplicaEngine(book: storage.savedBook, policy: policy, hashing: hashing)
    try take(engine.takeBackLost(now: now, &storage))
    let isDurable = engine.replica.book.pending.allSatisfy(\.isDurable)
    try check(isDurable, "A transaction survived a restart.")
  }

  private mutating func sendOne() throws {
    if upstream.isEmpty { return }
    let command = upstream.removeFirst()
    note("to the origin: \(command)")
    try origin.handle(command, now: now + 7)
  }

  private mutating func receiveOne() throws {
    guard let message = origin.takeMessage() else { return }
    note("from the origin: \(message)")
    try take(engine.receive(message, now: now, &storage))
  }

  /// Everything arrives; then nothing may differ from the truth.
  private mutating func settle() throws {
    try connect()
    var rest = 3000
    while !upstream.isEmpty || !origin.outbox.isEmpty {
      if random.chance(50) { try sendOne() } else { try receiveOne() }
      rest -= 1
      try check(rest > 0, "The talk goes on for ever.")
    }
    note("quiet")
    try check(engine.replica.book.pending.isEmpty, "Writes are pending.")
    for (id, mirror) in mirrors {
      if let fault = mirror.fault(in: origin.tree) {
        try check(false, "In the end \(id.rawValue): \(fault)")
      }
    }
    for record in engine.replica.book.trackedQueries where record.isActive && record.isDefault {
      let path = record.query.path
      try check(storage.shown.root[path] == origin.tree.root[path], "\(path) is not the origin's.")
    }
  }
}

// MARK: Checks

extension ReplicaStory {
  private mutating func take(_ outcome: ReplicaOutcome) throws {
    upstream += outcome.commands
    let book = engine.replica.book
    book.checkInvariants()
    let layered = book.layered(onto: storage.server.root, at: .root)
    try check(storage.shown.root == layered, "I1: the shown tree is the layered one.")
    for case .cancelled(let id, _, _) in outcome.completions { mirrors[id] = nil }
    let told = Dictionary(grouping: outcome.deliveries, by: \.listener)
    for (id, var mirror) in mirrors {
      let query = engine.shownQuery(of: id) ?? mirror.request.query
      if mirror.request.paging != nil { mirror.part = query }
      let knowledge = try book.knowledge(of: query, storage)
      let known = known(query.path, knowledge)
      if case .allBut = knowledge {
        let remembered = try book.rememberedChildren(of: query, storage)
        let shown = Set(storage.shown.root[query.path].children.map(\.key))
        try check(
          Set(known.root[query.path].children.map(\.key)) == remembered.intersection(shown),
          "\(id.rawValue), \(knowledge) of \(query.path), not \(remembered)")
      }
      let events = (told[id] ?? []).map(\.event)
      let fault = mirror.apply(
        batches: events, known, isAnswer: knowledge.isAnswer)
      if let fault { try check(false, "\(id.rawValue), \(knowledge): \(fault)") }
      mirrors[id] = mirror
    }
  }

  /// A tree of what is known of a place.
  private func known(_ path: Path, _ knowledge: Knowledge) -> MemoryTree {
    if knowledge == .complete { return storage.shown }
    let children = storage.shown.root[path].children.filter { knowledge.covers($0.key) }
    return MemoryTree(Node.empty.replacing(path, with: Node(children: children)))
  }

  private func check(_ isTrue: Bool, _ fault: @autoclosure () -> String) throws {
    if !isTrue { throw StoryFault(text: fault()) }
  }

  private mutating func note(_ text: @autoclosure () -> String) {
    if isLogged { log.append(text()) }
  }
}
