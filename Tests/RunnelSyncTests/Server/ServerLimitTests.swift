import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// What a client cannot do to a server.
@Suite struct ServerLimitTests {
  private func put(_ number: Int, _ path: String, _ json: String) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"\#(path)","d":\#(json)}}}"#
  }

  private func limits(_ change: (inout WireLimits) -> Void) -> WireLimits {
    var limits = WireLimits()
    change(&limits)
    return limits
  }

  @Test(arguments: ["{", "[]", #"{"t":"d","d":{"a":"q"}}"#, "\u{0}", "true"])
  func whatIsNoMessageEndsTheConnection(text: String) throws {
    var world = try ServedWorld()
    let connection = world.connect()
    let told = world.send(text, by: connection)
    #expect(told.first?.hasPrefix(#"{"t":"c","d":{"t":"e","#) == true)
    #expect(world.closes[connection]?.code == 1002)
  }

  @Test func aSignOfLifeIsIgnored() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    #expect(world.send("0", by: connection).isEmpty)
    #expect(world.closes[connection] == nil)
  }

  @Test func aMessageThatIsTooLongEndsTheConnection() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.messageBytesMax = 1000 })
    let value = "\"" + String(repeating: "x", count: 900) + "\""
    #expect(world.send(put(1, "/a", value), by: connection).count == 1)
    world.send("3", by: connection)
    world.send(String(repeating: "x", count: 900), by: connection)
    world.send(String(repeating: "x", count: 900), by: connection)
    #expect(world.closes[connection]?.code == 1009)
  }

  /// The announced pieces are never complete: after a while that is enough.
  @Test func halfAMessageForEverEndsTheConnection() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.messageMilliseconds = 10_000 })
    world.send("2", by: connection)
    for _ in 0..<3 {
      world.now.uptime += 3000
      world.change(connection) {
        $0.heard(now: $1); return $0.advance(now: $1)
      }
    }
    #expect(world.closes[connection] == nil)
    #expect(world.sessions[connection]?.deadline(now: world.now) == 10_000)
    world.now.uptime += 1000
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.closes[connection]?.code == 1008)
  }

  @Test func readingPausesWhileMuchIsUnderWay() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.requestsMax = 4 })
    world.isSlow = true
    for number in 1...10 { world.send(put(number, "/n", "\(number)"), by: connection) }
    #expect(world.others[connection] == [.pauseReading])
    #expect(world.sessions[connection]?.requestCount == 10)
    world.operate(atMost: 1)
    #expect(world.others[connection] == [.pauseReading])
    world.operate()
    #expect(world.others[connection] == [.pauseReading, .resumeReading])
    #expect(world.take(connection).count == 10)
    #expect(world.tree.tree.root.exportJSON == ["n": 10])
  }

  @Test func readingPausesForAClientThatSendsTooMuch() throws {
    var world = try ServedWorld()
    let connection = world.connect(
      limits: limits {
        $0.requestsPerSecond = 5
        $0.bytesPerSecond = 10_000
      })
    for number in 1...5 { world.send(put(number, "/n", "1"), by: connection) }
    #expect(world.others[connection] == nil)
    // What is read already is answered all the same.
    #expect(world.send(put(6, "/n", "1"), by: connection).count == 1)
    #expect(world.others[connection] == [.pauseReading])
    #expect(world.sessions[connection]?.deadline(now: world.now) == 200)
    world.now.uptime = 200
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.others[connection] == [.pauseReading, .resumeReading])
    world.send(put(7, "/n", "\"" + String(repeating: "x", count: 15_000) + "\""), by: connection)
    #expect(world.others[connection]?.last == .pauseReading)
    #expect((600...800).contains(world.sessions[connection]?.deadline(now: world.now) ?? 0))
  }

  /// A client that writes on although nothing is read is not kept.
  @Test func whatWaitsIsBounded() throws {
    var world = try ServedWorld()
    let connection = world.connect(
      limits: limits {
        $0.requestsMax = 1
        $0.waitingBytesMax = 500
      })
    world.isSlow = true
    for number in 1...20 { world.send(put(number, "/n", "\(number)"), by: connection) }
    #expect(world.closes[connection]?.code == 1008)
    world.operate()
    #expect(world.tree.tree.root.exportJSON == ["n": 1])
  }

  @Test func aClientThatDoesNotReadIsNotKept() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.unsentBytesMax = 1000 })
    world.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#, by: connection)
    for number in 0..<100 {
      try world.write(.set(Path("/a"), .number(JSONNumber(Int64(number)))))
      world.change(connection) { session, _ in
        if number < 50 { session.sent(session.unsentBytes) }
        return []
      }
      if number == 50 { #expect(world.closes[connection] == nil) }
    }
    #expect(world.closes[connection]?.code == 1008)
    #expect(world.tree.listenCount == 0)
  }

  /// Once, the answer that follows the data ended the connection at once.
  @Test func aMessageThatIsLargerThanTheLimitIsSentToWhoReads() throws {
    let text = String(repeating: "x", count: 5000)
    var world = try ServedWorld("{\"a\":\"\(text)\"}")
    let connection = world.connect(limits: limits { $0.unsentBytesMax = 1000 })
    let told = world.send(
      #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}"#, by: connection)
    #expect(told.count == 2)
    // It is taken in part; what follows it counts.
    world.change(connection) { session, _ in
      session.sent(2000)
      return []
    }
    for number in 0..<10 { try world.write(.set(Path("/n"), .number(JSONNumber(Int64(number))))) }
    #expect(world.closes[connection] == nil)
    for number in 0..<40 { try world.write(.set(Path("/n"), .number(JSONNumber(Int64(-number))))) }
    #expect(world.closes[connection]?.code == 1008)
  }

  @Test func whatIsLeftForTheEndIsBounded() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.disconnectBytesMax = 200 })
    let value = String(repeating: "x", count: 100)
    func leave(_ number: Int) -> String {
      #"{"t":"d","d":{"r":\#(number),"a":"o","b":{"p":"/p/\#(number)","d":"\#(value)"}}}"#
    }
    #expect(world.send(leave(1), by: connection).first?.contains(#""s":"ok""#) == true)
    #expect(world.send(leave(2), by: connection).first?.contains(#""s":"too_big""#) == true)
    world.change(connection) { session, _ in session.closed() }
    #expect(world.tree.tree.root[try Path("/p")].children.count == 1)
  }

  /// A write has as many bytes as over HTTP, whatever kind it has; only administrators set more.
  @Test(arguments: ["p", "m", "o", "om"]) func aWriteThatIsTooLargeIsRefused(
    _ action: String
  ) throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.writeBytesMax = 200 })
    func write(_ number: Int, _ count: Int) -> String {
      let text = String(repeating: "x", count: count)
      let value = action.hasSuffix("m") ? #"{"a":"\#(text)"}"# : #""\#(text)""#
      return #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":{"p":"/p","d":\#(value)}}}"#
    }
    #expect(world.send(write(1, 180), by: connection).first?.contains(#""s":"ok""#) == true)
    let refusal = try #require(world.send(write(2, 300), by: connection).first)
    #expect(refusal.contains(#""s":"too_big""#))
    #expect(refusal.contains("exceeds the maximum size"))
    #expect(world.closes[connection] == nil)
    #expect(world.reached.contains(.writeBytes))
  }

  @Test func aPathThatIsTooDeepIsRefused() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    let path = String(repeating: "/a", count: 33)
    let told = world.send(put(1, path, "1"), by: connection)
    #expect(told.first?.contains("32 are allowed") == true)
    #expect(world.closes[connection] == nil)
  }

  @Test func silenceIsAskedAboutAndThenEnds() throws {
    var world = try ServedWorld()
    let connection = world.connect()
    #expect(world.sessions[connection]?.deadline(now: world.now) == 45_000)
    world.now.uptime = 45_000
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.others[connection] == [.ping])
    #expect(world.sessions[connection]?.deadline(now: world.now) == 75_000)
    world.now.uptime = 50_000
    world.change(connection) {
      $0.heard(now: $1); return []
    }
    #expect(world.sessions[connection]?.deadline(now: world.now) == 95_000)
    world.now.uptime = 95_000
    world.change(connection) { $0.advance(now: $1) }
    world.now.uptime = 125_000
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.closes[connection]?.code == 1001)
  }

  /// What it sends is in the network, unread.
  @Test func aClientThatIsNotReadIsNotSilent() throws {
    var world = try ServedWorld()
    let connection = world.connect(limits: limits { $0.requestsMax = 1 })
    world.isSlow = true
    world.send(put(1, "/n", "1"), by: connection)
    for minutes in 1...10 {
      world.now.uptime = Int64(minutes) * 60_000
      world.change(connection) { $0.advance(now: $1) }
    }
    #expect(world.closes[connection] == nil)
    #expect(world.others[connection] == [.pauseReading])
    world.operate()
    #expect(world.others[connection] == [.pauseReading, .resumeReading])
    for _ in 0..<2 {
      world.now.uptime = try #require(world.sessions[connection]?.deadline(now: world.now))
      world.change(connection) { $0.advance(now: $1) }
    }
    #expect(world.closes[connection]?.code == 1001)
  }

  /// The calendar jumps; what was heard was heard all the same.
  @Test(arguments: [-1_000_000_000, 1_000_000_000] as [Int64])
  func aClockThatJumpsEndsNothing(jump: Int64) throws {
    var world = try ServedWorld()
    let connection = world.connect()
    world.now.calendar += jump
    world.now.uptime += 10
    world.change(connection) { $0.advance(now: $1) }
    #expect(world.others[connection] == nil)
    #expect(world.closes[connection] == nil)
  }

  /// Whatever is sent: each request is answered once, or the connection ends, and the session goes on.
  @Test(arguments: Seeds.first(300))
  func anythingThatIsSentIsAnsweredOrEnds(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var world = try ServedWorld(#"{"a":{"b":1},"list":{"x":1,"y":2}}"#)
    let connection = world.connect()
    var fuzz = RequestFuzz(random: random)
    random = SeededRandom(seed: ~seed)
    var asked: [Int] = []
    for number in 1...40 {
      world.isSlow = Bool.random(using: &random)
      let frame = fuzz.frame(number)
      let isOpen = world.closes[connection] == nil
      if isOpen, !frame.isDamaged { asked.append(number) }
      let told = world.send(frame.text, by: connection)
      if !told.isEmpty { note(told, &asked) }
      if !world.isSlow {
        world.operate()
        note(world.take(connection), &asked)
      }
    }
    world.operate()
    note(world.take(connection), &asked)
    if world.closes[connection] == nil { #expect(asked.isEmpty, "seed \(seed)") }
  }

  private func note(_ told: [String], _ asked: inout [Int]) {
    for text in told {
      // What the server says can be read.
      guard let message = try? ServerMessage(Array(text.utf8)) else {
        Issue.record("\(text) cannot be read")
        continue
      }
      guard case .response(let number, _, _) = message else { continue }
      asked.removeAll { $0 == Int(number) }
    }
  }
}

/// Requests that a client might send, and some that none should.
private struct RequestFuzz {
  var random: SeededRandom

  private mutating func pick(_ texts: [String]) -> String {
    texts[Int.random(in: 0..<texts.count, using: &random)]
  }

  mutating func frame(_ number: Int) -> (text: String, isDamaged: Bool) {
    let path = pick(["/a", "/list", "/", "/a/b", "a.b", "/a/.priority", "/list/x"])
    let value = pick([
      "1", "null", "{}", #"{"c":{"d":1}}"#, #"{".sv":"timestamp"}"#, #"{".sv":"x"}"#, "[1,2]",
      #"{".value":1,".priority":2}"#, #"{"a.b":1}"#, #""text""#,
    ])
    let query = pick([
      "{}", #"{"l":1,"vf":"l"}"#, #"{"i":".value","sp":1,"sin":true}"#, #"{"zz":1}"#, "7", "null",
      #"{"i":"c/d","l":2}"#,
    ])
    let action = pick(["q", "n", "p", "m", "g", "o", "om", "oc", "auth", "unauth", "s", "zz", "l"])
    let hash = pick(["", #","h":"""#, #","h":"AUZnXhNqrfbznYVxcCvNpzpjvTU=""#, #","h":7"#])
    let tag = pick(["", #","t":1"#, #","t":2"#, #","t":"x""#])
    let body = #"{"p":"\#(path)","d":\#(value),"q":\#(query),"cred":"user:ana"\#(tag)\#(hash)}"#
    let text = #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#
    guard Int.random(in: 0..<60, using: &random) == 0 else { return (text, false) }
    var bytes = Array(text.utf8)
    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
      in: 32...126, using: &random)
    return (String(decoding: bytes, as: UTF8.self), true)
  }
}
