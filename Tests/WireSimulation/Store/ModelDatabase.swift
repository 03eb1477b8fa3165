import RunnelBase
import RunnelPostgres

/// A model of PostgreSQL with the tables of one store: a primary, a synchronous standby, and what can
/// become of a commit.
///
/// It carries out the statements of `RunnelPostgres`, one transaction after another. The lock of the
/// namespace is not waited for: whoever writes has it, and a backend that is left alone with a commit
/// ends before the next one gets the lock.
///
/// One seed determines everything.
final class ModelDatabase {
  /// The rows of the namespace, which are written only under its lock.
  struct Tables: Hashable {
    var head: Int64 = 0
    var floor: Int64 = 0
    var lastTime: Int64 = 0
    var nextSplit: Int64 = 1
    var nodes: [NodeKey: NodeRow] = [:]
    var splits: [Int64: SplitRow] = [:]
    var feed: [Int64: FeedRow] = [:]
    var writeClients: [String: ClientRow] = [:]
    var appliedWrites: [String: Set<Int64>] = [:]
    var disconnects: [DisconnectKey: String] = [:]
    var values: [String: String] = [:]
  }

  struct NodeKey: Hashable {
    var parent: Int64
    var key: [UInt8]
  }

  struct NodeRow: Hashable {
    var json: [UInt8]?
    var split: Int64?
  }

  struct SplitRow: Hashable {
    var children: Int64
    var priority: [UInt8]?
  }

  struct FeedRow: Hashable {
    var time: Int64
    var server: PostgresIdentifier
    var batch: Int64
    var paths: String
  }

  struct ClientRow: Hashable {
    var applied: Int64
    var forgotten: Int64
    var seen: Int64
  }

  struct DisconnectKey: Hashable {
    var server: PostgresIdentifier
    var session: Int64
  }

  struct ServerRow: Hashable {
    var address: String
    var seenAt: Int64
  }

  /// All rows.
  struct State: Hashable {
    var tables = Tables()
    var servers: [PostgresIdentifier: ServerRow] = [:]
  }

  /// What becomes of a commit.
  enum Fate: Hashable {
    case done
    /// It is refused, as when two transactions are in each other's way.
    case refused
    /// The connection breaks before it arrives.
    case lost
    /// It is done, and the connection breaks before the answer arrives.
    case unanswered
    /// The connection breaks; the backend does it later.
    case late
    /// It is done here, and not on the standby: the wait for that was broken off, which is told.
    case warned
    /// It is done here, and not on the standby, and the connection breaks.
    case alone
  }

  private(set) var primary = State()
  /// What a standby has that may take over: all that was told as done.
  private var standby = State()
  /// The commit of a backend whose client is gone.
  private var late: Tables?
  /// The time of day, in milliseconds.
  var now: Int64
  /// False while nobody reaches it.
  var isReachable = true
  /// True while commits and connections may fail.
  var hasFaults: Bool
  /// Connections of an earlier number are broken.
  private(set) var generation = 0
  private(set) var failoverCount = 0
  /// What becomes of the next commits, before chance decides.
  var nextFates: [Fate] = []
  /// What the model could not do.
  var defect: String?
  private(set) var fateCounts: [Fate: Int] = [:]
  private var random: SeededRandom

  init(seed: UInt64, now: Int64, hasFaults: Bool) {
    (self.now, self.hasFaults) = (now, hasFaults)
    random = SeededRandom(seed: seed &+ 0x5EED)
  }

  func connect() throws(PostgresError) -> PostgresConnection {
    if !isReachable || hasFaults && chance(40) {
      throw PostgresError(.disconnected, "The model cannot be reached.")
    }
    return PostgresConnection(ModelLink(self))
  }

  /// True once in so many times.
  func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  func nextFate() -> Fate {
    let fate: Fate =
      if !nextFates.isEmpty {
        nextFates.removeFirst()
      } else if !hasFaults {
        .done
      } else {
        switch Int.random(in: 0..<24, using: &random) {
        case 0: .refused
        case 1: .lost
        case 2: .unanswered
        case 3: .late
        case 4: .warned
        case 5: .alone
        default: .done
        }
      }
    fateCounts[fate, default: 0] += 1
    return fate
  }

  // MARK: Failures

  /// The primary dies, and the standby takes over.
  func failOver() {
    SimulationTrace.note(
      "failover from \(primary.tables.head) to \(standby.tables.head)")
    (primary, late) = (standby, nil)
    failoverCount += 1
    breakConnections()
  }

  /// All connections break, and what was under way is rolled back.
  func breakConnections() { generation += 1 }

  /// Rows of the feed are pruned, up to one of the newest ones.
  func prune(keeping count: Int64) {
    finishLate()
    let last = primary.tables.head - count
    guard last > primary.tables.floor else { return }
    for sequence in primary.tables.feed.keys where sequence <= last {
      primary.tables.feed[sequence] = nil
    }
    primary.tables.floor = last
    standby = primary
  }

  // MARK: Commits

  /// A backend that was left alone with a commit ends.
  func finishLate() {
    guard let tables = late else { return }
    late = nil
    // It may have been rolled back, too.
    let isDone = !chance(4)
    SimulationTrace.note("late commit up to \(tables.head) is done: \(isDone)")
    if isDone { replace(tables, isOnStandby: true) }
  }

  func keepForLater(_ tables: Tables) { late = tables }

  func replace(_ tables: Tables, isOnStandby: Bool) {
    primary.tables = tables
    if isOnStandby { standby = primary }
  }

  /// Changes the rows of servers, in a transaction of its own.
  func changeServers<Result>(_ body: (inout [PostgresIdentifier: ServerRow]) -> Result) -> Result {
    defer { standby = primary }
    return body(&primary.servers)
  }

  // MARK: Invariants

  /// True if a server is gone, and others have not noticed that yet, or not done what it left; or if one
  /// that lives does not know yet that it has lost its lease.
  func hasRemains(of living: [PostgresIdentifier]) -> Bool {
    Set(primary.servers.keys) != Set(living)
      || primary.tables.disconnects.keys.contains { primary.servers[$0.server] == nil }
  }

  /// - Throws: `SimulationError` if the feed has a gap, or time goes back in it.
  func checkFeed() throws {
    finishLate()
    let tables = primary.tables
    var time = Int64.min
    for sequence in tables.floor..<tables.head {
      guard let row = tables.feed[sequence + 1] else {
        throw SimulationError("W6: the feed has no place \(sequence + 1)")
      }
      if row.time < time { throw SimulationError("W6: time goes back at \(sequence + 1)") }
      time = row.time
    }
    if Int64(tables.feed.count) != tables.head - tables.floor {
      throw SimulationError("W6: the feed has more places than changes")
    }
    if let defect { throw SimulationError(defect) }
  }
}
