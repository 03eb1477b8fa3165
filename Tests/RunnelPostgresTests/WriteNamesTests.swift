import Foundation
import PostgresCluster
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelPostgres

/// The names of writes of clients that are gone.
@Suite(needsPostgreSQL) struct WriteNamesTests {
  private static let day: Int64 = 86_400_000
  private static let start: Int64 = 1_700_000_000_000

  private let place: String
  private let store: PostgresStore
  private let session: PostgresSession

  init() throws {
    place = try PostgresCluster.shared().makeDatabase()
    store = try PostgresStore(PostgresPlace(place))
    try store.makeTables()
    try store.makeNamespace(named: "chat")
    let lease = StoreLease(address: "")
    try lease.begin(store.connection)
    session = try PostgresSession(PostgresPlace(place), namespace: "chat", lease: lease)
    // Each write looks for clients to forget.
    session.nameLimits.step = 1
  }

  private func name(_ client: String, _ number: Int64) throws -> WriteID {
    try #require(WriteID(client: client, number: number))
  }

  /// Writes under a name, so many days after the start.
  private func write(_ client: String, _ number: Int64, onDay day: Int64) throws {
    let now = WriteNamesTests.start + day * WriteNamesTests.day
    try session.perform(isWriting: true) { transaction in
      let node = Node(.number(JSONNumber(number)))
      try transaction.carryOut(
        [Assignment(path: Path("/a"), target: .node(node))], now: now)
      try transaction.noteName(try name(client, number))
    }
  }

  private func isTaken(_ client: String, _ number: Int64) throws -> Bool? {
    try session.perform(isWriting: false) { try $0.isNameTaken(try name(client, number)) }
  }

  private func count(_ table: String) throws -> Int64? {
    try store.connection.perform([PostgresStatement("SELECT count(*) FROM \(table)")])[0]
      .integer(0, 0)
  }

  /// Once, each client was known for ever, with up to 1,000 numbers.
  @Test func aClientThatWasAwayForAMonthIsForgotten() throws {
    for number: Int64 in [1, 2, 4, 6] { try write("gone", number, onDay: 0) }
    try write("back", 1, onDay: 0)
    try write("other", 1, onDay: 29)
    try write("back", 2, onDay: 29)
    #expect(try isTaken("gone", 2) == true)
    #expect(try count("applied_write") == 2)
    try write("other", 2, onDay: 31)
    #expect(try isTaken("gone", 2) == false)
    #expect(try isTaken("back", 1) == true)
    #expect(try isTaken("other", 1) == true)
    #expect(try count("write_client") == 2)
    #expect(try count("applied_write") == 0)
  }

  /// Once, a server whose clock was a month fast had all servers do named writes a second time.
  @Test func aServerWhoseClockIsFastForgetsNobody() throws {
    let today =
      (Int64(Date.now.timeIntervalSince1970 * 1000) - WriteNamesTests.start) / WriteNamesTests.day
    try write("own", 1, onDay: today)
    for number: Int64 in 1...3 { try write("other", number, onDay: today + 31 * number) }
    #expect(try isTaken("own", 1) == true)
    #expect(try count("write_client") == 2)
  }

  @Test func aClientThatComesBackInTheBatchThatWouldForgetItIsKnown() throws {
    for number: Int64 in [1, 3] { try write("back", number, onDay: 0) }
    try write("back", 5, onDay: 40)
    try write("other", 1, onDay: 41)
    for number: Int64 in [1, 3, 5] { #expect(try isTaken("back", number) == true) }
  }

  @Test func tooManyClientsAreForgottenAfterADayTheOldestFirst() throws {
    session.nameLimits.clientsMax = 3
    for number in 0..<6 { try write("c\(number)", 1, onDay: 0) }
    #expect(try count("write_client") == 6)
    for number in 4..<6 { try write("c\(number)", 2, onDay: 2) }
    for number: Int64 in 1...2 { try write("new", number, onDay: 2) }
    #expect(try count("write_client") == 3)
    for number in 4..<6 { #expect(try isTaken("c\(number)", 1) == true) }
    #expect(try isTaken("c0", 1) == false)
  }

  @Test func whatIsForgottenAtATimeIsLimited() throws {
    session.nameLimits.numbersStep = 2
    for number in 0..<3 {
      for other: Int64 in [2, 4] { try write("c\(number)", other, onDay: 0) }
    }
    for left in (1...3).reversed() {
      try write("new", Int64(10 - left), onDay: 40)
      #expect(try count("write_client") == Int64(left))
    }
    try write("new", 10, onDay: 40)
    #expect(try count("write_client") == 1)
  }

  /// Servers of the version before do not say when a client wrote.
  @Test func clientsOfUnknownTimeAreOfTheTimeOfTheFirstLook() throws {
    let cluster = try PostgresCluster.shared()
    try cluster.run(
      sql: "INSERT INTO write_client (ns, client, applied, forgotten) VALUES (1, 'old', 5, 0)",
      in: place)
    try write("new", 1, onDay: 10)
    #expect(try isTaken("old", 5) == true)
    try write("new", 2, onDay: 39)
    #expect(try isTaken("old", 5) == true)
    try write("new", 3, onDay: 41)
    #expect(try isTaken("old", 5) == false)
  }

  @Test func tablesOfTheFirstVersionAreMigrated() throws {
    let cluster = try PostgresCluster.shared()
    try cluster.run(
      sql: """
        ALTER TABLE write_client DROP COLUMN seen;
        UPDATE meta SET value = '1' WHERE ns = 0 AND name = 'schema.version'
        """, in: place)
    let early = #expect(throws: PostgresError.self) { try store.makeTables() }
    #expect(early?.message.contains("runnel store migrate") == true)
    let versions = try store.migrate()
    #expect(versions == (1, PostgresSchema.version))
    try store.makeTables()
    // Servers of the version before go on.
    #expect(try store.version().oldest == 1)
    try write("new", 1, onDay: 0)
  }
}
