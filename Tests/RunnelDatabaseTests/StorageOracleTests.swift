import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

/// Random writes into a file and into a tree in memory: both answer everything alike.
@Suite struct StorageOracleTests {
  private static let indexes =
    [
      IndexDefinition(pattern: "/", child: .root),
      IndexDefinition(pattern: "/$any", child: .root),
      IndexDefinition(pattern: "/a", child: Path(unchecked: [Key(unchecked: "a")])),
      IndexDefinition(
        pattern: "/$any/$other", child: Path(unchecked: [Key(unchecked: "b"), Key(unchecked: "1")])),
      IndexDefinition(pattern: "/$any", child: Path(unchecked: [Key(unchecked: "a")])),
      IndexDefinition(
        pattern: "/", child: Path(unchecked: [Key(unchecked: "b"), Key(unchecked: "1")])),
    ] + compoundIndexes

  private static let compoundIndexes = [
    "a:desc", "a,b/1:desc", "$priority,c:desc", "$value:desc,c",
  ]
  .flatMap { order in
    ["/", "/$any"].compactMap { pattern in
      (try? QueryIndex(SortKey.list(order))).flatMap {
        IndexDefinition(pattern: pattern, serving: $0)
      }
    }
  }

  @Test(arguments: Seeds.first(3))
  func theFileAnswersAsTheTreeInMemory(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let folder = try TemporaryFolder()
    var session = try folder.session()
    let inspector = try FileInspector(folder.file())
    var tree = MemoryTree()
    // Indexes are declared before, in the middle of, or never.
    let declaredAt = [0, 12, 99][Int(seed % 3)]
    for step in 0..<25 {
      if step == declaredAt { try session.declareIndexes(StorageOracleTests.indexes) }
      if random.chance(5) {
        try session.close()
        session = try folder.session()
      }
      try write(&random, session, &tree)
      let report = try inspector.report()
      try #require(report.faults == [], "seed \(seed), step \(step)")
      try #require(report.root == tree.root, "seed \(seed), step \(step)")
      for _ in 0..<12 { try compare(&random, session, tree, "seed \(seed), step \(step)") }
    }
    try session.close()
  }

  private func write(
    _ random: inout RandomTree, _ session: DatabaseSession, _ tree: inout MemoryTree
  ) throws {
    if random.chance(12) {
      let (path, node) = (try random.path(), try random.node(depth: 3))
      try session.importJSON(node.exportJSON.jsonText(), at: path.description)
      tree.perform(Assignment(path: path, target: .node(node)))
      return
    }
    let write = try random.write()
    let parts = Result { try write.assignments(now: 0, reader: tree) }
    switch parts {
    case .success(let parts):
      _ = try session.write(write)
      for part in parts { tree.perform(part) }
    case .failure:
      #expect(throws: RunnelDatabase.DatabaseError.self) { try session.write(write) }
    }
  }

  private func compare(
    _ random: inout RandomTree, _ session: DatabaseSession, _ tree: MemoryTree, _ place: String
  ) throws {
    let path = try random.path(depth: 0..<5)
    try #require(try session.node(at: path) == tree.root[path], "\(place), \(path)")
    try #require(try session.summary(at: path) == tree.summary(at: path), "\(place), \(path)")
    try #require(
      try session.export(path.description) == tree.root[path].exportJSON.jsonText(), "\(place)")
    let query = try random.query(path)
    let detail: TreeRow.Detail = random.chance(50) ? .full : .shallow
    let expected = try tree.rows(of: path, in: RowSlice(query), detail: detail)
    try #require(try session.rows(query, detail: detail) == expected, "\(place), \(query)")
  }

  @Test func aSplitNodeThatShrinksStaysRightAndVanishesWithItsLastChild() throws {
    let folder = try TemporaryFolder()
    let session = try folder.session()
    let inspector = try FileInspector(folder.file())
    try session.set("/l", largeObject(60))
    #expect(try inspector.report().splitCount == 2)
    for index in 0..<60 {
      try session.set("/l/k\(index)", "null")
      #expect(try inspector.report().faults == [])
      #expect(
        try session.summary(at: Path("l")).kind
          == (index == 59 ? .empty : .children(count: 59 - index)))
    }
    #expect(try inspector.report().splitCount == 0)
    #expect(try inspector.number("SELECT count(*) FROM node") == 0)
  }

  @Test func deepNodesSplitAtEveryLevelThatIsTooLarge() throws {
    let folder = try TemporaryFolder()
    let session = try folder.session()
    let inspector = try FileInspector(folder.file())
    try session.set("/a/b/c/d", largeObject(60))
    try session.set("/a/b/x", "1")
    try session.set("/a/b/c/d/k7/deep/er", "2")
    #expect(try session.node(at: Path("a/b/c/d/k7")) == node(#"{"deep":{"er":2}}"#))
    try session.set("/a/b/c/d/k7/deep", "3")
    #expect(try session.node(at: Path("a/b/c/d/k7/deep/er")) == .empty)
    #expect(try inspector.report().faults == [])
    try session.set("/a/b/c", "4")
    #expect(try session.export() == #"{"a":{"b":{"c":4,"x":1}}}"#)
    #expect(try inspector.report().faults == [])
  }

  @Test func anIndexAnswersAtOnceAfterItIsDeclared() throws {
    let folder = try TemporaryFolder()
    let session = try folder.session()
    try session.set("/l", largeObject(60))
    let index = IndexDefinition(pattern: "/l", child: .root)
    try session.declareIndexes([index])
    #expect(session.declaredIndexes == [index])
    try session.declareIndexes([index, index])
    #expect(session.declaredIndexes == [index])
    let query = try Query(Path("l")).ordered(by: .value)
    let bounded = try query.ending(at: .leaf(.string("z")))
    #expect(try session.scan(bounded).report.way == .index(index))
    // Entries that are gone are missed.
    try FileEditor.execute("DELETE FROM index_entry", in: folder.file())
    #expect(throws: RunnelDatabase.DatabaseError.self) { try session.rows(bounded) }
    #expect(throws: RunnelDatabase.DatabaseError.self) { try session.rows(query) }
  }
}
