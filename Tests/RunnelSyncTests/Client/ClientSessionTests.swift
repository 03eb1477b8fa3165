import RunnelBase
import RunnelSync
import RunnelTree
import TestSupport
import Testing

/// Connections that fail, end and come back.
@Suite struct ClientSessionTests {
  private let increment: JSONValue = [".sv": ["increment": 1]]

  private func path(_ text: String) throws -> Path { try Path(text) }

  private func answer(_ number: Int, _ status: String = "ok", _ data: String = "\"\"") -> String {
    #"{"t":"d","d":{"r":\#(number),"b":{"s":"\#(status)","d":\#(data)}}}"#
  }

  // MARK: Writes

  @Test func aWriteIsAnswered() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(.write(id: 4, .set(try path("/a"), 1)), .write(id: 5, .remove(try path("/b"))))
    client.hear(answer(1), answer(2, "permission_denied", "\"Permission denied\""))
    #expect(
      client.takeMessages() == [
        .acknowledged(id: 4),
        .rejected(id: 5, TreeError(.permissionDenied, "Permission denied")),
      ])
  }

  /// What the origin cannot do now was not refused: it is sent again later.
  @Test func aWriteThatTheOriginCannotDoNowIsNotRefused() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(.write(id: 4, .set(try path("/a"), 1)))
    _ = client.take()
    client.hear(answer(1, "unavailable", "\"The disk is full.\""))
    #expect(client.takeMessages().isEmpty)
    #expect(client.take() == ["close", "disconnected"])
    guard case .waiting(_, "The disk is full.") = client.session.link else {
      Issue.record("it waits: \(client.session.link)")
      return
    }
  }

  @Test func writesHaveNamesWhereTheOriginKnowsThem() throws {
    var client = ScriptedClient()
    client.goLive(named: true)
    client.send(.write(id: 0, .set(try path("/a"), increment)))
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{".sv":{"increment":1}},"w":["writer",1]}}}"#
      ])
    client.lose()
    client.comeBack(named: true)
    _ = client.take()
    client.send(.write(id: 0, .set(try path("/a"), increment)))
    #expect(client.take().first?.contains(#""w":["writer",1]"#) == true)
  }

  @Test func anIncrementOfUnknownOutcomeIsNotSentAgainByItself() throws {
    var client = ScriptedClient()
    client.goLive()
    let write = OriginCommand.write(id: 3, .set(try path("/a"), increment))
    client.send(write, .write(id: 4, .set(try path("/b"), 1)))
    client.lose()
    client.comeBack()
    _ = client.take()
    client.send(write, .write(id: 4, .set(try path("/b"), 1)))
    #expect(
      client.take() == ["unknown 3", #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/b","d":1}}}"#])
    #expect(client.session.writesOfUnknownOutcome == [3])
    // It stays so over connections, and is told once.
    client.lose()
    client.comeBack()
    _ = client.take()
    client.send(write)
    #expect(client.take().isEmpty)
    client.change { $0.resend(3, now: $1) }
    #expect(client.take().first?.contains("increment") == true)
    #expect(client.session.writesOfUnknownOutcome.isEmpty)
  }

  @Test func anIncrementThatWasNeverSentIsSent() throws {
    var client = ScriptedClient()
    client.goLive()
    client.lose()
    client.comeBack()
    _ = client.take()
    client.send(.write(id: 3, .update(try path("/a"), [JSONMember("n", increment)])))
    #expect(client.take().count == 1)
  }

  /// It may have been sent before the program began anew.
  @Test func anIncrementOfAnEarlierProgramIsOfUnknownOutcome() throws {
    var client = ScriptedClient { $0.lastEarlierWrite = 7 }
    client.goLive()
    client.send(.write(id: 7, .set(try path("/a"), increment)))
    client.send(.write(id: 8, .set(try path("/a"), increment)))
    #expect(client.take().first == "unknown 7")
  }

  @Test func aProfileMayWantIncrementsSentAgain() throws {
    var client = ScriptedClient { $0.resendsIncrements = true }
    client.goLive()
    let write = OriginCommand.write(id: 3, .set(try path("/a"), increment))
    client.send(write)
    client.lose()
    client.comeBack()
    _ = client.take()
    client.send(write)
    #expect(client.take().first?.contains("increment") == true)
  }

  /// A server remembers so many names: no more than that may be in doubt.
  @Test func onlySoManyWritesAreSentUnanswered() throws {
    var limits = ClientLimits()
    limits.unansweredWritesMax = 3
    var client = ScriptedClient(limits: limits)
    client.goLive(named: true)
    for id in 0..<5 { client.send(.write(id: Int64(id), .set(try path("/a"), 1))) }
    client.send(.get(id: 9, Query(try path("/a"))))
    #expect(client.take().count == 3)
    client.hear(answer(1))
    #expect(client.take().count == 1)
    client.hear(answer(2), answer(3))
    // What was asked after the writes is sent after them.
    let last = client.take()
    #expect(last.count == 2)
    #expect(last.last?.contains(#""a":"g""#) == true)
  }

  // MARK: Connections

  @Test func whatIsMeantForAnEarlierConnectionIsNotSent() throws {
    var client = ScriptedClient()
    client.goLive()
    let old = client.connection
    client.lose()
    client.comeBack()
    _ = client.take()
    let write = OriginCommand.write(id: 1, .set(try path("/a"), 1))
    client.change { $0.send([write], on: old, now: $1) }
    #expect(client.take().isEmpty)
  }

  @Test func anAnswerOfAnEarlierConnectionIsNotHeard() throws {
    var client = ScriptedClient()
    client.goLive()
    let old = client.connection
    client.send(.write(id: 1, .set(try path("/a"), 1)))
    client.lose()
    client.comeBack()
    let text = answer(1)
    client.change { $0.receive(Array(text.utf8), of: old, now: $1) }
    #expect(client.takeMessages().isEmpty)
  }

  @Test func aRedirectIsFollowedAtOnce() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(#"{"t":"c","d":{"t":"r","d":"b.example:9000"}}"#)
    #expect(
      client.take() == [
        "connect ws://localhost:9/.ws?v=5&ns=demo", "close",
        "connect ws://b.example:9000/.ws?v=5&ns=demo",
      ])
  }

  @Test func aRedirectLaterReconnectsThere() {
    var client = ScriptedClient()
    client.goLive()
    client.hear(#"{"t":"c","d":{"t":"r","d":"b.example:9000"}}"#)
    #expect(
      client.take() == [
        "close", "disconnected", "connect ws://b.example:9000/.ws?v=5&ls=sess1&ns=demo",
      ])
  }

  @Test func theFirstConnectionTellsTheSessionOfAnEarlierProgram() {
    var client = ScriptedClient { $0.lastSession = "old" }
    client.change { $0.start(now: $1) }
    #expect(client.take() == ["connect ws://localhost:9/.ws?v=5&ls=old&ns=demo"])
  }

  @Test(arguments: ["", "a b", "a&ns=other", "a#b", "ü", String(repeating: "a", count: 257)])
  func aNameThatIsNoPartOfAnAddressIsNotTold(name: String) {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake(session: name))
    client.lose()
    client.comeBack()
    #expect(client.targets.map(\.request) == ["/.ws?v=5&ns=demo", "/.ws?v=5&ns=demo"])
  }

  @Test func aCircleOfRedirectsEnds() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    for _ in 0..<6 {
      client.open()
      client.hear(#"{"t":"c","d":{"t":"r","d":"b.example:9000"}}"#)
    }
    guard case .waiting(_, let reason?) = client.session.link else {
      Issue.record("it waits: \(client.session.link)")
      return
    }
    #expect(reason.contains("one host after another"))
  }

  @Test func theHostThatTheHandshakeNamesIsUsedUntilItFails() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake(host: "s-1.example"))
    client.lose()
    client.now.uptime += 60_000
    client.change { $0.hurry(now: $1) }
    #expect(client.targets.last?.host == "s-1.example")
    client.lose("refused")
    client.now.uptime += 60_000
    client.change { $0.hurry(now: $1) }
    #expect(client.targets.last?.host == "localhost:9")
  }

  @Test func aShutdownIsForGood() {
    var client = ScriptedClient()
    client.goLive()
    client.hear(#"{"t":"c","d":{"t":"s","d":"maintenance"}}"#)
    #expect(client.session.link == .offline(.shutDown("maintenance")))
    #expect(client.session.deadline() == nil)
    client.change { $0.hurry(now: $1) }
    #expect(client.take() == ["close", "disconnected"])
    client.change { $0.start(now: $1) }
    #expect(client.session.link == .connecting)
  }

  @Test func anOriginThatSaysNothingIsGivenUp() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    client.open()
    client.now.uptime = 29_999
    client.change { $0.advance(now: $1) }
    #expect(client.session.link == .connecting)
    client.now.uptime = 30_000
    client.change { $0.advance(now: $1) }
    #expect(client.take().last == "close")
  }

  @Test func silenceIsBrokenAndThenEnds() {
    var client = ScriptedClient()
    client.goLive()
    #expect(client.session.deadline() == 45_000)
    client.now.uptime = 45_000
    client.change { $0.advance(now: $1) }
    #expect(client.take() == ["0"])
    client.now.uptime = 60_000
    client.change { $0.advance(now: $1) }
    #expect(client.take() == [#"{"t":"c","d":{"t":"p","d":{}}}"#])
    client.hear(#"{"t":"c","d":{"t":"o","d":{}}}"#)
    client.now.uptime = 120_000
    client.change { $0.advance(now: $1) }
    _ = client.take()
    client.now.uptime = 150_000
    client.change { $0.advance(now: $1) }
    #expect(client.take() == ["close", "disconnected"])
  }

  @Test func theLatencyIsTheTimeToTheAnswer() {
    var client = ScriptedClient()
    client.change { $0.ping(now: $1) }
    #expect(client.take().isEmpty)
    client.goLive()
    client.change { $0.ping(now: $1) }
    client.now.uptime = 12
    client.hear(#"{"t":"c","d":{"t":"o","d":{}}}"#)
    client.hear(#"{"t":"c","d":{"t":"o","d":{}}}"#)
    #expect(client.take() == [#"{"t":"c","d":{"t":"p","d":{}}}"#, "latency 12"])
  }

  /// Nothing is owed, and nothing comes through any more.
  @Test func whoUsesTheDataOfASilentOriginLearnsThatItDoesNotAnswer() {
    var client = ScriptedClient()
    client.change { $0.attend(now: $1) }
    client.goLive()
    client.asked()
    client.now.uptime = 9999
    client.change { $0.attend(now: $1) }
    #expect(client.take().isEmpty)
    client.now.uptime = 10_000
    client.change { $0.attend(now: $1) }
    client.now.uptime = 11_000
    client.change { $0.attend(now: $1) }
    #expect(client.take() == [#"{"t":"c","d":{"t":"p","d":{}}}"#])
    #expect(client.session.deadline() == 13_000)
    client.now.uptime = 13_000
    client.change { $0.advance(now: $1) }
    #expect(client.session.link == .notAnswering)
    client.hear(#"{"t":"c","d":{"t":"o","d":{}}}"#)
    #expect(client.session.link == .live)
    client.change { $0.attend(now: $1) }
    #expect(client.take().isEmpty)
  }

  @Test func anOriginThatOwesAnAnswerIsAskedForASignAndThenSaidNotToAnswer() throws {
    var client = ScriptedClient()
    client.goLive()
    client.asked()
    client.send(.write(id: 1, .set(try path("/a"), 1)))
    _ = client.take()
    #expect(client.session.deadline() == 5000)
    client.now.uptime = 5000
    client.change { $0.advance(now: $1) }
    #expect(client.take() == [#"{"t":"c","d":{"t":"p","d":{}}}"#])
    #expect(client.session.link == .live)
    client.now.uptime = 8000
    client.change { $0.advance(now: $1) }
    #expect(client.session.link == .notAnswering)
    #expect(client.session.silenceMilliseconds(now: client.now) == 8000)
    client.hear(#"{"t":"c","d":{"t":"o","d":{}}}"#)
    #expect(client.links.suffix(2) == [.notAnswering, .live])
    // The answer to the write is still owed.
    #expect(client.session.deadline() == 13_000)
    client.hear(#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
    #expect(client.session.deadline() == 53_000)
    #expect(client.take().isEmpty)
  }

  @Test(arguments: [
    "{", "[]", #"{"error":"no"}"#, #"{"t":"d","d":{"a":"d","b":{"p":"a.b","d":1}}}"#,
  ])
  func whatCannotBeReadEndsTheConnection(text: String) {
    var client = ScriptedClient()
    client.goLive()
    client.hear(text)
    #expect(client.take() == ["close", "disconnected"])
    guard case .waiting = client.session.link else {
      Issue.record("it waits: \(client.session.link)")
      return
    }
  }

  @Test func nothingIsToldAfterAClose() {
    var client = ScriptedClient()
    client.goLive()
    client.change { $0.stop(now: $1) }
    _ = client.take()
    client.hear(#"{"t":"d","d":{"a":"d","b":{"p":"a","d":1}}}"#)
    client.lose()
    #expect(client.take().isEmpty)
    #expect(client.takeMessages().isEmpty)
    #expect(client.session.link == .offline(.asked))
  }

  // MARK: Credentials

  private func withCredential() -> ScriptedClient {
    var client = ScriptedClient { $0.hasCredential = true }
    client.change { $0.setCredential(Credential("one"), now: $1) }
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake())
    _ = client.take()
    return client
  }

  /// What the origin would refuse nobody is not sent before it knows who one is.
  @Test func nothingIsSentBeforeTheCredentialIsTaken() {
    var client = withCredential()
    #expect(client.live == nil)
    #expect(client.session.link == .authenticating)
    client.hear(answer(1))
    #expect(client.take() == ["connected"])
  }

  @Test func theReasonWhyThereIsNoOtherCredentialIsThatOfTheRefusal() {
    var client = withCredential()
    client.hear(answer(1, "expired_token", "\"Auth token is expired\""))
    client.comeBack()
    #expect(client.take().contains("ask again"))
    let refusal = CredentialRefusal(.invalidToken, "the file is empty")
    client.change { $0.refuse(refusal, now: $1) }
    #expect(client.session.link == .offline(.refused(refusal)))
    client.change { $0.refuse(CredentialRefusal(.invalidToken, "late"), now: $1) }
    #expect(client.session.link == .offline(.refused(refusal)))
  }

  @Test func aCredentialThatTheOriginCannotJudgeNowIsOfferedAgain() {
    var client = withCredential()
    client.hear(answer(1, "unavailable", "\"Try again later.\""))
    guard case .waiting(_, let reason) = client.session.link else {
      Issue.record("\(client.session.link)")
      return
    }
    #expect(reason == "Try again later.")
    #expect(!client.take().contains("ask again"))
    client.comeBack()
    #expect(client.session.link == .authenticating)
  }

  @Test func aRefusedCredentialIsAskedForAnewOnce() {
    var client = withCredential()
    client.hear(answer(1, "expired_token", "\"Auth token is expired\""))
    client.comeBack()
    #expect(client.take().contains("ask again"))
    client.change { $0.setCredential(Credential("two"), now: $1) }
    client.hear(answer(2, "invalid_token", "\"no\""))
    #expect(
      client.session.link == .offline(.refused(CredentialRefusal(.invalidToken, "no"))))
    _ = client.take()
    client.change { $0.setCredential(Credential("two"), now: $1) }
    #expect(client.take().isEmpty)
    client.change { $0.setCredential(Credential("three"), now: $1) }
    #expect(client.session.link == .connecting)
  }

  /// Who gives the credential finds out first whether there may be a connection: on each one, and nothing else
  /// opens it.
  @Test func eachConnectionWaitsForTheAnswerIfTheCredentialIsAskedForEachTime() {
    var client = ScriptedClient { ($0.hasCredential, $0.asksEachTime) = (true, true) }
    client.change { $0.start(now: $1) }
    client.open()
    client.hear(ScriptedClient.handshake())
    #expect(client.take().last == "ask")
    client.change { $0.setCredential(Credential("one"), isAnswer: true, now: $1) }
    client.hear(answer(1))
    client.lose()
    _ = client.take()
    client.comeBack()
    #expect(client.take().last == "ask")
    // A new token of the same user says nothing about that.
    client.change { $0.setCredential(Credential("two"), now: $1) }
    #expect(client.take().isEmpty)
    #expect(client.live == nil && client.session.link == .authenticating)
    client.change { $0.setCredential(Credential("three"), isAnswer: true, now: $1) }
    #expect(client.take() == [#"{"t":"d","d":{"r":2,"a":"auth","b":{"cred":"three"}}}"#])
  }

  @Test func aNewCredentialIsShownOnTheSameConnection() {
    var client = withCredential()
    client.hear(answer(1))
    _ = client.take()
    client.change { $0.setCredential(Credential("one"), now: $1) }
    #expect(client.take().isEmpty)
    client.change { $0.setCredential(Credential("two"), now: $1) }
    client.change { $0.setCredential(nil, now: $1) }
    #expect(
      client.take() == [
        #"{"t":"d","d":{"r":2,"a":"auth","b":{"cred":"two"}}}"#,
        #"{"t":"d","d":{"r":3,"a":"unauth","b":{}}}"#,
      ])
  }

  /// The origin may have refused them, and the client may not hear of it.
  @Test func underAnotherCredentialNothingIsWrittenBeforeTheEarlierWritesAreAnswered() throws {
    var client = withCredential()
    client.hear(answer(1))
    client.send(.write(id: 1, .set(try path("/a"), 1)), .write(id: 2, .set(try path("/b"), 1)))
    _ = client.take()
    client.change { $0.setCredential(Credential("two"), now: $1) }
    #expect(client.take() == [#"{"t":"d","d":{"r":4,"a":"auth","b":{"cred":"two"}}}"#])
    client.send(.write(id: 3, .set(try path("/a"), 2)))
    client.hear(answer(2), answer(4, "ok", "{}"))
    #expect(client.take().isEmpty)
    client.hear(answer(3))
    #expect(client.take() == [#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/a","d":2}}}"#])
  }

  @Test func aConnectionDoesNotWaitForTheWritesOfTheLastOne() throws {
    var client = withCredential()
    client.hear(answer(1))
    client.send(.write(id: 1, .set(try path("/a"), 1)))
    client.change { $0.setCredential(Credential("two"), now: $1) }
    client.lose()
    client.comeBack()
    client.hear(answer(4))
    _ = client.take()
    client.send(.write(id: 1, .set(try path("/a"), 1)))
    #expect(client.take() == [#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/a","d":1}}}"#])
  }

  /// An origin that takes a credential and ends it at once, again and again, is not asked without rest.
  @Test func aCredentialThatIsEndedAtOnceIsNoStorm() {
    var client = withCredential()
    var number = 1
    for round in 0..<60 {
      client.hear(answer(number))
      client.hear(#"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"over"}}}"#)
      client.comeBack()
      number += 1
      client.change { $0.setCredential(Credential("c\(round)"), now: $1) }
    }
    #expect(client.now.uptime > 60_000)
  }

  // MARK: Waiting

  @Test(arguments: Seeds.first(20))
  func waitsGrowAndAreNeverLongerThanHalfAMinute(seed: UInt64) {
    let configuration = ClientConfiguration(
      host: "h", isSecure: true, namespace: nil, writers: WriterNames("w"))
    var session = ClientSession(configuration, seed: seed)
    var now = WireTime(calendar: 0, uptime: 0)
    _ = session.start(now: now)
    var longest: Int64 = 0
    for attempt in 1...200 {
      _ = session.closed(Int64(attempt), "refused", now: now)
      guard case .waiting(let end, "refused") = session.link else {
        Issue.record("it waits: \(session.link)")
        return
      }
      let wait = end - now.uptime
      #expect((0...30_000).contains(wait))
      if attempt == 1 { #expect(wait <= 1000) }
      longest = max(longest, wait)
      now.uptime = end
      _ = session.advance(now: now)
    }
    #expect(longest > 15_000)
  }

  @Test func aGoodConnectionMakesWaitsShortAgain() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    for _ in 0..<30 {
      client.lose()
      if case .waiting(let end, _) = client.session.link { client.now.uptime = end }
      client.change { $0.advance(now: $1) }
    }
    client.open()
    client.hear(ScriptedClient.handshake())
    client.now.uptime += 30_001
    client.lose()
    guard case .waiting(let end, _) = client.session.link else { return }
    #expect(end - client.now.uptime <= 1000)
  }

  /// The wait after the connection was lost, in milliseconds.
  private func wait(_ client: ScriptedClient) -> Int64? {
    if case .waiting(let end, _) = client.session.link { end - client.now.uptime } else { nil }
  }

  /// Lets attempts to connect fail, as in a long outage; another one has begun then.
  private func failLong(_ client: inout ScriptedClient) {
    for _ in 0..<30 {
      client.lose()
      if case .waiting(let end, _) = client.session.link { client.now.uptime = end }
      client.change { $0.advance(now: $1) }
    }
  }

  @Test(arguments: [false, true])
  func aShortConnectionAfterALongOutageHasAShortWaitAfterIt(isRefused: Bool) throws {
    var client = withCredential()
    failLong(&client)
    client.open()
    client.hear(ScriptedClient.handshake())
    if isRefused {
      client.hear(answer(2, "expired_token", #""over""#))
    } else {
      client.lose()
    }
    // It is the second one of this client.
    #expect(try #require(wait(client)) <= 1300)
  }

  /// An origin that ends each connection at once is not asked without rest.
  @Test func shortConnectionsHaveLongerAndLongerWaits() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    var longest: Int64 = 0
    for _ in 0..<60 {
      client.open()
      client.hear(ScriptedClient.handshake())
      client.lose()
      longest = max(longest, wait(client) ?? 0)
      if case .waiting(let end, _) = client.session.link { client.now.uptime = end }
      client.change { $0.advance(now: $1) }
    }
    #expect(longest > 15_000)
    #expect(client.now.uptime > 60_000)
  }

  @Test func somebodyWhoDoesNotWantToWaitNeedNot() {
    var client = ScriptedClient()
    client.change { $0.start(now: $1) }
    for _ in 0..<30 {
      client.lose()
      client.change { $0.hurry(now: $1) }
      #expect(client.session.link == .connecting)
    }
  }

  // MARK: Other

  @Test func aMissingIndexIsTold() throws {
    var client = ScriptedClient()
    client.goLive()
    let query = try Query(path("/d")).ordered(by: .child(Path("s"))).limited(to: 2, from: .first)
    client.send(.listen(AskID(1), query, tag: 1, known: KnownHash(whole: "")))
    _ = client.take()
    client.hear(answer(1, "ok", #"{"w":["no_index"]}"#))
    #expect(client.take() == ["no index for /d"])
    #expect(client.takeMessages() == [.listenComplete(AskID(1))])
  }

  @Test func aGetIsAnsweredOrRefused() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(.get(id: 1, Query(try path("/a"))), .get(id: 2, Query(try path("/a"))))
    client.hear(answer(1, "ok", #"{"b":1}"#), answer(2, "failed", "\"Index not defined\""))
    #expect(
      client.takeMessages() == [
        .answer(id: 1, try Node(json: ["b": 1])),
        .rejected(id: 2, TreeError(.init(rawValue: "failed"), "Index not defined")),
      ])
  }

  /// Whatever arrives whenever: the session goes on, and what it says can be read.
  @Test(arguments: Seeds.first(200))
  func anythingThatArrivesIsTaken(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var client = ScriptedClient { $0.hasCredential = seed % 2 == 0 }
    let texts = [
      ScriptedClient.handshake(), answer(1), answer(2), answer(3, "permission_denied"),
      answer(2, "invalid_token"), #"{"t":"d","d":{"a":"d","b":{"p":"a","d":1}}}"#,
      #"{"t":"d","d":{"a":"zz","b":{}}}"#, #"{"t":"c","d":{"t":"r","d":"h"}}"#,
      #"{"t":"c","d":{"t":"s","d":"h"}}"#, #"{"t":"c","d":{"t":"n","d":{}}}"#, "2", "0", "{}", "",
      #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"x"}}}"#,
    ]
    for step in 0..<100 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: client.change { $0.start(now: $1) }
      case 1: client.lose()
      case 2, 3: client.open()
      case 4:
        client.now.uptime += Int64.random(in: 0...40_000, using: &random)
        client.change { $0.advance(now: $1) }
      case 5: client.change { $0.setCredential(Credential("c\(step)"), now: $1) }
      case 6: client.send(.write(id: Int64(step), .set(try path("/a"), 1)))
      case 7:
        client.send(
          .listen(AskID(Int64(step)), Query(.root), tag: nil, known: KnownHash(whole: "")))
      case 8: if step % 10 == 0 { client.change { $0.stop(now: $1) } }
      default: client.hear(texts[Int.random(in: 0..<texts.count, using: &random)])
      }
      if let deadline = client.session.deadline() {
        #expect(deadline <= client.now.uptime + 90_000, "seed \(seed)")
      }
    }
  }
}
