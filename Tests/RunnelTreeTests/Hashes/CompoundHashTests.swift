import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct CompoundHashTests {
  /// Cuts after the leaves at these positions.
  private func hash(_ json: String, after posts: String...) throws -> CompoundHash {
    CompoundHash(try node(json)) { position, _ in posts.contains(position.description) }
  }

  private func expect(
    _ hash: CompoundHash, _ posts: [String], _ texts: [String],
    _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(hash.posts.map(\.description) == posts, sourceLocation: location)
    #expect(
      hash.hashes == texts.map(TextDigest.base64(of:)) + [""], sourceLocation: location)
  }

  // MARK: The table of section 16.2

  @Test func nothingHasOneEmptyHash() throws {
    expect(CompoundHash(.empty), [], [])
  }

  @Test func aSmallTreeIsOneRange() throws {
    let hash = CompoundHash(try node(#"{"foo":"bar"}"#))
    expect(hash, ["foo"], [#"("foo":(string:"bar"))"#])
    #expect(hash.hashes == ["LmKmJmXugtGlEGoulMbz86myDNw=", ""])
  }

  @Test func aRangeEndsWhereItIsCut() throws {
    let hash = try hash(#"{"1":"one","2":"two","10":"ten"}"#, after: "2")
    expect(
      hash, ["2", "10"],
      [#"("1":(string:"one"),"2":(string:"two"))"#, #"("10":(string:"ten"))"#])
    #expect(
      hash.hashes == ["YkodEihR5l3UXCbbKSqqVp082GU=", "pfduDpANk3ljVHkUt4HdLwrlDao=", ""])
  }

  @Test func theOwnPriorityOfALeafBelongsToIt() throws {
    let hash = CompoundHash(try node(#"{"foo":{".value":"bar",".priority":"baz"}}"#))
    expect(hash, ["foo"], [#"("foo":(priority:string:"baz":string:"bar"))"#])
    #expect(hash.hashes == ["Pg7xV/cwDhcX65Z5lEn4rKdDmX0=", ""])
  }

  @Test func aPriorityStandsAmongTheChildren() throws {
    let hash = try hash(
      #"{"foo":{"!beforePriority":"before",".priority":"prio","afterPriority":"after"},"#
        + #""qux":"qux"}"#,
      after: "foo/.priority")
    expect(
      hash, ["foo/.priority", "qux"],
      [
        #"("foo":("!beforePriority":(string:"before"),".priority":(string:"prio")))"#,
        #"("foo":("afterPriority":(string:"after")),"qux":(string:"qux"))"#,
      ])
    #expect(
      hash.hashes == ["TNHQ1ppp/lp/iP3WA1GOUetV77U=", "eRF6PqPUdLcnQ/J24B4ofNFSH64=", ""])
  }

  // MARK: Around it

  @Test func aLeafAtTheRootHasTheRootForAPost() throws {
    expect(CompoundHash(try node("true")), ["/"], ["(boolean:true)"])
  }

  @Test func quotesAndBackslashesAreEscaped() throws {
    expect(
      CompoundHash(try node(#"{"a\"\\":"\"x\\"}"#)), [#"a"\"#],
      [#"("a\"\\":(string:"\"x\\"))"#])
  }

  @Test func aPriorityComesLastIfNoKeyIsGreater() throws {
    expect(
      CompoundHash(try node(#"{"1":true,".priority":2}"#)), [".priority"],
      [#"("1":(boolean:true),".priority":(number:4000000000000000))"#])
  }

  @Test func aRangeInTheDepthBeginsAtItsOwnPlace() throws {
    expect(
      try hash(#"{"a":{"b":{"c":true,"d":true},"e":true}}"#, after: "a/b/c", "a/b/d"),
      ["a/b/c", "a/b/d", "a/e"],
      [
        #"("a":("b":("c":(boolean:true))))"#, #"("a":("b":("d":(boolean:true))))"#,
        #"("a":("e":(boolean:true)))"#,
      ])
  }

  // MARK: The split rule

  /// A node of leaves that are 52 characters each in the text, the first with one less.
  private func leaves(_ count: Int) throws -> Node {
    let children = (0..<count).map { index in
      let name = String(1000 + index)
      let value = String(repeating: "x", count: 35)
      return Child(key: Key(unchecked: name), node: Node(.string(value)))
    }
    return Node(children: children)
  }

  @Test func aSmallTreeIsCutAfterMoreThan512Characters() throws {
    // `("1000":(string:"x..."` and `),"1001":(string:"x..."`, as long as the rule sees them.
    let first = 1 + 6 + 2 + 7 + 37
    let next = 2 + 6 + 2 + 7 + 37
    #expect(try leaves(9).estimatedSize == 1 + 9 * (4 + 4 + 37))
    #expect(first + 8 * next <= 512)
    #expect(CompoundHash(try leaves(9)).posts.map(\.description) == ["1008"])
    let last = first + 9 * next
    #expect(last > 512)
    #expect(CompoundHash(try leaves(11)).posts.map(\.description) == ["1009", "1010"])
  }

  @Test func exactly512CharactersAreNotCut() throws {
    // `("a":(string:"` and `"` are 15 characters.
    func posts(_ count: Int) throws -> [String] {
      let text = String(repeating: "x", count: count)
      return CompoundHash(try node(#"{"a":"\#(text)","b":1}"#)).posts.map(\.description)
    }
    #expect(try posts(512 - 15) == ["b"])
    #expect(try posts(513 - 15) == ["a", "b"])
  }

  @Test func aLargeTreeIsCutByTheRootOfItsSize() throws {
    let node = try leaves(1000)
    let textMax = 2121  // The root of 100 * 45,001 is 2121.3.
    #expect(node.estimatedSize == 45_001)
    var length = 0
    let expected = CompoundHash(node) { _, count in
      length = count
      return length > textMax
    }
    #expect(CompoundHash(node) == expected)
    #expect(expected.posts.count > 20)
  }

  @Test func aRangeDoesNotEndAtAPriority() throws {
    let long = String(repeating: "x", count: 600)
    let node = try node(#"{"!":{"a":1,".priority":"\#(long)"},"b":2}"#)
    #expect(CompoundHash(node).posts.map(\.description) == ["!/a", "b"])
  }

  @Test(arguments: [
    ("null", 4), ("true", 4), ("7", 8), (#""abc""#, 5), ("\"\u{1F600}\"", 4),
    (#"{".value":true,".priority":7}"#, 4 + 24 + 8), (#"{"ab":true}"#, 1 + 2 + 4 + 4),
    (#"{"ab":true,".priority":7}"#, 1 + 10 + 9 + 4 + 8),
  ])
  func theSizeIsEstimatedAsTold(row: (String, Int)) throws {
    #expect(try node(row.0).estimatedSize == row.1)
  }

  // MARK: The wire

  @Test(arguments: 0..<40 as Range<UInt64>)
  func whatIsSentIsReadBack(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let hash = CompoundHash(try random.node(depth: 4)) { _, _ in random.chance(40) }
    #expect(try CompoundHash(json: JSONValue(parsing: hash.json.jsonText())) == hash)
  }

  @Test(arguments: [
    ("{}", "hs"), (#"{"hs":[""]}"#, "ps"), (#"{"hs":1,"ps":[]}"#, "hs"),
    (#"{"hs":["",1],"ps":["a"]}"#, "hs"), (#"{"hs":[],"ps":[]}"#, "hs"),
    (#"{"hs":[""],"ps":["a"]}"#, "ps"), (#"{"hs":["","",""],"ps":["b","a"]}"#, "ps"),
    (#"{"hs":["","",""],"ps":["a","a"]}"#, "ps"), (#"{"hs":["",""],"ps":["a.b"]}"#, "a.b"),
    ("[]", "hs"),
  ])
  func whatIsMalformedIsRefused(row: (String, String)) throws {
    let error = #expect(throws: TreeError.self) {
      try CompoundHash(json: JSONValue(parsing: row.0))
    }
    #expect(error?.message.contains(row.1) == true)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func theOwnPostsGiveTheSameHash(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let node = try random.node(depth: 4)
    let hash = CompoundHash(node) { _, _ in random.chance(40) }
    #expect(CompoundHash(node, posts: hash.posts) == hash, "seed \(seed)")
  }
}
