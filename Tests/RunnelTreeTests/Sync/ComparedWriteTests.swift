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

  // MARK: Lost connections

  /// Connects again, and tells what others left meanwhile.
  private mutating func reconnect(_ json: JSONValue) throws -> ReplicaOutcome {
    let asked = try engine.connect(now: 7, &storage).commands
    guard case .listen(let ask, _, _, _)? = asked.first else {
      Issue.record("\(asked)")
      return ReplicaOutcome()
    }
    try tell(json)
    return try engine.receive(.listenComplete(ask), now: 8, &storage)
  }

  /// The engine of a program that starts with what was kept.
  private mutating func restart() throws {
    engine = ReplicaEngine(book: storage.savedBook)
    _ = try engine.keepSynced(Query(notes), true, now: 6, &storage)
  }

  private func expectRefusal(of id: Int64, in outcome: ReplicaOutcome) {
    #expect(outcome.commands.isEmpty, "\(outcome.commands)")
    guard case .rejected(id, let error)? = outcome.completions.first else {
      Issue.record("\(outcome.completions)")
      return
    }
    #expect(error.code == .changed)
    #expect(error.message == "/notes/n/aa was changed meanwhile. Nothing was written.")
    #expect(engine.replica.book.pending.isEmpty)
  }

  /// The connection is lost before the answer: what others wrote meanwhile is not replaced by sending it again.
  @Test mutating func whatWasSentReplacesNothingElseAfterAReconnection() throws {
    let (id, sent) = try write(form("A1", "A2"), comparing: [place("n")])
    #expect(sent.count == 1)
    _ = try engine.disconnect(now: 6, &storage)
    let outcome = try reconnect(["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    expectRefusal(of: id, in: outcome)
    #expect(shown == ["n": ["aa": "R1", "bb": "y", "cc": "z"]])
  }

  @Test mutating func whatWasSentAndIsUnchangedIsSentAgainWithTheSameHashes() throws {
    let (id, sent) = try write(form("A1", "A2"), comparing: [place("n")])
    _ = try engine.disconnect(now: 6, &storage)
    let again = try reconnect(["n": ["aa": "x", "bb": "y", "cc": "R3"]])
    #expect(again.commands == sent)
    let write = try form("A1", "A2")
    #expect(
      try sent == [.writeIf(id: id, write, hashes: [hash("n/aa", "x"), hash("n/bb", "y")])])
    #expect(shown == ["n": ["aa": "A1", "bb": "A2", "cc": "R3"]])
  }

  /// It was done, and the answer was lost.
  @Test mutating func whatWasSentAndDoneIsNotRefusedAfterAReconnection() throws {
    let (id, sent) = try write(form("A1", "A2"), comparing: [place("n")])
    _ = try engine.disconnect(now: 6, &storage)
    let again = try reconnect(["n": ["aa": "A1", "bb": "A2", "cc": "z"]])
    #expect(again.commands == sent)
    let ended = try engine.receive(.stale(id: id), now: 9, &storage)
    #expect(ended.completions == [.acknowledged(id: id)])
  }

  /// Both were done, and both answers were lost.
  @Test mutating func laterWritesOfOnesOwnAreNoChangeByOthers() throws {
    _ = try write(form("A1", "A2"), comparing: [place("n")])
    _ = try write(form("B1", "B2"), comparing: [place("n")])
    _ = try engine.disconnect(now: 6, &storage)
    let again = try reconnect(["n": ["aa": "B1", "bb": "B2", "cc": "z"]])
    #expect(again.commands.count == 2)
    #expect(again.completions.isEmpty, "\(again.completions)")
  }

  @Test mutating func whatWasSentHoldsThroughARestart() throws {
    _ = try write(form("A1", "A2"), comparing: [place("n")])
    try restart()
    #expect(engine.replica.book.pending.map(\.holdsBases) == [true])
    let outcome = try reconnect(["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    #expect(outcome.commands.isEmpty, "\(outcome.commands)")
    #expect(engine.replica.book.pending.isEmpty)
    #expect(shown == ["n": ["aa": "R1", "bb": "y", "cc": "z"]])
  }

  private mutating func undo(_ write: Write, around place: Path) throws -> Int64 {
    try engine.write(write, comparing: [place], holdsBases: true, now: 5, &storage).id
  }

  /// An undo that was made without a connection is not merged with what others wrote.
  @Test mutating func whatHoldsItsBasesIsRefusedThoughItWaited() throws {
    _ = try engine.disconnect(now: 0, &storage)
    let id = try undo(form("A1", "A2"), around: place("n"))
    let outcome = try reconnect(["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    expectRefusal(of: id, in: outcome)
    #expect(shown == ["n": ["aa": "R1", "bb": "y", "cc": "z"]])
  }

  /// Others wrote another field of the record: nothing of theirs is lost.
  @Test mutating func whatHoldsItsBasesIsMergedWithOtherFields() throws {
    _ = try engine.disconnect(now: 0, &storage)
    let record = try place("n")
    let mine: JSONValue = ["aa": "A1", "bb": "y", "cc": "z"]
    let id = try undo(.set(record, mine), around: record)
    let theirs: JSONValue = ["aa": "x", "bb": "y", "cc": "R3"]
    let outcome = try reconnect(["n": theirs])
    let merged: JSONValue = ["aa": "A1", "bb": "y", "cc": "R3"]
    #expect(
      try outcome.commands == [
        .writeIf(id: id, .set(record, merged), hashes: [hash("n", theirs)])
      ])
    #expect(shown == ["n": merged])
  }

  /// Others changed what an earlier write that waited has replaced, so that both are refused.
  @Test mutating func theUndoOfARefusedWriteIsRefusedToo() throws {
    _ = try engine.disconnect(now: 0, &storage)
    let first = try undo(form("A1", "A2"), around: place("n"))
    let second = try undo(form("x", "y"), around: place("n"))
    let outcome = try reconnect(["n": ["aa": "R1", "bb": "y", "cc": "z"]])
    #expect(outcome.commands.isEmpty, "\(outcome.commands)")
    let refused = outcome.completions.compactMap { completion -> Int64? in
      if case .rejected(let id, _) = completion { id } else { nil }
    }
    #expect(refused == [first, second])
    #expect(shown == ["n": ["aa": "R1", "bb": "y", "cc": "z"]])
  }

  /// What another session on the same storage made is sent, and held, by the one with the connection.
  @Test mutating func whatWasSentForAnotherSessionIsHeld() throws {
    var other = ReplicaEngine(book: engine.replica.book, session: 2)
    _ = try other.write(form("A1", "A2"), comparing: [place("n")], now: 5, &storage)
    #expect(other.replica.book.pending.map(\.holdsBases) == [false])
    let sent = try engine.absorb(other.replica.book, touched: [place("n")], storage)
    #expect(sent.commands.count == 1)
    #expect(try engine.mustAttendToOthers(storage))
    let noted = try engine.attendToOthers(now: 6, &storage)
    #expect(try noted.touched == [place("n/aa"), place("n/bb")])
    #expect(engine.replica.book.pending.map(\.holdsBases) == [true])
    #expect(try !engine.mustAttendToOthers(storage))
  }

  @Test mutating func aWriteWhoseAnswerWasLostIsDone() throws {
    let (id, _) = try write(form("A1", "A2"), comparing: [place("n")])
    try tell(["n": ["aa": "A1", "bb": "A2", "cc": "z"]])
    let ended = try engine.receive(.stale(id: id), now: 8, &storage)
    #expect(ended.completions == [.acknowledged(id: id)])
  }
}
