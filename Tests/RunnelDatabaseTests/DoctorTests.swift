import Foundation
import GRDB
import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// The doctor finds what is wrong in a file, mends what follows from the data, and guesses nothing.
@Suite struct DoctorTests {
  private typealias Remedy = DatabaseFault.Remedy
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Makes a database with split nodes in three levels, priorities and indexes; returns its export.
  private func makeDatabase() throws -> String {
    let session = try folder.session()
    try session.declareIndexes([
      IndexDefinition(pattern: "/l", child: .root),
      IndexDefinition(pattern: "/m/$x", child: Path("a")),
    ])
    let people = (0..<70).map {
      #""p\#($0)":{"a":\#($0 % 9),"t":"\#(String(repeating: "x", count: 90))",".priority":\#($0 % 5)}"#
    }
    try session.set(
      "/", #"{"l":\#(largeObject(90)),"m":{"n":{\#(people.joined(separator: ","))}},"o":1}"#)
    try session.set("/m/n/p3/a", "77")
    let export = try session.export()
    try session.close()
    return export
  }

  private func check() throws -> DatabaseReport { try DatabaseCare.check(file: folder.file()) }

  @Test func aSoundFileHasNoFaultsAndIsNotChanged() throws {
    _ = try makeDatabase()
    let before = try folder.bytes()
    let report = try check()
    #expect(report.faults == [])
    #expect(report.isSound)
    #expect(report.version == Schema.version)
    #expect(report.rowCount == 1 + 3 + 90 + 1 + 70)
    #expect(report.entryCount == 70 + 90 + 70)
    #expect(try folder.bytes() == before)
    #expect(try DatabaseCare.repair(file: folder.file()).after == nil)
  }

  @Test(arguments: Seeds.first(8))
  func whateverIsWrittenIsSound(seed: UInt64) throws {
    var tree = RandomTree(seed: seed)
    let session = try folder.session()
    try session.declareIndexes([
      IndexDefinition(pattern: "/", child: Path("a")),
      IndexDefinition(pattern: "/$x/$y", child: Path("b/1")),
    ])
    for _ in 0..<25 { _ = try? session.write(try tree.write()) }
    #expect(try check().faults == [], "seed \(seed)")
    #expect(try FileInspector(folder.file()).report().faults == [], "seed \(seed)")
  }

  // MARK: What a repair mends

  @Test(arguments: [
    "DELETE FROM index_entry WHERE key = (SELECT min(key) FROM index_entry)",
    "DELETE FROM index_entry", "DELETE FROM priority_entry",
    "UPDATE index_entry SET value = x'00' WHERE definition = 2",
    "UPDATE index_entry SET value = 'text' WHERE definition = 1",
    "UPDATE priority_entry SET parent = parent + 50",
    "UPDATE index_entry SET definition = 9 WHERE definition = 1",
    "INSERT INTO index_entry VALUES (2, 1, x'05', x'02414100')",
    "INSERT INTO priority_entry VALUES (99, x'05', x'02414100')",
    "INSERT INTO index_entry SELECT parent, 2, value, key FROM index_entry WHERE definition = 1",
  ])
  func entriesAreMadeAnew(sql: String) throws {
    try expectMended(sql, .reindex)
  }

  @Test(arguments: [
    "UPDATE split SET children = children + 1", "UPDATE split SET children = 'many'",
    "UPDATE split SET children = -1 WHERE id = 2", "UPDATE split SET children = x'00'",
  ])
  func childrenAreCountedAnew(sql: String) throws {
    try expectMended(sql, .recount)
  }

  @Test(arguments: [
    "UPDATE change SET paths = 'x'", #"UPDATE change SET paths = '["a.b"]' WHERE sequence = 1"#,
    "UPDATE change SET sequence = sequence + 5 WHERE sequence = 2",
  ])
  func theFeedBeginsAnew(sql: String) throws {
    try expectMended(sql, .restartFeed)
  }

  @Test(arguments: [
    "UPDATE index_definition SET child = 'a.b'", "UPDATE index_definition SET pattern = x'00'",
  ])
  func definitionsThatCannotBeReadAreDropped(sql: String) throws {
    try expectMended(sql, .undeclare, ["WHERE id = 2", ""])
  }

  @Test(arguments: [
    "DELETE FROM meta WHERE name = 'database.id'",
    "UPDATE meta SET value = 'x' WHERE name = 'database.id'",
    "UPDATE meta SET value = 7 WHERE name = 'database.id'",
  ])
  func anIDThatIsGoneIsMadeAnew(sql: String) throws {
    try expectMended(sql, .newID)
    #expect(try check().databaseID?.utf8.count == 32)
  }

  /// Damages a file, and expects one kind of fault that a repair mends with the data as it was.
  private func expectMended(
    _ sql: String, _ remedy: DatabaseFault.Remedy, _ suffixes: [String] = [""]
  ) throws {
    for suffix in suffixes {
      try? FileManager.default.removeItem(atPath: folder.file())
      let export = try makeDatabase()
      try FileEditor.execute(sql + " " + suffix, in: folder.file())
      let found = try check()
      #expect(found.faults.contains { $0.remedy == remedy }, "\(found.faults)")
      #expect(found.faults.allSatisfy { $0.remedy != .none }, "\(found.faults)")
      let repair = try DatabaseCare.repair(file: folder.file())
      #expect(repair.before.faults == found.faults)
      #expect(repair.after?.faults == [])
      #expect(try FileInspector(folder.file()).report().faults == [])
      #expect(try check().isSound)
      #expect(try folder.session().export() == export)
    }
  }

  // MARK: What it leaves

  @Test(arguments: [
    ("DROP TABLE change", "table change"), ("DROP TABLE meta", "table meta"),
  ])
  func dataIsNeverGuessed(sql: String, place: String) throws {
    _ = try makeDatabase()
    try FileEditor.execute(sql, in: folder.file())
    let found = try check()
    #expect(
      found.faults.contains { $0.place == place && $0.remedy == .none }, "\(found.faults)")
    let rows = try rows()
    let repair = try DatabaseCare.repair(file: folder.file())
    #expect(try self.rows() == rows)
    if let after = repair.after { #expect(after.repairableCount == 0) }
    let left = try check()
    #expect(!left.isSound && left.repairableCount == 0)
    #expect(left.faults.contains { $0.place == place }, "\(left.faults)")
    #expect(try DatabaseCare.repair(file: folder.file()).after == nil)
  }

  /// All data of the file, as SQLite tells it.
  private func rows() throws -> String? {
    try FileInspector(folder.file()).text(
      """
      SELECT group_concat(quote(parent) || quote(key) || quote(json) || quote(split)) FROM
        (SELECT * FROM node ORDER BY parent, key)
      """)
  }

  // MARK: Damaged pages

  @Test func aPageThatWasOverwrittenIsAlwaysTold() throws {
    _ = try makeDatabase()
    let good = try folder.bytes()
    for page in stride(from: 0, to: good.count, by: 4096) {
      for harm in [{ (byte: UInt8) in ~byte }, { _ in 0 }, { $0 ^ 0x10 }] {
        var bad = good
        for offset in page..<page + 4096 { bad[offset] = harm(bad[offset]) }
        try folder.write(bad)
        #expect(isTold(), "page \(page / 4096)")
        removeCompanions()
      }
    }
  }

  /// The half of a page that was not written before the power went.
  @Test func aTornPageIsToldOrHoldsWhatItHeld() throws {
    let export = try makeDatabase()
    let good = try folder.bytes()
    for page in stride(from: 0, to: good.count, by: 4096) {
      for range in [page..<page + 512, page + 512..<page + 4096] {
        var bad = good
        bad.resetBytes(in: range)
        try folder.write(bad)
        if !isTold() { #expect(try folder.session(isReadOnly: true).export() == export) }
        removeCompanions()
      }
    }
  }

  private func isTold() -> Bool { (try? check().isSound) != true }

  private func removeCompanions() {
    for name in ["test.db-wal", "test.db-shm", "test.db-notify"] {
      // It may not be there.
      try? FileManager.default.removeItem(atPath: folder.file(name))
    }
  }

  @Test func whatSQLiteFindsDamagedIsNotWritten() throws {
    _ = try makeDatabase()
    var bad = try folder.bytes()
    for offset in 4096 * 9..<4096 * 10 { bad[offset] = 0xFF }
    try folder.write(bad)
    let repair = try DatabaseCare.repair(file: folder.file())
    #expect(!repair.before.isComplete && !repair.before.isSound)
    #expect(repair.after == nil)
  }

  // MARK: Beside others

  @Test func aRepairIsToldToOpenSessions() throws {
    _ = try makeDatabase()
    let session = try folder.session()
    let query = try Query(Path("l")).ordered(by: .value).limited(to: 1, from: .first)
    _ = try session.listen(ListenerID(1), ListenRequest(query: query, events: .all))
    try FileEditor.execute(
      "UPDATE index_entry SET value = x'00' WHERE definition = 1", in: folder.file())
    try FileEditor.execute(
      "DELETE FROM index_entry WHERE key = (SELECT key FROM node WHERE parent = 2 LIMIT 1)",
      in: folder.file())
    _ = try DatabaseCare.repair(file: folder.file())
    #expect(try session.catchUp().isEmpty)
    try session.set("/l/a", #""a""#)
    #expect(try session.rows(query).map(\.key.text) == ["a"])
    #expect(try check().isSound)
  }

  @Test func aRepairWaitsForAWriterAndThenSaysSo() throws {
    _ = try makeDatabase()
    try FileEditor.whileLocked(folder.file()) {
      let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
        try DatabaseCare.repair(file: folder.file(), busyTimeout: .milliseconds(20))
      }
      #expect(error?.code == .locked)
      let isSound = try check().isSound
      #expect(isSound)
    }
  }

  @Test func workThatIsStoppedChangesNothing() throws {
    let session = try folder.session()
    try session.importJSON(largeObject(12_000))
    try session.close()
    try FileEditor.execute("UPDATE split SET children = 5", in: folder.file())
    let before = try folder.bytes()
    for stop in ["structure", "rows", "making entries"] {
      let error = #expect(throws: RunnelDatabase.DatabaseError.self) {
        try DatabaseCare.repair(file: folder.file()) { step, _ in step != stop }
      }
      #expect(error?.code == .cancelled, "\(stop)")
    }
    #expect(try folder.bytes() == before)
  }

  @Test func anOlderFileIsCheckedAsItIsAndBroughtToThisVersionByARepair() throws {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/version1.sqlite")
    try folder.write(Data(contentsOf: fixture))
    let report = try check()
    #expect(report.faults == [])
    #expect(report.version == 1)
    #expect(try DatabaseCare.repair(file: folder.file()).before.version == Schema.version)
  }

  @Test func aFileOfAnotherApplicationIsRefused() throws {
    try FileEditor.execute("CREATE TABLE t (a)", in: folder.file())
    let error = #expect(throws: RunnelDatabase.DatabaseError.self) { try check() }
    #expect(error?.code == .notRunnel)
  }
}
