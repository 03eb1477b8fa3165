import RunnelBase
import RunnelSync
import RunnelTree

/// The smallest world: the sessions of a server and a few speakers that know nothing but the protocol, with no
/// replicas, on one thread.
///
/// One seed determines everything: requests, arrival times, ends of connections and crashes of the server.
///
/// Invariants, checked when nothing is in progress:
/// - S1. Every request of a connection that lasts was answered once; no acknowledged write is lost, none is done
///   twice, no refused one stands in the tree.
/// - S2. What a listen was told adds up to the server's data.
/// - S3. The disconnect writes of a connection are done once.
/// - S4. No speaker is told data that the rules hide from it (checked at each frame).
package struct ServerWorld {
  /// The size of a world.
  package struct Shape: Hashable, Sendable {
    /// The number of speakers.
    package var speakerCount: Int
    /// The number of steps before everything arrives.
    package var stepCount: Int

    /// Makes a shape.
    package init(_ speakerCount: Int, _ stepCount: Int) {
      (self.speakerCount, self.stepCount) = (speakerCount, stepCount)
    }
  }

  private let shape: Shape
  private var random: SeededRandom
  private var server = WireServer(takesWriteNames: false)
  private var speakers: [Speaker]
  private var speakersOfConnections: [Int64: Int] = [:]
  private var connectionCount: Int64 = 0
  private var uptime: Int64 = 0
  private var valueCount = 0

  private var now: WireTime {
    WireTime(calendar: 1_700_000_000_000 + uptime, uptime: uptime)
  }

  /// Makes a world.
  package init(seed: UInt64, shape: Shape) {
    self.shape = shape
    random = SeededRandom(seed: seed)
    speakers = (0..<shape.speakerCount).map { Speaker(number: $0) }
    server.limits.requestsMax = 1 + Int(seed % 5)
  }

  /// Runs all steps, then lets everything arrive, and checks the invariants.
  ///
  /// - Throws: `SimulationError` for a violated invariant.
  package mutating func run() throws {
    for _ in 0..<shape.stepCount { try step() }
    try settle()
    try check()
    // Disconnect writes are done at the end of a connection, and not again when the server restarts.
    for speaker in speakers.indices where number(2) == 0 { try cut(speaker) }
    crashServer()
    try settle()
    try check()
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  // MARK: Steps

  private mutating func step() throws {
    let speaker = number(speakers.count)
    switch number(100) {
    case 0..<30: try act(speaker)
    case 30..<55: try deliverUp(speaker)
    case 55..<75: try deliverDown(speaker)
    case 75..<92: try work()
    case 92..<97: try pass(Int64(number(4000)))
    case 97: try pass(Int64(number(70_000)))
    case 98: try cut(speaker)
    default: if number(2) == 0 { crashServer() }
    }
  }

  private mutating func pass(_ milliseconds: Int64) throws {
    uptime += milliseconds
    try server.advance(now: now)
    try takeEffects()
  }

  private mutating func work() throws {
    try server.work(on: number(4) > 0, now: now)
    try takeEffects()
  }

  /// Lets a speaker ask for something; one without a connection makes one.
  private mutating func act(_ index: Int) throws {
    guard speakers[index].connection != nil else { return try connect(index) }
    let speaker = speakers[index].number
    let increment = #"{".sv":{"increment":1}}"#
    switch number(12) {
    case 0, 1: ask(index, .increment, "p", #"{"p":"/count","d":\#(increment)}"#)
    case 2, 3, 4:
      valueCount += 1
      let place = "/log/\(speaker)/\(number(4))"
      let value = number(4) == 0 ? "null" : "\(valueCount)"
      ask(index, .put(place, value), "p", #"{"p":"\#(place)","d":\#(value)}"#)
    case 5:
      let body = #"{"p":"/log/\#(speaker)","d":{"a":\#(number(3)),"b/c":\#(number(3))}}"#
      ask(index, .other, "m", body)
    case 6:
      valueCount += 1
      let place = "/forbidden/\(valueCount)"
      ask(index, .forbidden(place), "p", #"{"p":"\#(place)","d":true}"#)
    case 7:
      // Only the boss may; for everybody else this is refused.
      valueCount += 1
      ask(index, .other, "p", #"{"p":"/hidden/\#(number(3))","d":"hush\#(valueCount)"}"#)
    case 8: ask(index, .farewell, "o", #"{"p":"/gone/\#(speaker)","d":\#(increment)}"#)
    case 9:
      let end = now.calendar + Int64(number(100_000)) - 1000
      let name = speaker == 0 ? "boss" : "user\(speaker)"
      let text = number(8) == 0 ? "garbage" : "user:\(name):\(end)"
      ask(index, .other, "auth", #"{"cred":"\#(text)"}"#)
    default:
      let place = ["/log", "/count", "/hidden", "/gone"][number(4)]
      if speakers[index].wanted.contains(place) {
        ask(index, .unlisten(place), "n", #"{"p":"\#(place)"}"#)
      } else {
        ask(index, .listen(place), "q", #"{"p":"\#(place)","h":""}"#)
      }
    }
  }

  private mutating func ask(_ index: Int, _ ask: Speaker.Ask, _ action: String, _ body: String) {
    speakers[index].ask(ask, action, body)
  }

  // MARK: Connections

  private mutating func connect(_ index: Int) throws {
    connectionCount += 1
    speakers[index].connection = connectionCount
    speakersOfConnections[connectionCount] = index
    server.clients[connectionCount] = index
    try server.open(connectionCount, host: "localhost", previous: nil, now: now)
    try takeEffects()
  }

  /// Ends a connection for both sides; frames on their way are lost.
  private mutating func cut(_ index: Int) throws {
    guard let connection = speakers[index].connection else { return }
    speakersOfConnections[connection] = nil
    speakers[index].lose()
    try server.closed(connection)
    try takeEffects()
  }

  private mutating func crashServer() {
    server.crash(now: now)
    speakersOfConnections = [:]
    for index in speakers.indices { speakers[index].lose() }
  }

  private mutating func deliverUp(_ index: Int) throws {
    guard let connection = speakers[index].connection, !speakers[index].isPaused,
      let frame = speakers[index].takeRequest()
    else { return }
    try server.receive(frame, on: connection, now: now)
    try takeEffects()
  }

  private mutating func deliverDown(_ index: Int) throws { try speakers[index].hear() }

  private mutating func takeEffects() throws {
    var effects = server.takeEffects()
    while !effects.isEmpty {
      for (connection, effect) in effects { try carryOut(effect, connection) }
      effects = server.takeEffects()
    }
  }

  private mutating func carryOut(_ effect: ServerSession.Effect, _ connection: Int64) throws {
    guard let index = speakersOfConnections[connection] else { return }
    switch effect {
    case .send(let frame): speakers[index].receive(frame)
    case .sendRun(let run): for frame in run.frames { speakers[index].receive(frame) }
    case .ping: server.heard(connection, now: now)
    case .pauseReading: speakers[index].isPaused = true
    case .resumeReading: speakers[index].isPaused = false
    case .close(let reason): throw SimulationError("S1: \(connection) is closed: \(reason.text)")
    case .endSession, .operate, .verify, .note: break
    }
  }

  // MARK: The end

  private mutating func settle() throws {
    var rest = 10_000
    while true {
      var isBusy = false
      for index in speakers.indices {
        if speakers[index].connection == nil {
          try connect(index)
          // Whoever comes again listens again.
          for place in speakers[index].takeLost() {
            ask(index, .listen(place), "q", #"{"p":"\#(place)","h":""}"#)
          }
          isBusy = true
        }
        while speakers[index].hasRequests, !speakers[index].isPaused {
          try deliverUp(index)
          isBusy = true
        }
        while speakers[index].hasNews {
          try deliverDown(index)
          isBusy = true
        }
      }
      while server.isBusy {
        try work()
        isBusy = true
      }
      if !isBusy { return }
      rest -= 1
      if rest == 0 { throw SimulationError("It goes on for ever.") }
    }
  }

  private func check() throws {
    let tree = server.tree.tree.root
    for speaker in speakers {
      if let number = speaker.unanswered.keys.min() {
        throw SimulationError("S1: request \(number) of \(speaker.number) has no answer")
      }
      for (place, value) in speaker.known {
        let found = tree[try Path(place)].exportJSON.jsonText()
        if found != value { throw SimulationError("S1: \(place) is \(found), not \(value)") }
      }
      for place in speaker.refused where !tree[try Path(place)].isEmpty {
        throw SimulationError("S1: the refused write of \(place) stands in the tree")
      }
      for place in speaker.listened {
        let path = try Path(place)
        if speaker.shown.root[path] != tree[path] {
          throw SimulationError("S2: \(speaker.number) was told something else of \(place)")
        }
      }
      let gone = number(at: try Path("/gone/\(speaker.number)"), in: tree)
      let least = server.farewells[speaker.number] ?? 0
      let most = least + (server.doubtfulFarewells[speaker.number] ?? 0)
      if gone < least || gone > most {
        throw SimulationError("S3: \(speaker.number) is gone \(gone) times, not \(least)")
      }
    }
    let (done, doubtful) = speakers.reduce((0, 0)) {
      ($0.0 + $1.incrementCount, $0.1 + $1.doubtfulCount)
    }
    let sum = number(at: try Path("/count"), in: tree)
    if sum < done || sum > done + doubtful {
      throw SimulationError("S1: \(sum) of \(done) increments, and \(doubtful) in doubt")
    }
  }

  private func number(at path: Path, in tree: Node) -> Int {
    guard case .number(let number)? = tree[path].leaf else { return 0 }
    return Int(number.integer ?? 0)
  }
}
