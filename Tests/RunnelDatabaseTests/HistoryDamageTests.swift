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
