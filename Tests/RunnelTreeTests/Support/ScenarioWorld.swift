import RunnelBase
import RunnelTree
import Testing

/// Something that scenarios happen to.
protocol ScenarioWorld {
  /// Does one input; returns what it came to, in the words of scenarios.
  mutating func carryOut(_ input: ScenarioInput) throws -> ScenarioResult

  /// What is shown at a place.
  func shown(at path: Path) -> JSONValue
}

struct ScenarioResult {
  var events: [String] = []
  var sends: [SentText] = []
  var ends: [String] = []

  mutating func append(_ other: ScenarioResult) {
    events += other.events
    sends += other.sends
    ends += other.ends
  }
}

/// A command to the origin in short, and with the hash that it carries.
struct SentText: CustomStringConvertible {
  var short: String
  var hash: String?

  var description: String { hash.map { "\(short) [\($0)]" } ?? short }

  /// True if this is what a scenario says, with the JSON whose hash is sent or without.
  func matches(_ expected: String) throws -> Bool {
    for word in [" knowing ", " if "] {
      let parts = expected.split(separator: word, maxSplits: 1)
      guard parts.count == 2 else { continue }
      let node = try Node(json: JSONValue(parsing: String(parts[1])))
      return short == parts[0] && hash == node.contentHash
    }
    return short == expected
  }
}

extension Scenario {
  /// Carries out every step, and records what differs from what the scenario says.
  func run(in world: some ScenarioWorld) throws {
    var world = world
    for (number, step) in steps.enumerated() {
      let place = "\(file): \(name), step \(number + 1): \(step.input)"
      var result = ScenarioResult()
      do {
        let input = try ScenarioInput(step.input)
        for _ in 0..<step.times { result.append(try world.carryOut(input)) }
        #expect(step.error == nil, "\(place)")
      } catch let error as TreeError {
        #expect(error.code.rawValue == step.error, "\(place): \(error)")
      }
      #expect(result.events == step.events, "\(place)")
      if let sends = step.sends {
        let isSent =
          try result.sends.count == sends.count
          && zip(result.sends, sends).allSatisfy { try $0.matches($1) }
        #expect(isSent, "\(place): sends \(result.sends), not \(sends)")
      }
      if let ends = step.ends { #expect(result.ends == ends, "\(place)") }
      for member in step.shows {
        #expect(world.shown(at: try Path(member.name)) == member.value, "\(place)")
      }
    }
  }
}

/// The names of a scenario's listeners.
struct ListenerNames {
  private var ids: [String: ListenerID] = [:]
  private var names: [ListenerID: String] = [:]

  mutating func add(_ name: String) -> ListenerID {
    let id = ListenerID(names.count + 1)
    ids[name] = id
    names[id] = name
    return id
  }

  func id(_ name: String) throws -> ListenerID {
    guard let id = ids[name] else { throw ScenarioError("\(name) does not listen") }
    return id
  }

  func name(_ id: ListenerID) -> String { names[id] ?? "?" }

  func texts(_ deliveries: [Delivery]) -> [String] {
    deliveries.map { "\(name($0.listener)) \($0.event.text)" }
  }
}

/// A replica in memory and its talk with an origin that says what the scenario says.
struct ReplicaWorld: ScenarioWorld {
  static let now: Int64 = 1_700_000_000_000

  private(set) var storage = MemoryReplicaStorage()
  private(set) var engine: ReplicaEngine
  private let policy: ConflictPolicy
  private var lastComparison: Int64?
  private let endsLate: Bool
  private var asks = SentAsks()
  private var now = ReplicaWorld.now
  private var names = ListenerNames()

  init(_ scenario: Scenario) throws {
    policy = scenario.policy == "fieldWise" ? .fieldWise : .lastWriteWins
    endsLate = scenario.endsLate
    engine = ReplicaEngine(policy: policy)
    _ = try engine.connect(now: ReplicaWorld.now, &storage)
    guard let start = scenario.start else { return }
    _ = try carryOut(.keep(Query(.root), true))
    _ = try carryOut(.message(.push(.set(Node(json: start)), .root, tag: nil)))
    _ = try carryOut(.answerAsk(.root, tag: nil, isLate: false, .complete))
  }

  func shown(at path: Path) -> JSONValue {
    if path.isInfo {
      return Node.empty.replacing(.info, with: engine.connectionInfo.node)[path].exportJSON
    }
    return storage.shown.root[path].exportJSON
  }

  mutating func carryOut(_ input: ScenarioInput) throws -> ScenarioResult {
    let before = self
    let outcome: ReplicaOutcome
    do {
      outcome = try self.outcome(of: input)
    } catch {
      // As a database does: what failed has not happened.
      self = before
      throw error
    }
    checkInvariants()
    for case .compareAndSet(let id, _, _, _) in outcome.commands { lastComparison = id }
    asks.note(outcome.commands)
    if !endsLate {
      for case .unlisten(let id, _, _) in outcome.commands {
        let ended = try engine.receive(.unlistened(id), now: now, &storage)
        #expect(ended == ReplicaOutcome(), "The end of an ask comes to nothing.")
      }
    }
    return ScenarioResult(
      events: names.texts(outcome.deliveries),
      sends: outcome.commands.map(\.sent),
      ends: outcome.completions.map { $0.text(names) })
  }

  private mutating func outcome(of input: ScenarioInput) throws -> ReplicaOutcome {
    let now = self.now
    switch input {
    case .listen(let name, let request):
      return try engine.listen(names.add(name), request, now: now, &storage)
    case .extend(let name, let count):
      return try engine.extend(names.id(name), by: count, now: now, &storage)
    case .stop(let name): return try engine.unlisten(names.id(name), now: now, &storage)
    case .keep(let query, let isKept):
      return try engine.keepSynced(query, isKept, now: now, &storage)
    case .write(let write): return try engine.write(write, now: now, &storage).outcome
    case .hiddenWrite(let write):
      return try engine.write(write, isVisible: false, now: now, &storage).outcome
    case .answerAsk(let path, let tag, let isLate, let answer):
      let id = try asks.id(path, tag, isEnded: isLate || answer == .end)
      return try engine.receive(answer.message(to: id), now: now, &storage)
    case .transaction(let request): return try engine.run(request, now: now, &storage).outcome
    case .message(let message): return try engine.receive(message, now: now, &storage)
    case .answerLast(let answer):
      guard let lastComparison else { throw ScenarioError("nothing was compared") }
      return try engine.receive(answer(lastComparison), now: now, &storage)
    case .connect(let time):
      return try engine.connect(now: now, originTime: time, &storage)
    case .get(let query): return try engine.get(query, now: now, &storage).outcome
    case .wait(let time):
      self.now += time
      return try engine.giveUpGets(now: self.now, storage)
    case .onDisconnect(let request): return try engine.ask(request, &storage).outcome
    case .disconnect: return try engine.disconnect(now: now, &storage)
    case .purge: return try engine.purgePendingWrites(now: now, &storage)
    case .restart:
      engine = ReplicaEngine(book: storage.savedBook, policy: policy)
      names = ListenerNames()
      return try engine.takeBackLost(now: now, &storage)
    }
  }

  /// What is shown is what the origin told, with the pending writes done in order.
  func checkInvariants() {
    engine.replica.book.checkInvariants()
    let layered = engine.replica.book.layered(onto: storage.server.root, at: .root)
    #expect(storage.shown.root == layered, "I1: the shown tree is the layered one.")
  }
}

/// The listens and unlistens that were sent, and their names.
private struct SentAsks {
  private var sent: [(id: AskID, path: Path, tag: Int?, isEnded: Bool)] = []

  mutating func note(_ commands: [OriginCommand]) {
    for command in commands {
      switch command {
      case .listen(let id, let query, let tag, _): sent.append((id, query.path, tag, false))
      case .unlisten(let id, _, _):
        for index in sent.indices where sent[index].id == id { sent[index].isEnded = true }
      default: break
      }
    }
  }

  func id(_ path: Path, _ tag: Int?, isEnded: Bool) throws -> AskID {
    let matching = sent.last { $0.path == path && $0.tag == tag && $0.isEnded == isEnded }
    // What was never asked, or is not any more, may be answered all the same.
    if let id = matching?.id ?? sent.last(where: { $0.path == path && $0.tag == tag })?.id {
      return id
    }
    throw ScenarioError("\(path) is not asked")
  }
}

extension ScenarioInput.Answer {
  fileprivate func message(to id: AskID) -> OriginMessage {
    switch self {
    case .complete: .listenComplete(id)
    case .refuse: .listenRefused(id, Words.refusal)
    case .end: .unlistened(id)
    }
  }
}

extension OriginCommand {
  /// The command in short, and its hash.
  var sent: SentText {
    switch self {
    case .listen(_, _, _, let known): SentText(short: text, hash: known.whole)
    case .compareAndSet(_, _, _, let hash): SentText(short: text, hash: hash)
    case .writeIf(_, _, let hashes):
      SentText(short: text, hash: hashes.map(\.hash).joined(separator: " "))
    case .unlisten, .write, .get, .onDisconnect: SentText(short: text)
    }
  }

  private var text: String {
    switch self {
    case .listen(_, let query, let tag, _):
      "listen \(query.path)" + (tag.map { " tag \($0)" } ?? "")
    case .unlisten(_, let query, let tag):
      "unlisten \(query.path)" + (tag.map { " tag \($0)" } ?? "")
    case .write(let id, .set(let path, let json)): "\(id) set \(path) \(json.jsonText())"
    case .write(let id, .update(let path, let members)):
      "\(id) update \(path) \(JSONValue.object(members).jsonText())"
    case .write(let id, .copy), .write(let id, .move): "\(id) cannot be sent"
    case .get(let id, let query): "\(id) get \(query.path)"
    case .onDisconnect(let id, .set(let path, let json)):
      "\(id) on disconnect set \(path) \(json.jsonText())"
    case .onDisconnect(let id, .update(let path, let members)):
      "\(id) on disconnect update \(path) \(JSONValue.object(members).jsonText())"
    case .onDisconnect(let id, .cancel(let path)): "\(id) on disconnect cancel \(path)"
    case .writeIf(let id, let write, _): "\(OriginCommand.write(id: id, write).text) if unchanged"
    case .compareAndSet(let id, let path, let json, _): "\(id) compare \(path) \(json.jsonText())"
    }
  }
}

extension ReplicaCompletion {
  /// The end of a request in short.
  func text(_ names: ListenerNames) -> String {
    switch self {
    case .acknowledged(let id): "\(id) acknowledged"
    case .got(let id, let node): "\(id) got \(node.exportJSON.jsonText())"
    case .getFailed(let id, let error): "\(id) failed \(error.code.rawValue)"
    case .rejected(let id, let error): "\(id) rejected \(error.code.rawValue)"
    case .transaction(let id, let isCommitted, let node):
      "transaction \(id) \(isCommitted ? "committed" : "gave up") \(node.exportJSON.jsonText())"
    case .transactionFailed(let id, let error): "transaction \(id) failed \(error.code.rawValue)"
    case .cancelled(let listener, _, let error):
      "\(names.name(listener)) cancelled \(error.code.rawValue)"
    }
  }
}
