import RunnelBase
import Testing

@testable import RunnelTree

/// What writes that waited replace of what others wrote meanwhile.
@Suite struct ReplacedWritesTests {
  private var storage = MemoryReplicaStorage()
  private var engine = ReplicaEngine()
  private let list: Path
  private let row: Path
  private let mine: Write

  /// A list of the first rows shows a row; without a connection, two of its fields are written.
  init() throws {
    list = try Path("/list")
    row = try list.child("a")
    mine = .update(row, [JSONMember("name", "mine"), JSONMember("state", "mine")])
    let query = try Query(list).ordered(by: .child(Path("n"))).limited(to: 10, from: .first)
    _ = try engine.connectWatching(now: 0, &storage)
    let asked = try engine.listen(ListenerID(1), ListenRequest(query: query), now: 0, &storage)
    let old: JSONValue = ["a": ["n": 1, "name": "old", "state": "old"]]
    _ = try answer(asked.commands, ["list": old], window: old)
    _ = try engine.disconnect(now: 0, &storage)
    _ = try engine.write(mine, now: 0, &storage)
  }

  /// Answers all that was asked; returns the commands that follow.
  private mutating func answer(
    _ commands: [OriginCommand], _ root: JSONValue, window: JSONValue
  ) throws -> [OriginCommand] {
    let (tree, rows) = (try Node(json: root), try Node(json: window))
    var next: [OriginCommand] = []
    for case .listen(let id, let query, let tag, _) in commands {
      let node = tag == nil ? tree[query.path] : rows
      let push = OriginMessage.push(.set(node), query.path, tag: tag)
      next += try engine.receive(push, now: 1, &storage).commands
      next += try engine.receive(.listenComplete(id), now: 1, &storage).commands
    }
    return next
  }

  /// Connects again; returns the places that are replaced, and what stood there.
  private mutating func replaced(
    _ record: JSONValue, isInList: Bool
  ) throws -> [Path: JSONValue] {
    let before = engine.replica.book.pending
    let asked = try engine.connectWatching(now: 1, &storage).commands
    let window: JSONValue = isInList ? ["a": record] : .null
    let sent = try answer(asked, ["list": ["a": record]], window: window)
    #expect(sent.contains(.write(id: 0, mine)))
    let conflicts = PendingWrite.replaced(by: engine.replica.book.pending, since: before)
    return Dictionary(uniqueKeysWithValues: conflicts.map { ($0.path, $0.theirs.exportJSON) })
  }

  @Test(arguments: [true, false])
  mutating func whatOthersWroteInARowOfAWindowIsFound(isInList: Bool) throws {
    let theirs: JSONValue = ["n": 2, "name": "theirs", "state": "old"]
    #expect(try replaced(theirs, isInList: isInList) == [row.child("name"): "theirs"])
  }

  @Test mutating func whatNobodyElseWroteIsNotReplaced() throws {
    let old: JSONValue = ["n": 1, "name": "old", "state": "old"]
    #expect(try replaced(old, isInList: true) == [:])
  }

  /// As for a program that shows nothing, and only sends what waits.
  @Test mutating func placesOfWritesAreAskedForUntilTheyAreAnswered() throws {
    engine = ReplicaEngine(book: storage.savedBook)
    let theirs: JSONValue = ["n": 1, "name": "theirs", "state": "other"]
    let expected: [Path: JSONValue] = try [
      row.child("name"): "theirs", row.child("state"): "other",
    ]
    #expect(try replaced(theirs, isInList: true) == expected)
    #expect(engine.watched.count == 2)
    _ = try engine.receive(.acknowledged(id: 0), now: 2, &storage)
    let ended = try engine.watchLess(now: 2, &storage).commands
    #expect(ended.count == 2 && engine.watched.isEmpty)
  }
}
