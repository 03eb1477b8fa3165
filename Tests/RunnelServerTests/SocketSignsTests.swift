import RunnelNetwork
import RunnelSync
import Testing

/// What counts as a sign of life of a WebSocket's client, with a clock that the test moves.
@Suite struct SocketSignsTests {
  /// A session and its line, as a connection joins them.
  private struct Line {
    private var session: ServerSession
    private var signs = SocketSigns()
    private var now: Int64 = 0
    /// The bytes that the client has taken, and those that it has not.
    var (taken, untaken) = (0, 0)
    private(set) var pingCount = 0

    init() {
      var limits = WireLimits()
      (limits.silenceMilliseconds, limits.signMilliseconds) = (100, 900)
      session = ServerSession(
        ServerSession.Configuration(name: "a", host: "localhost", limits: limits))
      _ = session.open(now: WireTime(calendar: 0, uptime: 0))
    }

    var isOpen: Bool { session.isOpen }

    mutating func take(_ count: Int) { (taken, untaken) = (taken + count, untaken - count) }

    mutating func arrive() { signs.arrived() }

    /// Moves the clock to the deadline, and does what is due there.
    mutating func wait() {
      let time = WireTime(calendar: now, uptime: now)
      now = session.deadline(now: time) ?? now
      let due = WireTime(calendar: now, uptime: now)
      if signs.take(taken: taken) { session.heard(now: due) }
      for case .ping in session.advance(now: due) {
        pingCount += 1
        signs.pinged(untaken: untaken, taken: taken)
      }
    }
  }

  @Test func whoSaysNothingIsPingedAndThenSilent() {
    var line = Line()
    line.wait()
    #expect(line.pingCount == 1)
    #expect(line.isOpen)
    line.wait()
    #expect(!line.isOpen)
  }

  /// The ping waits behind the answer, and so does what the client says to it.
  @Test func whoReadsALargeAnswerIsNotSilent() {
    var line = Line()
    line.untaken = 9_000_000
    for _ in 0..<50 {
      line.wait()
      line.take(20_000)
      #expect(line.isOpen)
    }
    #expect(line.pingCount > 1)
    // It takes no more.
    for _ in 0..<3 { line.wait() }
    #expect(!line.isOpen)
  }

  @Test func whoTakesTheLastFewBytesIsSilentAllTheSame() {
    var line = Line()
    line.untaken = 4095
    line.wait()
    line.take(4095)
    line.wait()
    #expect(!line.isOpen, "a client's system takes so much for a program that is stuck")
  }

  @Test func aPartOfAMessageIsASign() {
    var line = Line()
    for _ in 0..<10 {
      line.arrive()
      line.wait()
    }
    #expect(line.isOpen)
    #expect(line.pingCount == 0)
    // Each sign counts once.
    for _ in 0..<3 { line.wait() }
    #expect(!line.isOpen)
  }

  @Test func aPartOfAMessageAnswersAPing() {
    var line = Line()
    line.wait()
    line.arrive()
    line.wait()
    #expect(line.isOpen)
    #expect(line.pingCount == 1)
    line.wait()
    #expect(line.pingCount == 2)
    line.wait()
    #expect(!line.isOpen)
  }
}
