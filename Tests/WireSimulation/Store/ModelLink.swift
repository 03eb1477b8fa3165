import RunnelPostgres

/// A connection to the model of a database.
final class ModelLink: PostgresLink {
  private static let namespace: Int64 = 1

  private struct Transaction {
    var tables: ModelDatabase.Tables
    var isWriting: Bool
    var hasChanged = false
    /// True once a statement was refused: the rest is refused too.
    var isFailed = false
  }

  private let database: ModelDatabase
  private let generation: Int
  private var transaction: Transaction?
  private var isClosed = false
  private(set) var warningState: String?

  init(_ database: ModelDatabase) {
    self.database = database
    generation = database.generation
  }

  var isOpen: Bool { !isClosed }
  var serverVersion: Int { 150_000 }
  var name: String { "the model" }
  var socket: Int32? { nil }

  func takeNotifications() throws(PostgresError) -> [String] { [] }

  func close() { (isClosed, transaction) = (true, nil) }

  func perform(
    _ statements: [PostgresStatement], within patience: Duration?
  ) throws(PostgresError) -> [PostgresResult] {
    warningState = nil
    if isClosed || generation != database.generation || !database.isReachable { throw broken() }
    if database.hasFaults, database.chance(150) { throw broken() }
    var results: [PostgresResult] = []
    for statement in statements {
      if transaction?.isFailed == true, statement.text != "ROLLBACK" {
        throw PostgresError(.refused, state: "25P02", "The transaction has failed.")
      }
      do {
        results.append(try perform(statement))
      } catch {
        if isOpen { transaction?.isFailed = true }
        throw error
      }
    }
    if database.hasFaults, database.chance(300) { throw broken() }
    return results
  }

  func post(_ statements: [PostgresStatement]) throws(PostgresError) {
    do {
      _ = try perform(statements, within: nil)
    } catch {
      // Whoever does not wait is not told.
      if error.kind != .refused { throw error }
    }
  }

  private func broken() -> PostgresError {
    close()
    SimulationTrace.note("  connection broke")
    return PostgresError(.disconnected, "The connection to the model broke.")
  }

  private func perform(_ statement: PostgresStatement) throws(PostgresError) -> PostgresResult {
    let empty = PostgresResult(rows: [])
    switch statement.text {
    case "BEGIN", "BEGIN ISOLATION LEVEL READ COMMITTED":
      transaction = Transaction(tables: database.primary.tables, isWriting: true)
      return empty
    case "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY":
      transaction = Transaction(tables: database.primary.tables, isWriting: false)
      return empty
    case "ROLLBACK":
      transaction = nil
      return empty
    case "COMMIT":
      try commit()
      return empty
    case let text where text.hasPrefix("SET "): return empty
    default: break
    }
    if database.hasFaults, transaction?.isWriting == true, database.chance(800) {
      throw PostgresError(.refused, state: "40001", "The model refuses this.")
    }
    if statement.text.hasSuffix(" FOR UPDATE") {
      database.finishLate()
      transaction?.tables = database.primary.tables
    }
    if let result = server(statement) { return result }
    guard var open = transaction else { return try outside(statement) }
    // The rows are in one place only, so that they are not copied.
    transaction = nil
    var statements = ModelStatements(tables: open.tables, servers: database.primary.servers)
    open.tables = ModelDatabase.Tables()
    defer {
      open.tables = statements.tables
      open.hasChanged = open.hasChanged || statements.hasChanged
      transaction = open
    }
    guard let result = try statements.perform(statement) else { throw unknown(statement) }
    if statements.hasChanged, !open.isWriting {
      throw PostgresError(.refused, state: "25006", "The transaction only reads.")
    }
    return result
  }

  private func unknown(_ statement: PostgresStatement) -> PostgresError {
    let message = "The model does not know this statement: \(statement.text)"
    database.defect = message
    return PostgresError(.unsuitable, message)
  }

  // MARK: The end of a transaction

  private func commit() throws(PostgresError) {
    guard let open = transaction else { return }
    transaction = nil
    guard open.isWriting, open.hasChanged else { return }
    let fate = database.nextFate()
    SimulationTrace.note("  commit up to \(open.tables.head): \(fate)")
    switch fate {
    case .done: database.replace(open.tables, isOnStandby: true)
    case .refused: throw PostgresError(.refused, state: "40001", "The model refuses the commit.")
    case .lost: throw broken()
    case .unanswered:
      database.replace(open.tables, isOnStandby: true)
      throw broken()
    case .late:
      database.keepForLater(open.tables)
      throw broken()
    case .warned:
      database.replace(open.tables, isOnStandby: false)
      warningState = "01000"
    case .alone:
      database.replace(open.tables, isOnStandby: false)
      // The primary starts again, or the standby takes over.
      if database.chance(2) { database.failOver() } else { database.breakConnections() }
      throw broken()
    }
  }

  // MARK: Statements on servers, and outside transactions

  /// Carries out a statement on the rows of servers, which the lock of a namespace does not guard; nil if
  /// it is another one.
  private func server(_ statement: PostgresStatement) -> PostgresResult? {
    let (text, values) = (statement.text, statement.values)
    if text == "SELECT 1 FROM server WHERE id = $1" {
      let isThere = values[0].identifier.map { database.primary.servers[$0] != nil } ?? false
      return PostgresResult(rows: isThere ? [[.integer(1)]] : [])
    }
    if text == "DELETE FROM server WHERE id = $1", let id = values[0].identifier {
      let isGone = database.changeServers { $0.removeValue(forKey: id) != nil }
      return PostgresResult(rows: [], changedCount: isGone ? 1 : 0)
    }
    if text.hasPrefix("INSERT INTO server"), let id = values[0].identifier {
      let row = ModelDatabase.ServerRow(address: values[1].text ?? "", seenAt: database.now)
      database.changeServers { $0[id] = row }
      return PostgresResult(rows: [], changedCount: 1)
    }
    if text.hasPrefix("UPDATE server SET seen_at = now()"), let id = values[0].identifier {
      let isThere = database.changeServers { servers in
        servers[id]?.seenAt = database.now
        return servers[id] != nil
      }
      return PostgresResult(rows: [], changedCount: isThere ? 1 : 0)
    }
    if text.hasPrefix("DELETE FROM server WHERE seen_at < now() - interval '10 s'") {
      let count = database.changeServers { servers in
        let before = servers.count
        servers = servers.filter { $0.value.seenAt >= database.now - 10_000 }
        return before - servers.count
      }
      return PostgresResult(rows: [], changedCount: count)
    }
    if text.hasPrefix("SELECT id, address FROM server") {
      let live = database.primary.servers.filter { $0.value.seenAt > database.now - 4000 }
        .sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
      return PostgresResult(rows: live.map { [.identifier($0.key), .text($0.value.address)] })
    }
    return nil
  }

  /// Carries out a statement that is a transaction of its own.
  private func outside(_ statement: PostgresStatement) throws(PostgresError) -> PostgresResult {
    let tables = database.primary.tables
    let text = statement.text
    if text.hasPrefix("SELECT name, value FROM meta WHERE ns = 0") {
      return PostgresResult(rows: [[.text("schema.version"), .text("2")]])
    }
    if text == "SELECT ns, name, head, floor, next_split, state FROM namespace" {
      return PostgresResult(rows: [
        [
          .integer(ModelLink.namespace), .text(StoreServer.namespace), .integer(tables.head),
          .integer(tables.floor), .integer(tables.nextSplit), .integer(0),
        ]
      ])
    }
    if text.hasPrefix("SELECT n.ns, n.name, n.head") {
      return PostgresResult(rows: [
        [
          .integer(ModelLink.namespace), .text(StoreServer.namespace), .integer(tables.head),
          .integer(0), .text(nil), .integer(0),
        ]
      ])
    }
    if text.hasPrefix("SELECT 1 FROM disconnect_write d") {
      let isThere = tables.disconnects.keys.contains { database.primary.servers[$0.server] == nil }
      return PostgresResult(rows: isThere ? [[.integer(1)]] : [])
    }
    if text.hasPrefix("SELECT head FROM namespace") {
      return PostgresResult(rows: [[.integer(tables.head)]])
    }
    // The reports of servers are for people.
    if text.hasPrefix("INSERT INTO meta (ns, name, value) VALUES (0,")
      || text.hasPrefix("DELETE FROM meta m WHERE m.ns = 0")
    {
      return PostgresResult(rows: [])
    }
    throw unknown(statement)
  }
}

extension PostgresValue {
  var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var identifier: PostgresIdentifier? {
    if case .identifier(let identifier) = self { identifier } else { nil }
  }
  var integers: [Int64?] { if case .integers(let integers) = self { integers } else { [] } }
  var texts: [String?] { if case .texts(let texts) = self { texts } else { [] } }
  var byteStrings: [[UInt8]?] {
    if case .byteStrings(let strings) = self { strings } else { [] }
  }
}
