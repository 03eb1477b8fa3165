import RunnelBase
import Testing

@testable import RunnelTree

/// Writes that the origin does only if a place is as it was read.
@Suite struct ConditionTests {
  private var storage = MemoryReplicaStorage()
  private var engine = ReplicaEngine()
  private let form: Path

  init() throws {
    form = try Path("/form")
    _ = try engine.connect(now: 0, &storage)
    _ = try engine.keepSynced(Query(form), true, now: 0, &storage)
    try tell(["text": "old"])
    _ = try engine.receive(.listenComplete(AskID(1)), now: 0, &storage)
  }

  private mutating func tell(_ json: JSONValue) throws {
    _ = try engine.receive(.push(.set(Node(json: json)), form, tag: nil), now: 0, &storage)
  }

  private mutating func write(_ write: Write) throws -> (id: Int64, commands: [OriginCommand]) {
    let (id, outcome) = try engine.write(write, ifUnchanged: form, now: 5, &storage)
    return (id, outcome.commands)
  }

  private func compare(_ id: Int64, _ json: JSONValue, if old: JSONValue) throws -> [OriginCommand]
  {
    [.compareAndSet(id: id, form, json, hash: try Node(json: old).contentHash)]
  }

  private var shown: JSONValue { storage.shown.root[form].exportJSON }

  @Test mutating func theOriginIsAskedToCompare() throws {
    let (id, commands) = try write(.set(form, ["text": "mine"]))
    #expect(try commands == compare(id, ["text": "mine"], if: ["text": "old"]))
    try tell(["text": "mine"])
    let done = try engine.receive(.acknowledged(id: id), now: 6, &storage)
    #expect(done.completions == [.acknowledged(id: id)])
    #expect(shown == ["text": "mine"] && engine.replica.book.pending.isEmpty)
  }

  @Test mutating func aChangeByOthersEndsTheWriteAndIsShown() throws {
    let (id, _) = try write(.set(form, ["text": "mine"]))
    try tell(["text": "theirs"])
    #expect(shown == ["text": "mine"])
    let ended = try engine.receive(.stale(id: id), now: 6, &storage)
    guard case .rejected(id, let error)? = ended.completions.first else {
      Issue.record("\(ended.completions)")
      return
    }
    #expect(error.code == .changed && ended.commands.isEmpty)
    #expect(shown == ["text": "theirs"] && engine.replica.book.pending.isEmpty)
  }

  @Test mutating func ownWritesCountAsSeen() throws {
    _ = try engine.write(.set(form.child("text"), "first"), now: 5, &storage)
    let (second, commands) = try write(.set(form, ["text": "second"]))
    #expect(try commands == compare(second, ["text": "second"], if: ["text": "first"]))
    let (third, more) = try write(.remove(form))
    #expect(try more == compare(third, .null, if: ["text": "second"]))
  }

  @Test mutating func aPartIsSentWithAllThatWasRead() throws {
    let (id, commands) = try write(
      .update(
        form,
        [
          JSONMember("at", [".sv": "timestamp"]), JSONMember("text", .null),
          JSONMember("a/b", 1), JSONMember(".priority", 3),
        ]))
    let sent: JSONValue = ["a": ["b": 1], "at": [".sv": "timestamp"], ".priority": 3]
    #expect(try commands == compare(id, sent, if: ["text": "old"]))
  }

  @Test mutating func whatWasSeenIsKeptThroughRestarts() throws {
    _ = try engine.disconnect(now: 0, &storage)
    _ = try engine.write(
      .set(form.child("at"), [".sv": "timestamp"]), now: 5, &storage)
    let (id, _) = try write(.set(form.child("text"), "mine"))
    let write = try #require(engine.replica.book.pending.last)
    #expect(write.seen?.estimates == [try form.child("at")])
    let read = try JSONValue(parsing: write.json.jsonText())
    #expect(PendingWrite(id: id, json: read) == write)
    engine = ReplicaEngine(book: storage.savedBook)
    let sent = try engine.connect(now: 9, &storage).commands
    #expect(
      try sent.suffix(1)
        == compare(id, ["at": 5, "text": "mine"], if: ["at": 5, "text": "old"])[...])
  }

  @Test mutating func timesOfOwnWritesAreNoChangeByOthers() throws {
    let (first, _) = try engine.write(
      .set(form.child("at"), [".sv": "timestamp"]), now: 5, &storage)
    let (id, _) = try write(.set(form.child("text"), "mine"))
    try tell(["at": 7, "text": "old"])
    _ = try engine.receive(.acknowledged(id: first), now: 6, &storage)
    let again = try engine.receive(.stale(id: id), now: 6, &storage)
    #expect(
      try again.commands == compare(id, ["at": 7, "text": "mine"], if: ["at": 7, "text": "old"]))
    #expect(again.completions.isEmpty)
    // It is sent once more only.
    try tell(["at": 8, "text": "old"])
    let ended = try engine.receive(.stale(id: id), now: 6, &storage)
    #expect(ended.completions.count == 1 && ended.commands.isEmpty)
    #expect(shown == ["at": 8, "text": "old"])
  }

  @Test mutating func aWriteWhoseAnswerWasLostIsDone() throws {
    let (id, _) = try write(.set(form, ["text": "mine"]))
    _ = try engine.disconnect(now: 6, &storage)
    let asked = try engine.connect(now: 7, &storage).commands
    guard case .listen(let ask, _, _, _)? = asked.first else {
      Issue.record("\(asked)")
      return
    }
    try tell(["text": "mine"])
    let sent = try engine.receive(.listenComplete(ask), now: 8, &storage).commands
    #expect(try sent == compare(id, ["text": "mine"], if: ["text": "old"]))
    let ended = try engine.receive(.stale(id: id), now: 8, &storage)
    #expect(ended.completions == [.acknowledged(id: id)])
    #expect(shown == ["text": "mine"])
  }

  @Test mutating func nothingIsMergedWithWhatOthersWroteMeanwhile() throws {
    _ = try engine.disconnect(now: 0, &storage)
    let (id, none) = try write(.set(form, ["text": "mine"]))
    #expect(none.isEmpty)
    let asked = try engine.connect(now: 7, &storage).commands
    guard case .listen(let ask, _, _, _)? = asked.first else { return }
    try tell(["text": "old", "by": "them"])
    let sent = try engine.receive(.listenComplete(ask), now: 8, &storage).commands
    #expect(try sent == compare(id, ["text": "mine"], if: ["text": "old"]))
  }

  /// A place of which nothing is kept is told with the refusal.
  @Test mutating func whatStandsAtAnUnknownPlaceIsShown() throws {
    let place = try Path("/new")
    let (id, _) = try engine.write(.set(place, 1), ifUnchanged: place, now: 5, &storage)
    _ = try engine.receive(.push(.set(Node(json: 2)), place, tag: nil), now: 6, &storage)
    _ = try engine.receive(.stale(id: id), now: 6, &storage)
    #expect(storage.shown.root[place].exportJSON == 2)
  }
}

extension Path {
  fileprivate func child(_ key: String) throws -> Path { try appending(Path(key)) }
}
