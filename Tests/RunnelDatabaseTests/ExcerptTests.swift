import RunnelBase
import RunnelDatabase
import RunnelTree
import Testing

/// The beginning of what stands at a place.
@Suite struct ExcerptTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func session(_ json: JSONValue) throws -> DatabaseSession {
    let session = try folder.session()
    _ = try session.write(.set(.root, json))
    return session
  }

  @Test func smallValuesAreWholeAndLaidOut() throws {
    let session = try session(["a": ["b": 1]])
    let excerpt = try session.excerpt(of: Path("/a"), textMax: 100, countMax: 1000)
    #expect(
      excerpt
        == NodeExcerpt(
          text: "{\n  \"b\": 1\n}", byteCount: 7, isCounted: true, isWhole: true, isUndoable: true,
          grandchildCount: 0))
  }

  @Test(arguments: [(0, true), (1, false)])
  func whatTheHistoryKeepsCanBeUndone(more: Int, isUndoable: Bool) throws {
    let text = String(repeating: "x", count: History.valueBytesMax - 2 + more)
    let session = try session(["a": .string(text)])
    #expect(
      try session.excerpt(of: Path("/a"), textMax: 10, countMax: 1 << 20).isUndoable == isUndoable)
    _ = try session.write(.remove(Path("/a")))
    let entry = try #require(try session.history(count: 1).first)
    #expect(entry.isUndoable == isUndoable, "the history says the same")
    try session.setHistoryLimit(0)
    _ = try session.write(.set(Path("/b"), 1))
    #expect(try !session.excerpt(of: Path("/b"), textMax: 10, countMax: 100).isUndoable)
  }

  @Test func childrenOfChildrenAreCountedWhereTheyAreFew() throws {
    let session = try session(["a": ["b": ["x": 1, "y": 2], "c": ["z": ["w": 3]], "d": 4]])
    #expect(
      try session.excerpt(of: Path("/a"), textMax: 10, countMax: 100).grandchildCount == 3)
    let many = (0...NodeExcerpt.countedChildrenMax).map { JSONMember("k\($0)", ["x": 1]) }
    _ = try session.write(.set(Path("/a"), .object(many)))
    #expect(
      try session.excerpt(of: Path("/a"), textMax: 10, countMax: 100).grandchildCount == nil)
    _ = try session.write(.remove(Path("/a/k0")))
    #expect(
      try session.excerpt(of: Path("/a"), textMax: 10, countMax: 100).grandchildCount
        == NodeExcerpt.countedChildrenMax)
  }

  @Test func nothingIsNull() throws {
    let session = try session(["a": 1])
    let excerpt = try session.excerpt(of: Path("/z"), textMax: 100, countMax: 1000)
    #expect(excerpt.text == "null")
  }

  @Test func largeValuesAreCutAtTheEndOfALineAndCountedUpToALimit() throws {
    let members = (0..<5000).map { JSONMember("k\($0)", .string("wörter \($0)")) }
    let session = try session(["a": .object(members)])
    let whole = JSONValue.object(members).jsonText().utf8.count
    let cut = try session.excerpt(of: Path("/a"), textMax: 1000, countMax: 1 << 20)
    #expect(!cut.isWhole && cut.isCounted)
    #expect(cut.byteCount == whole)
    #expect(cut.text.utf8.count <= 1000)
    #expect(cut.text.hasSuffix(","))
    let uncounted = try session.excerpt(of: Path("/a"), textMax: 1000, countMax: 2000)
    #expect(!uncounted.isWhole && !uncounted.isCounted)
    #expect(uncounted.byteCount > 2000)
  }
}
