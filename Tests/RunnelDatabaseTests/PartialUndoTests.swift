import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Undoing a write of many records where others have changed some of them since.
@Suite struct PartialUndoTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    try set("/list", ["a": ["x": 1], "b": ["x": 2], "c": ["x": 3]])
  }

  private func set(_ path: String, _ json: JSONValue) throws {
    _ = try session.write(.set(Path(path), json))
  }

  /// Writes places below the list, and returns the number of the write.
  private func update(_ members: [JSONMember]) throws -> Int64 {
    _ = try session.write(.update(Path("/list"), members))
    return try #require(try session.history(count: 1).first).id
  }

  private func stored(_ path: String = "/list") throws -> JSONValue {
    try session.node(at: Path(path)).exportJSON
  }

  private func newest() throws -> Int64 {
    try #require(try session.history(count: 1).first).id
  }

  private func setAll() throws -> Int64 {
    try update(["a", "b", "c"].map { JSONMember("\($0)/x", 9) })
  }

  @Test func whatOthersChangedStaysAndTheRestIsUndoneAndRedone() throws {
    let id = try setAll()
    try set("/list/b/x", 5)
    #expect(throws: DatabaseError.self) { try session.undo(id) }
    #expect(try session.partialUndo(of: id)?.names == "b")
    let partial = try #require(try session.undoWhatStands(id).partial)
    #expect(partial.names == "b")
    #expect(partial.doneCount == 2)
    #expect(partial.count == 3)
    #expect(try stored() == ["a": ["x": 1], "b": ["x": 5], "c": ["x": 3]])
    let undoing = try newest()
    #expect(try session.history(count: 1).first?.undoes == id)
    let again = #expect(throws: DatabaseError.self) { try session.undoWhatStands(id) }
    #expect(again?.message.contains("already undone by write \(undoing)") == true)
    #expect(try session.undoWhatStands(undoing).partial == nil)
    #expect(try stored() == ["a": ["x": 9], "b": ["x": 5], "c": ["x": 9]])
  }

  @Test func anUndoingIsUndoneInPartToo() throws {
    let id = try setAll()
    _ = try session.undo(id)
    let undoing = try newest()
    try set("/list/c", .null)
    #expect(try session.undoWhatStands(undoing).partial?.names == "c")
    #expect(try stored() == ["a": ["x": 9], "b": ["x": 9]])
  }

  @Test func removedRecordsComeBackWhereOthersMadeNoneSince() throws {
    let id = try update(["a", "b"].map { JSONMember($0, .null) })
    try set("/list/a", ["x": 7])
    #expect(try session.undoWhatStands(id).partial?.names == "a")
    #expect(try stored() == ["a": ["x": 7], "b": ["x": 2], "c": ["x": 3]])
  }

  /// Half of it would lose or double a record.
  @Test func aMoveIsUndoneAsAWholeOrNotAtAll() throws {
    _ = try session.write(.move(from: Path("/list/a"), to: Path("/list/d")))
    let id = try newest()
    try set("/list/d/x", 7)
    let before = try stored()
    #expect(throws: DatabaseError.self) { try session.undoWhatStands(id) }
    #expect(try session.partialUndo(of: id) == nil)
    #expect(try stored() == before)
  }

  /// Half of it would lose a value.
  @Test func anExchangeIsUndoneAsAWholeOrNotAtAll() throws {
    let id = try update([JSONMember("a/x", 2), JSONMember("b/x", 1)])
    try set("/list/b/x", 5)
    #expect(throws: DatabaseError.self) { try session.undoWhatStands(id) }
    #expect(try stored() == ["a": ["x": 2], "b": ["x": 5], "c": ["x": 3]])
  }

  @Test func aWriteOfDifferentFieldsIsUndoneAsAWholeOrNotAtAll() throws {
    let id = try update([JSONMember("a/x", 9), JSONMember("b/y", 9)])
    try set("/list/b/y", 5)
    #expect(throws: DatabaseError.self) { try session.undoWhatStands(id) }
    #expect(try stored("/list/a/x") == 9)
  }

  @Test func whereOthersChangedAllNothingIsUndone() throws {
    let id = try setAll()
    for key in ["a", "b", "c"] { try set("/list/\(key)/x", 5) }
    let error = #expect(throws: DatabaseError.self) { try session.undoWhatStands(id) }
    #expect(error?.message.contains("was written since") == true)
  }
}
