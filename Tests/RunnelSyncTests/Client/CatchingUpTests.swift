import RunnelBase
import RunnelSync
import RunnelTree
import Testing

/// A connection is live once the origin has answered what was listened to when it began.
@Suite struct CatchingUpTests {
  private func listen(_ ask: Int64, _ path: String) throws -> OriginCommand {
    .listen(AskID(ask), Query(try Path(path)), tag: nil, known: KnownHash(whole: ""))
  }

  private func answer(_ number: Int, _ status: String = "ok") -> String {
    #"{"t":"d","d":{"r":\#(number),"b":{"s":"\#(status)","d":""}}}"#
  }

  @Test func isCatchingUpUntilEachListenIsAnsweredOrRefused() throws {
    var client = ScriptedClient()
    client.goLive()
    #expect(client.session.link == .catchingUp)
    client.send(try listen(1, "/a"), try listen(2, "/b"))
    #expect(client.session.link == .catchingUp)
    client.asked()
    #expect(client.session.link == .catchingUp)
    client.hear(answer(1))
    #expect(client.session.link == .catchingUp)
    client.hear(answer(2, "permission_denied"))
    #expect(client.session.link == .live)
    #expect(client.links.suffix(2) == [.catchingUp, .live])
  }

  @Test func theBytesOfALongAnswerAreCountedUntilItEnds() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(try listen(1, "/a"))
    client.asked()
    #expect(client.session.receivedBytes == 0)
    let text = String(repeating: "x", count: ClientSession.receivedStep)
    let push = #"{"t":"d","d":{"a":"d","b":{"p":"a","d":"\#(text)"}}}"#
    client.hear(push)
    #expect(client.session.receivedBytes == ClientSession.receivedStep)
    client.hear(push)
    #expect(client.session.receivedBytes == 2 * ClientSession.receivedStep)
    client.hear(answer(1))
    #expect(client.session.receivedBytes == 0)
  }

  @Test func isLiveAtOnceIfNobodyListens() {
    var client = ScriptedClient()
    client.goLive()
    client.asked()
    #expect(client.session.link == .live)
  }

  @Test func waitsForListensThatComeWhileItCatchesUp() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(try listen(1, "/a"))
    client.asked()
    client.send(try listen(2, "/b"))
    client.hear(answer(1))
    #expect(client.session.link == .catchingUp)
    client.hear(answer(2))
    #expect(client.session.link == .live)
  }

  @Test func staysLiveWhenSomethingElseIsListenedToLater() throws {
    var client = ScriptedClient()
    client.goLive()
    client.asked()
    client.send(try listen(1, "/a"))
    #expect(client.session.link == .live)
  }

  @Test func catchesUpAnewOnEachConnection() throws {
    var client = ScriptedClient()
    client.goLive()
    client.send(try listen(1, "/a"))
    client.asked()
    client.lose()
    client.comeBack()
    #expect(client.session.link == .catchingUp)
    client.send(try listen(2, "/a"))
    client.asked()
    #expect(client.session.link == .catchingUp)
    client.hear(answer(2))
    #expect(client.session.link == .live)
  }

  @Test func countsListensThatWaitForEarlierWrites() throws {
    var limits = ClientLimits()
    limits.unansweredWritesMax = 1
    var client = ScriptedClient(limits: limits)
    client.goLive()
    client.send(.write(id: 4, .set(try Path("/a"), 1)), try listen(1, "/a"))
    client.asked()
    #expect(client.session.link == .catchingUp)
    client.hear(answer(1))
    #expect(client.session.link == .catchingUp)
    client.hear(answer(2))
    #expect(client.session.link == .live)
  }
}
