import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// The lines of the tree after changes, against lines that are laid out anew.
@Suite struct TreeChangeTests {
  private static let height = 6

  /// A tree of which random nodes are expanded and changed, and what is to be seen of it.
  private struct Story {
    var tree = TreeScreen()
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Some children, of which a part has children of its own.
    private mutating func children(of path: Path) -> [Int: Record] {
      let keys = (0..<12).filter { _ in Bool.random(using: &random) }
      return Dictionary(
        keys.map { number in
          let key = RunnelTree.Key(unchecked: "k\(number)")
          let isBranch = Int.random(in: 0..<3, using: &random) > 0
          let kind: NodeSummary.Kind =
            isBranch && path.keys.count < 3
            ? .children(count: 2) : .leaf(.string("v\(Int.random(in: 0..<3, using: &random))"))
          let row = TreeRow(
            key: key, value: .null, content: .summary(NodeSummary(kind: kind, priority: nil)))
          return (number, Record(row, in: path))
        }, uniquingKeysWith: { first, _ in first })
    }

    mutating func step() {
      let branches = tree.lines.values.compactMap { line -> Path? in
        guard case .node(let path, let row, _) = line, row.isExpandable else { return nil }
        return path
      }
      let path = ([.root] + branches.sorted()).randomElement(using: &random) ?? .root
      if !path.isRoot, tree.expanded[path] != nil, Int.random(in: 0..<5, using: &random) == 0 {
        _ = tree.collapse(path)
        return tree.rebuild(height: TreeChangeTests.height)
      }
      let next = children(of: path).values.sorted { $0.row.key < $1.row.key }
      let old = tree.expanded[path].map { Array($0.rows) }
      let change = self.change(from: old, to: next)
      _ = tree.take(change, of: path, height: TreeChangeTests.height)
    }

    /// What leads from some children to others, told as a stream tells it or as a recording has it.
    private mutating func change(from old: [Record]?, to new: [Record]) -> TreeChange {
      let states: [FetchState] = [.exhausted, .more, .fetching]
      let paging = states[Int.random(in: 0..<states.count, using: &random)]
      var update = BatchUpdate.reload
      var came = Array(new.indices)
      if let old, Int.random(in: 0..<8, using: &random) > 0 {
        let known = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0) })
        let changed = Set(
          new.filter { row in known[row.key].map { $0 != row } ?? false }.map(\.key))
        update = SectionedDiff.update(
          from: [SectionIDs(id: "", rowIDs: old.map(\.key))],
          to: [SectionIDs(id: "", rowIDs: new.map(\.key))], changed: changed)
        came = new.indices.filter { known[new[$0].key] != new[$0] }
      }
      let isRecorded = Bool.random(using: &random)
      let edit = Dictionary(uniqueKeysWithValues: came.map { ($0, new[$0]) })
      return TreeChange(
        content: isRecorded ? .edit(edit) : .rows(Rows(new), came: came), update: update,
        phase: .loaded, paging: paging)
    }
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func linesAreThoseOfATreeThatIsLaidOutAnew(seed: UInt64) throws {
    var story = Story(seed: seed)
    for step in 0..<120 {
      story.step()
      var anew = TreeScreen()
      anew.expanded = story.tree.expanded
      anew.rebuild(height: Self.height)
      try #require(story.tree.lines == anew.lines, "seed \(seed), step \(step)")
      try #require(story.tree.content == anew.content, "seed \(seed), step \(step)")
      try #require(story.tree.headings == anew.headings, "seed \(seed), step \(step)")
      let violations = story.tree.list.violations(in: story.tree.content, height: Self.height)
      try #require(violations.isEmpty, "seed \(seed), step \(step): \(violations)")
    }
  }

  /// The rules of a server may let somebody read a place, and not the one above it.
  @Test func childThatTheUserNamedStaysBelowAnUnreadableNode() throws {
    func change(_ phase: LoadState) -> TreeChange {
      TreeChange(
        content: .rows([], came: []), update: .reload, phase: phase,
        paging: .exhausted)
    }
    let failed = LoadState.failed(StreamFailure("No.", code: "PERMISSION_DENIED"))
    var tree = TreeScreen()
    _ = tree.take(change(failed), of: .root, height: Self.height)
    #expect(tree.headings[TreeScreen.section]?.detail.text == "")
    tree.show(named: try RunnelTree.Key("room"), of: .root, height: Self.height)
    _ = tree.take(change(failed), of: .root, height: Self.height)
    let room = try Path("/room")
    #expect(tree.content.sections[0].rows == ["/room", "failed:/"])
    #expect(tree.keyCountText(of: room, 1) == "")
    _ = tree.take(change(.loaded), of: room, height: Self.height)
    #expect(tree.keyCountText(of: room, 1) == "0 keys")
    _ = tree.take(change(.loaded), of: .root, height: Self.height)
    #expect(tree.content.sections[0].rows.isEmpty)
  }

  @Test func marksOfNodesThatGoAreForgotten() throws {
    let app = try AppDriver(
      Fixture.views(), json: ["a": ["x": 1, "y": 2], "b": 3, "room": ["m": ["text": "t"]]])
    app.press("g3 j l j")
    #expect(app.state.tabs.tree.cursorLine?.id == "/a/x")
    app.press("Space Space")
    #expect(app.state.tabs.tree.marks == ["/a/x", "/a/y"])
    try app.remove("/a/x")
    #expect(app.state.tabs.tree.marks == ["/a/y"])
    try app.remove("/a")
    #expect(app.state.tabs.tree.marks.isEmpty)
    #expect(app.state.tabs.tree.content.sections[0].rows == ["/b", "/room"])
  }
}
