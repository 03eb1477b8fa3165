import PostgresCluster
import RunnelBase
import RunnelStorage
import RunnelTree
import TestSupport
import Testing

@testable import RunnelPostgres

/// The tables of a store, its namespaces, and what a check finds.
@Suite(needsPostgreSQL) struct PostgresStoreTests {
  private let store: PostgresStore
  private let place: String

  init() throws {
    place = try PostgresCluster.shared().makeDatabase()
    store = try PostgresStore(PostgresPlace(place))
  }

  private func perform(_ text: String, _ values: PostgresValue...) throws -> PostgresResult {
    try #require(
      try store.connection.perform([PostgresStatement(text, values: values)]).first)
  }

  @Test func aDatabaseWithoutTablesIsTold() throws {
    let error = #expect(throws: PostgresError.self) { try store.checkVersion() }
    #expect(error?.kind == .unsuitable)
    #expect(error?.message.contains("runnel store init") == true)
  }

  @Test func tablesAreMadeOnce() throws {
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    try store.makeNamespace(named: "blog")
    let namespaces = try store.namespaces()
    #expect(namespaces.map(\.name) == ["blog", "chat"])
    #expect(namespaces.map(\.number) == [2, 1])
    #expect(namespaces.allSatisfy { $0.head == 0 && $0.floor == 0 && $0.nextSplit == 1 })
    #expect(try store.namespace(named: "chat")?.number == 1)
    #expect(try store.namespace(named: "other") == nil)
    #expect(try store.servers().isEmpty)
  }

  /// Once, it waited for every long transaction, such as an export, and all servers waited for it.
  @Test func makingANamespaceWaitsForNobody() throws {
    try store.makeTables()
    _ = try perform("CREATE ROLE waiting")
    let other = try PostgresConnection(PostgresPlace(place))
    defer { other.close() }
    try other.perform([
      PostgresStatement("BEGIN"),
      PostgresStatement(
        """
        LOCK TABLE node, split, index_definition, index_entry, feed, write_client, applied_write,
          server, disconnect_write IN ACCESS EXCLUSIVE MODE
        """),
      PostgresStatement("LOCK TABLE namespace, meta IN ROW EXCLUSIVE MODE"),
    ])
    _ = try perform("SET lock_timeout = '1ms'")
    try store.makeTables(for: "waiting", attemptsMax: 1)
    try store.makeNamespace(named: "chat")
    #expect(try store.namespaces().map(\.name) == ["chat"])
  }

  @Test func whatIsMissingIsMadeOnceOthersLetItBe() throws {
    try store.makeTables()
    _ = try perform("DROP INDEX write_client_seen")
    _ = try perform("ALTER TABLE node ALTER COLUMN json SET STORAGE EXTENDED")
    let other = try PostgresConnection(PostgresPlace(place + " application_name=export"))
    defer { other.close() }
    let begin = [
      PostgresStatement("BEGIN"), PostgresStatement("SELECT count(*) FROM node"),
      PostgresStatement("SELECT pg_backend_pid()::bigint"),
    ]
    let process = try #require(try other.perform(begin)[2].integer(0, 0))
    let words = "process \(process) (user runnel, export), whose transaction has used the tables"
    var told: [String] = []
    let error = #expect(throws: PostgresError.self) {
      try store.makeTables(attemptsMax: 3) { told.append($0) }
    }
    #expect(error?.state == "55P03")
    #expect(error?.message.contains("were not changed, because of \(words)") == true)
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix("Waiting for \(words) for ") == true, "\(told)")
    // It ends when it is told of.
    try store.makeTables { _ in _ = try? other.perform([PostgresStatement("ROLLBACK")]) }
    #expect(try perform("SELECT to_regclass('write_client_seen')::text").text(0, 0) != nil)
    #expect(
      try perform(
        "SELECT attstorage::text FROM pg_attribute WHERE attrelid = 'node'::regclass AND attname = 'json'"
      ).text(0, 0) == "m")
  }

  @Test func aNamespaceIsMadeTogetherWithItsRules() throws {
    try store.makeTables()
    #expect(try store.makeNamespace(named: "chat", rules: "{}"))
    #expect(try !store.makeNamespace(named: "chat", rules: "{\"rules\":{}}"))
    let namespace = try #require(try store.namespace(named: "chat"))
    #expect(try store.rulesText(of: namespace) == "{}")
    // Without the rules there is no namespace either.
    _ = try perform("ALTER TABLE meta ADD CHECK (value <> 'bad')")
    #expect(throws: PostgresError.self) { try store.makeNamespace(named: "blog", rules: "bad") }
    #expect(try store.namespaces().map(\.name) == ["chat"])
    #expect(try store.makeNamespace(named: "blog"))
  }

  /// Once, it waited for a minute, and named the standby.
  @Test func aTransactionThatIsInTheWayOfANamespaceIsNamed() throws {
    try store.makeTables()
    let other = try PostgresConnection(PostgresPlace(place + " application_name=hand"))
    defer { other.close() }
    try other.perform([
      PostgresStatement("BEGIN"),
      PostgresStatement("INSERT INTO namespace (ns, name) VALUES (1, 'chat')"),
    ])
    let error = #expect(throws: PostgresError.self) {
      try store.makeNamespace(named: "chat", attemptsMax: 3)
    }
    #expect(
      error?.message.hasPrefix("chat was not made, because of process ") == true, "\(error as Any)")
    #expect(error?.message.contains("(user runnel, hand)") == true)
    try store.makeNamespace(named: "chat") { _ in
      _ = try? other.perform([PostgresStatement("ROLLBACK")])
    }
    #expect(try store.namespace(named: "chat") != nil)
  }

  @Test func serversAreWokenByWhatACommandKeeps() throws {
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    let namespace = try #require(try store.namespace(named: "chat"))
    let hearing = try PostgresConnection(PostgresPlace(place))
    defer { hearing.close() }
    #expect(try StoreWake.listen(hearing))
    try store.changeKept("secrets", of: namespace, now: 1) { _ in "[]" }
    let end = ContinuousClock.now + .seconds(20)
    var heard: [String] = []
    while heard.isEmpty {
      try #require(ContinuousClock.now < end)
      heard = try hearing.takeNotifications()
    }
    #expect(heard.map { StoreWake($0) } == [.head(namespace: namespace.number, head: 1)])
  }

  @Test func tablesOfAnotherVersionAreNotUsed() throws {
    try store.makeTables()
    _ = try perform("UPDATE meta SET value = '3' WHERE ns = 0 AND name = 'schema.version'")
    let error = #expect(throws: PostgresError.self) { try store.checkVersion() }
    #expect(error?.kind == .unsuitable)
    #expect(error?.message.contains("version 3") == true)
  }

  @Test func migrationsAreTakenOnceAndWhileProgramsGoOn() throws {
    try store.makeTables()
    let steps = [
      PostgresMigration(from: 2, oldest: 2, ["ALTER TABLE server ADD COLUMN note text"]),
      PostgresMigration(from: 3, oldest: 4, ["ALTER TABLE server ADD COLUMN other text"]),
    ]
    var result = try store.migrate(Array(steps.prefix(1)))
    #expect(result == (2, 3))
    // A program of the version before goes on.
    try store.checkVersion()
    result = try store.migrate(steps)
    #expect(result == (3, 4))
    result = try store.migrate(steps)
    #expect(result == (4, 4))
    let error = #expect(throws: PostgresError.self) { try store.checkVersion() }
    #expect(error?.message.contains("use a newer version of runnel") == true)
  }

  @Test func aMigrationGoesOnWhenALongTransactionEnds() throws {
    try store.makeTables()
    let other = try PostgresConnection(PostgresPlace(place))
    defer { other.close() }
    try other.perform([
      PostgresStatement("BEGIN"), PostgresStatement("SELECT count(*) FROM server"),
    ])
    let steps = [
      PostgresMigration(from: 2, oldest: 2, ["ALTER TABLE server ADD COLUMN note text"])
    ]
    #expect(throws: PostgresError.self) { try store.migrate(steps, attemptsMax: 2) }
    #expect(try store.version().current == 2)
    let result = try store.migrate(steps) { _ in
      _ = try? other.perform([PostgresStatement("ROLLBACK")])
    }
    #expect(result == (2, 3))
  }

  @Test func aFailedMigrationChangesNothing() throws {
    try store.makeTables()
    let step = PostgresMigration(
      from: 2, oldest: 2,
      ["ALTER TABLE server ADD COLUMN note text", "ALTER TABLE nothing ADD COLUMN note text"])
    #expect(throws: PostgresError.self) { try store.migrate([step]) }
    #expect(try store.version() == PostgresStore.Version(current: 2, oldest: 2))
    _ = try perform("ALTER TABLE server ADD COLUMN note text")
  }

  @Test func tablesOfAnEarlierVersionAreToBeMigrated() throws {
    try store.makeTables()
    _ = try perform("UPDATE meta SET value = '1' WHERE ns = 0 AND name = 'schema.version'")
    let error = #expect(throws: PostgresError.self) { try store.checkVersion() }
    #expect(error?.message.contains("runnel store migrate") == true)
  }

  @Test func aRoleMayUseTheTablesAndNotChangeThem() throws {
    _ = try perform("CREATE ROLE \"serv\"\"er\" LOGIN")
    try store.makeTables(for: "serv\"er")
    let other = try PostgresStore(
      PostgresPlace(
        place.split(separator: " ").map { $0.hasPrefix("user=") ? "user=serv\"er" : "\($0)" }
          .joined(separator: " ")))
    try other.checkVersion()
    try other.makeNamespace(named: "chat")
    #expect(try other.namespaces().count == 1)
    #expect(throws: PostgresError.self) {
      try other.connection.perform([PostgresStatement("DROP TABLE node")])
    }
  }

  // MARK: Order

  @Test func keysAreInTheOrderOfTheTree() throws {
    try store.makeTables()
    var random = SeededRandom(seed: 7)
    var keys: Set<Key> = []
    while keys.count < 20_000 {
      let scalars = (0..<Int.random(in: 1...6, using: &random)).compactMap { _ -> Unicode.Scalar? in
        let ranges: [ClosedRange<UInt32>] = [
          0x30...0x39, 0x61...0x7A, 0xE0...0x2FF, 0xD000...0xD7FF, 0xE000...0xFFFD,
          0x10000...0x10FFFF,
        ]
        let range = ranges[Int.random(in: 0..<ranges.count, using: &random)]
        return Unicode.Scalar(UInt32.random(in: range, using: &random))
      }
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars)
      if let key = try? Key(text) { keys.insert(key) }
    }
    let bytes = keys.map { OrderedBytes.key($0) }
    _ = try perform(
      "INSERT INTO node (ns, parent, key, json) SELECT 1, 1, k, '1' FROM unnest($1) k",
      .byteStrings(bytes))
    let rows = PostgresRows(store.connection, namespace: 1, indexes: [], nextSplit: 2)
    for isDescending in [false, true] {
      var found: [Key] = []
      try rows.forEachRow(of: 1, in: .all, isDescending: isDescending) { key, _ in
        found.append(try StoredTree.key(key))
        return true
      }
      let expected = keys.sorted()
      #expect(found == (isDescending ? expected.reversed() : expected))
    }
  }

  // MARK: Checks

  /// Fills a namespace with a node of many children, some of them large, and two indexes.
  private func fill() throws -> PostgresStore.Namespace {
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    for (id, child) in [(1, "a"), (2, "$priority,a:desc")] {
      let order = try QueryIndex(SortKey.list(child))
      let definition = try #require(IndexDefinition(pattern: "/list", serving: order))
      _ = try perform(
        "INSERT INTO index_definition (ns, id, pattern, child) VALUES (1, $1, $2, $3)",
        .integer(Int64(id)), .text(definition.pattern), .text(definition.storedOrder))
    }
    let rows = PostgresRows(
      store.connection, namespace: 1, indexes: try store.indexes(of: 1), nextSplit: 1)
    let overlay = RowOverlay(rows)
    let tree = StoredTree(overlay, indexes: rows.indexes)
    try store.connection.perform([PostgresStatement("BEGIN")])
    for number in 0..<120 {
      let text = String(repeating: "x", count: number % 3 == 0 ? 1500 : 20)
      let node = Node(
        children: [
          Child(key: Key(unchecked: "a"), node: Node(.string(text + String(number % 7)))),
          Child(
            key: Key(unchecked: "b"),
            node: Node(.string(number == 5 ? String(repeating: "y", count: 9000) : ""))),
        ], priority: number.isMultiple(of: 2) ? .number(JSONNumber(Int64(number))) : nil)
      let path = try Path("/list/k\(number)")
      try tree.carryOut(Assignment(path: path, target: .node(node)))
    }
    try overlay.flush()
    try rows.send()
    _ = try perform("UPDATE namespace SET next_split = $1 WHERE ns = 1", .integer(rows.nextSplit))
    try store.connection.perform([PostgresStatement("COMMIT")])
    return try #require(try store.namespace(named: "chat"))
  }

  @Test func whatWasWrittenIsSound() throws {
    let namespace = try fill()
    let report = try StoreCheck.run(on: namespace, of: store)
    #expect(report.faults == [])
    #expect(report.rowCount > 120)
    // Both indexes have all children, and the order of priorities has those with one.
    #expect(report.entryCount == 120 + 120 + 60)
  }

  /// What others may do to the tables, and what the check says of it.
  private static let damages: [(statement: String, told: String)] = [
    ("UPDATE split SET children = children + 1 WHERE id = 2", "children"),
    ("DELETE FROM split WHERE id = 2", "is missing"),
    (
      "DELETE FROM node WHERE parent = 2 AND key = (SELECT key FROM node WHERE parent = 2 ORDER BY key DESC LIMIT 1)",
      "stored"
    ),
    ("UPDATE node SET json = '{' WHERE parent = 2 AND json IS NOT NULL", "no JSON"),
    (
      "UPDATE node SET key = '\\x09' WHERE parent = 2 AND key = (SELECT key FROM node WHERE parent = 2 ORDER BY key LIMIT 1)",
      "a key is none"
    ),
    (
      "DELETE FROM index_entry WHERE definition = 1 AND key = (SELECT key FROM node WHERE parent = 2 ORDER BY key LIMIT 1)",
      "entries by"
    ),
    (
      "UPDATE index_entry SET value = '\\x00' WHERE definition = 2 AND key = (SELECT key FROM node WHERE parent = 2 ORDER BY key LIMIT 1)",
      "not those"
    ),
    ("DELETE FROM index_entry WHERE definition = 0", "priority"),
    ("INSERT INTO node (ns, parent, key, json) VALUES (1, 77, '\\x00', '1')", "node: 1 rows"),
    ("INSERT INTO split (ns, id, children) VALUES (1, 77, 1)", "split: 1 rows"),
    ("INSERT INTO index_entry VALUES (1, 77, 1, '\\x00', '\\x00')", "index_entry: 1 rows"),
    ("UPDATE namespace SET head = 5 WHERE ns = 1", "feed:"),
  ]

  @Test(arguments: 0..<PostgresStoreTests.damages.count)
  func eachDamageIsTold(number: Int) throws {
    let namespace = try fill()
    let damage = PostgresStoreTests.damages[number]
    _ = try perform(damage.statement)
    let report = try StoreCheck.run(on: namespace, of: store)
    #expect(!report.isSound)
    #expect(report.faults.contains { $0.contains(damage.told) }, "\(damage): \(report.faults)")
  }

  @Test func longValuesAreInTheirWholeOrder() throws {
    _ = try fill()
    let rows = PostgresRows(
      store.connection, namespace: 1, indexes: try store.indexes(of: 1), nextSplit: 99)
    for isDescending in [false, true] {
      var entries: [RowEntry] = []
      try rows.forEachEntry(of: 2, in: .index(1), range: .all, isDescending: isDescending) {
        entry, _ in
        entries.append(RowEntry(entry))
        return true
      }
      #expect(entries.count == 120)
      #expect(entries.contains { $0.value.count > HeldRows.valueBytesMax })
      let sorted = entries.sorted { $0.precedes($1) != isDescending }
      #expect(entries == sorted)
    }
  }
}

/// What is told of the standbys of a primary.
@Suite struct StandbyTests {
  @Test func theNumberOfNeededStandbysIsRead() {
    let texts = [
      ("b", 1), ("b, c", 1), ("*", 1), ("ANY 2 (b, c, d)", 2), ("any 1 (\"x\", c)", 1),
      ("FIRST 3 (a, b, c)", 3), ("2 (a, b)", 2), ("ANY 2(a, b)", 2),
    ]
    for (text, count) in texts {
      #expect(PostgresStore.Standbys.neededCount(text) == count, "\(text)")
    }
  }

  /// Once, the line of the standby was missing, and all looked well.
  @Test(needsPostgreSQL) func aMissingStandbyIsTold() throws {
    let pair = try PostgresPair()
    try pair.run(sql: "CREATE ROLE plain LOGIN")
    try pair.setSynchronous(true)
    let store = try PostgresStore(PostgresPlace(pair.place))
    defer { store.close() }
    let whole = try #require(try store.standbys())
    #expect(whole.all.map(\.name) == ["b"] && !whole.isShort)
    try pair.run(sql: "ALTER SYSTEM SET synchronous_standby_names = 'another'")
    try pair.run(sql: "SELECT pg_reload_conf()")
    let end = ContinuousClock.now + .seconds(20)
    var isShort = false
    while !isShort, ContinuousClock.now < end { isShort = try store.standbys()?.isShort == true }
    #expect(isShort)
    // Who may not see the standbys is told that, and not that there are none.
    let plain = try PostgresStore(PostgresPlace(pair.place + " user=plain"))
    defer { plain.close() }
    let hidden = try #require(try plain.standbys())
    #expect(hidden.isHidden && hidden.all == [] && !hidden.isShort)
    #expect(hidden.role == "plain")
  }
}
