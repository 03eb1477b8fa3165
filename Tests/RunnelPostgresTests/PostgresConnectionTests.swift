import CPostgresHeader
import Glibc
import PostgresCluster
import RunnelBase
import Testing

@testable import RunnelPostgres

/// What needs PostgreSQL is skipped by name where it is missing.
let needsPostgreSQL = ConditionTrait.enabled(
  if: PostgresCluster.isInstalled, Comment(rawValue: PostgresCluster.advice))

@Suite struct PostgresDeclarationTests {
  /// The comparison is made when the tests are compiled.
  @Test(
    .enabled(if: runnel_pq_is_compared() == 1, "libpq's header is not installed: libpq-dev"))
  func theDeclarationsAreThoseOfTheHeader() {
    #expect(runnel_pq_is_compared() == 1)
  }

  /// `.ci/run` installs what the tests need, so that none of them is skipped there.
  @Test func nothingIsSkippedInTheChecks() {
    if getenv("RUNNEL_ALL_TESTS") == nil { return }
    #expect(PostgresCluster.isInstalled)
    #expect(runnel_pq_is_compared() == 1)
  }

  @Test func aNameOfAStoreHoldsNoPassword() {
    for name in ["main", "db-1", "a.b_c"] { #expect(PostgresPlace.isName(name), "\(name)") }
    let others = [
      "", "host=x password=y", "postgresql://u:p@h/d", "a b", "a/b", "ä",
      String(repeating: "a", count: 65),
    ]
    for text in others { #expect(!PostgresPlace.isName(text), "\(text)") }
  }

  @Test func anIdentifierHasItsUsualForm() {
    let identifier = PostgresIdentifier(bytes: Array(0..<16))
    #expect(identifier.text == "00010203-0405-0607-0809-0a0b0c0d0e0f")
    var random = SeededRandom(seed: 1)
    #expect(PostgresIdentifier(using: &random) != PostgresIdentifier(using: &random))
  }

  @Test func onlyThisMachineNeedsNoProof() {
    for host in ["/run/postgresql", "localhost", "127.0.0.1", "::1"] {
      #expect(PostgresHandshake.isThisMachine(host), "\(host)")
    }
    for host in ["db.example.com", "10.0.0.1", "localhost.example.com"] {
      #expect(!PostgresHandshake.isThisMachine(host), "\(host)")
    }
  }
}

@Suite(needsPostgreSQL) struct PostgresConnectionTests {
  private let connection: PostgresConnection
  private let place: PostgresPlace

  init() throws {
    place = PostgresPlace(try PostgresCluster.shared().makeDatabase())
    connection = try PostgresConnection(place)
  }

  private func only(_ text: String, _ values: PostgresValue...) throws -> PostgresResult {
    try #require(try connection.perform([PostgresStatement(text, values: values)]).first)
  }

  @Test func valuesComeBackAsTheyWere() throws {
    let bytes: [UInt8] = [0, 1, 0xFF, 0x27, 0]
    let identifier = PostgresIdentifier(bytes: Array(1...16))
    let result = try only(
      "SELECT $1, $2, $3, $4, $5", .integer(.min), .bytes(bytes), .text("ä\u{1F600}'"),
      .identifier(identifier), .text(nil))
    #expect(try result.integer(0, 0) == .min)
    #expect(result.bytes(0, 1) == bytes)
    #expect(result.text(0, 2) == "ä\u{1F600}'")
    #expect(result.bytes(0, 3) == identifier.bytes)
    #expect(result.isNull(0, 4))
    #expect(result.bytes(0, 4) == nil)
  }

  @Test func arraysBecomeRows() throws {
    let result = try only(
      "SELECT * FROM unnest($1, $2, $3)", .integers([1, nil, -3]), .byteStrings([[], [0], nil]),
      .texts(["a", "", nil]))
    #expect(try (0..<3).map { try result.integer($0, 0) } == [1, nil, -3])
    #expect((0..<3).map { result.bytes($0, 1) } == [[], [0], nil])
    #expect((0..<3).map { result.text($0, 2) } == ["a", "", nil])
    #expect(try only("SELECT unnest($1)", .integers([])).count == 0)
  }

  @Test func aLongPipelineDoesNotJam() throws {
    let statements = (0..<300).map { number in
      PostgresStatement(
        "SELECT $1, $2", .integer(Int64(number)), .bytes([UInt8](repeating: 7, count: 100_000)))
    }
    let results = try connection.perform(statements)
    #expect(try results.map { try $0.integer(0, 0) } == (0..<300).map { Int64($0) })
    #expect(results.allSatisfy { $0.rawBytes(0, 1).count == 100_000 })
  }

  @Test func aRefusalNamesItsCodeAndTheConnectionGoesOn() throws {
    let error = #expect(throws: PostgresError.self) {
      try connection.perform([
        PostgresStatement("SELECT 1"), PostgresStatement("SELECT 1 / $1", .integer(0)),
        PostgresStatement("SELECT 2"),
      ])
    }
    #expect(error?.state == "22012")
    #expect(error?.kind == .refused)
    #expect(error?.isWorthRetrying == false)
    #expect(connection.isOpen)
    // The statement after the refused one was skipped before it was prepared.
    #expect(try only("SELECT 2").integer(0, 0) == 2)
  }

  @Test func aTransactionAfterARefusalIsRolledBack() throws {
    try connection.perform([PostgresStatement("CREATE TABLE t (i bigint PRIMARY KEY)")])
    #expect(throws: PostgresError.self) {
      try connection.perform([
        PostgresStatement("BEGIN"), PostgresStatement("INSERT INTO t VALUES ($1)", .integer(1)),
        PostgresStatement("INSERT INTO t VALUES ($1)", .integer(1)), PostgresStatement("COMMIT"),
      ])
    }
    try connection.perform([PostgresStatement("ROLLBACK")])
    #expect(try only("SELECT count(*) FROM t").integer(0, 0) == 0)
  }

  @Test func aWarningIsNotedForItsCallOnly() throws {
    try connection.perform([PostgresStatement("DO $$BEGIN RAISE WARNING 'a remark'; END$$")])
    #expect(connection.warningState == "01000")
    _ = try only("SELECT 1")
    #expect(connection.warningState == nil)
  }

  @Test func whatTakesTooLongIsStoppedAtTheServer() throws {
    let error = #expect(throws: PostgresError.self) {
      try connection.perform(
        [PostgresStatement("SELECT pg_sleep(600)")], within: .milliseconds(100))
    }
    #expect(error?.kind == .timedOut)
    #expect(error?.isWorthRetrying == true)
    #expect(!connection.isOpen)
    #expect(throws: PostgresError.self) { try connection.perform([PostgresStatement("SELECT 1")]) }
    // Nobody sleeps there any more, at the latest when the other backend has looked.
    let other = try PostgresConnection(place)
    let sleeping = PostgresStatement(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%pg_sleep(600)' AND state = 'active'
      """)
    var count: Int64? = 1
    let end = ContinuousClock.now + .seconds(20)
    while count != 0, ContinuousClock.now < end {
      count = try other.perform([sleeping]).first?.integer(0, 0)
    }
    #expect(count == 0)
  }

  @Test func aConnectionThatTheServerEndsSaysWhy() throws {
    let number = try #require(try only("SELECT pg_backend_pid()").integer(0, 0))
    let other = try PostgresConnection(place)
    try other.perform([PostgresStatement("SELECT pg_terminate_backend($1::int)", .integer(number))])
    let error = #expect(throws: PostgresError.self) {
      // The server may take the first statement yet.
      for _ in 0..<1000 { _ = try only("SELECT 1") }
    }
    #expect(error?.kind == .disconnected)
    #expect(error?.isWorthRetrying == true)
    #expect(!connection.isOpen)
  }

  @Test func anUnreachablePlaceIsTold() throws {
    let error = #expect(throws: PostgresError.self) {
      try PostgresConnection(PostgresPlace("host=/nowhere-at-all dbname=x"))
    }
    #expect(error?.kind == .disconnected)
    #expect(error?.message.contains("/nowhere-at-all") == true)
    let unknown = #expect(throws: PostgresError.self) {
      try PostgresConnection(PostgresPlace("hst=x"))
    }
    #expect(unknown?.message.contains("hst") == true)
  }
}
