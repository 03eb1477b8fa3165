import RunnelBase
import RunnelTree
import Testing

/// What a replica tells of an answer that it keeps.
@Suite struct KnownHashTests {
  private var storage = MemoryReplicaStorage()
  private var engine = ReplicaEngine()

  /// The hashes that are sent when a query is asked again with so many children known.
  private mutating func known(_ query: Query, _ count: Int) throws -> (KnownHash, Node) {
    let children = (0..<count).map { number in
      JSONMember("k\(number)", .string(String(repeating: "x", count: 100)))
    }
    let node = try Node(json: .object(children))
    let request = ListenRequest(query: query)
    _ = try engine.connect(now: 0, &storage)
    let asked = try engine.listen(ListenerID(1), request, now: 0, &storage)
    guard case .listen(_, _, let tag, let none)? = asked.commands.first else {
      throw TreeError(.notFound, "Nothing is asked.")
    }
    #expect(none == KnownHash(whole: ""))
    _ = try engine.receive(.push(.set(node), query.path, tag: tag), now: 0, &storage)
    _ = try engine.disconnect(now: 0, &storage)
    guard case .listen(_, _, _, let known)? = try engine.connect(now: 0, &storage).commands.first
    else { throw TreeError(.notFound, "Nothing is asked.") }
    return (known, node)
  }

  @Test mutating func whatIsSmallIsToldByOneHash() throws {
    // Its estimated size is 4024: 1, 10 * (2 + 4 + 102) and 27 * (3 + 4 + 102); 72 are left.
    let (known, node) = try known(Query(Path("l")), 37)
    #expect(known == KnownHash(whole: node.contentHash))
  }

  @Test mutating func whatIsLargeIsToldByItsRanges() throws {
    let (known, node) = try known(Query(Path("l")), 60)
    #expect(known == KnownHash(whole: node.contentHash, ranges: CompoundHash(node)))
    #expect((known.ranges?.posts.count ?? 0) > 2)
  }

  @Test mutating func aWindowIsToldByTheRangesOfItsRows() throws {
    let query = try Query(Path("l")).ordered(by: .key).limited(to: 60, from: .last)
    let (known, node) = try known(query, 60)
    #expect(known.ranges == CompoundHash(node))
  }

  /// What the origin answers with by ranges is less than all, and comes to the same.
  @Test mutating func theRangesThatDifferBringTheAnswerUpToDate() throws {
    let (known, node) = try known(Query(Path("l")), 60)
    let ranges = try #require(known.ranges)
    let new = node.replacing(try Path("k17"), with: try Node(json: "new"))
    let merges = RangeMerge.merges(updating: ranges, to: new)
    #expect(merges.count == 1)
    #expect(merges.allSatisfy { $0.node.children.count < 10 })
    _ = try engine.receive(.ranges(merges, Path("l"), tag: nil), now: 0, &storage)
    #expect(storage.shown.root[try Path("l")] == new)
  }
}
