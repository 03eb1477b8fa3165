import RunnelBase
import RunnelTree
import Testing

@Suite struct PathTests {
  @Test(arguments: [
    ("", "/"), ("/", "/"), ("//", "/"), ("a", "/a"), ("/a", "/a"), ("a/", "/a"),
    ("//a///b/", "/a/b"), ("a b/c", "/a b/c"),
  ])
  func emptyPiecesAreDropped(pair: (String, String)) throws {
    #expect(try Path(pair.0).description == pair.1)
  }

  /// A slash followed by a combining mark is one `Character`, and two all the same.
  @Test func aKeyMayBeginWithACombiningMark() throws {
    let path = try Path("a/\u{301}b")
    #expect(path.keys.count == 2)
    #expect(try Path(path.description) == path)
  }

  @Test(arguments: ["a.b", "a/$b", "a/b#", "[a]", "a/\u{1}"])
  func aForbiddenCharacterIsRefusedWithThePath(text: String) {
    let error = #expect(throws: TreeError.self) { try Path(text) }
    #expect(error?.code == .invalidKey)
    #expect(error?.path == text)
  }

  @Test func aChildIsNamedByTheTextOfItsPath() throws {
    let teams = try Path("teams")
    #expect(try teams.child("red") == Path("teams/red"))
    #expect(try teams.child("red/name") == Path("teams/red/name"))
    #expect(throws: TreeError.self) { try teams.child("a.b") }
  }

  @Test(arguments: ["a", "a/", "/a", "a//", "ä/", "a.b/"])
  func aTextThatIsLongerThanAnyPathIsRefusedInFewWords(piece: String) {
    let text = String(repeating: piece, count: 1 << 20)
    let error = #expect(throws: TreeError.self) { try Path(text) }
    #expect(error?.code == .invalidPath)
    #expect((error?.description.utf8.count ?? .max) < 400)
    #expect(error?.path.map { text.hasPrefix($0.dropLast(3)) } == true)
  }

  @Test(arguments: ["", "/.priority"]) func everyReaderOfPathsRefusesLongOnes(end: String) {
    let text = String(repeating: "a/", count: 1 << 16) + end
    let readers: [() throws -> Void] = [
      { _ = try LeafPosition(text) },
      { _ = try IndexDefinition(checkedPattern: text, serving: .value) },
      {
        let write = Write.update(.root, [JSONMember(text, 1)])
        _ = try write.assignments(now: 0, reader: MemoryTree())
      },
    ]
    for read in readers {
      let error = #expect(throws: TreeError.self) { try read() }
      #expect(error?.code == .invalidPath)
      #expect((error?.description.utf8.count ?? .max) < 400)
    }
  }

  @Test func manySlashesMakeNoPathLong() throws {
    let slashes = String(repeating: "/", count: 1 << 16)
    #expect(try Path(slashes + "a" + slashes + "b") == Path("a/b"))
    #expect(try Path(slashes) == .root)
    let error = #expect(throws: TreeError.self) { try Path(slashes + "a.b") }
    #expect(error?.code == .invalidKey)
    #expect((error?.description.utf8.count ?? .max) < 400)
  }

  @Test func infoIsAPlaceAtTheRootOnly() throws {
    let path = try Path("/.info/connected")
    #expect(path.isInfo && Path.info.contains(path))
    #expect(path.description == "/.info/connected")
    #expect(try !Path("/a").isInfo && !Path.root.isInfo)
    #expect(throws: TreeError.self) { try Path("/a/.info") }
    #expect(throws: TreeError.self) { try Path("/.information") }
    #expect(throws: TreeError.self) { try Path("/a").appending(.info) }
    #expect(throws: TreeError.self) { try Path([Key("a")] + Path.info.keys) }
    #expect(throws: TreeError.self) { try Key(".info") }
  }

  @Test func aPathHasAtMost32Levels() throws {
    let key = try Key("a")
    #expect(try Path(Array(repeating: key, count: 32)).keys.count == 32)
    let error = #expect(throws: TreeError.self) {
      try Path(Array(repeating: key, count: 33))
    }
    #expect(error?.code == .invalidPath)
    #expect(error?.message.contains("32") == true)
    let full = try Path(Array(repeating: key, count: 32))
    #expect(throws: TreeError.self) { try full.child(key) }
    #expect(throws: TreeError.self) { try full.appending(Path("b")) }
  }

  @Test func aPathHasAtMost768BytesWithItsSeparators() throws {
    let half = String(repeating: "a", count: 383)
    #expect(try Path("\(half)/\(half)a").keys.count == 2)
    let error = #expect(throws: TreeError.self) { try Path("\(half)/\(half)aa") }
    #expect(error?.code == .invalidPath)
    #expect(error?.message.contains("769") == true)
  }

  @Test func aPlaceContainsItselfAndWhatIsBelow() throws {
    let (a, ab, b) = (try Path("a"), try Path("a/b"), try Path("b"))
    #expect(a.contains(a))
    #expect(a.contains(ab))
    #expect(Path.root.contains(ab))
    #expect(!ab.contains(a))
    #expect(!a.contains(b))
    #expect(try ab.relative(to: a) == Path("b"))
    #expect(ab.relative(to: ab) == .root)
    #expect(ab.relative(to: b) == nil)
    #expect(ab.parent == a)
    #expect(Path.root.parent == nil)
  }

  @Test func pathsAreOrderedByKeyAndAPlaceComesBeforeThoseBelow() throws {
    let sorted = try ["/", "/2", "/10", "/a", "/a/1", "/a/b", "/b"].map { try Path($0) }
    #expect(sorted.shuffled().sorted() == sorted)
  }
}
