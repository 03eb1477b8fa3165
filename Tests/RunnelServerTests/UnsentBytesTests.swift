import NIOEmbedded
@testable import RunnelNetwork
import Synchronization
import Testing

/// Who loses the connection when too much waits for all clients together.
@Suite struct UnsentBytesTests {
  /// A clock that stands still unless it is moved.
  private final class Clock: Sendable {
    let milliseconds = Atomic<Int64>(0)

    func move(seconds: Int64) { milliseconds.add(seconds * 1000, ordering: .relaxed) }
  }

  /// A connection whose client takes what it is told to take.
  private final class Connection: UnsentHolder {
    let share: UnsentShare
    private(set) var unsentBytes = 0
    private(set) var takenBytes = 0
    private(set) var isEnded = false

    init(_ share: UnsentShare) { self.share = share }

    func send(_ count: Int) {
      unsentBytes += count
      share.note(unsentBytes, of: self)
    }

    /// The network takes bytes, and tells nobody.
    func take(_ count: Int) {
      unsentBytes -= count
      takenBytes += count
    }

    func endUnread() {
      (isEnded, unsentBytes) = (true, 0)
      share.note(0, of: self)
    }
  }

  private struct World {
    let clock = Clock()
    let loop = EmbeddedEventLoop()
    let sum: UnsentBytes

    init() {
      let clock = clock
      sum = UnsentBytes(max: 1_000_000) { clock.milliseconds.load(ordering: .relaxed) }
    }

    func connection() -> Connection { Connection(UnsentShare(of: sum, NetworkLoop(loop))) }
  }

  @Test func whoDoesNotReadGoesBeforeWhoHasMuch() {
    let world = World()
    let lazy = (0..<3).map { _ in world.connection() }
    for connection in lazy { connection.send(300_000) }
    world.clock.move(seconds: 5)
    let reader = world.connection()
    reader.send(900_000)
    world.loop.run()
    #expect(lazy.map(\.isEnded) == [true, true, true])
    #expect(!reader.isEnded)
  }

  @Test func whoReadsSlowlyComesNext() {
    let world = World()
    let (lazy, slow, fast) = (world.connection(), world.connection(), world.connection())
    slow.send(500_000)
    lazy.send(400_000)
    world.clock.move(seconds: 60)
    slow.take(20_000)
    fast.send(300_000)
    world.loop.run()
    #expect([lazy, slow, fast].map(\.isEnded) == [true, false, false])
    world.clock.move(seconds: 1)
    slow.take(1000)
    fast.take(300_000)
    fast.send(900_000)
    world.loop.run()
    #expect([slow, fast].map(\.isEnded) == [true, false])
  }

  @Test func withinOneSecondTheMostGoes() {
    let world = World()
    let (less, most) = (world.connection(), world.connection())
    most.send(700_000)
    less.send(400_000)
    world.loop.run()
    #expect([less, most].map(\.isEnded) == [false, true])
  }

  /// Who takes a little again and again is not stalled; who has nothing to take is not, either.
  @Test func aStallIsTheTimeSinceBytesWereTaken() {
    let world = World()
    let connection = world.connection()
    func stalled() -> Int64? {
      connection.share.stalledMilliseconds(
        of: connection, now: world.clock.milliseconds.load(ordering: .relaxed))
    }
    #expect(stalled() == nil)
    connection.send(100)
    world.clock.move(seconds: 59)
    #expect(stalled() == 59_000)
    connection.take(1)
    #expect(stalled() == 0)
    world.clock.move(seconds: 59)
    #expect(stalled() == 59_000)
    connection.take(99)
    #expect(stalled() == nil)
    world.clock.move(seconds: 500)
    connection.send(5)
    #expect(stalled() == 0)
  }
}
