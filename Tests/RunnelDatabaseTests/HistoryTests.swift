import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// The log of writes, and undoing them.
@Suite struct HistoryTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  private func set(_ path: String, _ json: JSONValue) throws {
    _ = try session.write(.set(Path(path), json))
  }

  private func stored(_ path: String) throws -> JSONValue {
    try session.node(at: Path(path)).exportJSON
  }

  @Test func eachWriteIsKeptWithWhatStoodBefore() throws {
    try set("/a", 1)
    try set("/a", ["b": 2])
    let entries = try session.history()
    #expect(entries.map(\.id) == [2, 1])
    #expect(entries[0].at == 1_700_000_000_000)
    #expect(entries[0].parts.map(\.path) == [try Path("/a")])
    #expect(entries[0].parts[0].values == .init(old: 1, new: ["b": 2]))
    #expect(entries[1].parts[0].values == .init(old: nil, new: 1))
  }

  /// Else an undo would undo the write before the one that was meant.
  @Test func aWriteThatChangesNothingIsNoEntry() throws {
    try set("/a", ["b": 1])
    try set("/a", ["b": 1])
    try set("/a/b", 1)
    _ = try session.write(.update(Path("/a"), [JSONMember("b", 1)]))
    _ = try session.write(.remove(Path("/none/there")))
    _ = try session.write(.remove(Path("/a/b/c")))
    #expect(try session.history().map(\.id) == [1])
    _ = try session.write(.update(Path("/a"), [JSONMember("b", 1), JSONMember("c", 2)]))
    let newest = try #require(try session.history(count: 1).first)
    #expect(newest.parts.map(\.path.description) == ["/a/c"])
    _ = try session.undo(newest.id)
    #expect(try stored("/a") == ["b": 1])
  }

  @Test func entriesOfAPlaceAreThoseAtItAboveItAndBelowIt() throws {
    try set("/a/b/c", 1)
    try set("/a/x", 2)
    try set("/a", ["b": 3])
    #expect(try session.history(of: Path("/a/b")).map(\.id) == [3, 1])
    #expect(try session.history(of: Path("/z")).isEmpty)
    #expect(try session.history(of: Path("/a"), before: 3, count: 1).map(\.id) == [2])
  }

  @Test func undoPutsBackWhatStoodBeforeAndTellsListeners() throws {
    try set("/list", ["a": 1])
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(Path("/list"))))
    try set("/list/b", 2)
    let deliveries = try session.undo(2)
    #expect(deliveries.count == 1)
    #expect(try stored("/list") == ["a": 1])
    let newest = try #require(try session.history(count: 1).first)
    #expect(newest.undoes == 2)
    _ = try session.undo(newest.id)
    #expect(try stored("/list") == ["a": 1, "b": 2])
  }

  /// A service gives a new record its id, and with it another key.
  @Test func undoFollowsARecordToItsNewKey() throws {
    try set("/tools/-new", ["name": "saw", "size": ["x": 1]])
    try set("/tools/-new/name", "axe")
    _ = try session.write(
      .update(
        .root,
        [
          JSONMember("tools/-new", .null),
          JSONMember("tools/7", ["id": 7, "name": "axe", "size": ["x": 1, "y": 2]]),
        ]))
    #expect(throws: DatabaseError.self) { try session.undo(2) }
    session.moves.note([try Path("/tools/-new"): try Path("/tools/7")])
    // What was written has changed since.
    #expect(throws: DatabaseError.self) { try session.undo(1) }
    _ = try session.undo(2)
    #expect(try stored("/tools/7/name") == "saw")
    // Fields that the server has added do not count.
    _ = try session.undo(1)
    #expect(try stored("/tools") == .null)
    // It can be done again, where the record was.
    let newest = try #require(try session.history(count: 1).first)
    #expect(newest.undoes == 1)
    _ = try session.undo(newest.id)
    #expect(try stored("/tools/7/id") == 7)
  }

  @Test func removalOfAMovedRecordIsUndoneWhereItWas() throws {
    try set("/tools/-new", ["name": "saw"])
    try set("/tools/-new", .null)
    session.moves.note([try Path("/tools/-new"): try Path("/tools/7")])
    _ = try session.undo(2)
    #expect(try stored("/tools") == ["-new": ["name": "saw"]])
  }

  @Test func undoOfAnUpdatePutsBackAllItsPlaces() throws {
    try set("/", ["a": ["x": 1, ".priority": 5], "b": 2])
    _ = try session.write(
      .update(
        .root,
        [
          JSONMember("a/x", 9), JSONMember("b", nil), JSONMember("c", true),
          JSONMember("a/.priority", "high"),
        ]))
    #expect(try stored("/") == ["a": ["x": 9, ".priority": "high"], "c": true])
    _ = try session.undo(2)
    #expect(try stored("/") == ["a": ["x": 1, ".priority": 5], "b": 2])
  }

  @Test func undoOfTheWholeTreeIsPossible() throws {
    try set("/a", 1)
    try set("/", ["z": 1])
    _ = try session.undo(2)
    #expect(try stored("/") == ["a": 1])
  }

  @Test func whatWasWrittenSinceIsNotUndone() throws {
    try set("/a", ["x": 1])
    try set("/a/x", 2)
    #expect(throws: DatabaseError.self) { try session.undo(1) }
    #expect(try stored("/a") == ["x": 2])
    #expect(try session.history().count == 2)
  }

  /// Whatever values stand there: what was undone has no result that could stand.
  @Test func aWriteIsUndoneOnceUnlessTheUndoingIsUndone() throws {
    func refusal(_ id: Int64) -> String? {
      #expect(throws: DatabaseError.self) { try session.undo(id) }?.message
    }
    try set("/a", 1)
    try set("/a", .null)
    _ = try session.undo(2)
    #expect(refusal(2)?.contains("Write 2 was already undone by write 3") == true)
    try set("/a", 2)
    try set("/a", .null)
    #expect(refusal(2)?.contains("Write 2 was already undone by write 3") == true)
    _ = try session.undo(5)
    _ = try session.undo(4)
    _ = try session.undo(3)
    #expect(try stored("/a") == .null)
    #expect(refusal(3)?.contains("Write 3 was already undone by write 8") == true)
    _ = try session.undo(2)
    #expect(try stored("/a") == 1)
    #expect(refusal(2)?.contains("Write 2 was already undone by write 9") == true)
  }

  @Test func whatOthersWroteBetweenDoesNotMatterIfTheResultStands() throws {
    for number in [1, 2, 3, 2] as [JSONValue] { try set("/a", number) }
    _ = try session.undo(2)
    #expect(try stored("/a") == 1)
  }

  @Test func whatIsNotRememberedIsNotUndone() throws {
    #expect(throws: DatabaseError.self) { try session.undo(7) }
  }

  @Test func aValueTooLargeIsNotKept() throws {
    let text = String(repeating: "x", count: History.valueBytesMax - 2)
    try set("/fits", .string(text))
    try set("/large", .string(text + "x"))
    try set("/large", .string(text + "y"))
    let entries = try session.history()
    #expect(entries.map(\.isUndoable) == [false, true, true])
    let error = #expect(throws: DatabaseError.self) { try session.undo(3) }
    #expect(error?.message.contains("or was written there, is too large to keep") == true)
    _ = try session.undo(1)
    #expect(try stored("/fits") == .null)
  }

  @Test func aLargeValueThatCameInPlaceOfASmallOneIsTakenBack() throws {
    let large = JSONValue.string(String(repeating: "x", count: History.valueBytesMax))
    try set("/a", 1)
    try set("/a", large)
    try set("/b", large)
    _ = try session.undo(3)
    #expect(try stored("/b") == .null)
    _ = try session.undo(2)
    #expect(try stored("/a") == 1)
    try set("/a", large)
    try set("/a/b", 2)
    #expect(throws: DatabaseError.self, "somebody wrote there since") { try session.undo(6) }
  }

  @Test func theOldestEntriesGo() throws {
    try session.setHistoryLimit(3)
    for number in 1...5 { try set("/a", .number(JSONNumber(Int64(number)))) }
    #expect(try session.history().map(\.id) == [5, 4, 3])
    try session.setHistoryLimit(1)
    #expect(try session.history().map(\.id) == [5])
  }

  @Test func whatIsNotShownAnyMoreIsDeletedSoon() throws {
    try session.setHistoryLimit(3)
    let slack = Int64(Schema.changeSlack(historyLimit: 3))
    for number in 0..<(2 * slack + 5) {
      try set("/a", .number(JSONNumber(number)))
    }
    let count = try session.read { transaction in
      try transaction.statement("SELECT count(*) FROM change WHERE at IS NOT NULL")
        .first { try $0.integer(0, "n") }
    }
    #expect(try #require(count ?? nil) <= 3 + slack)
    let newest = try #require(try session.history().first).id
    #expect(try session.history().map(\.id) == [newest, newest - 1, newest - 2])
    #expect(throws: DatabaseError.self) { try session.undo(newest - 3) }
  }

  @Test func aLimitSetByAnotherSessionHolds() throws {
    try set("/a", 1)
    let other = try folder.session()
    try other.setHistoryLimit(0)
    try set("/a", 2)
    #expect(try session.history().isEmpty)
    try other.setHistoryLimit(2)
    try set("/a", 3)
    #expect(try other.history().count == 1)
  }

  @Test func anImportIsNoEntryAndTakesANumber() throws {
    _ = try Array(#"{"a":1}"#.utf8).withUnsafeBufferPointer {
      try session.importJSON($0, at: .root)
    }
    try set("/a", 2)
    #expect(try session.history().map(\.id) == [2])
    #expect(throws: DatabaseError.self) { try session.undo(1) }
  }

  @Test func aHistoryThatIsOffIsNotWritten() throws {
    try set("/a", 1)
    try session.setHistoryLimit(0)
    #expect(try session.history().isEmpty)
    try set("/a", 2)
    #expect(try session.history().isEmpty)
  }

  @Test func otherSessionsSeeTheSameHistory() throws {
    let other = try folder.session()
    try set("/a", 1)
    #expect(try other.history().map(\.id) == [1])
    _ = try other.undo(1)
    #expect(try stored("/a") == .null)
  }

  @Test func aRefusedWriteLeavesNoEntry() throws {
    #expect(throws: DatabaseError.self) {
      try session.write(.update(.root, [JSONMember("a", 1), JSONMember("a/b", 2)]))
    }
    #expect(try session.history().isEmpty)
  }

  /// Undoing every write, newest first, leads back through every state.
  @Test(arguments: Seeds.first(6))
  func undoingAllLeadsBack(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var states: [(before: Node, entry: Int64)] = []
    while states.count < 15 {
      let before = try session.node(at: .root)
      guard (try? session.write(random.write())) != nil else { continue }
      // A write of nothing is no entry.
      let newest = try session.history(count: 1).first?.id
      if let newest, newest != states.last?.entry { states.append((before, newest)) }
    }
    let entries = try session.history(count: states.count)
    #expect(entries.map(\.id) == states.map(\.entry).reversed())
    for (state, entry) in zip(states.reversed(), entries) {
      // What is too large ends the way back.
      guard entry.isUndoable else { return }
      _ = try session.undo(entry.id)
      try #require(try session.node(at: .root) == state.before, "seed \(seed), write \(entry.id)")
    }
  }
}
