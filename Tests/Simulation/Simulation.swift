import RunnelBase
import RunnelTree
import WireSimulation

/// Several replicas and one authority in one thread, everything from one seed: who does what, what
/// arrives when, which connection is cut, who crashes.
struct Simulation {
  private var random: SeededRandom
  private var authority = Authority()
  private var clients: [SimulatedClient]
  /// How many sessions, one after the other, are on one file.
  private let sessionsPerFile: Int
  private var now: Int64 = 1_700_000_000_000
  private var logCount = 0

  init(seed: UInt64, replicas: [any SimulatedReplica], sessionsPerFile: Int = 1) {
    random = SeededRandom(seed: seed)
    self.sessionsPerFile = sessionsPerFile
    clients = replicas.enumerated().map { SimulatedClient(number: $0.offset, replica: $0.element) }
  }

  /// Runs so many steps, then lets everything arrive, and checks what was promised.
  ///
  /// - Throws: `SimulationError` that says what does not hold.
  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      now += Int64(number(3))
      let client = number(clients.count)
      switch number(100) {
      case 0..<45: try deliver(client)
      case 45..<71: try act(client)
      case 71..<75: try extend(client)
      case 75..<83: try listen(client)
      case 83..<86: try clients[client].unlisten(now: now)
      case 86..<90: try cut(client)
      case 90..<97: try connect(client)
      default:
        try leave(client)
        try clients[client].crash(now: now)
      }
    }
    // Of the sessions on one file one at a time talks to the origin.
    for turn in 0..<sessionsPerFile {
      let connected = clients.indices.filter { $0 % sessionsPerFile == turn }
      try settle(connected)
      try check(connected)
      try extendToTheEnd(connected)
    }
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  // MARK: The connection

  /// One message arrives, on one of the two ways.
  private mutating func deliver(_ client: Int) throws {
    if number(2) == 0, !clients[client].toOrigin.isEmpty {
      let command = clients[client].toOrigin.removeFirst()
      let told = try authority.handle(
        command, of: client, on: client / sessionsPerFile, now: now)
      for (other, message) in told {
        clients[other].fromOrigin.append(message)
      }
    } else if !clients[client].fromOrigin.isEmpty {
      let message = clients[client].fromOrigin.removeFirst()
      try clients[client].carryOut(.message(message), now: now)
    }
  }

  private mutating func connect(_ client: Int) throws {
    if clients[client].isConnected { return }
    let file = client / sessionsPerFile
    for other in clients.indices where other / sessionsPerFile == file { try cut(other) }
    try clients[client].connect(now: now)
  }

  private mutating func cut(_ client: Int) throws {
    guard clients[client].isConnected else { return }
    let promised = clients[client].promisedFarewell
    let isSeen = try clients[client].seesItsFarewellPlace()
    try leave(client)
    try clients[client].disconnect(now: now)
    if let promised { try checkFarewell(of: client, promised, isSeen: isSeen) }
  }

  private mutating func leave(_ client: Int) throws {
    for (other, message) in try authority.disconnect(client, now: now) {
      clients[other].fromOrigin.append(message)
    }
  }

  /// What was promised is done at once, there and, for who watches it, here.
  private func checkFarewell(of client: Int, _ json: JSONValue, isSeen: Bool) throws {
    let place = try Path("/here/\(client)")
    guard authority.tree.root[place].exportJSON == json else {
      throw SimulationError("\(place) is not \(json), which was promised")
    }
    let shown = try clients[client].replica.shown()[place].exportJSON
    if isSeen, shown != json {
      throw SimulationError("client \(client) shows \(shown) at \(place), not \(json)")
    }
  }

  /// Some are connected, and everything arrives.
  private mutating func settle(_ connected: [Int]) throws {
    for client in connected { try connect(client) }
    var rest = 100_000
    while clients.contains(where: { !$0.toOrigin.isEmpty || !$0.fromOrigin.isEmpty }) {
      try deliver(number(clients.count))
      rest -= 1
      if rest == 0 { throw SimulationError("messages go on for ever") }
    }
    for client in clients.indices { try clients[client].carryOut(.catchUp, now: now) }
  }

  /// Each window of pages is extended until it shows all; then all of it must be true.
  private mutating func extendToTheEnd(_ connected: [Int]) throws {
    var rest = 100
    while connected.contains(where: { !clients[$0].extensible.isEmpty }) {
      for client in connected {
        for listener in clients[client].extensible {
          try clients[client].extend(listener, by: 1 + number(3), now: now)
        }
      }
      try settle(connected)
      try check(connected)
      rest -= 1
      if rest == 0 { throw SimulationError("pages go on for ever") }
    }
  }

  // MARK: What people do

  private mutating func act(_ client: Int) throws {
    switch number(14) {
    case 0, 1:
      let json: JSONValue = [".sv": ["increment": 1]]
      try write(client, .set(Path("/counter/sum"), json), .increment)
    case 2:
      let path = try Path("/forbidden/\(client)-\(logCount)")
      logCount += 1
      try write(client, .set(path, .bool(true)), .forbidden(path))
    case 3, 4:
      logCount += 1
      let path = try Path("/log/\(client)/\(number(6))")
      let json: JSONValue = number(4) == 0 ? .null : .number(JSONNumber(Int64(logCount)))
      try write(client, .set(path, json), .log(path, json))
    case 5:
      // What one shows its sibling on the file sees, and the origin does not know it.
      let isShown = number(3) > 0 && sessionsPerFile == 1
      try clients[client].transact(Path("/counter/turns"), isShown: isShown, now: now)
    case 6:
      let time: JSONValue = [".sv": "timestamp"]
      try write(client, .set(Path("/shared/t\(number(3))"), time), .other)
    case 8: try clients[client].askForFarewell(leaf(), now: now)
    case 9: try write(client, .set(Path("/here/\(client)"), true), .other)
    case 7:
      let members = try ["a", "b", "c"].map { name in
        JSONMember("\(name)\(number(3))/s", try leaf())
      }
      try write(client, .update(Path("/shared"), members), .other)
    default:
      let key = ["a0", "a1", "b0", "b1", "c0"][number(5)]
      let json: JSONValue = number(4) == 0 ? .null : ["s": try leaf(), "u": try leaf()]
      try write(client, .set(Path("/shared/\(key)"), json), .other)
    }
  }

  private mutating func leaf() throws -> JSONValue {
    switch number(5) {
    case 0: .null
    case 1: .string(["x", "y"][number(2)])
    default: .number(JSONNumber(Int64(number(4))))
    }
  }

  private mutating func write(
    _ client: Int, _ write: Write, _ purpose: SimulatedClient.Purpose
  ) throws {
    try clients[client].write(write, purpose, now: now)
  }

  private mutating func listen(_ client: Int) throws {
    guard clients[client].windows.count < 4 else { return }
    let places = ["/shared", "/shared", "/log", "/here", "/counter", "/shared/a0", "/"]
    var query = Query(try Path(places[number(places.count)]))
    switch number(4) {
    case 0: query = try query.ordered(by: .key)
    case 1: query = try query.ordered(by: .child(Path("s")))
    case 2: query = try query.ordered(by: .value)
    default: break
    }
    if number(2) == 0 {
      query = try query.limited(to: 1 + number(3), from: number(2) == 0 ? .first : .last)
    }
    var paging: Paging?
    if query.limit == nil, number(2) == 0 {
      paging = Paging(anchor: number(2) == 0 ? .first : .last, count: 1 + number(3))
    }
    let request = ListenRequest(
      query: query, paging: paging, events: number(2) == 0 ? .all : .children)
    try clients[client].listen(request, now: now)
  }

  private mutating func extend(_ client: Int) throws {
    let listeners = clients[client].extensible
    if listeners.isEmpty { return }
    try clients[client].extend(listeners[number(listeners.count)], by: number(4), now: now)
  }
}

// MARK: What was promised

extension Simulation {
  private func check(_ connected: [Int]) throws {
    for client in connected.map({ clients[$0] }) {
      guard client.replica.pendingIDs().isEmpty else {
        throw SimulationError("client \(client.number) has writes that were never answered")
      }
      try checkLog(client)
      try checkWindows(client)
    }
    try checkCounters()
  }

  /// No acknowledged write is lost, no rejected one is visible.
  private func checkLog(_ client: SimulatedClient) throws {
    var expected: [Path: JSONValue] = [:]
    for (id, purpose) in client.writes {
      switch purpose {
      case .log(let path, let json):
        guard client.acknowledged.contains(id) else { throw SimulationError("\(id) not answered") }
        expected[path] = json
      case .forbidden(let path):
        guard client.rejected.contains(id) else { throw SimulationError("\(id) not rejected") }
        let shown = try client.replica.shown()[path]
        if !shown.isEmpty || !authority.tree.root[path].isEmpty {
          throw SimulationError("the rejected write \(id) is visible")
        }
      case .increment, .other: break
      }
    }
    for (path, json) in expected where authority.tree.root[path].exportJSON != json {
      throw SimulationError("\(path) is not what was acknowledged last, \(json)")
    }
  }

  /// Each listener knows what the origin has.
  private func checkWindows(_ client: SimulatedClient) throws {
    for window in client.windows.values {
      let query = window.request.query
      let children = authority.tree.root[query.path].children
      let expected = RowSlice(query).rows(among: children, detail: .full)
      if !window.shows(expected) {
        throw SimulationError(
          "client \(client.number) sees \(text(window.rows)) of \(window.request), not \(text(expected))"
        )
      }
    }
  }

  private func text(_ rows: [TreeRow]) -> String {
    let children = rows.compactMap { row in
      row.node.map { JSONMember(row.key.text, $0.exportJSON) }
    }
    return JSONValue.object(children).jsonText()
  }

  /// No increment and no transaction is done twice, and none is lost.
  private func checkCounters() throws {
    let increments = clients.flatMap { client in
      client.writes.filter { $0.purpose == .increment && client.acknowledged.contains($0.id) }
    }
    if try value("/counter/sum") != increments.count {
      throw SimulationError("\(try value("/counter/sum")) of \(increments.count) increments")
    }
    let committed = clients.reduce(0) { $0 + $1.committedCount }
    let doubtful = clients.reduce(0) { $0 + $1.doubtfulCount }
    let turns = try value("/counter/turns")
    if turns < committed || turns > committed + doubtful {
      throw SimulationError("\(turns) turns of \(committed) committed and \(doubtful) in doubt")
    }
  }

  private func value(_ path: String) throws -> Int {
    guard case .number(let number)? = authority.tree.root[try Path(path)].leaf else { return 0 }
    return Int(number.integer ?? 0)
  }
}
