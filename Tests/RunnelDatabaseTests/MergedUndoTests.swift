import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// The undo of writes that waited for the origin, and replaced what others wrote meanwhile.
@Suite struct MergedUndoTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let place: Path

  /// A record is known here; the connection has ended.
  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    place = try Path("/st03")
    try session.becomeReplica(ofOrigin: "home")
    _ = try session.connectOrigin()
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(place)))
    try answer(["name": "old", "plz": "1", "town": "old"])
    _ = try session.disconnectOrigin()
    _ = session.takeOriginOutput()
  }

  /// Answers all that the origin was asked.
  private func answer(_ record: JSONValue) throws {
    let node = try Node(json: record)
    for case .listen(let id, let query, let tag, _) in session.takeOriginOutput().commands {
      let below = query.path.relative(to: place) ?? .root
      _ = try session.receive(.push(.set(node[below]), query.path, tag: tag))
      _ = try session.receive(.listenComplete(id))
    }
  }

  private func connect(_ record: JSONValue) throws {
    _ = try session.connectOrigin()
    try answer(record)
  }

  private func shown() throws -> JSONValue { try session.node(at: place).exportJSON }

  private func newestEntry() throws -> HistoryEntry {
    try #require(try session.history().first)
  }

  @Test func undoBringsBackWhatTheWriteReplaced() throws {
    _ = try session.write(.set(place, ["name": "mine", "plz": "2", "town": "old"]))
    let entry = try newestEntry()
    try connect(["name": "theirs", "plz": "1", "town": "new"])
    let merged: JSONValue = ["name": "mine", "plz": "2", "town": "new"]
    #expect(try shown() == merged)
    _ = try session.receive(.push(.set(try Node(json: merged)), place, tag: nil))
    for write in session.pendingWrites { _ = try session.receive(.acknowledged(id: write.id)) }
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "theirs", "plz": "1", "town": "new"])
  }

  /// The origin carried the write out, and the connection ended before the answer came.
  @Test(arguments: [false, true]) func undoOfAWriteWhoseAnswerWasLostTakesItBack(
    isDeletion: Bool
  ) throws {
    let mine: JSONValue = isDeletion ? .null : ["name": "mine", "plz": "2", "town": "old"]
    _ = try session.write(.set(place, mine))
    let entry = try newestEntry()
    try connect(mine)
    for write in session.pendingWrites { _ = try session.receive(.acknowledged(id: write.id)) }
    #expect(try shown() == mine)
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "old", "plz": "1", "town": "old"])
  }

  /// After that, another wrote one of its fields.
  @Test func undoOfAWriteWhoseAnswerWasLostKeepsWhatOthersWroteSince() throws {
    _ = try session.write(.set(place, ["name": "mine", "plz": "2", "town": "old"]))
    let entry = try newestEntry()
    try connect(["name": "mine", "plz": "2", "town": "theirs"])
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "old", "plz": "1", "town": "theirs"])
  }

  @Test func undoOfFieldsBringsBackTheFieldThatWasReplaced() throws {
    _ = try session.write(
      .update(place, [JSONMember("name", "mine"), JSONMember("plz", "2")]))
    let entry = try newestEntry()
    try connect(["name": "theirs", "plz": "1", "town": "new"])
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "theirs", "plz": "1", "town": "new"])
  }

  @Test func undoOfADeletionBringsBackTheRecordAsOthersLeftIt() throws {
    _ = try session.write(.set(place, .null))
    let entry = try newestEntry()
    try connect(["name": "theirs", "plz": "1", "town": "old"])
    #expect(try shown() == .null)
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "theirs", "plz": "1", "town": "old"])
  }

  /// The second write was made upon the first one.
  @Test func twoWritesOfARecordAreUndoneOneByOne() throws {
    _ = try session.write(.set(place, ["name": "mine", "plz": "1", "town": "old"]))
    let first = try newestEntry()
    _ = try session.write(.set(place, ["name": "mine", "plz": "2", "town": "old"]))
    let second = try newestEntry()
    try connect(["name": "theirs", "plz": "1", "town": "new"])
    #expect(try shown() == ["name": "mine", "plz": "2", "town": "new"])
    _ = try session.undo(second.id)
    #expect(try shown() == ["name": "mine", "plz": "1", "town": "new"])
    _ = try session.undo(first.id)
    #expect(try shown() == ["name": "theirs", "plz": "1", "town": "new"])
  }

  @Test func whatOthersWriteAfterTheWriteStays() throws {
    _ = try session.write(.set(place, ["name": "mine", "plz": "1", "town": "old"]))
    let entry = try newestEntry()
    try connect(["name": "theirs", "plz": "1", "town": "old"])
    for write in session.pendingWrites { _ = try session.receive(.acknowledged(id: write.id)) }
    let later = try Node(json: ["name": "later", "plz": "1", "town": "old"])
    _ = try session.receive(.push(.set(later), place, tag: nil))
    let error = try #require(throws: DatabaseError.self) { try session.undo(entry.id) }
    #expect(error.message.contains("/st03 was written since"))
    #expect(try shown() == later.exportJSON)
  }

  @Test func whatNobodyElseWroteIsUndoneAsBefore() throws {
    _ = try session.write(.set(place, ["name": "mine", "plz": "1", "town": "old"]))
    let entry = try newestEntry()
    try connect(["name": "old", "plz": "1", "town": "old"])
    #expect(try session.history().first?.parts == entry.parts)
    _ = try session.undo(entry.id)
    #expect(try shown() == ["name": "old", "plz": "1", "town": "old"])
  }
}
