import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct WritePlacesTests {
  private func write(_ write: Write, over root: String) throws -> String {
    var harness = try EngineHarness(root)
    _ = try harness.write(write)
    return harness.tree.root.exportJSON.jsonText()
  }

  private func copy(_ from: String, _ to: String, over root: String) throws -> String {
    try write(.copy(from: Path(from), to: Path(to)), over: root)
  }

  private func move(_ from: String, _ to: String, over root: String) throws -> String {
    try write(.move(from: Path(from), to: Path(to)), over: root)
  }

  // MARK: Copy

  @Test func aCopyReplacesItsTargetAndKeepsPriorities() throws {
    #expect(
      try copy("a", "b", over: #"{"a":{"x":1,".priority":2},"b":{"y":3}}"#)
        == #"{"a":{"x":1,".priority":2},"b":{"x":1,".priority":2}}"#)
    #expect(try copy("a/x", "c/d", over: #"{"a":{"x":1}}"#) == #"{"a":{"x":1},"c":{"d":1}}"#)
  }

  @Test func aCopyMayStandAboveOrBelowItsSource() throws {
    #expect(try copy("a", "a/b", over: #"{"a":{"x":1}}"#) == #"{"a":{"b":{"x":1},"x":1}}"#)
    #expect(try copy("a/b", "a", over: #"{"a":{"b":{"x":1}}}"#) == #"{"a":{"x":1}}"#)
    #expect(try copy("a", "a", over: #"{"a":1}"#) == #"{"a":1}"#)
    #expect(try copy("", "a", over: #"{"b":1}"#) == #"{"a":{"b":1},"b":1}"#)
    #expect(try copy("b", "", over: #"{"b":1}"#) == "1")
  }

  // MARK: Move

  @Test func aMoveLeavesNothingBehind() throws {
    #expect(
      try move("a", "b", over: #"{"a":{"x":1,".priority":2},"b":3}"#)
        == #"{"b":{"x":1,".priority":2}}"#)
    #expect(try move("a/x", "b", over: #"{"a":{"x":1}}"#) == #"{"b":1}"#)
    #expect(try move("a/x", "", over: #"{"a":{"x":1},"c":2}"#) == "1")
    #expect(try move("a/x", "a", over: #"{"a":{"x":1,"y":2},"c":2}"#) == #"{"a":1,"c":2}"#)
  }

  @Test func aParentOfBothPlacesKeepsItsPriority() throws {
    #expect(
      try move("l/a", "l/b", over: #"{"l":{"a":1,".priority":9}}"#)
        == #"{"l":{"b":1,".priority":9}}"#)
    #expect(
      try move("l/a", "l/0", over: #"{"l":{"a":1,".priority":9}}"#)
        == #"{"l":{"0":1,".priority":9}}"#)
  }

  @Test(arguments: [("a", "a"), ("a", "a/b"), ("a", "a/b/c"), ("", "a"), ("", "")])
  func aMoveIntoItselfIsRefused(row: (String, String)) throws {
    let error = #expect(throws: TreeError.self) { try move(row.0, row.1, over: #"{"a":{"b":1}}"#) }
    #expect(error?.code == .conflictingPaths)
    #expect(error?.path == (row.0.isEmpty ? "/" : "/a"))
  }

  @Test func aMoveToAPlaceWhoseNameBeginsAlikeIsNone() throws {
    #expect(try move("a", "ab/c", over: #"{"a":1}"#) == #"{"ab":{"c":1}}"#)
  }

  // MARK: Both

  @Test func nothingIsCopiedOrMovedFromNowhere() throws {
    for write in try [
      Write.copy(from: Path("x"), to: Path("b")), .move(from: Path("x"), to: Path("b")),
    ] {
      let error = #expect(throws: TreeError.self) { try self.write(write, over: #"{"b":1}"#) }
      #expect(error?.code == .notFound)
      #expect(error?.path == "/x")
    }
  }

  @Test func whatIsCopiedFitsTheDepthOfItsTarget() throws {
    // 31 levels, which stand at most one level below the root.
    let deep = String(repeating: #"{"a":"#, count: 31) + "1" + String(repeating: "}", count: 31)
    let root = "{\"s\":\(deep)}"
    #expect(throws: Never.self) { try copy("s", "t", over: root) }
    for write in try [
      Write.copy(from: Path("s"), to: Path("t/u")), .move(from: Path("s"), to: Path("t/u")),
    ] {
      let error = #expect(throws: TreeError.self) { try self.write(write, over: root) }
      #expect(error?.code == .invalidPath)
      #expect(error?.message.contains("33") == true)
      #expect(error?.path?.hasPrefix("/t/u/a/a") == true)
    }
  }

  @Test func whatIsCopiedFitsTheLengthOfItsTarget() throws {
    let long = String(repeating: "k", count: 760)
    let root = "{\"s\":{\"\(long)\":1}}"
    #expect(throws: Never.self) { try copy("s", "1234567", over: root) }
    let error = #expect(throws: TreeError.self) { try copy("s", "12345678", over: root) }
    #expect(error?.code == .invalidPath)
    #expect(error?.message.contains("769") == true)
  }

  @Test(arguments: 0..<150 as Range<UInt64>)
  func aMoveIsACopyAndARemoval(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let root = try random.node(depth: 4)
    let (from, to) = (try random.path(depth: 1..<4), try random.path(depth: 1..<4))
    if from.contains(to) || root[from].isEmpty { return }
    var tree = MemoryTree(root)
    for part in try Write.move(from: from, to: to).assignments(now: 0, reader: tree) {
      tree.perform(part)
    }
    let copied = root.replacing(to, with: root[from])
    let expected = to.contains(from) ? copied : copied.replacing(from, with: .empty)
    #expect(tree.root == expected, "seed \(seed): \(from) to \(to)")
  }
}
