import Glibc
import RunnelDatabase
import RunnelNetwork
import RunnelSync

/// The state that all connections of a server share.
final class ServerWorld: Sendable {
  /// The limits of connections.
  struct Limits: Sendable {
    var wire: WireLimits
    var rest: RESTExchange.Limits
    var largeWritesMax: Int
    /// The most unsent bytes of all connections together.
    var unsentBytesMax: Int
  }

  let switchboard = Switchboard()
  let metrics: ServerMetrics
  let log: ServerLog
  let limits: Limits
  /// Tells the time of day, in milliseconds since 1970.
  let calendar: @Sendable () -> Int64
  /// The thread that reads large texts, and stores large bodies.
  let files: TreeExecutor
  /// The thread of listens and reads that are too large for the threads of the trees.
  let reads: TreeExecutor
  /// The writes with large bodies in memory.
  let largeWrites: LargeWrites
  /// The bytes that clients have not taken.
  let unsent: UnsentBytes
  /// The thread that parses large bodies.
  let bodies: TreeExecutor

  init(
    metrics: ServerMetrics, log: ServerLog, limits: Limits,
    calendar: @escaping @Sendable () -> Int64 = { ServerWorld.calendar }
  ) throws {
    (self.metrics, self.log, self.limits, self.calendar) = (metrics, log, limits, calendar)
    largeWrites = LargeWrites(max: limits.largeWritesMax)
    unsent = UnsentBytes(max: limits.unsentBytesMax)
    files = try TreeExecutor(label: "runnel.files")
    reads = try TreeExecutor(label: "runnel.reads")
    bodies = try TreeExecutor(label: "runnel.bodies")
  }

  /// The time by both clocks.
  var now: WireTime {
    WireTime(calendar: calendar(), uptime: NetworkClock.uptimeMilliseconds)
  }

  /// Milliseconds since 1970.
  static var calendar: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
