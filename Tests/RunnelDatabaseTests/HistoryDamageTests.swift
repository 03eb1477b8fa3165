import GRDB
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Damaged entries of the history.
@Suite struct HistoryDamageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes values to `/a`, one after the other, and closes the database.
  private func write(_ values: JSONValue...) throws {
    let session = try folder.session()
    for value in values { _ = try session.write(.set(Path("/a"), value)) }
    try session.close()
  }

  @Test(arguments: [
    "UPDATE change SET parts = replace(parts, 'text 5', 'text 7') WHERE sequence = 1",
    "UPDATE change SET author = author || 'x' WHERE sequence = 1",
    "UPDATE change SET at = at + 1 WHERE sequence = 1",
    "UPDATE change SET undoes = 0 WHERE sequence = 1",
  ])
  func damagedEntryIsNeitherShownNorUndone(sql: String) throws {
    try write("text 5", "text 6")
    let queue = try DatabaseQueue(path: folder.file())
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
    #expect(try !DatabaseCare.check(file: folder.file()).isSound)
    let session = try folder.session()
    #expect(throws: RunnelDatabase.DatabaseError.self) { try session.history() }
    #expect(throws: RunnelDatabase.DatabaseError.self) { try session.undo(1) }
    #expect(try session.node(at: Path("/a")).json == "text 6")
    try session.close()
  }

  @Test(arguments: [
    "UPDATE change SET parts = replace(parts, 'text 5', 'text 7') WHERE sequence = 1",
    "UPDATE change SET parts = '[1]' WHERE sequence = 1",
    "UPDATE change SET parts = x'ff00' WHERE sequence = 1",
    "UPDATE change SET at = NULL WHERE sequence = 1",
    "UPDATE change SET at = NULL, author = 7, parts = NULL WHERE sequence = 1",
  ])
  func repairMovesADamagedEntryOutOfTheHistory(sql: String) throws {
    try write("text 5", "text 6")
    let queue = try DatabaseQueue(path: folder.file())
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
    let repair = try DatabaseCare.repair(file: folder.file())
    #expect(repair.before.recoverableCount == 1)
    #expect(repair.after?.isSound == true)
    #expect(repair.recovered.map(\.place) == ["entry 1 of the history"])
    let session = try folder.session()
    #expect(try session.history().map(\.id) == [2])
    let row = try session.node(at: Path("/recovered/repair-1/row-1"))
    #expect(row.json["place"] == "entry 1 of the history")
    #expect(row.json["why"] != nil)
    _ = try session.undo(2)
    #expect(try session.node(at: Path("/a")).json == "text 5")
    try session.close()
  }

  @Test(arguments: [
    ("sequence = 2", "2"), ("sequence IN (2, 3)", "2 to 3"), ("sequence < 3", "1 to 2"),
    ("sequence > 3", "4 to 5"),
  ])
  func aHistoryThatLostEntriesIsNoShorterHistory(rows: String, missing: String) throws {
    // The log is begun by the first of these, and by the last.
    try write(1, 2, 3, 4, 5)
    try write(6)
    try FileEditor.execute("DELETE FROM change WHERE \(rows)", in: folder.file())
    #expect(try !DatabaseCare.check(file: folder.file()).isSound)
    let session = try folder.session()
    for read in [
      { _ = try session.history() }, { _ = try session.newestUndoable() },
      { try session.saveCopy(to: self.folder.file("copy.db"), asOf: 1_800_000_000_000) },
    ] {
      let error = #expect(throws: RunnelDatabase.DatabaseError.self) { try read() }
      #expect(error?.code == .corrupt)
      let message = error?.message ?? ""
      #expect(message.contains("\(missing) is missing"), "\(message)")
      #expect(error?.remedy == .repair(file: folder.file()), "\(message)")
    }
    try session.close()
    #expect(try DatabaseCare.repair(file: folder.file()).after?.isSound == true)
    let mended = try folder.session()
    #expect(try !mended.history().isEmpty)
    #expect(try mended.node(at: Path("/a")).json == 6)
    try mended.close()
  }

  @Test func entryOfAnOlderProgramHasNoChecksumAndIsRead() throws {
    try write(1)
    let queue = try DatabaseQueue(path: folder.file())
    try queue.write {
      try $0.execute(
        sql: #"UPDATE change SET parts = '[{"path":"/a","old":null,"new":1}]' WHERE sequence = 1"#)
    }
    try queue.close()
    let session = try folder.session()
    #expect(try session.history().first?.parts.first?.values == .init(old: nil, new: 1))
    _ = try session.undo(1)
    #expect(try session.node(at: Path("/a")).isEmpty)
    try session.close()
  }
}
