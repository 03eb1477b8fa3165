import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// Writes that name a record by the key that it had before the origin gave it another one.
@Suite struct MovedRecordTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let old: Path

  init() throws {
    folder = try TemporaryFolder()
    session = try DatabaseSession(file: folder.file(), environment: .system)
    _ = try session.write(.set(Path("/n"), ["7": ["text": "new", "id": 7]]))
    old = try Path("/n/a")
    session.moves.note([old: try Path("/n/7")])
  }

  private func stored() throws -> JSONValue { try session.node(at: Path("/n")).json }

  @Test func fieldsAreWrittenWhereTheRecordIs() throws {
    _ = try session.write(.set(old.appending(Path("x")), 1))
    _ = try session.write(.update(old, [JSONMember("y", 2), JSONMember("text", .null)]))
    _ = try session.write(.update(Path("/n"), [JSONMember("a/z", 3), JSONMember("b/z", 4)]))
    #expect(try stored() == ["7": ["id": 7, "x": 1, "y": 2, "z": 3], "b": ["z": 4]])
  }

  @Test func conditionsAreThoseOfTheRecord() throws {
    let text = try old.appending(Path("text"))
    let update = Write.update(old, [JSONMember("text", "newer"), JSONMember("x", 1)])
    let absent = WriteCondition(try old.appending(Path("x")), .null)
    #expect(throws: DatabaseError.self) {
      try session.write(update, if: [WriteCondition(text, "other"), absent])
    }
    _ = try session.write(update, if: [WriteCondition(text, "new"), absent])
    #expect(try stored() == ["7": ["id": 7, "text": "newer", "x": 1]])
    // Who expects a record replaces it.
    let whole: JSONValue = ["id": 7, "text": "newer", "x": 1]
    _ = try session.write(.set(old, ["text": "all"]), if: [WriteCondition(old, whole)])
    #expect(try stored() == ["7": ["text": "all"]])
  }

  @Test func deletionIsThatOfTheRecord() throws {
    _ = try session.write(.update(Path("/n"), [JSONMember("a", .null)]))
    #expect(try stored() == .null)
  }

  @Test func whatIsMadeAnewIsAnotherRecord() throws {
    _ = try session.write(.set(old, ["text": "again"]), if: [WriteCondition(old, .null)])
    _ = try session.write(.set(old.appending(Path("x")), 1))
    _ = try session.write(.update(Path("/n"), [JSONMember("a/y", 2)]))
    #expect(
      try stored() == ["7": ["id": 7, "text": "new"], "a": ["text": "again", "x": 1, "y": 2]])
  }
}
