import RunnelBase
@testable import RunnelServer
import RunnelServices
import TestSupport
import Testing

/// The server's side of Engine.IO, with a clock that the test moves.
///
/// Source: services protocol, section 4.
@Suite struct EngineHostTests {
  private static func text(_ effect: EngineHost.Effect?) -> String {
    switch effect {
    case .answerPoll(let body): "poll " + String(decoding: body, as: UTF8.self)
    case .frame(let text): "frame " + String(decoding: text, as: UTF8.self)
    case .message(let text): "message " + String(decoding: text, as: UTF8.self)
    case .closeSocket: "close"
    case .ended: "ended"
    case nil: ""
    }
  }

  private func texts(_ effects: [EngineHost.Effect]) -> [String] {
    effects.map(EngineHostTests.text)
  }

  private func opened(
    _ version: EngineVersion = .four, _ transport: SocketTransport = .polling
  ) -> EngineHost {
    var host = EngineHost("s", version, transport, EngineTimes())
    _ = host.open(now: 0)
    return host
  }

  private func post(_ text: String, to host: inout EngineHost, now: Int64 = 0) -> [String] {
    texts(host.post(Array(text.utf8), now: now))
  }

  @Test func theOpeningPacketHasItsMembersInOrder() {
    var host = EngineHost("s", .four, .polling, EngineTimes())
    let rest = #""pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#
    #expect(
      texts(host.open(now: 0)) == [#"poll 0{"sid":"s","upgrades":["websocket"],"# + rest])
    host = EngineHost("s", .three, .websocket, EngineTimes())
    #expect(texts(host.open(now: 0)) == [#"frame 0{"sid":"s","upgrades":[],"# + rest])
  }

  @Test func anAnswerHasSixteenPacketsAtMost() {
    var host = opened()
    for number in 0..<20 { #expect(texts(host.send(Array("4\(number)".utf8))) == []) }
    let first = texts(host.poll().effects)
    #expect(first == ["poll " + (0..<16).map { "4\($0)" }.joined(separator: "\u{1E}")])
    #expect(
      texts(host.poll().effects) == [
        "poll " + (16..<20).map { "4\($0)" }.joined(separator: "\u{1E}")
      ])
    #expect(host.waitingBytes == 0)
    #expect(texts(host.poll().effects) == [])
    #expect(texts(host.send(Array("4x".utf8))) == ["poll 4x"])
  }

  @Test func lengthsOfOldVersionsCountUTF16() {
    var host = opened(.three)
    _ = host.poll()
    #expect(texts(host.send(Array("4é😀".utf8))) == ["poll 4:4é😀"])
    #expect(post("4:4é😀2:40", to: &host) == ["message é😀", "message 0"])
    #expect(post("1:2", to: &host) == [])
    #expect(texts(host.poll().effects) == ["poll 1:3"])
  }

  @Test func aSecondPollEndsTheSession() {
    var host = opened()
    _ = host.poll()
    let (isTaken, effects) = host.poll()
    #expect(!isTaken)
    #expect(texts(effects) == ["poll 1", "ended"])
    #expect(host.isEnded)
  }

  @Test(arguments: ["", "4a\u{1E}", "9", "2", "bAQID", "x"])
  func whatIsNotUnderstoodEndsTheSession(body: String) {
    var host = opened()
    _ = host.poll()
    let told = post(body, to: &host).filter { !$0.hasPrefix("message") }
    #expect(told == ["poll 6\u{1E}1", "ended"])
    host = opened(.three)
    _ = host.poll()
    let cut = post("24:421[\"users::find\",{\"a\":1}]", to: &host)
    #expect(cut.filter { !$0.hasPrefix("message") } == ["poll 1:61:1", "ended"])
  }

  @Test func aSessionMovesToASocketAndLosesNothing() {
    var host = opened()
    _ = host.poll()
    let isAttached = [host.attachSocket(now: 0), host.attachSocket(now: 0)]
    #expect(isAttached == [true, false], "it has one already")
    #expect(texts(host.frame(Array("2probe".utf8), now: 0)) == ["frame 3probe", "poll 6"])
    #expect(texts(host.send(Array("4a".utf8))) == [])
    #expect(texts(host.frame(Array("5".utf8), now: 0)) == ["frame 4a"])
    #expect(texts(host.send(Array("4b".utf8))) == ["frame 4b"])
    let (isTaken, _) = host.poll()
    #expect(!isTaken)
    #expect(post("4x", to: &host) == [])
    #expect(texts(host.socketClosed()) == ["close", "ended"])
  }

  @Test func aLargePacketDoesNotCount() {
    var host = EngineHost("abc", .four, .polling, EngineTimes(), unsentBytesMax: 100)
    _ = host.open(now: 0)
    _ = host.send([UInt8](repeating: 0x34, count: 500))
    #expect(host.waitingBytes == 500)
    #expect(!host.isTooFull)
    for _ in 0..<5 { _ = host.send([UInt8](repeating: 0x34, count: 20)) }
    #expect(!host.isTooFull)
    _ = host.send([0x34])
    #expect(host.isTooFull)
    _ = host.poll()
    #expect(!host.isTooFull)
    #expect(host.waitingBytes == 0)
  }

  @Test func aSessionThatEndsAfterWhatWasSentLosesNothing() {
    let why = EngineHost.Closing(text: "why")
    var host = opened()
    #expect(texts(host.send(Array("4a".utf8))) == [])
    #expect(texts(host.closeAfterSent(why)) == [])
    #expect(texts(host.send(Array("4b".utf8))) == [])
    #expect(texts(host.poll().effects) == ["poll 4a\u{1E}1", "ended"])
    #expect(host.closing == why)
    host = opened()
    _ = host.poll()
    #expect(texts(host.closeAfterSent(why)) == ["poll 1", "ended"])
    host = opened()
    _ = host.poll()
    let last = texts(host.closeAfterSent(why, last: Array("4a".utf8)))
    #expect(last == ["poll 4a\u{1E}1", "ended"], "the poll that waits takes both")
    host = opened(.four, .websocket)
    let sent = texts(host.closeAfterSent(why, last: Array("4a".utf8)))
    #expect(sent == ["frame 4a", "close", "ended"])
    host = opened(.four, .websocket)
    #expect(texts(host.closeAfterSent(why)) == ["close", "ended"])
    host = opened()
    _ = host.attachSocket(now: 0)
    _ = host.frame(Array("2probe".utf8), now: 0)
    _ = host.send(Array("4a".utf8))
    #expect(texts(host.closeAfterSent(why)) == [])
    let moved = texts(host.frame(Array("5".utf8), now: 0))
    #expect(moved == ["frame 4a", "frame 1", "close", "ended"])
    // Who does not ask for what waits is not waited for.
    host = opened()
    _ = host.closeAfterSent(why)
    #expect(texts(host.tick(now: 25_000)) == [])
    #expect(texts(host.tick(now: 45_000)) == ["ended"])
  }

  @Test func aMoveThatIsNotFinishedLeavesThePolls() {
    var host = opened()
    _ = host.attachSocket(now: 0)
    _ = host.frame(Array("2probe".utf8), now: 0)
    #expect(host.deadline == 10_000)
    #expect(texts(host.tick(now: 10_000)) == ["close"])
    #expect(texts(host.socketClosed()) == [])
    #expect(texts(host.poll().effects) == [])
    #expect(texts(host.send(Array("4a".utf8))) == ["poll 4a"])
    let isAttached = host.attachSocket(now: 10_000)
    #expect(isAttached)
    #expect(texts(host.frame(Array("4x".utf8), now: 10_000)) == ["close"])
  }

  @Test func heartbeatsKeepASession() {
    var host = opened(.four, .websocket)
    #expect(texts(host.tick(now: 24_999)) == [])
    #expect(texts(host.tick(now: 25_000)) == ["frame 2"])
    #expect(host.deadline == 45_000)
    #expect(texts(host.frame(Array("3".utf8), now: 26_000)) == [])
    #expect(host.deadline == 51_000)
    #expect(texts(host.tick(now: 51_000)) == ["frame 2"])
    #expect(texts(host.tick(now: 71_000)) == ["close", "ended"])
    host = opened(.three, .websocket)
    #expect(texts(host.frame(Array("2".utf8), now: 10_000)) == ["frame 3"])
    #expect(host.deadline == 55_000)
    #expect(texts(host.tick(now: 55_000)) == ["close", "ended"])
  }
}
