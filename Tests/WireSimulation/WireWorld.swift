import RunnelBase
import RunnelPostgres
import RunnelSync
import RunnelTree

/// Several clients, one server or several of one store, and a network that delays, cuts and loses messages, on
/// one thread.
///
/// One seed determines everything: operations, arrival times, jumps of clocks and crashes.
///
/// Invariants, checked when nothing is in progress:
/// - W1. Every write was answered; no acknowledged write is lost, none is done twice, no refused
///   one is visible.
/// - W2. The events of each listener add up to the server's data.
/// - W3. The disconnect writes of a connection are done once.
/// - W4. No client receives data that the rules hide from it (checked at each frame).
///
/// With a store, also:
/// - W5. After each transaction, what a server told of others' changes and of its own adds up to the store's
///   tree, so that all listeners are told the same order.
/// - W6. The feed has no gap, and time does not go back in it.
package struct WireWorld {
  /// The size of a world, and the kinds of events in it.
  package struct Shape: Hashable, Sendable {
    /// The number of clients.
    package var clientCount = 3
    /// The number of steps before the network is healed.
    package var stepCount = 200
    /// True if the server does a named write once.
    package var takesWriteNames = true
    /// True if connections are cut and programs crash.
    package var hasFaults = true
    /// True if the disk of the server is full now and then.
    package var fillsDisk = false
    /// The number of servers of a store; nil for one server with a tree in memory.
    package var storeServerCount: Int?
    /// True if servers of a store send clients to each other.
    package var hasRedirects = false

    /// Makes a shape.
    package init() {}
  }

  /// How often servers of a store met what may happen to them.
  package struct Encounters: Hashable, Sendable {
    /// Commits whose answers did not come.
    package var doubts = 0
    /// Times that the database was found to have lost what was shown.
    package var losses = 0
    package var leasesLost = 0
    package var redirects = 0
    /// Transactions in which a server did what another one had left.
    package var takeOvers = 0
    /// Times that the standby took over.
    package var failovers = 0

    /// Makes counters of zero.
    package init() {}
  }

  /// A connection, from the view of both sides and the network.
  private struct Wire {
    let client: Int
    /// The client's number of the connection.
    let number: Int64
    let request: String
    /// The host as the client named it, and the server that has its connection.
    let host: String
    let server: Int
    var isOpenAtClient = true
    var isOpenAtServer = false
    /// True once the client knows that it is open.
    var isOpened = false
    /// True if nothing arrives any more, and neither side knows it.
    var isDead = false
    var isPaused = false
    var up: [[UInt8]] = []
    var down: [[UInt8]] = []
  }

  let shape: Shape
  private var random: SeededRandom
  private var servers: [WireServer]
  /// The database of the store; nil for a tree in memory.
  private let database: ModelDatabase?
  private let names: IdentifierSource
  private var clients: [WireClient] = []
  private var wires: [Int64: Wire] = [:]
  private var wireCount: Int64 = 0
  /// The clients whose credentials were requested, once for each request.
  private var asked: [Int] = []
  private var uptime: Int64 = 0
  private var serverCalendar: Int64 = 1_700_000_000_000
  private var clientCalendars: [Int64]
  private var logCount = 0
  /// True once there are no more faults.
  private var isHealed = false
  /// The clients that something happened to in this step.
  private var touched: Set<Int> = []

  /// Makes a world.
  package init(seed: UInt64, shape: Shape = Shape()) {
    self.shape = shape
    random = SeededRandom(seed: seed)
    let serverCount = shape.storeServerCount ?? 1
    servers = (0..<serverCount).map { _ in WireServer(takesWriteNames: shape.takesWriteNames) }
    if shape.fillsDisk { servers[0].disk = SeededRandom(seed: seed &+ 0xD15C) }
    database = shape.storeServerCount.map { _ in
      ModelDatabase(seed: seed, now: 1_700_000_000_000, hasFaults: shape.hasFaults)
    }
    names = IdentifierSource(seed: seed)
    clientCalendars = Array(repeating: 1_700_000_000_000, count: shape.clientCount)
    var limits = ClientLimits()
    limits.unansweredWritesMax = 1 + Int(seed % 7)
    for index in servers.indices { servers[index].limits.requestsMax = 1 + Int(seed % 5) }
    for number in 0..<shape.clientCount {
      clients.append(WireClient(number: number, seed: seed, limits: limits))
    }
  }

  /// How often servers of a store met what may happen to them.
  package var encounters: Encounters {
    var encounters = Encounters()
    encounters.doubts = servers.reduce(0) { $0 + $1.doubtCount }
    encounters.losses = servers.reduce(0) { $0 + $1.alarmCount }
    encounters.leasesLost = servers.reduce(0) { $0 + $1.leasesLostCount }
    encounters.redirects = servers.reduce(0) { $0 + $1.redirectCount }
    encounters.takeOvers = servers.reduce(0) { $0 + $1.takeOverCount }
    encounters.failovers = database?.failoverCount ?? 0
    return encounters
  }

  /// Runs all steps, then lets everything arrive, and checks the invariants.
  ///
  /// - Throws: `SimulationError` for a violated invariant.
  package mutating func run() throws {
    try startServers()
    for client in clients.indices { try change(client) { $0.start(now: $1) } }
    for _ in 0..<shape.stepCount {
      try step()
      for client in touched { clients[client].checkInvariants() }
      touched = []
    }
    try settle()
    try check()
    // Disconnect writes are done at the end of a connection, and not again when the server
    // restarts.
    for id in wires.keys.sorted() where number(2) == 0 { try cut(id) }
    for _ in 0..<2 {
      for server in servers.indices { try crashServer(server) }
      try settle()
      try check()
    }
  }

  // MARK: Random numbers and time

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private var serverNow: WireTime { WireTime(calendar: serverCalendar + uptime, uptime: uptime) }

  private func now(_ client: Int) -> WireTime {
    WireTime(calendar: clientCalendars[client] + uptime, uptime: uptime)
  }

  private mutating func pass(_ milliseconds: Int64) throws {
    guard let database else { return try passAtOnce(milliseconds) }
    let end = uptime + milliseconds
    repeat {
      try passAtOnce(min(500, end - uptime))
      // The database has a clock of its own, with the same speed.
      database.now = 1_700_000_000_000 + uptime
      for server in servers.indices where !servers[server].isPaused {
        try servers[server].look(now: serverNow)
      }
      try takeServerEffects()
    } while uptime < end
  }

  private mutating func passAtOnce(_ milliseconds: Int64) throws {
    uptime += milliseconds
    for server in servers.indices where !servers[server].isPaused {
      try servers[server].advance(now: serverNow)
    }
    try takeServerEffects()
    for client in clients.indices {
      guard let end = clients[client].session.deadline(), end <= uptime else { continue }
      try change(client) { $0.advance(now: $1) }
    }
  }

  // MARK: Steps

  private mutating func step() throws {
    let client = number(clients.count)
    touched.insert(client)
    switch number(200) {
    case 0..<70: for _ in 0...number(6) { try deliver() }
    case 70..<100: for _ in 0...number(6) { try pass(client) }
    case 100..<125: for _ in 0...number(6) { try work() }
    case 125..<150: try act(client)
    case 150..<160: try listen(client)
    case 160..<163: try clients[client].unlisten(now: now(client))
    case 163..<175: try pass(Int64(number(400)))
    case 175: try pass(Int64(number(70_000)))
    case 176..<180: try answerCredential()
    case 180..<182: serverCalendar += Int64(number(20_000)) - 10_000
    case 182..<184: clientCalendars[client] += Int64(number(2_000_000)) - 1_000_000
    case 184: try toggle(client)
    case 185:
      try clients[client].extend(by: 1 + number(3), now: now(client))
      try takeClientEffects(client)
    default:
      if database != nil, number(3) > 0 {
        try disturbStore()
      } else if shape.hasFaults, number(2) == 0 {
        try fail(client)
      }
    }
  }

  /// Passes one message between a client's session and its replica.
  private mutating func pass(_ client: Int) throws {
    try clients[client].pass(now: now(client))
    try takeClientEffects(client)
  }

  private mutating func fail(_ client: Int) throws {
    switch number(16) {
    case 0..<4: if let wire = randomWire() { try cut(wire) }
    case 4..<7: if let wire = randomWire() { wires[wire]?.isDead = true }
    case 7..<10: if let wire = randomWire() { try close(wire, atClient: true) }
    case 10, 11: if let wire = randomWire() { try close(wire, atClient: false) }
    case 12, 13: try crash(client)
    case 14: try change(client) { $0.hurry(now: $1) }
    default: try crashServer(database == nil ? 0 : number(servers.count))
    }
  }

  private mutating func randomWire() -> Int64? {
    let known = wires.keys.sorted()
    return known.isEmpty ? nil : known[number(known.count)]
  }

  /// Lets the server do an operation of its tree, or a verification.
  private mutating func work() throws {
    guard database != nil else {
      try servers[0].work(on: number(4) > 0, now: serverNow)
      return try takeServerEffects()
    }
    let server = number(servers.count)
    if servers[server].isPaused { return }
    let (isOnTree, count) = (number(4) > 0, 1 + number(6))
    try servers[server].work(on: isOnTree, batchCount: count, now: serverNow)
    try takeServerEffects()
  }

  private mutating func toggle(_ client: Int) throws {
    if number(2) == 0 {
      try change(client) { $0.stop(now: $1) }
    } else {
      try change(client) { $0.start(now: $1) }
    }
  }

  // MARK: Sessions

  private mutating func change(
    _ client: Int, _ body: (inout ClientSession, WireTime) -> [ClientSession.Effect]
  ) throws {
    let now = now(client)
    touched.insert(client)
    clients[client].change { body(&$0, now) }
    try takeClientEffects(client)
  }

  private mutating func takeClientEffects(_ client: Int) throws {
    for effect in clients[client].takeEffects() {
      switch effect {
      case .connect(let target, let number):
        connect(client, number, target.request, host: target.host)
      case .send(let frame):
        if let wire = wire(of: client) { wires[wire]?.up.append(frame) }
      case .close:
        if let wire = wire(of: client) { try closed(wire, atClient: true) }
      case .askCredential: asked.append(client)
      case .link(.offline(.refused)), .link(.offline(.shutDown)), .link, .log, .indexMissing,
        .writeOutcomeUnknown, .latency, .received, .tell:
        break
      }
    }
  }

  /// Returns the connection that a client has or is opening.
  private func wire(of client: Int) -> Int64? {
    wires.filter { $0.value.client == client && $0.value.isOpenAtClient }.keys.max()
  }

  private mutating func takeServerEffects() throws {
    for server in servers.indices {
      var effects = servers[server].takeEffects()
      while !effects.isEmpty {
        for (connection, effect) in effects { try carryOut(effect, connection, of: server) }
        effects = servers[server].takeEffects()
      }
    }
  }

  private mutating func carryOut(
    _ effect: ServerSession.Effect, _ connection: Int64, of server: Int
  ) throws {
    switch effect {
    case .send(let frame): wires[connection]?.down.append(frame)
    case .sendRun(let run): wires[connection]?.down += run.frames
    case .endSession(let name): try servers[server].endSession(name)
    case .ping:
      guard let wire = wires[connection], !wire.isDead, wire.isOpenAtClient else { return }
      servers[server].heard(connection, now: serverNow)
      let now = now(wire.client)
      clients[wire.client].change {
        $0.heard(wire.number, now: now)
        return []
      }
    case .pauseReading: wires[connection]?.isPaused = true
    case .resumeReading: wires[connection]?.isPaused = false
    case .close:
      // Frames that were sent before are still on their way.
      try closed(connection, atClient: false)
    case .operate, .verify, .note: break
    }
  }

  // MARK: The network

  private mutating func connect(
    _ client: Int, _ number: Int64, _ request: String, host: String
  ) {
    wireCount += 1
    // Any server is behind the common name of a store.
    let named = servers.indices.first { WireWorld.address(of: $0) == host }
    let server = database == nil ? 0 : named ?? self.number(servers.count)
    wires[wireCount] = Wire(
      client: client, number: number, request: request, host: host, server: server)
  }

  private static func address(of server: Int) -> String { "server\(server)" }

  /// Delivers the opening of a connection, a frame, or the end of a connection.
  private mutating func deliver() throws {
    guard let id = randomWire(), let wire = wires[id], !wire.isDead else { return }
    if !wire.isOpened { return try open(id, wire) }
    if number(2) == 0 {
      try deliverUp(id, wire)
    } else {
      try deliverDown(id, wire)
    }
  }

  private mutating func open(_ id: Int64, _ wire: Wire) throws {
    guard wire.isOpenAtClient else { return wires[id] = nil }
    if !isHealed, number(8) == 0 { return try close(id, atClient: true) }
    if database != nil {
      if servers[wire.server].isPaused { return }
      if !servers[wire.server].isUp { return try close(id, atClient: true) }
    }
    wires[id]?.isOpened = true
    wires[id]?.isOpenAtServer = true
    servers[wire.server].clients[id] = wire.client
    let previous = wire.request.split(separator: "&").first { $0.hasPrefix("ls=") }
    try servers[wire.server].open(
      id, host: wire.host, previous: previous.map { String($0.dropFirst(3)) }, now: serverNow)
    try takeServerEffects()
    try change(wire.client) { $0.opened(wire.number, now: $1) }
  }

  private mutating func deliverUp(_ id: Int64, _ wire: Wire) throws {
    // Frames that were read before the pause are still handled.
    guard wire.isOpenAtServer, !wire.isPaused || number(4) == 0 else { return }
    if servers[wire.server].isPaused { return }
    if let frame = wire.up.first {
      wires[id]?.up.removeFirst()
      try servers[wire.server].receive(frame, on: id, now: serverNow)
      try takeServerEffects()
    } else if !wire.isOpenAtClient {
      try close(id, atClient: false)
    }
  }

  private mutating func deliverDown(_ id: Int64, _ wire: Wire) throws {
    guard wire.isOpenAtClient else { return }
    if let frame = wire.down.first {
      wires[id]?.down.removeFirst()
      try change(wire.client) { $0.receive(frame, of: wire.number, now: $1) }
    } else if !wire.isOpenAtServer {
      try close(id, atClient: true)
    }
  }

  /// Ends a connection for both sides; frames on their way are lost.
  private mutating func cut(_ id: Int64) throws {
    try close(id, atClient: false)
    try close(id, atClient: true)
  }

  /// Shows one side the end of a connection.
  private mutating func close(_ id: Int64, atClient: Bool) throws {
    guard let wire = wires[id] else { return }
    if atClient, wire.isOpenAtClient {
      try closed(id, atClient: true)
      try change(wire.client) { $0.closed(wire.number, "lost", now: $1) }
    } else if !atClient, wire.isOpenAtServer {
      try servers[wire.server].closed(id)
      try closed(id, atClient: false)
      try takeServerEffects()
    }
  }

  /// Ends a connection from one side.
  private mutating func closed(_ id: Int64, atClient: Bool) throws {
    if atClient { wires[id]?.isOpenAtClient = false } else { wires[id]?.isOpenAtServer = false }
    guard let wire = wires[id] else { return }
    if !wire.isOpenAtClient, !wire.isOpenAtServer { wires[id] = nil }
  }

  private mutating func crash(_ client: Int) throws {
    for (id, wire) in wires where wire.client == client && wire.isOpenAtClient {
      try closed(id, atClient: true)
    }
    try clients[client].crash(now: now(client))
    asked.removeAll { $0 == client }
    try takeClientEffects(client)
  }

  private mutating func crashServer(_ server: Int) throws {
    servers[server].crash(now: serverNow)
    for id in wires.keys.sorted()
    where wires[id]?.isOpenAtServer == true && wires[id]?.server == server {
      try closed(id, atClient: false)
    }
  }

  // MARK: The store

  /// Starts the servers of a store that are down, unless the database fails.
  private mutating func startServers() throws {
    guard let database else { return }
    for server in servers.indices where !servers[server].isUp {
      let address = shape.hasRedirects ? WireWorld.address(of: server) : ""
      do {
        try servers[server].serve(database, address: address, names: names, now: serverNow)
      } catch let error as PostgresError where error.isWorthRetrying || error.kind == .inDoubt {
        // It is tried again later.
      }
    }
  }

  /// Starts what is down, and lets servers hear late of each other, stand still, or lose what they have.
  private mutating func disturbStore() throws {
    guard let database else { return }
    try startServers()
    let server = number(servers.count)
    switch shape.hasFaults ? number(24) : number(4) {
    case 0..<4: servers[server].wake()
    case 4..<8: servers[server].isFeedDelayed.toggle()
    case 8..<11: servers[server].isPaused = servers[server].isUp && !servers[server].isPaused
    case 11, 12: database.breakConnections()
    case 13, 14: database.isReachable = true
    case 15: database.isReachable = false
    case 16: database.failOver()
    case 17: database.prune(keeping: Int64(number(3)))
    case 18: database.finishLate()
    case 19: try loseLease(of: server)
    case 20, 21: try crashServer(server)
    case 22:
      if servers[server].isPaused { return }
      try servers[server].retire(now: serverNow)
      try takeServerEffects()
      try crashServer(server)
    default: for _ in 0..<24 { try pass(Int64(500)) }
    }
  }

  /// Another server ends a lease that was not renewed in time.
  private mutating func loseLease(of server: Int) throws {
    guard let database, let identifier = servers[server].identifier else { return }
    database.changeServers { $0[identifier] = nil }
  }

  /// Lets the servers of a store catch up; returns false if there is nothing to do.
  private mutating func settleStore() throws -> Bool {
    guard let database else { return false }
    (database.hasFaults, database.isReachable) = (false, true)
    database.finishLate()
    try startServers()
    for server in servers.indices {
      (servers[server].isPaused, servers[server].isFeedDelayed) = (false, false)
    }
    let living = servers.compactMap(\.identifier)
    if !database.hasRemains(of: living),
      !servers.contains(where: { $0.isBehind || $0.isWithoutLease })
    {
      return false
    }
    try pass(Int64(500))
    return true
  }

  // MARK: Users

  private mutating func answerCredential() throws {
    guard let client = asked.first else { return }
    asked.removeFirst()
    let life: Int64 = isHealed ? 1_000_000_000 : Int64(number(100_000)) - 1000
    let name = clients[client].name
    let text = !isHealed && number(8) == 0 ? "garbage" : "user:\(name):\(serverNow.calendar + life)"
    try change(client) { $0.setCredential(Credential(text), now: $1) }
  }

  private mutating func act(_ client: Int) throws {
    let increment: JSONValue = [".sv": ["increment": 1]]
    switch number(14) {
    case 0, 1, 2: try write(client, .set(Path("/counter/sum"), increment), .increment)
    case 3:
      logCount += 1
      let path = try Path("/forbidden/\(client)-\(logCount)")
      try write(client, .set(path, .bool(true)), .forbidden(path))
    case 4, 5:
      logCount += 1
      let path = try Path("/log/\(client)/\(number(6))")
      let json: JSONValue = number(4) == 0 ? .null : .number(JSONNumber(Int64(logCount)))
      try write(client, .set(path, json), .log(path, json))
    case 6: try clients[client].transact(Path("/counter/turns"), now: now(client))
    case 7, 8: try clients[client].ask(.set(Path("/gone/\(client)"), increment), now: now(client))
    case 9: try hide()
    case 10:
      let members = try ["a", "b", "c"].map { name in
        JSONMember("\(name)\(number(3))/s", try leaf())
      }
      try write(client, .update(Path("/shared"), members), .other)
    default:
      let key = ["a0", "a1", "b0", "b1", "c0"][number(5)]
      let json: JSONValue = number(4) == 0 ? .null : ["s": try leaf(), "u": try leaf()]
      try write(client, .set(Path("/shared/\(key)"), json), .other)
    }
    try takeClientEffects(client)
  }

  /// Lets the boss write data that only the boss may see.
  private mutating func hide() throws {
    let text = "hush\(logCount)"
    logCount += 1
    let path = try Path("/hidden/\(number(3))")
    try write(0, .set(path, .string(text)), .log(path, .string(text)))
    try takeClientEffects(0)
  }

  private mutating func leaf() throws -> JSONValue {
    switch number(5) {
    case 0: .null
    case 1: .string(["x", "y"][number(2)])
    default: .number(JSONNumber(Int64(number(4))))
    }
  }

  private mutating func write(
    _ client: Int, _ write: Write, _ purpose: WireClient.Purpose
  ) throws {
    try clients[client].write(write, purpose, now: now(client))
  }

  private mutating func listen(_ client: Int) throws {
    guard clients[client].windows.count < 4 else { return }
    let places = ["/shared", "/shared", "/log", "/counter", "/shared/a0", "/hidden", "/gone", "/"]
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
    if query.limit == nil, number(3) == 0 {
      paging = Paging(anchor: number(2) == 0 ? .first : .last, count: 1 + number(3))
    }
    let request = ListenRequest(
      query: query, paging: paging, events: number(2) == 0 ? .all : .children)
    try clients[client].listen(request, now: now(client))
  }
}

// MARK: The end

extension WireWorld {
  /// Ends all faults, and lets everything arrive.
  private mutating func settle() throws {
    isHealed = true
    for index in servers.indices { (servers[index].disk, servers[index].isDiskFull) = (nil, false) }
    _ = try settleStore()
    for id in wires.keys.sorted() where wires[id]?.isDead == true { try cut(id) }
    var rest = 20_000
    while try settleOnce() {
      rest -= 1
      if rest == 0 { throw SimulationError("it goes on for ever: \(clients.map(\.session.link))") }
    }
  }

  /// Does one more step; returns false if nothing is in progress.
  private mutating func settleOnce() throws -> Bool {
    var isBusy = false
    for id in wires.keys.sorted() { isBusy = try settle(wire: id) || isBusy }
    while let server = servers.indices.first(where: { servers[$0].isBusy }) {
      try settleWork(server)
      isBusy = true
    }
    for client in clients.indices {
      while clients[client].isBusy {
        try clients[client].pass(now: now(client))
        try takeClientEffects(client)
        isBusy = true
      }
      if case .offline = clients[client].session.link {
        try change(client) { $0.start(now: $1) }
        isBusy = true
      }
    }
    while !asked.isEmpty {
      try answerCredential()
      isBusy = true
    }
    if isBusy { return true }
    if try settleStore() { return true }
    return try settleRest()
  }

  private mutating func settleWork(_ server: Int) throws {
    if database == nil { return try work() }
    for isOnTree in [true, false] {
      try servers[server].work(on: isOnTree, batchCount: 4, now: serverNow)
    }
    try takeServerEffects()
  }

  private mutating func settle(wire id: Int64) throws -> Bool {
    guard let wire = wires[id] else { return false }
    if !wire.isOpened {
      try open(id, wire)
      return true
    }
    let isUp = wire.isOpenAtServer && !wire.isPaused && (!wire.up.isEmpty || !wire.isOpenAtClient)
    let isDown = wire.isOpenAtClient && (!wire.down.isEmpty || !wire.isOpenAtServer)
    if isUp { try deliverUp(id, wire) }
    if isDown, let wire = wires[id] { try deliverDown(id, wire) }
    return isUp || isDown
  }

  /// Advances time or makes a decision, because nothing is on its way; returns false if all is
  /// done.
  private mutating func settleRest() throws -> Bool {
    let waits = clients.compactMap { client -> Int64? in
      if case .waiting(let end, _) = client.session.link { end } else { nil }
    }
    if let end = waits.min() {
      try pass(max(0, end - uptime))
      return true
    }
    var isBusy = false
    for client in clients.indices where !clients[client].session.writesOfUnknownOutcome.isEmpty {
      try clients[client].giveUpUnknownWrites(now: now(client))
      isBusy = true
    }
    return isBusy
  }

  private func check() throws {
    try database?.checkFeed()
    let root = try servers[0].storedRoot()
    for client in clients {
      guard client.session.link == .live, client.session.outstandingCount == 0 else {
        throw SimulationError("client \(client.number) is \(client.session.link)")
      }
      if let write = client.pending.first {
        throw SimulationError("W1: write \(write.id) of client \(client.number) has no answer")
      }
      try checkWrites(of: client, root)
      try checkWindows(of: client, root)
    }
    try checkCounters(root)
  }

  private func checkWrites(of client: WireClient, _ root: Node) throws {
    var expected: [Path: JSONValue] = [:]
    for (id, purpose) in client.writes {
      switch purpose {
      case .log(let path, let json):
        guard client.acknowledged.contains(id) else { throw SimulationError("W1: \(id) is lost") }
        expected[path] = json
      case .forbidden(let path):
        guard client.rejected.contains(id) else { throw SimulationError("W1: \(id) is done") }
        if try !client.shown(path).isEmpty || !root[path].isEmpty {
          throw SimulationError("W1: the refused write \(id) shows")
        }
      case .increment, .other: break
      }
    }
    for (path, json) in expected where root[path].exportJSON != json {
      throw SimulationError("W1: \(path) is not what was acknowledged last, \(json)")
    }
  }

  private func checkWindows(of client: WireClient, _ root: Node) throws {
    for window in client.windows.values {
      let query = window.request.query
      let children = root[query.path].children
      let rows = RowSlice(query).rows(among: children, detail: .full)
      if !window.shows(rows) {
        throw SimulationError(
          "W2: client \(client.number) sees \(window.rows.map(\.key)) of \(query), "
            + "not \(rows.map(\.key))")
      }
    }
  }

  private func checkCounters(_ root: Node) throws {
    let increments = clients.flatMap { client in
      client.writes.filter { $0.purpose == .increment }.map { (client, $0.id) }
    }
    let done = increments.count { client, id in client.acknowledged.contains(id) }
    let unknown = increments.count { client, id in client.givenUp.contains(id) }
    let sum = try value("/counter/sum", root)
    if sum < done || sum > done + unknown {
      throw SimulationError("W1: \(sum) of \(done) increments, and \(unknown) of unknown outcome")
    }
    let committed = clients.reduce(0) { $0 + $1.committedCount }
    let doubtful = clients.reduce(0) { $0 + $1.doubtfulCount }
    let turns = try value("/counter/turns", root)
    if turns < committed || turns > committed + doubtful {
      throw SimulationError("W1: \(turns) turns of \(committed), and \(doubtful) in doubt")
    }
    for client in clients.indices {
      let least = servers.reduce(0) { $0 + ($1.farewells[client] ?? 0) }
      let most = servers.reduce(least) { $0 + ($1.doubtfulFarewells[client] ?? 0) }
      let gone = try value("/gone/\(client)", root)
      if gone < least || gone > most {
        throw SimulationError("W3: client \(client) is gone \(gone) times, not \(least)")
      }
    }
  }

  private func value(_ path: String, _ root: Node) throws -> Int {
    guard case .number(let number)? = root[try Path(path)].leaf else { return 0 }
    return Int(number.integer ?? 0)
  }
}

extension WireWorld.Shape {
  /// The shapes that run for each seed, with their names.
  package static let all: [(name: String, shape: WireWorld.Shape)] = [
    ("one client", WireWorld.Shape(1, 40)),
    ("two clients", WireWorld.Shape(2, 120)),
    ("three clients", WireWorld.Shape(3, 300)),
    ("no faults", WireWorld.Shape(3, 200, hasFaults: false)),
    ("a server without names", WireWorld.Shape(3, 300, takesWriteNames: false)),
    ("three servers of a store", WireWorld.Shape(3, 600, storeServerCount: 3)),
    ("servers that redirect", WireWorld.Shape(3, 600, storeServerCount: 3, hasRedirects: true)),
    (
      "servers of a store without faults",
      WireWorld.Shape(3, 200, hasFaults: false, storeServerCount: 3)
    ),
    ("a full disk", WireWorld.Shape(3, 300, fillsDisk: true)),
  ]

  private init(
    _ clientCount: Int, _ stepCount: Int, takesWriteNames: Bool = true, hasFaults: Bool = true,
    storeServerCount: Int? = nil, hasRedirects: Bool = false, fillsDisk: Bool = false
  ) {
    self.init()
    self.fillsDisk = fillsDisk
    (self.clientCount, self.stepCount) = (clientCount, stepCount)
    (self.takesWriteNames, self.hasFaults) = (takesWriteNames, hasFaults)
    (self.storeServerCount, self.hasRedirects) = (storeServerCount, hasRedirects)
  }
}
