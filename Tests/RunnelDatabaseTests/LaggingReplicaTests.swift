import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Writes on a replica that is connected, and that has not heard yet what others wrote.
@Suite struct LaggingReplicaTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession
  private let notes: Path

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
    notes = try Path("/notes")
    try session.becomeReplica(ofOrigin: "home")
    _ = try session.connectOrigin()
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(notes)))
    try tell(["n0": ["aa": "x", "bb": "y"], "n1": ["aa": "x", "bb": "y"]])
    for case .listen(let id, _, _, _) in session.takeOriginOutput().commands {
      _ = try session.receive(.listenComplete(id))
    }
    _ = session.takeOriginOutput()
  }

  private func tell(_ json: JSONValue) throws {
    _ = try session.receive(.push(.set(Node(json: json)), notes, tag: nil))
  }

  private func place(_ text: String) throws -> Path { try notes.appending(Path(text)) }

  private func hash(_ text: String, _ json: JSONValue) throws -> PlaceHash {
    PlaceHash(try place(text), try Node(json: json).contentHash)
  }

  /// The places and hashes that the origin compares for the newest write that was sent.
  private func hashes() -> [PlaceHash] {
    guard case .writeIf(_, _, let hashes)? = session.takeOriginOutput().commands.last else {
      return []
    }
    return hashes
  }

  /// Others write before the undo has arrived; they have not been heard.
  @Test func undoIsRefusedWhereOthersWrote() throws {
    _ = try session.write(.set(place("n0/aa"), "C1"))
    let entry = try #require(try session.history().first)
    let first = try #require(session.pendingWrites.last)
    _ = try session.receive(.acknowledged(id: first.id))
    try tell(["n0": ["aa": "C1", "bb": "y"], "n1": ["aa": "x", "bb": "y"]])
    _ = session.takeOriginOutput()
    _ = try session.undo(entry.id)
    #expect(try hashes() == [hash("n0/aa", "C1")])
    let undoing = try #require(session.pendingWrites.last)
    _ = try session.receive(.push(.set(Node(json: "R1")), place("n0/aa"), tag: nil))
    _ = try session.receive(.stale(id: undoing.id))
    let error = session.takeOriginOutput().completions.compactMap { completion in
      if case .rejected(undoing.id, let error) = completion { error } else { nil as TreeError? }
    }.first
    #expect(error?.message == "/notes/n0/aa was changed meanwhile. Nothing was written.")
    #expect(try session.node(at: place("n0")).exportJSON == ["aa": "R1", "bb": "y"])
  }

  @Test func undoOfADeletionComparesThatNothingStandsThere() throws {
    _ = try session.write(.remove(place("n0")))
    let entry = try #require(try session.history().first)
    _ = session.takeOriginOutput()
    _ = try session.undo(entry.id)
    #expect(try hashes() == [PlaceHash(place("n0"), Node.empty.contentHash)])
  }

  @Test func formComparesTheFieldsThatItWrites() throws {
    let write = Write.update(
      try place("n0"), [JSONMember("aa", "F1"), JSONMember("bb", "F2")])
    _ = try session.write(
      write, if: [WriteCondition(place("n0/aa"), "x"), WriteCondition(place("n0/bb"), "y")])
    #expect(try hashes() == [hash("n0/aa", "x"), hash("n0/bb", "y")])
  }

  @Test func removedRecordsAreComparedAsTheyAreKnown() throws {
    let (first, second) = (try place("n0"), try place("n1"))
    _ = try session.write(
      .update(notes, [JSONMember("n0", .null), JSONMember("n1", .null)]),
      if: [.known(at: first), .known(at: second)])
    let record: JSONValue = ["aa": "x", "bb": "y"]
    #expect(try hashes() == [hash("n0", record), hash("n1", record)])
  }

  /// Only some children are listened to: the undo would restore these, and call it done.
  @Test func removalOfWhatIsKnownInPartIsNotUndone() throws {
    let part = try Path("/big/a")
    _ = try session.listen(ListenerID(2), ListenRequest(query: Query(part)))
    _ = try session.receive(.push(.set(Node(json: 1)), part, tag: nil))
    for case .listen(let id, _, _, _) in session.takeOriginOutput().commands {
      _ = try session.receive(.listenComplete(id))
    }
    _ = try session.write(.remove(Path("/big")))
    let entry = try #require(try session.history().first)
    #expect(entry.parts.map(\.values) == [nil] && entry.parts.map(\.isPartlyKnown) == [true])
    let error = try #require(throws: DatabaseError.self) { try session.undo(entry.id) }
    #expect(error.message.contains("only a part of what stood at /big was known here"))
    #expect(try session.node(at: part).isEmpty)
    // The record that is known whole comes back.
    _ = try session.write(.remove(place("n0")))
    _ = try session.undo(try #require(try session.history().first).id)
    #expect(try session.node(at: place("n0")).exportJSON == ["aa": "x", "bb": "y"])
  }

  @Test func aPlainWriteIsNotCompared() throws {
    _ = try session.write(.set(place("n0/aa"), "C1"))
    let commands = session.takeOriginOutput().commands
    #expect(try commands == [.write(id: 0, .set(place("n0/aa"), "C1"))])
  }
}
