import Foundation
import GRDB
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Files of earlier versions stay readable, and become files of this one.
@Suite struct MigrationTests {
  private static let fixtures = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Fixtures")

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Copies the file of an earlier version; returns what it exported then.
  private func copy(version: Int) throws -> String {
    let file = MigrationTests.fixtures.appendingPathComponent("version\(version).sqlite")
    try folder.write(Data(contentsOf: file))
    let export = MigrationTests.fixtures.appendingPathComponent("version\(version).json")
    return try String(contentsOf: export, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func version() throws -> Int {
    try FileInspector(folder.file()).number("PRAGMA user_version")
  }

  @Test func stepsLeadFromEachVersionToTheNext() {
    #expect(Schema.migrations.map(\.version) == Array(2..<(2 + Schema.migrations.count)))
    #expect(Schema.version == Schema.migrations.count + 1)
  }

  @Test(arguments: [1, 2])
  func aFileOfAnEarlierVersionIsBroughtToThisOne(version: Int) throws {
    let export = try copy(version: version)
    let session = try folder.session()
    #expect(try self.version() == Schema.version)
    #expect(try session.export() == export)
    #expect(session.declaredIndexes.count == 2)
    let newest = try Query(Path("messages")).ordered(by: .child(Path("created")))
      .limited(to: 1, from: .last)
    #expect(try session.rows(newest).map(\.key.text) == ["m005"])
    try session.set("/messages/new", #"{"created":6000}"#)
    #expect(try session.rows(newest).map(\.key.text) == ["new"])
    #expect(try FileInspector(folder.file()).report().faults == [])
  }

  @Test(arguments: [1, 2])
  func aFileOfAnEarlierVersionCanBeReadWithoutBeingChanged(version: Int) throws {
    let export = try copy(version: version)
    let before = try folder.bytes()
    let session = try folder.session(isReadOnly: true)
    #expect(try session.export() == export)
    try session.close()
    #expect(try folder.bytes() == before)
  }

  @Test func aNewFileHasTheTablesOfOneThatWasBroughtToThisVersion() throws {
    _ = try copy(version: 1)
    try folder.session().close()
    try folder.session("new.db").close()
    let sql = """
      SELECT group_concat(line, char(10)) FROM
        (SELECT type || ' ' || name || ' ' || ifnull(sql, '') AS line FROM sqlite_master
         ORDER BY type, name)
      """
    let migrated = try FileInspector(folder.file()).text(sql)
    #expect(migrated?.contains("TABLE meta") == true)
    let new = try FileInspector(folder.file("new.db"))
    #expect(try new.text(sql) == migrated)
    #expect(try new.number("PRAGMA user_version") == Schema.version)
  }

  @Test(arguments: [1, 2])
  func aDatabaseHasAnIDFromWhenItIsMadeOrBroughtToVersion3(version: Int) throws {
    _ = try copy(version: version)
    let reading = try folder.session(isReadOnly: true)
    #expect(try reading.databaseID() == nil)
    try reading.close()
    let migrated = try folder.session()
    let id = try #require(try migrated.databaseID())
    #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    let new = try folder.session("new.db")
    #expect(try new.databaseID() != id)
    for session in [migrated, new] { try session.close() }
    let again = try folder.session()
    #expect(try again.databaseID() == id)
    try again.close()
    #expect(try DatabaseCare.check(file: folder.file()).databaseID == id)
  }

  @Test func theHistoryOfVersion2IsKept() throws {
    _ = try copy(version: 2)
    let session = try folder.session()
    let entries = try session.history()
    #expect(entries.map(\.id) == [4, 3, 2])
    #expect(entries.first?.undoes == 3)
  }

  @Test func aStepThatFailsLeavesTheVersionBeforeIt() throws {
    _ = try copy(version: 1)
    let failing = Migration(version: 4, isReadableWithout: true) { db in
      try db.execute(sql: "CREATE TABLE half (a)")
      try db.execute(sql: "INSERT INTO absent VALUES (1)")
    }
    let queue = try DatabaseQueue(path: folder.file())
    #expect(throws: GRDB.DatabaseError.self) {
      try Schema.migrate(queue, by: [.version2, .version3, failing])
    }
    try queue.close()
    #expect(try version() == 3)
    let tables = try FileInspector(folder.file())
      .number("SELECT count(*) FROM sqlite_master WHERE name = 'half'")
    #expect(tables == 0)
  }

  @Test func aStepIsTakenOnce() throws {
    _ = try copy(version: 1)
    let queue = try DatabaseQueue(path: folder.file())
    for _ in 0..<2 { try Schema.migrate(queue) }
    try queue.close()
    #expect(try version() == Schema.version)
  }

  @Test func readingSaysWhatToDoWhereAStepIsNeededForIt() throws {
    let needed = Migration(version: 3, isReadableWithout: false) { _ in }
    let optional = Migration(version: 2, isReadableWithout: true) { _ in }
    try SQLiteStore.checkReadable(version: 3, file: "x.db", by: [optional, needed])
    try SQLiteStore.checkReadable(version: 1, file: "x.db", by: [optional])
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
      try SQLiteStore.checkReadable(version: 2, file: "x.db", by: [optional, needed])
    }
    #expect(error?.code == .olderVersion)
    #expect(error?.remedy == .convert)
  }

  @Test(arguments: [false, true])
  func aFileThatANewerProgramChangedMeanwhileIsNeitherReadNorWritten(isReadOnly: Bool) throws {
    try folder.session().close()
    let session = try folder.session(isReadOnly: isReadOnly)
    try FileEditor.execute("PRAGMA user_version = 99", in: folder.file())
    #expect(throws: RunnelDatabase.DatabaseError.self) { try session.node(at: .root) }
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) { try session.set("/a", "1") }
    #expect(error?.code == (isReadOnly ? .readOnly : .newerVersion))
  }

  @Test func manyWhoOpenAnOldFileAtOnceAllSucceed() async throws {
    let file = folder.file()
    let export = try copy(version: 1)
    try await withThrowingTaskGroup { group in
      for seed in 0..<6 as Range<UInt64> {
        group.addTask {
          let session = try DatabaseSession(
            file: file,
            environment: DatabaseEnvironment(now: { 0 }, random: SystemRandomNumberGenerator()))
          #expect(try session.export() == export, "\(seed)")
          try session.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try version() == Schema.version)
  }
}
