import Glibc
import PostgresCluster
import Testing

@testable import RunnelPostgres

/// Who has a lock that a command needs, and what becomes of it.
@Suite(needsPostgreSQL) struct MoveLockTests {
  private let place: String
  private let store: PostgresStore
  private let namespace: PostgresStore.Namespace

  init() throws {
    place = try PostgresCluster.shared().makeDatabase()
    store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    namespace = try #require(try store.namespace(named: "chat"))
  }

  /// What a move and a write begin with.
  private let locking = [
    PostgresStatement("BEGIN"), PostgresStatement("SELECT state FROM namespace FOR UPDATE"),
  ]

  /// Once, PostgreSQL kept the lock of the killed command until it had what it waited for.
  @Test func aMoveThatWasKilledWhileItWaitedIsOutOfTheWaySoon() throws {
    // PostgreSQL learned it then.
    if store.connection.serverVersion < 140_000 { return }
    let killed = try PostgresStore(PostgresPlace(place))
    defer { killed.close() }
    // Only what was prepared before is sent without waiting for the answer.
    try killed.connection.perform(locking + [PostgresStatement("ROLLBACK")])
    let writer = try PostgresConnection(PostgresPlace(place))
    defer { writer.close() }
    try writer.perform(locking)
    try StoreMove.alone(with: namespace, of: killed) {
      killed.connection.post(locking)
      let end = ContinuousClock.now + .seconds(20)
      try wait(until: end) { try $0.hasPrefix(isWaiting()) }
      let socket = try #require(killed.connection.socket)
      #expect(shutdown(socket, Int32(SHUT_RDWR)) == 0)
      // The writer goes on meanwhile.
      try wait(until: end) { $0.isEmpty }
    }
  }

  /// Asks for the lock of the moves until the words of the refusal are as expected; they are empty for none.
  private func wait(
    until end: ContinuousClock.Instant, _ isDone: (String) throws -> Bool
  ) throws {
    var words = try refusal()
    while try !isDone(words) {
      try #require(ContinuousClock.now < end, "\(words)")
      words = try refusal()
    }
  }

  private func refusal() throws -> String {
    do {
      try StoreMove.alone(with: namespace, of: store) {}
      return ""
    } catch let error as PostgresError {
      return error.message
    }
  }

  /// How the refusal begins while the move waits for the writer.
  private func isWaiting() throws -> String {
    let found = try store.connection.perform([
      PostgresStatement("SELECT pid::bigint FROM pg_locks WHERE NOT granted LIMIT 1")
    ])[0]
    let process = found.count == 0 ? nil : try found.integer(0, 0)
    return
      "chat is being moved by another command (process \(process ?? 0) of PostgreSQL, and has waited for "
  }

  /// Once, it was said in the words of PostgreSQL.
  @Test func aLockThatIsWaitedForTooLongIsTold() throws {
    let writer = try PostgresConnection(PostgresPlace(place))
    defer { writer.close() }
    try writer.perform(locking)
    let error = #expect(throws: PostgresError.self) {
      try store.writeRules("{\"rules\":{}}", of: namespace, now: 0)
    }
    #expect(error?.state == PostgresError.lockTimeout)
    #expect(error?.isWorthRetrying == true)
    #expect(error?.message.hasPrefix("Another transaction has it locked") == true)
    try writer.perform([PostgresStatement("ROLLBACK")])
    #expect(try store.rulesText(of: namespace) == nil)
  }
}
