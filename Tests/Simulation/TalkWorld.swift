import RunnelBase
import WireSimulation

@testable import RunnelTree

/// Something that happens between a replica and its origin.
enum TalkEvent: Hashable, CustomStringConvertible {
  /// A listener of this query comes, or goes if there is one.
  case toggle(Query)
  case write(Write)
  case hiddenWrite(Write)
  /// Another client writes.
  case foreign(Write)
  case get(Query)
  /// One command arrives at the origin.
  case up(TalkOrigin.Manner)
  /// One message arrives here.
  case down
  /// The origin answers a listen that it let wait.
  case answerListen
  /// The connection is lost, or found again.
  case cut

  var description: String {
    switch self {
    case .toggle(let query): "toggle \(TalkEvent.text(query))"
    case .write(let write): "write \(TalkEvent.text(write))"
    case .hiddenWrite(let write): "hidden write \(TalkEvent.text(write))"
    case .foreign(let write): "foreign \(TalkEvent.text(write))"
    case .get(let query): "get \(TalkEvent.text(query))"
    case .up(let manner): "up \(manner)"
    case .down: "down"
    case .answerListen: "answer listen"
    case .cut: "cut"
    }
  }

  private static func text(_ query: Query) -> String {
    "\(query.path) \((try? query.identifier()) ?? "")"
  }

  private static func text(_ write: Write) -> String {
    switch write {
    case .set(let path, let json): "\(path) \(json.jsonText())"
    case .update(let path, let members): "\(path) update \(JSONValue.object(members).jsonText())"
    case .copy, .move: "\(write)"
    }
  }
}

/// A replica and its origin, and a naive reading of what they say: what must be shown is what the origin
/// told, with the pending writes over it.
struct TalkWorld {
  /// The most messages that arrive until nothing is under way: far more than a run makes.
  private static let stepsToRestMax = 100_000

  private struct Asked {
    var id: AskID
    var query: Query
    var tag: Int?
    var isAnswered = false
  }

  private var engine = ReplicaEngine(policy: .lastWriteWins)
  private var storage = MemoryReplicaStorage()
  private(set) var origin: TalkOrigin
  private var upstream: [OriginCommand] = []
  private var listeners: [Query: ListenerID] = [:]
  private var windows: [ListenerID: ListenerWindow] = [:]
  private var listenerCount = 0
  /// What the origin is asked now.
  private var asks: [Asked] = []
  /// The writes that were not answered, oldest first.
  private var pending: [(id: Int64, parts: [Assignment], isVisible: Bool)] = []
  /// How often each write was sent.
  private var sentCounts: [Int64: Int] = [:]
  /// The state of the origin's tree that was heard of last.
  private var seen = 0
  /// True while not all was heard of a change.
  private var isHearing = false
  /// The places that are looked at, and the state of each that was told last.
  private var told: [Path: Int]

  init(_ tree: Node, cells: [Path]) throws {
    origin = TalkOrigin(tree)
    told = Dictionary(uniqueKeysWithValues: cells.map { ($0, 0) })
    try take(engine.connect(now: 0, &storage))
  }

  /// True if an event comes to something.
  func isPossible(_ event: TalkEvent) -> Bool {
    switch event {
    case .up(.atOnce): return !upstream.isEmpty
    case .up(.answerLate):
      if case .listen? = upstream.first { return true } else { return false }
    case .up(.refuse):
      switch upstream.first {
      case .listen?, .write?: return true
      default: return false
      }
    case .down: return !origin.outbox.isEmpty
    case .answerListen: return !origin.unanswered.isEmpty
    default: return true
    }
  }

  /// Something happens.
  ///
  /// - Throws: `SimulationError` that says what is shown and should not be.
  mutating func carryOut(_ event: TalkEvent) throws {
    switch event {
    case .toggle(let query): try toggle(query)
    case .write(let write): try self.write(write, isVisible: true)
    case .hiddenWrite(let write): try self.write(write, isVisible: false)
    case .foreign(let write): try origin.change(write)
    case .get(let query): try take(engine.get(query, now: 0, &storage).outcome)
    case .up(let manner):
      if !upstream.isEmpty { try origin.handle(upstream.removeFirst(), manner) }
    case .down:
      if let told = origin.takeMessage() { try hear(told) }
    case .answerListen: origin.answerListen()
    case .cut: try cut()
    }
    try check()
  }

  /// Everything arrives; then all that is listened to is the origin's.
  mutating func settle() throws {
    if !engine.isConnected { try carryOut(.cut) }
    for _ in 0..<TalkWorld.stepsToRestMax {
      if !origin.unanswered.isEmpty { origin.answerListen() }
      if !upstream.isEmpty {
        try carryOut(.up(.atOnce))
      } else if !origin.outbox.isEmpty {
        try carryOut(.down)
      } else {
        break
      }
    }
    try expect(upstream.isEmpty && origin.outbox.isEmpty, "it never comes to rest")
    try expect(pending.isEmpty, "writes are never answered")
    try expect(asks.allSatisfy(\.isAnswered), "queries are never answered")
    try checkWindows()
  }
}

// MARK: What happens

extension TalkWorld {
  private mutating func toggle(_ query: Query) throws {
    if let listener = listeners.removeValue(forKey: query) {
      windows[listener] = nil
      return try take(engine.unlisten(listener, now: 0, &storage))
    }
    listenerCount += 1
    let listener = ListenerID(listenerCount)
    let request = ListenRequest(query: query)
    listeners[query] = listener
    windows[listener] = ListenerWindow(request)
    try take(engine.listen(listener, request, now: 0, &storage))
  }

  private mutating func write(_ write: Write, isVisible: Bool) throws {
    let parts = try write.assignments(now: 0, reader: storage)
    let written = try engine.write(write, isVisible: isVisible, now: 0, &storage)
    pending.append((written.id, parts, isVisible))
    try take(written.outcome)
  }

  private mutating func cut() throws {
    if engine.isConnected {
      upstream = []
      asks = []
      isHearing = false
      origin.disconnect()
      try take(engine.disconnect(now: 0, &storage))
    } else {
      try take(engine.connect(now: 0, &storage))
    }
  }

  private mutating func take(_ outcome: ReplicaOutcome) throws {
    upstream += outcome.commands
    for command in outcome.commands {
      switch command {
      case .listen(let id, let query, let tag, _):
        asks.append(Asked(id: id, query: query, tag: tag))
      case .unlisten(let id, _, _): asks.removeAll { $0.id == id }
      case .write(let id, _): sentCounts[id, default: 0] += 1
      default: break
      }
    }
    for delivery in outcome.deliveries { try windows[delivery.listener]?.take(delivery.event) }
    for case .cancelled(let listener, _, _) in outcome.completions {
      windows[listener] = nil
      listeners = listeners.filter { $0.value != listener }
    }
  }

  /// A message arrives: what it tells is as new as the state it tells of.
  private mutating func hear(_ told: TalkOrigin.Told) throws {
    (seen, isHearing) = (told.state, !told.isLast)
    switch told.message {
    case .push(_, _, let tag?) where !asks.contains { $0.tag == tag }:
      // It is told for a query that was ended.
      break
    case .push(.set, let path, nil): note([path], told.tells)
    case .push(.set(let node), let path, _?):
      note(node.children.map { Path(unchecked: path.keys + [$0.key]) }, told.tells)
    case .push(.merge(let parts), let path, _):
      let present = parts.filter { $0.target != .node(.empty) }
      note(present.map { Path(unchecked: path.keys + $0.path.keys) }, told.tells)
    case .listenComplete(let id):
      for index in asks.indices where asks[index].id == id {
        asks[index].isAnswered = true
        if asks[index].query.loadsAllData { note([asks[index].query.path], told.tells) }
      }
    case .listenRefused(let id, _): asks.removeAll { $0.id == id }
    case .acknowledged(let id):
      let places = pending.filter { $0.id == id }.flatMap { $0.parts.map(\.path) }
      // Of a write that was sent again nobody knows when it was done.
      if sentCounts[id] != 1 { forget(places, told.tells) }
      note(places, told.tells)
      pending.removeAll { $0.id == id }
    case .rejected(let id, _): pending.removeAll { $0.id == id }
    default: break
    }
    try take(engine.receive(told.message, now: 0, &storage))
  }

  private mutating func forget(_ paths: [Path], _ state: Int) {
    for cell in told.keys where paths.contains(where: { $0.contains(cell) }) {
      told[cell] = min(told[cell] ?? 0, state)
    }
  }

  private mutating func note(_ paths: [Path], _ state: Int) {
    for cell in told.keys where paths.contains(where: { $0.contains(cell) }) {
      told[cell] = max(told[cell] ?? 0, state)
    }
  }
}

// MARK: What must be shown

extension TalkWorld {
  private func expect(_ isTrue: Bool, _ fault: @autoclosure () -> String) throws {
    if !isTrue { throw SimulationError(fault()) }
  }

  /// A state of the origin's tree with the pending writes over it.
  private func layered(_ state: Int) -> Node {
    let parts = pending.filter(\.isVisible).flatMap(\.parts)
    return parts.reduce(origin.history[state]) { $1.applied(to: $0) }
  }

  private func check() throws {
    engine.replica.book.checkInvariants()
    if isHearing { return }
    try checkAnswered()
    try checkCells()
  }

  /// What the origin answered is shown as it was when it was heard of last.
  private func checkAnswered() throws {
    let now = layered(seen)
    for ask in asks where ask.isAnswered && ask.query.loadsAllData {
      let (path, shown) = (ask.query.path, storage.shown.root)
      try expect(
        shown[path] == now[path],
        "\(path) is answered, and shows \(text(shown[path])), not \(text(now[path]))")
      for window in windows.values where path.contains(window.request.query.path) {
        try check(window, now)
      }
    }
    guard pending.isEmpty else { return }
    for ask in asks where ask.isAnswered {
      for window in windows.values where window.request.query.asked(.ranges) == ask.query {
        try check(window, now)
      }
    }
  }

  /// What is shown of a place is never older than what was told of it.
  private func checkCells() throws {
    let book = engine.replica.book
    for (cell, first) in told where try book.knowledge(of: Query(cell), storage) == .complete {
      let shown = storage.shown.root[cell]
      let isTrue = (first...max(first, seen)).contains { layered($0)[cell] == shown }
      try expect(isTrue, "\(cell) shows \(text(shown)), which is older than what was told of it")
    }
  }

  private func checkWindows() throws {
    for window in windows.values { try check(window, origin.tree) }
  }

  private func check(_ window: ListenerWindow, _ tree: Node) throws {
    let query = window.request.query
    let rows = RowSlice(query).rows(among: tree[query.path].children, detail: .full)
    try expect(
      window.rows == rows,
      "\(query) is told \(window.rows.map(\.key)), not what stands in \(text(tree))")
  }

  private func text(_ node: Node) -> String { node.exportJSON.jsonText() }
}
