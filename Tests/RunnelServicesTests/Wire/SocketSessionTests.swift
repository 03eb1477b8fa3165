import RunnelBase
import RunnelServices
import Testing

/// A session with a clock that the test moves, and all that it asked for.
private struct Script {
  var session: SocketSession
  var now: Int64 = 0
  /// What was asked for since the last look, as text.
  var log: [String] = []
  var answers: [Int: Result<JSONValue, FeathersError>] = [:]
  var events: [String] = []
  var signIns = 0

  init(_ change: (inout SocketSession.Options) -> Void = { _ in }) {
    var options = SocketSession.Options()
    change(&options)
    session = SocketSession(options, seed: 7)
  }

  mutating func take(_ effects: [SocketSession.Effect]) {
    for effect in effects {
      switch effect {
      case .engine(_, let effect): log.append(Script.text(effect))
      case .event(let name, let data): events.append("\(name) \(data["id"]?.int ?? -1)")
      case .answered(let key, let result):
        #expect(answers[key] == nil, "call \(key) is answered twice")
        answers[key] = result
        log.append("answered \(key)")
      case .signIn: signIns += 1
      case .sessionEnded: log.append("session ended")
      case .answeredLate(let key, _): log.append("late answer \(key)")
      case .state(let state): log.append("state \(Script.text(state))")
      }
    }
  }

  private static func text(_ effect: EngineLink.Effect) -> String {
    switch effect {
    case .openSocket(let query): "open \(query)"
    case .sendText(let text): "> " + String(decoding: text, as: UTF8.self)
    case .sendBinary(let bytes): "> \(bytes)"
    case .closeSocket: "close"
    case .get(let query): "get \(query)"
    case .post(let query, let body): "post \(query) " + String(decoding: body, as: UTF8.self)
    default: "\(effect)"
    }
  }

  private static func text(_ state: SocketSession.State) -> String {
    switch state {
    case .waiting(_, let reason): "waiting: \(reason)"
    default: "\(state)"
    }
  }

  mutating func asked() -> [String] {
    defer { log = [] }
    return log
  }

  private mutating func report(_ change: (inout EngineLink) -> [EngineLink.Effect]) {
    take(session.report(attempt: session.attempt, now: now, change))
  }

  mutating func start() { take(session.start(now: now)) }
  mutating func opened() { report { $0.socketOpened() } }
  mutating func frame(_ text: String) {
    let now = now
    report { $0.socketText(Array(text.utf8), now: now) }
  }
  mutating func bytes(_ bytes: [UInt8]) {
    let now = now
    report { $0.socketBinary(bytes, now: now) }
  }
  mutating func socketClosed(_ reason: String = "gone") { report { $0.socketClosed(reason) } }
  mutating func polled(_ text: String, status: Int = 200) {
    let now = now
    report { $0.pollAnswered(status, Array(text.utf8), now: now) }
  }
  mutating func posted(status: Int = 200) {
    let now = now
    report { $0.postAnswered(status, Array("ok".utf8), now: now) }
  }
  mutating func call(
    _ key: Int, _ event: String = "find", _ arguments: [JSONValue] = ["m", [:]],
    isSignIn: Bool = false, isRenewal: Bool = false
  ) {
    take(
      session.call(key, event, arguments, isSignIn: isSignIn, isRenewal: isRenewal, now: now))
  }
  mutating func signedIn(refusal: FeathersError? = nil) {
    take(session.signedIn(attempt: session.attempt, refusal: refusal, now: now))
  }

  /// Moves the clock, with a tick at each deadline on the way.
  mutating func wait(_ milliseconds: Int64) {
    let end = now + milliseconds
    var count = 0
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      take(session.tick(now: now))
      count += 1
      #expect(count < 1000, "the deadlines do not move")
      if count >= 1000 { return }
    }
    now = end
  }

  static let open4 =
    "0{\"sid\":\"abc\",\"upgrades\":[],\"pingInterval\":25000,\"pingTimeout\":20000,"
    + "\"maxPayload\":1000}"
  static let openOld =
    "0{\"sid\":\"abc\",\"upgrades\":[],\"pingInterval\":25000,\"pingTimeout\":5000}"

  /// Brings a web socket of version 4 up.
  mutating func connect() {
    start()
    opened()
    frame(Script.open4)
    frame("40{\"sid\":\"X\"}")
    signedIn()
    log = []
  }
}

@Suite struct SocketSessionTests {
  @Test func aCallThatIsTooLargeIsNotSent() throws {
    var script = Script()
    script.connect()
    script.call(1, "create", ["m", ["text": .string(String(repeating: "x", count: 1000))]])
    #expect(script.asked() == ["answered 1"])
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("it was answered")
      return
    }
    // It may be made over REST.
    #expect(error.code == 413 && error.data?["isSent"] == false && !error.mayBeDone)
    #expect(error.message.contains("so nothing was sent"))
  }

  @Test func aWebSocketOfVersionFourConnects() {
    var script = Script()
    script.call(1)
    #expect(script.asked() == ["state connecting", "open EIO=4&transport=websocket"])
    script.opened()
    script.frame(Script.open4)
    #expect(script.asked() == ["> 40"])
    script.frame("40{\"sid\":\"X\"}")
    #expect(script.signIns == 1)
    #expect(
      script.asked() == [
        "state connected(RunnelServices.SocketTransport.websocket, "
          + "RunnelServices.EngineVersion.four)"
      ])
    // The call waits until it is known who is signed in.
    script.signedIn()
    #expect(script.asked() == ["> 420[\"find\",\"m\",{}]"])
    script.frame("430[null,{\"total\":0}]")
    #expect(script.answers[1] == .success(["total": 0]))
  }

  @Test func nothingIsSentAsNobodyAfterARefusedSignIn() {
    var script = Script()
    script.call(1, "create")
    script.opened()
    script.frame(Script.open4)
    script.frame("40{\"sid\":\"X\"}")
    _ = script.asked()
    let refusal = FeathersError(.notAuthenticated, "jwt expired")
    script.signedIn(refusal: refusal)
    script.call(2, "remove")
    #expect(script.asked() == ["answered 1", "answered 2"])
    #expect(script.answers[1] == .failure(refusal) && script.answers[2] == .failure(refusal))
    script.call(3, "create", ["authentication", [:]], isSignIn: true)
    script.frame("430[null,{}]")
    script.call(4)
    #expect(script.asked().last == "> 421[\"find\",\"m\",{}]")
  }

  @Test func callsBehindASignInWithoutAnAnswerCountAsUnsent() {
    var script = Script()
    script.call(1, "create")
    script.opened()
    script.frame(Script.open4)
    script.frame("40{\"sid\":\"X\"}")
    let late = FeathersError(.timeout, "The server did not answer.", data: ["isSent": true])
    script.signedIn(refusal: late)
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("the call is not answered")
      return
    }
    #expect(error.code == 408 && error.data == ["isSent": false])
    #expect(!error.message.contains("not known"))
  }

  /// Case 22: a server that does not show its version is found out by who connects.
  @Test func theVersionIsFoundOut() {
    var old = Script()
    old.start()
    old.opened()
    old.frame(Script.openOld)
    old.frame("40")
    #expect(old.log.contains { $0.contains("EngineVersion.three") })
    #expect(!old.log.contains("> 40"), "it would connect twice")

    var new = Script()
    new.start()
    new.opened()
    new.frame(Script.openOld)
    _ = new.asked()
    new.wait(299)
    #expect(new.asked() == [])
    new.wait(1)
    #expect(new.asked() == ["> 40"])
    new.frame("40{\"sid\":\"X\"}")
    #expect(new.log.contains { $0.contains("EngineVersion.four") })

    var late = Script()
    late.start()
    late.opened()
    late.frame(Script.openOld)
    late.wait(300)
    late.frame("40")
    #expect(late.log.contains { $0.contains("EngineVersion.three") })
  }

  /// Cases 28 and 29.
  @Test func inVersionFourTheServerPings() {
    var script = Script()
    script.connect()
    script.wait(24_000)
    script.frame("2")
    #expect(script.asked() == ["> 3"])
    script.wait(44_999)
    let said = script.asked()
    #expect(
      said.count == 1 && said[0].hasPrefix("state silent"),
      "no ping of ours, and no end before the time: \(said)")
    script.wait(1)
    #expect(script.asked().first == "close")
    // The first loss of a healthy connection is followed by an attempt at once.
    #expect(script.session.state == .connecting)
  }

  @Test func inVersionThreeTheClientPings() {
    var script = Script()
    script.start()
    script.opened()
    script.frame(Script.openOld)
    script.frame("40")
    script.signedIn()
    _ = script.asked()
    script.wait(25_000)
    #expect(script.asked() == ["> 2"])
    script.wait(1_000)
    script.frame("3")
    script.wait(24_999)
    #expect(script.asked() == [])
    script.wait(1)
    #expect(script.asked() == ["> 2"])
    script.wait(5_000)
    let said = script.asked()
    #expect(said.first?.hasPrefix("state silent") == true && said.dropFirst().first == "close")
  }

  /// Case 30.
  @Test func pollingMovesToAWebSocketWithoutLosingOrRepeatingACall() {
    var script = Script { $0.carrying = .pollingFirst }
    script.start()
    #expect(script.asked() == ["state connecting", "get EIO=4&transport=polling"])
    script.polled(Script.open4.replacing("[]", with: "[\"websocket\"]"))
    #expect(
      script.asked() == [
        "post EIO=4&transport=polling&sid=abc 40", "open EIO=4&transport=websocket&sid=abc",
        "get EIO=4&transport=polling&sid=abc",
      ])
    script.posted()
    script.polled("40{\"sid\":\"X\"}")
    script.signedIn()
    script.call(1)
    #expect(script.asked().contains("post EIO=4&transport=polling&sid=abc 420[\"find\",\"m\",{}]"))
    script.opened()
    #expect(script.asked() == ["> 2probe"])
    script.frame("3probe")
    script.call(2)
    #expect(script.asked() == [], "a poll and a post are under way")
    script.polled("430[null,1]\u{1E}6")
    #expect(script.asked() == ["answered 1"])
    script.posted()
    #expect(script.asked().prefix(2) == ["> 5", "> 421[\"find\",\"m\",{}]"])
    #expect(script.session.state == .connected(.websocket, .four))
    script.frame("431[null,2]")
    #expect(script.answers[2] == .success(2))
  }

  @Test func aPostHasAFewPacketsAtMost() {
    var script = Script { $0.carrying = .pollingOnly }
    script.start()
    script.polled(Script.open4)
    script.posted()
    script.polled("40{\"sid\":\"X\"}")
    script.signedIn()
    for key in 0..<40 { script.call(key) }
    var posts: [Int] = []
    for _ in 0..<4 {
      for text in script.asked() where text.hasPrefix("post") {
        posts.append(text.split(separator: "\u{1E}").count)
      }
      script.posted()
    }
    #expect(posts == [1, 1, 16, 16, 7])
  }

  @Test func aFailedMoveLeavesPollingAsItIs() {
    var script = Script { $0.carrying = .pollingFirst }
    script.start()
    script.polled(Script.open4.replacing("[]", with: "[\"websocket\"]"))
    script.socketClosed("no web sockets here")
    script.posted()
    script.polled("40{\"sid\":\"X\"}")
    script.signedIn()
    _ = script.asked()
    script.call(1)
    #expect(script.asked() == ["post EIO=4&transport=polling&sid=abc 420[\"find\",\"m\",{}]"])
    script.polled("430[null,1]")
    #expect(script.answers[1] == .success(1))
  }

  /// Case 26, and section 4.9.
  @Test func pollingOfVersionThreeConnectsOnce() {
    for isTogether in [true, false] {
      var script = Script { $0.carrying = .pollingOnly }
      script.start()
      let text = Script.openOld
      script.polled("\(text.utf16.count):\(text)" + (isTogether ? "2:40" : ""))
      if !isTogether { script.polled("2:40") }
      script.signedIn()
      #expect(script.signIns == 1)
      #expect(script.asked().last == "get EIO=3&transport=polling&b64=1&sid=abc")
      script.call(1)
      #expect(
        script.asked() == [
          "post EIO=3&transport=polling&b64=1&sid=abc 18:420[\"find\",\"m\",{}]"
        ])
    }
  }

  /// Case 31.
  @Test func anUnknownSessionAndAnotherVersionLeadToAnotherAttemptAtOnce() {
    var script = Script { $0.carrying = .pollingOnly }
    script.start()
    script.polled(Script.open4)
    script.polled("{\"code\":1,\"message\":\"Session ID unknown\"}", status: 400)
    #expect(script.session.state == .connecting)
    #expect(script.asked().last == "get EIO=4&transport=polling")
    script.polled("{\"code\":5,\"message\":\"Unsupported protocol version\"}", status: 400)
    #expect(script.asked().last == "get EIO=3&transport=polling&b64=1")
  }

  /// Case 32.
  @Test func aRefusedConnectionIsNotTriedAgainByItself() {
    var script = Script()
    script.call(1)
    script.opened()
    script.frame(Script.open4)
    script.frame("44{\"message\":\"jwt expired\",\"data\":{\"name\":\"TokenExpiredError\"}}")
    #expect(script.session.state == .refused("jwt expired"))
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("the call is not answered")
      return
    }
    #expect(error.message.contains("jwt expired"))
    #expect(error.data == ["name": "TokenExpiredError"])
    _ = script.asked()
    script.wait(600_000)
    #expect(script.asked() == [])
    script.call(2)
    #expect(script.asked().contains("open EIO=4&transport=websocket"))
  }

  /// Case 34, from the client's side.
  @Test(arguments: ["42[\"disconnect\"]", "42{\"a\":1}", "49", "4x", "x", "42[\"a\""])
  func damagedPacketsCloseTheConnection(frame: String) {
    var script = Script()
    script.connect()
    script.call(1)
    _ = script.asked()
    script.frame(frame)
    #expect(script.asked().contains("close"))
    #expect(script.answers[1] != nil)
  }

  @Test func attachmentsAreJoinedWithTheirEvent() {
    var script = Script()
    script.connect()
    script.frame("451-[\"files created\",{\"id\":1,\"_x\":{\"_placeholder\":true,\"num\":0}}]")
    #expect(script.events == [])
    script.bytes([1, 2, 3])
    #expect(script.events == ["files created 1"])
    script.bytes([4])
    #expect(script.asked().contains("close"), "bytes that belong to no packet")
  }

  /// Cases 35, 36 and 38.
  @Test func answersFindTheirCallsAndEventsComeBefore() {
    var script = Script()
    script.connect()
    for key in 1...3 { script.call(key) }
    script.frame("42[\"messages created\",{\"text\":\"w\",\"id\":4}]")
    script.frame("432[null,3]")
    script.frame(
      "431[{\"name\":\"NotFound\",\"message\":\"Invalid service path\",\"code\":404,"
        + "\"className\":\"not-found\"}]")
    script.frame("430[null,1]")
    script.frame("430[null,9]")
    #expect(script.events == ["messages created 4"])
    #expect(script.answers[1] == .success(1) && script.answers[3] == .success(3))
    #expect(script.answers[2] == .failure(FeathersError(.notFound, "Invalid service path")))
  }

  @Test func aServerThatAsksForAnAnswerGetsOne() {
    var script = Script()
    script.connect()
    script.frame("427[\"m created\",{\"id\":1},\"offset\"]")
    #expect(script.asked() == ["> 437[]"])
    #expect(script.events == ["m created 1"])
  }

  /// Case 37.
  @Test func aCallWithoutAnswerTimesOut() {
    var script = Script()
    script.connect()
    script.call(1, "nope", ["messages", [:]])
    script.wait(19_000)
    script.frame("2")
    #expect(script.answers[1] == nil)
    script.wait(1_000)
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("the call is not answered")
      return
    }
    #expect(error.kind == .timeout && error.data == ["isSent": true])
    script.frame("430[null,1]")
    #expect(script.session.state != .connecting, "a late answer does no harm")
  }

  /// Case 39, the part of the carrier.
  @Test func anEndedSessionConnectsAgainOnTheSameCarrier() {
    var script = Script()
    script.connect()
    script.call(1)
    script.wait(15_000)
    _ = script.asked()
    script.frame("41")
    #expect(script.asked() == ["answered 1", "session ended", "state connecting", "> 40"])
    script.frame("40{\"sid\":\"Y\"}")
    #expect(script.signIns == 2)
    script.call(2)
    script.signedIn()
    #expect(script.asked().last == "> 421[\"find\",\"m\",{}]")
  }

  @Test func serverThatDisconnectsAgainAndAgainIsTriedAgainAfterPausesThatGrow() {
    var script = Script { $0.carrying = .socketOnly }
    script.connect()
    var pauses: [Int64] = []
    for _ in 0..<8 {
      // Until the server does it twice within a short time.
      for _ in 0..<2 {
        guard case .connected = script.session.state else { break }
        script.frame("41")
        script.frame("40{\"sid\":\"Y\"}")
      }
      guard case .waiting(let pause, "the server disconnects this client") = script.session.state
      else {
        Issue.record("\(script.session.state)")
        return
      }
      pauses.append(pause)
      script.wait(pause)
      script.opened()
      script.frame(Script.open4)
      script.frame("40{\"sid\":\"X\"}")
    }
    #expect(pauses[0] >= 1_000 && pauses.suffix(3).allSatisfy { $0 >= 15_000 }, "\(pauses)")
    script.wait(15_000)
    guard case .connected = script.session.state else {
      Issue.record("\(script.session.state)")
      return
    }
  }

  @Test func serverThatHadSocketIOIsTriedAgainThoughNothingIsThere() {
    var script = Script()
    script.connect()
    script.socketClosed("reset")
    script.socketClosed("status 404")
    script.polled("Cannot GET /socket.io/", status: 404)
    guard case .waiting(let pause, _) = script.session.state else {
      Issue.record("\(script.session.state)")
      return
    }
    script.wait(pause)
    #expect(script.session.state == .connecting)
  }

  @Test func aLostConnectionFailsWhatWasSentAndPausesGrow() {
    var script = Script { $0.carrying = .socketOnly }
    script.connect()
    script.wait(12_000)
    script.call(1)
    script.socketClosed("reset")
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("the call is not answered")
      return
    }
    #expect(error.kind == .unavailable && error.data == ["isSent": true])
    #expect(script.session.state == .connecting, "the first attempt is made at once")
    var pauses: [Int64] = []
    for _ in 0..<8 {
      script.socketClosed("refused")
      guard case .waiting(let pause, "refused") = script.session.state else {
        Issue.record("\(script.session.state)")
        return
      }
      pauses.append(pause)
      script.wait(pause)
      #expect(script.session.state == .connecting)
    }
    let bounds: [ClosedRange<Int64>] = [
      1000...3000, 2000...6000, 4000...12000, 8000...24000, 15000...30000,
    ]
    for (pause, bound) in zip(pauses, bounds) { #expect(bound.contains(pause), "\(pauses)") }
    #expect(pauses.allSatisfy { $0 <= 30_000 })
  }

  @Test func aShortConnectionAfterALongOutageHasAShortPauseAfterIt() {
    var script = Script { $0.carrying = .socketOnly }
    script.connect()
    script.wait(12_000)
    script.socketClosed("reset")
    for _ in 0..<8 {
      script.socketClosed("refused")
      if case .waiting(let pause, _) = script.session.state { script.wait(pause) }
    }
    script.opened()
    script.frame(Script.open4)
    script.frame("40{\"sid\":\"X\"}")
    script.socketClosed("reset")
    #expect(script.session.state == .connecting, "the first attempt is made at once")
    script.socketClosed("refused")
    guard case .waiting(let pause, _) = script.session.state else {
      Issue.record("\(script.session.state)")
      return
    }
    #expect(pause <= 3000)
  }

  @Test func aSignInByItselfIsSentAtOnceAndOthersWaitForIt() {
    var script = Script()
    script.call(1)
    script.call(2, isSignIn: true, isRenewal: true)
    script.call(3, isSignIn: true)
    script.opened()
    script.frame(Script.open4)
    script.frame("40{\"sid\":\"X\"}")
    #expect(script.asked().last == "> 420[\"find\",\"m\",{}]")
    script.frame("430[null,{\"accessToken\":\"a\"}]")
    #expect(script.answers[2] == .success(["accessToken": "a"]))
    #expect(script.answers[1] == nil && script.answers[3] == nil)
    script.signedIn()
    #expect(script.asked().count { $0.hasPrefix("> 42") } == 2)
  }

  @Test func aCallWaitsForTheConnectionButNotForEver() {
    var script = Script()
    script.call(1)
    script.socketClosed("refused")
    script.take(
      script.session.report(attempt: script.session.attempt, now: 0) {
        $0.pollFailed("refused")
      })
    #expect(script.answers[1] == nil)
    script.wait(10_000)
    guard case .failure(let error)? = script.answers[1] else {
      Issue.record("the call is not answered")
      return
    }
    #expect(error.kind == .unavailable && error.data == ["isSent": false])
  }

  @Test func withoutAWebSocketPollingIsTried() {
    var script = Script()
    script.start()
    script.socketClosed("status 400")
    #expect(script.asked().last == "get EIO=4&transport=polling")
    script.polled(Script.open4.replacing("[]", with: "[\"websocket\"]"))
    #expect(!script.log.contains { $0.hasPrefix("open") }, "it has just failed")
    script.polled("40{\"sid\":\"X\"}")
    #expect(script.signIns == 1)
  }

  /// So whoever asks can ask over REST.
  @Test(arguments: [
    "{\"name\":\"NotFound\",\"message\":\"Page not found\",\"code\":404}", "404: Not Found",
    "<!DOCTYPE html><pre>Cannot GET /socket.io/</pre>", "",
  ])
  func aServerWithoutSocketIOIsToldFromOneThatRefuses(body: String) {
    var script = Script()
    script.start()
    script.socketClosed("status 404")
    script.polled(body, status: 404)
    guard case .absent(let reason) = script.session.state else {
      Issue.record("it is \(script.session.state)")
      return
    }
    #expect(reason.contains("404"))
    #expect(script.session.deadline == nil, "it does not try again by itself")
  }

  @Test func whatComesFromAnEarlierAttemptIsIgnored() {
    var script = Script { $0.carrying = .socketOnly }
    script.connect()
    let earlier = script.session.attempt
    script.wait(12_000)
    script.socketClosed("reset")
    _ = script.asked()
    script.take(script.session.report(attempt: earlier, now: script.now) { $0.socketClosed("x") })
    #expect(script.asked() == [])
  }

  @Test func aCallThatIsTooBigIsNotSent() {
    var script = Script()
    script.connect()
    script.call(1, "create", ["m", .string(String(repeating: "x", count: 1000))])
    #expect(script.asked() == ["answered 1"])
    #expect(script.session.state != .connecting)
  }

  @Test func aCancelledOrStoppedCallIsAnsweredOnce() {
    var script = Script()
    script.call(1)
    script.take(script.session.cancel(1))
    script.connectAfterCall()
    script.call(2)
    script.take(script.session.cancel(2))
    script.frame("430[null,1]")
    script.call(3)
    script.take(script.session.stop())
    script.call(4)
    #expect(script.answers.count == 4)
    #expect(script.session.deadline == nil)
  }
}

extension Script {
  fileprivate mutating func connectAfterCall() {
    opened()
    frame(Script.open4)
    frame("40{\"sid\":\"X\"}")
    signedIn()
  }
}
