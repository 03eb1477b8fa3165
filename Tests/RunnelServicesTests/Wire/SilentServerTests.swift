import RunnelBase
import RunnelServices
import Testing

/// A server that is stopped, or behind a cable that was cut: nothing comes, and nothing says so.
@Suite struct SilentServerTests {
  private static let opening =
    "0{\"sid\":\"abc\",\"upgrades\":[],\"pingInterval\":25000,\"pingTimeout\":20000,"
    + "\"maxPayload\":1000}"

  private struct Script {
    var session = SocketSession(seed: 7)
    var now: Int64 = 0
    var states: [SocketSession.State] = []
    var answered: [Int] = []

    /// Brings a web socket up.
    init() {
      take(session.start(now: 0))
      take(session.report(attempt: session.attempt, now: 0) { $0.socketOpened() })
      frame(SilentServerTests.opening)
      frame("40{\"sid\":\"X\"}")
      take(session.signedIn(attempt: session.attempt, now: 0))
      states = []
    }

    mutating func take(_ effects: [SocketSession.Effect]) {
      for effect in effects {
        switch effect {
        case .state(let state): states.append(state)
        case .answered(let key, _): answered.append(key)
        case .engine, .event, .signIn, .sessionEnded, .answeredLate: break
        }
      }
    }

    mutating func frame(_ text: String) {
      let now = now
      take(
        session.report(attempt: session.attempt, now: now) {
          $0.socketText(Array(text.utf8), now: now)
        })
    }

    mutating func call(_ key: Int) { take(session.call(key, "find", ["m", [:]], now: now)) }

    /// Moves the clock, with a tick at each deadline on the way.
    mutating func wait(_ milliseconds: Int64) {
      let end = now + milliseconds
      for _ in 0..<100 {
        guard let deadline = session.deadline, deadline <= end else { break }
        now = max(now, deadline)
        take(session.tick(now: now))
      }
      now = end
    }
  }

  private static let connected = SocketSession.State.connected(.websocket, .four)
  private static let silent = SocketSession.State.silent(.websocket, .four)

  @Test func overduePingIsToldUntilAnythingComes() {
    var script = Script()
    script.wait(27_999)
    #expect(script.states.isEmpty && script.session.state == SilentServerTests.connected)
    script.wait(1)
    #expect(script.states == [SilentServerTests.silent])
    script.frame("42[\"m created\",{\"id\":1}]")
    #expect(script.session.state == SilentServerTests.connected)
    // The ping is still missing.
    script.wait(3_000)
    #expect(script.session.state == SilentServerTests.silent)
    script.frame("2")
    #expect(script.session.state == SilentServerTests.connected)
    script.wait(27_999)
    #expect(script.session.state == SilentServerTests.connected)
  }

  @Test func callThatWaitsIsToldAfterEightSeconds() {
    var script = Script()
    script.wait(10_000)
    script.call(1)
    script.wait(7_999)
    #expect(script.states.isEmpty)
    script.wait(1)
    #expect(script.states == [SilentServerTests.silent])
    script.frame("430[null,1]")
    #expect(script.states == [SilentServerTests.silent, SilentServerTests.connected])
    #expect(script.answered == [1])
    script.frame("2")
    // A slow answer among others is no silence.
    script.call(2)
    for _ in 0..<2 {
      script.wait(5_000)
      script.frame("42[\"m created\",{\"id\":1}]")
    }
    script.wait(7_999)
    #expect(script.session.state == SilentServerTests.connected)
    script.wait(1)
    #expect(script.session.state == SilentServerTests.silent)
  }

  @Test func timeLimitOfACallIsNoSignOfLife() {
    var script = Script()
    script.call(1)
    script.wait(20_000)
    #expect(script.answered == [1])
    #expect(script.states == [SilentServerTests.silent])
    // Nor is another call that is made meanwhile.
    script.call(2)
    script.wait(20_000)
    #expect(script.answered == [1, 2])
    #expect(script.states == [SilentServerTests.silent])
  }

  @Test func endOfTheConnectionIsNoSignOfLife() {
    var script = Script()
    script.wait(30_000)
    script.take(
      script.session.report(attempt: script.session.attempt, now: script.now) {
        $0.socketClosed("reset")
      })
    #expect(script.states == [SilentServerTests.silent, .connecting])
  }

  /// The network's words name the address, and end with a full stop.
  @Test func reasonIsSaidOnceAndEndsWithOneFullStop() {
    var options = SocketSession.Options()
    (options.carrying, options.isPatient) = (.pollingOnly, false)
    var session = SocketSession(options, seed: 7)
    _ = session.call(1, "find", ["m", [:]], now: 0)
    let effects = session.report(attempt: session.attempt, now: 0) {
      $0.pollFailed("http://x cannot be reached: Connection refused.")
    }
    var messages: [String] = []
    for case .answered(_, .failure(let error)) in effects { messages.append(error.message) }
    #expect(messages == ["http://x cannot be reached: Connection refused."])
    guard case .waiting(_, let reason) = session.state else {
      Issue.record("It is \(session.state).")
      return
    }
    #expect(reason == "http://x cannot be reached: Connection refused")
  }
}
