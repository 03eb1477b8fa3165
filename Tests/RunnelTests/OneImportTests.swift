import Foundation
import GRDB
import Runnel
import Testing

/// What a program gets by `import Runnel`, beside Foundation and GRDB in one file.
@Suite struct OneImportTests {
  private struct Player: Codable, Equatable, Sendable {
    var name: String
    var score: Int
  }

  private func temporaryFile() -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
  }

  @Test func everyTypeHasANameThatIsFreeOfDoubt() async throws {
    let file = temporaryFile()
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
    }
    let database: TreeDatabase = try await TreeDatabase.open(file: file)
    defer { database.close() }
    let predicate: ChildPredicate = try ChildPredicate(parsing: "score >= 3")
    let players = try database.reference(withPath: "players")
    try await players.child("ana").setValue(Player(name: "Ana", score: 3))
    try await players.child("bo").setValue(Player(name: "Bo", score: 1))
    let found = try await players.queryFiltered(by: predicate).get()
    #expect(found.children.map(\.key) == ["ana"])
    let place = ListIndexPath(section: 0, row: 1)
    #expect(IndexPath(indexes: [place.section, place.row]).count == 2)
    let record: TreeRecord.Type = TreeRecord.self
    #expect(record.id(of: try Path("players/ana")) == "/players/ana")
    do {
      _ = try await TreeDatabase.open(file: "/nowhere/at/all.db")
      Issue.record("It must not open.")
    } catch let error as TreeDatabaseError {
      #expect(error.code == .cannotOpen)
    }
    #expect(try await DatabaseQueue().read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
  }

  @Test func streamIsReadBySectionsAndRows() async throws {
    let stream = TransientStream<TreeRecord>()
    stream.put(
      TreeRecord(
        TreeRow(Child(key: try Key("a"), node: Node(.bool(true))), index: .key, detail: .full),
        in: try Path("m")))
    #expect(stream.count == 1)
    #expect(stream[0].count == 1)
    #expect(stream[0][0].key == "a")
    #expect(stream[ListIndexPath(section: 0, row: 0)].key == "a")
  }
}
