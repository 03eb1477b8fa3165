import RunnelBase
import RunnelServices
import Testing

/// A client, a server and a bad network in one thread, with a clock that the test moves.
private struct Simulation {
  /// What is on its way, and when it arrives.
  private enum Delivery {
    case poll(attempt: Int, session: String?)
    case pollAnswer(attempt: Int, Int, [UInt8])
    case post(attempt: Int, session: String, [UInt8])
    case postAnswer(attempt: Int, Int, [UInt8])
    case dial(attempt: Int, session: String?)
    case opened(attempt: Int, socket: Int)
    case toServer(socket: Int, [UInt8])
    case toClient(attempt: Int, socket: Int, [UInt8])
    case closed(attempt: Int, socket: Int)
  }

  private struct Socket {
    var attempt: Int
    var session: String
    var isOpen = true
  }

  private var random: RandomQueries
  private(set) var server: SimulatedServer
  private(set) var session: SocketSession
  private(set) var now: Int64 = 0
  private var underway: [(time: Int64, order: Int, delivery: Delivery)] = []
  private var lastOrder = 0
  private var sockets: [Int: Socket] = [:]
  private var lastSocket = 0
  private var clientSocket: Int?
  private var heldPolls: [(attempt: Int, session: String)] = []
  private(set) var answers: [Int: Result<JSONValue, FeathersError>] = [:]
  private(set) var problems: [String] = []
  private var isFaulty = true
  private var lossOneIn: Int

  init(seed: UInt64, _ carrying: SocketSession.Carrying, _ version: EngineVersion) {
    random = RandomQueries(seed: seed)
    server = SimulatedServer(version)
    var options = SocketSession.Options()
    options.carrying = carrying
    session = SocketSession(options, seed: seed)
    lossOneIn = random.pick([15, 40, 200])
  }

  mutating func call(_ number: Int) {
    let data: JSONValue = ["n": .number(JSONNumber(Int64(number)))]
    take(session.call(number, "create", ["m", data, [:]], now: now))
  }

  mutating func calm() { isFaulty = false }

  private mutating func isLost() -> Bool { isFaulty && random.chance(lossOneIn) }

  /// Sends something on its way; what goes by one connection arrives in its order.
  private mutating func send(_ delivery: Delivery, ordered: Bool = false) {
    lastOrder += 1
    let delay = ordered ? 20 : Int64(random.number(5..<60))
    underway.append((now + delay, lastOrder, delivery))
  }

  private mutating func take(_ effects: [SocketSession.Effect]) {
    for effect in effects {
      switch effect {
      case .engine(let attempt, let effect): carryOut(effect, attempt)
      case .answered(let key, let result):
        if answers[key] != nil { problems.append("call \(key) is answered twice") }
        answers[key] = result
      case .signIn:
        take(session.signedIn(attempt: session.attempt, now: now))
      default: break
      }
    }
  }

  private mutating func carryOut(_ effect: EngineLink.Effect, _ attempt: Int) {
    switch effect {
    case .openSocket(let query):
      send(.dial(attempt: attempt, session: Simulation.session(in: query)))
    case .sendText(let text):
      if let clientSocket { send(.toServer(socket: clientSocket, text), ordered: true) }
    case .closeSocket:
      if let clientSocket { close(clientSocket) }
      clientSocket = nil
    case .get(let query): send(.poll(attempt: attempt, session: Simulation.session(in: query)))
    case .post(let query, let body):
      guard let session = Simulation.session(in: query) else { return }
      send(.post(attempt: attempt, session: session, body))
    default: break
    }
  }

  private static func session(in query: String) -> String? {
    query.split(separator: "&").first { $0.hasPrefix("sid=") }.map { String($0.dropFirst(4)) }
  }

  private mutating func close(_ number: Int) {
    guard let socket = sockets[number], socket.isOpen else { return }
    sockets[number]?.isOpen = false
    server.lost(socket.session)
  }

  private mutating func report(
    _ attempt: Int, _ change: (inout EngineLink) -> [EngineLink.Effect]
  ) {
    take(session.report(attempt: attempt, now: now, change))
  }

  private mutating func arrive(_ delivery: Delivery) {
    let now = now
    switch delivery {
    case .poll(let attempt, let session):
      if isLost() { return report(attempt) { $0.pollFailed("lost") } }
      if let session {
        heldPolls.append((attempt, session))
      } else if let answer = server.poll(nil) {
        send(.pollAnswer(attempt: attempt, answer.status, answer.body))
      }
    case .pollAnswer(let attempt, let status, let body):
      if isLost() { return report(attempt) { $0.pollFailed("lost") } }
      report(attempt) { $0.pollAnswered(status, body, now: now) }
    case .post(let attempt, let session, let body):
      if isLost() { return report(attempt) { $0.postFailed("lost") } }
      let answer = server.post(session, body)
      send(.postAnswer(attempt: attempt, answer.status, answer.body))
    case .postAnswer(let attempt, let status, let body):
      // The server has done it, and the client does not know.
      if isLost() { return report(attempt) { $0.postFailed("lost") } }
      report(attempt) { $0.postAnswered(status, body, now: now) }
    case .dial(let attempt, let session):
      guard !isLost(), let session = server.connect(session) else {
        return report(attempt) { $0.socketClosed("refused") }
      }
      lastSocket += 1
      sockets[lastSocket] = Socket(attempt: attempt, session: session)
      send(.opened(attempt: attempt, socket: lastSocket), ordered: true)
    case .opened(let attempt, let socket):
      guard attempt == session.attempt else { return close(socket) }
      clientSocket = socket
      report(attempt) { $0.socketOpened() }
    case .toServer(let number, let text):
      guard let socket = sockets[number], socket.isOpen else { return }
      if isLost() { return lose(number) }
      for frame in server.frame(socket.session, text) {
        send(.toClient(attempt: socket.attempt, socket: number, frame), ordered: true)
      }
    case .toClient(let attempt, let number, let text):
      guard sockets[number]?.isOpen == true else { return }
      if isLost() { return lose(number) }
      report(attempt) { $0.socketText(text, now: now) }
    case .closed(let attempt, let number):
      if clientSocket == number {
        clientSocket = nil
        report(attempt) { $0.socketClosed("reset") }
      }
    }
  }

  /// Breaks a connection; the client is told a little later.
  private mutating func lose(_ number: Int) {
    guard let socket = sockets[number] else { return }
    close(number)
    send(.closed(attempt: socket.attempt, socket: number), ordered: true)
  }

  /// Moves the clock to the next thing that happens, at most to a time.
  mutating func run(until end: Int64) {
    while now < end {
      pushServer()
      let next = underway.indices.min {
        (underway[$0].time, underway[$0].order) < (underway[$1].time, underway[$1].order)
      }
      let arrival = next.map { underway[$0].time } ?? .max
      let deadline = session.deadline ?? .max
      let time = min(arrival, deadline, end)
      now = max(now, time)
      if let next, arrival <= now {
        arrive(underway.remove(at: next).delivery)
      } else if deadline <= now {
        take(session.tick(now: now))
      }
      if now >= end { break }
    }
  }

  /// Lets the server answer held polls, and send what waits for web sockets.
  private mutating func pushServer() {
    let polls = heldPolls
    heldPolls = []
    for poll in polls {
      if let answer = server.poll(poll.session) {
        send(.pollAnswer(attempt: poll.attempt, answer.status, answer.body))
      } else {
        heldPolls.append(poll)
      }
    }
    for (number, socket) in sockets.sorted(by: { $0.key < $1.key }) where socket.isOpen {
      for frame in server.frames(socket.session) {
        send(.toClient(attempt: socket.attempt, socket: number, frame), ordered: true)
      }
    }
  }

  mutating func ping() { server.ping() }

  mutating func restart() {
    server.restart()
    for number in sockets.keys.sorted() where sockets[number]?.isOpen == true { lose(number) }
  }
}

/// On a bad network each call is answered once, and carried out at most once.
@Suite struct SocketSimulationTests {
  @Test(arguments: SocketSession.Carrying.allCases, [EngineVersion.three, .four])
  func noCallIsLostOrRepeated(carrying: SocketSession.Carrying, version: EngineVersion) {
    var (succeeded, unknown) = (0, 0)
    for seed in 0..<25 as Range<UInt64> {
      var simulation = Simulation(seed: seed, carrying, version)
      var random = RandomQueries(seed: seed ^ 0xABCD)
      var number = 0
      for round in 0..<60 {
        for _ in 0..<random.number(0..<4) {
          simulation.call(number)
          number += 1
        }
        simulation.run(until: simulation.now + Int64(random.number(1..<1500)))
        if round % 6 == 5 { simulation.ping() }
        if random.chance(40) { simulation.restart() }
      }
      // After quiet, a last call succeeds.
      simulation.calm()
      for _ in 0..<20 {
        simulation.run(until: simulation.now + 4_000)
        simulation.ping()
      }
      simulation.call(number)
      simulation.run(until: simulation.now + 3_000)
      check(simulation, number, seed, &succeeded, &unknown)
    }
    #expect(succeeded > 500 && unknown > 5, "\(succeeded), \(unknown)")
  }

  private func check(
    _ simulation: Simulation, _ last: Int, _ seed: UInt64, _ succeeded: inout Int,
    _ unknown: inout Int
  ) {
    #expect(simulation.problems == [], "seed \(seed)")
    for number in 0...last {
      let count = simulation.server.done[number] ?? 0
      #expect(count <= 1, "seed \(seed): call \(number) was carried out \(count) times")
      switch simulation.answers[number] {
      case nil: Issue.record("seed \(seed): call \(number) is not answered")
      case .success(let record)?:
        succeeded += 1
        #expect(count == 1 && record["n"]?.int == number, "seed \(seed): call \(number)")
      case .failure(let error)?:
        // What was not sent was not carried out.
        if error.data?["isSent"] == true { unknown += 1 } else { #expect(count == 0) }
        #expect(number != last, "seed \(seed): \(error), \(simulation.session.state)")
      }
    }
  }
}
