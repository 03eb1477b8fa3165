import RunnelBase
import Testing

@testable import RunnelTree

/// Writes of several places that the origin does only if what they replace is as it is known here.
@Suite struct ComparedWriteTests {
  private var storage = MemoryReplicaStorage()
  private var engine = ReplicaEngine()
  private let notes: Path

  init() throws {
    notes = try Path("/notes")
    _ = try engine.connect(now: 0, &storage)
    _ = try engine.keepSynced(Query(notes), true, now: 0, &storage)
    try tell(["n": ["aa": "x", "bb": "y", "cc": "z"]])
    _ = try engine.receive(.listenComplete(AskID(1)), now: 0, &storage)
  }

  private mutating func tell(_ json: JSONValue) throws {
    _ = try engine.receive(.push(.set(Node(json: json)), notes, tag: nil), now: 0, &storage)
  }

  private func place(_ text: String) throws -> Path { try notes.appending(Path(text)) }

  /// The form of a record: two fields are written.
  private func form(_ aa: JSONValue, _ bb: JSONValue) throws -> Write {
    .update(try place("n"), [JSONMember("aa", aa), JSONMember("bb", bb)])
  }

  private mutating func write(
    _ write: Write, comparing places: [Path]
  ) throws -> (id: Int64, commands: [OriginCommand]) {
    let (id, outcome) = try engine.write(write, comparing: places, now: 5, &storage)
    return (id, outcome.commands)
  }

  private func hash(_ text: String, _ json: JSONValue) throws -> PlaceHash {
    PlaceHash(try place(text), try Node(json: json).contentHash)
  }

  private var shown: JSONValue { storage.shown.root[notes].exportJSON }

  @Test mutating func eachFieldIsComparedWithWhatIsKnown() throws {
    let write = try form("A1", "A2")
    let (id, commands) = try self.write(write, comparing: [place("n/aa"), place("n/bb")])
    #expect(
      try commands == [.writeIf(id: id, write, hashes: [hash("n/aa", "x"), hash("n/bb", "y")])])
  }

  @Test mutating func onlyPlacesThatWereAskedForAreCompared() throws {
    let write = try form("A1", "A2")
    let (id, commands) = try self.write(write, comparing: [place("n/bb")])
    #expect(try commands == [.writeIf(id: id, write, hashes: [hash("n/bb", "y")])])
    let (plain, none) = try self.write(form("A3", "A4"), comparing: [])
    #expect(none == [.write(id: plain, try form("A3", "A4"))])
  }

  @Test mutating func changesByOthersThatHaveNotArrivedRefuseTheWrite() throws {
    let (id, _) = try write(form("A1", "A2"), comparing: [place("n/aa"), place("n/bb")])
    try tell(["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    let ended = try engine.receive(.stale(id: id), now: 6, &storage)
    guard case .rejected(id, let error)? = ended.completions.first else {
      Issue.record("\(ended.completions)")
      return
    }
    #expect(error.code == .changed)
    #expect(error.message == "/notes/n/aa was changed meanwhile. Nothing was written.")
    #expect(shown == ["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    #expect(engine.replica.book.pending.isEmpty)
  }

  @Test mutating func aRemovedRecordIsComparedAsAWhole() throws {
    let record = try place("n")
    let (id, commands) = try write(.remove(record), comparing: [record])
    let whole: JSONValue = ["aa": "x", "bb": "y", "cc": "z"]
    #expect(try commands == [.writeIf(id: id, .remove(record), hashes: [hash("n", whole)])])
  }

  /// The second write was made upon the first one.
  @Test mutating func ownWritesAreNoChangeByOthers() throws {
    _ = try write(form("A1", "A2"), comparing: [])
    let (id, commands) = try write(form("x", "y"), comparing: [place("n")])
    #expect(
      try commands == [
        .writeIf(id: id, form("x", "y"), hashes: [hash("n/aa", "A1"), hash("n/bb", "A2")])
      ])
  }

  /// What the origin computes for an earlier write is not known yet.
  @Test mutating func estimatesAreNotCompared() throws {
    _ = try engine.write(.set(place("n/aa"), [".sv": "timestamp"]), now: 5, &storage)
    let (id, commands) = try write(form("x", "A2"), comparing: [place("n")])
    #expect(try commands == [.writeIf(id: id, form("x", "A2"), hashes: [hash("n/bb", "y")])])
    let record = try place("n")
    let (removal, more) = try write(.remove(record), comparing: [record])
    #expect(more == [.write(id: removal, .remove(record))])
  }

  @Test mutating func whatIsComparedIsKeptThroughRestarts() throws {
    _ = try engine.disconnect(now: 0, &storage)
    _ = try write(form("A1", "A2"), comparing: [place("n/bb")])
    let kept = try #require(engine.replica.book.pending.last)
    let read = try JSONValue(parsing: kept.json.jsonText())
    #expect(PendingWrite(id: kept.id, json: read) == kept)
    #expect(try kept.compared == [place("n/bb")])
  }

  /// A write that waited is merged with what others wrote; then only what came after that refuses it.
  @Test mutating func theConditionHoldsWhenTheWriteIsSent() throws {
    _ = try engine.disconnect(now: 0, &storage)
    let (id, none) = try write(form("A1", "A2"), comparing: [place("n")])
    #expect(none.isEmpty)
    let asked = try engine.connect(now: 7, &storage).commands
    guard case .listen(let ask, _, _, _)? = asked.first else {
      Issue.record("\(asked)")
      return
    }
    try tell(["n": ["aa": "R1", "bb": "y", "cc": "R2"]])
    let sent = try engine.receive(.listenComplete(ask), now: 8, &storage).commands
    guard case .writeIf(id, _, let hashes)? = sent.first else {
      Issue.record("\(sent)")
      return
    }
    #expect(try hashes == [hash("n/aa", "R1"), hash("n/bb", "y")])
    #expect(shown == ["n": ["aa": "A1", "bb": "A2", "cc": "R2"]])
  }

  @Test mutating func aWriteWhoseAnswerWasLostIsDone() throws {
    let (id, _) = try write(form("A1", "A2"), comparing: [place("n")])
    try tell(["n": ["aa": "A1", "bb": "A2", "cc": "z"]])
    let ended = try engine.receive(.stale(id: id), now: 8, &storage)
    #expect(ended.completions == [.acknowledged(id: id)])
  }
}
