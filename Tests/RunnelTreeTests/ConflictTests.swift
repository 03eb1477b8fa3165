import RunnelBase
import Testing

@testable import RunnelTree

/// What becomes of a write made while others wrote.
@Suite struct ConflictTests {
  private func merged(_ base: String, _ mine: String, _ theirs: String) throws -> String {
    let conflict = Conflict(
      path: .root, base: try node(base), mine: try node(mine), theirs: try node(theirs))
    return ConflictPolicy.fieldWise.resolve(conflict).exportJSON.jsonText()
  }

  @Test func fieldsThatOneSideChangedAreKept() throws {
    #expect(
      try merged(#"{"a":1,"b":2}"#, #"{"a":9,"b":2}"#, #"{"a":1,"b":8}"#) == #"{"a":9,"b":8}"#)
  }

  @Test func ofAFieldThatBothChangedTheWritesCounts() throws {
    #expect(try merged(#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#) == #"{"a":2}"#)
  }

  @Test func removedFieldsStayRemoved() throws {
    #expect(try merged(#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"a":1,"b":3}"#) == #"{"b":3}"#)
    #expect(try merged(#"{"a":1,"b":2}"#, #"{"a":9,"b":2}"#, #"{"a":1}"#) == #"{"a":9}"#)
  }

  @Test func deepFieldsAreMergedDeep() throws {
    let result = try merged(
      #"{"r":{"x":1,"y":1}}"#, #"{"r":{"x":2,"y":1}}"#, #"{"r":{"x":1,"y":2},"s":5}"#)
    #expect(result == #"{"r":{"x":2,"y":2},"s":5}"#)
  }

  @Test func prioritiesAreFieldsToo() throws {
    let result = try merged(
      #"{"a":1,".priority":1}"#, #"{"a":2,".priority":1}"#, #"{"a":1,".priority":7}"#)
    #expect(result == #"{"a":2,".priority":7}"#)
  }

  @Test func lastWriteWinsTakesTheWriteAsItIs() throws {
    let conflict = Conflict(
      path: .root, base: try node("1"), mine: try node("2"), theirs: try node("3"))
    #expect(ConflictPolicy.lastWriteWins.resolve(conflict) == (try node("2")))
  }

  /// Every triple of small nodes: what only one side changed is what it changed it to.
  @Test func oneSidedChangesAlwaysCount() throws {
    let nodes = try ["null", "1", #"{"a":1}"#, #"{"a":2}"#, #"{"a":1,"b":1}"#, #"{"b":1}"#].map(
      node)
    for base in nodes {
      for changed in nodes {
        let mine = Conflict(path: .root, base: base, mine: changed, theirs: base)
        #expect(ConflictPolicy.fieldWise.resolve(mine) == changed)
        let theirs = Conflict(path: .root, base: base, mine: base, theirs: changed)
        #expect(ConflictPolicy.fieldWise.resolve(theirs) == changed)
        let both = Conflict(path: .root, base: base, mine: changed, theirs: changed)
        #expect(ConflictPolicy.fieldWise.resolve(both) == changed)
      }
    }
  }

  /// A listing of names shows what is made again, and the replica knows only that it was removed.
  @Test func whatIsRemovedAgainIsRemoved() throws {
    var (engine, storage) = (ReplicaEngine(), MemoryReplicaStorage())
    let row = try Path("/list/a")
    var root: JSONValue = ["list": ["a": "one"]]
    func answer(_ commands: [OriginCommand]) throws -> [OriginCommand] {
      try commands.flatMap { command -> [OriginCommand] in
        guard case .listen(let id, let query, _, _) = command else { return [command] }
        let push = OriginMessage.push(.set(try Node(json: root)[query.path]), query.path, tag: nil)
        return try engine.receive(push, now: 1, &storage).commands
          + engine.receive(.listenComplete(id), now: 1, &storage).commands
      }
    }
    _ = try engine.connectWatching(now: 0, &storage)
    let asked = try engine.listen(
      ListenerID(1), ListenRequest(query: Query(row)), now: 0, &storage)
    _ = try answer(asked.commands)
    _ = try engine.unlisten(ListenerID(1), now: 0, &storage)
    _ = try engine.write(.set(row, .null), now: 0, &storage)
    _ = try engine.receive(.acknowledged(id: 0), now: 0, &storage)
    _ = try engine.disconnect(now: 0, &storage)
    root = ["list": ["a": "again"]]
    _ = try engine.write(.set(row, .null), now: 0, &storage)
    let sent = try answer(try engine.connectWatching(now: 1, &storage).commands)
    #expect(sent.contains(.write(id: 1, .set(row, .null))), "\(sent)")
  }
}
