import RunnelBase
import Testing

@testable import RunnelTree

@Suite struct ContentHashTests {
  /// The table of section 16.1: a node, the text that is hashed, and the hash.
  static let table = [
    ("null", "", ""),
    ("true", "boolean:true", "E5z61QM0lN/U2WsOnusszCTkR8M="),
    ("false", "boolean:false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
    ("500", "number:407f400000000000", "Ajg9bohDwTVmqR14o1bVJnneryM="),
    ("0", "number:0000000000000000", "7ysMph9WPitGP7poMnMHMVPtUlI="),
    ("1.5", "number:3ff8000000000000", "4MftviR9Z/2MQCMkjh2RNbvlLJc="),
    (#""Hello World""#, "string:Hello World", "B8HWXc7zXMjrsnJxPRj7wrNGqt4="),
    (#""""#, "string:", "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
    ("\"\u{E9}\"", "string:\u{E9}", "1M+kSgpwpb2WVucwSmGGq+h8/uU="),
    (
      #"{".value":"primitive",".priority":200}"#,
      "priority:number:4069000000000000:string:primitive", "R9u8hs9fhRzuQ2M/3BQ0uhxz5ys="
    ),
    (
      #"{".value":42,".priority":"high"}"#, "priority:string:high:number:4045000000000000",
      "d/2FMFWchvDsa06RLXZhzvM9aQc="
    ),
    (
      #"{"foo":"bar"}"#, ":foo:9q1XbR6M8eku+omj9cTQ2E5Jg1A=", "XnLeTeWQmzTHImTbSMDLg/qMrKY="
    ),
    (
      #"{"z":1,"a":"2","b":"true","c":false}"#,
      ":a:ADtXmubkxERZYALtVK3h0Wc2304=:b:SguBQTzes2fMe/fIMwCRPdBZ4MI="
        + ":c:aSSNoqcS4oQwJ2xxH20rvpp3zP0=:z:YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=",
      "8qk5vmuZGXWJx+77SGwjYRM0yPA="
    ),
    (
      #"{".priority":128.256,"someKey":"value"}"#,
      "priority:number:4060083126e978d5::someKey:0bmxoeWnZdcFPhYfjUj0D60+l7I=",
      "WYR8kBGna+a7E5x75zvhPhzACOQ="
    ),
    (
      #"{".priority":"high","someKey":"value"}"#,
      "priority:string:high::someKey:0bmxoeWnZdcFPhYfjUj0D60+l7I=",
      "/KquMIGoCuKO/ipoLoQzqnU0BcI="
    ),
    (
      #"{"10":"x","9":"y","a":{"b":1}}"#,
      ":9:JbVTIhYSr66j91vTDZkfkIRZgUo=:10:OJSeRnP1mf0vTrhq7izmWGPiNx4="
        + ":a:lUwqxaYTHjA4XN/UJjS/cI8JKaM=",
      "vouNLB7AjvdZXLyghvjOGDxm4t0="
    ),
    (
      #"{"b":{".priority":1,".value":"x"},"a":{".priority":2,".value":"y"},"c":"z"}"#,
      ":c:spma6tfW0Nl5KpHLWlVJbGOveJM=:b:DyYUenjbovmkXiggnw4KsXFS+eA="
        + ":a:Fuogb0lpL/vqnu9wf4n3iq8s9UE=",
      "BDQT8QduWBqoy4nQ0RLCKnALPHY="
    ),
    (
      #"{"users":{"ada":{"name":"Ada","age":36},"bob":{"name":"Bob","age":7}}}"#,
      ":users:Vzs3V4Ivw4bZfAYEp/Pgjm5E2oM=", "CDZKnNTZAgZYB/RGj+cTjCpSe4Q="
    ),
  ]

  @Test(arguments: table)
  func everyRowOfTheTableHasItsHash(row: (String, String, String)) throws {
    #expect(try node(row.0).contentHash == row.2)
    #expect(try MemoryTree(node(row.0)).contentHash(at: .root) == row.2)
  }

  @Test(arguments: table.dropFirst())
  func everyTextOfTheTableHasItsHash(row: (String, String, String)) {
    #expect(TextDigest.base64(of: row.1) == row.2)
  }

  @Test func minusZeroIsHashedAsZero() throws {
    let minusZero = "m/gA365Q5OBo06Bg8wdybAAiMSQ="
    #expect(TextDigest.base64(of: "number:8000000000000000") == minusZero)
    #expect(try node("-0").contentHash == node("0").contentHash)
    #expect(try node("-0.0e5").contentHash == node("0").contentHash)
    #expect(try node("-0").contentHash != minusZero)
  }

  @Test func whatIsNoUTF16IsHashedAsItsReplacement() throws {
    // No Swift text holds half of a surrogate pair: it is replaced when the text is made.
    let half = String(decoding: [0xD800] as [UInt16], as: UTF16.self)
    #expect(Node(.string(half)).contentHash == Node(.string("\u{FFFD}")).contentHash)
    #expect(
      try node(#""\uD83D\uDE00""#).contentHash == TextDigest.base64(of: "string:\u{1F600}"))
  }

  @Test func aNumberOfAnyKindIsHashedAsItsDouble() throws {
    #expect(try node("1").contentHash == node("1.0").contentHash)
    #expect(try node("9007199254740993").contentHash == node("9007199254740992").contentHash)
    #expect(try node("1e300").contentHash == TextDigest.base64(of: "number:7e37e43c8800759c"))
  }

  @Test func textsThatAreOnlyEquivalentHaveHashesOfTheirOwn() throws {
    #expect(try node("\"\u{E9}\"").contentHash != node("\"e\u{301}\"").contentHash)
  }

  @Test func aTextLongerThanAPieceIsHashedWhole() throws {
    // 100,000 times `a`, by another implementation of SHA-1.
    let text = String(repeating: "a", count: 100_000)
    #expect(TextDigest.base64(of: text) == "xNSzCFEYL8TrhnVJTUL9fxfinJM=")
  }

  // MARK: Over a reader

  @Test(arguments: 0..<100 as Range<UInt64>)
  func readingChildByChildGivesTheHashOfTheNode(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let root = try random.node(depth: 4)
    let tree = MemoryTree(root)
    for path in [Path.root, try random.path(), try random.path()] {
      #expect(try tree.contentHash(at: path) == root[path].contentHash, "seed \(seed), \(path)")
    }
  }

  @Test func aNodeOfSeveralPagesHasTheHashOfTheWhole() throws {
    for count in [KeyPages.rowsMax - 1, KeyPages.rowsMax, 2 * KeyPages.rowsMax + 1] {
      let children = (0..<count).map { index in
        let priority = index.isMultiple(of: 7) ? JSONNumber(Int64(count - index)) : nil
        return Child(
          key: Key(unchecked: "k\(index)"),
          node: Node(.number(JSONNumber(Int64(index))), priority: priority.map(Leaf.number)))
      }
      let root = Node(children: children, priority: .string("p"))
      #expect(try MemoryTree(root).contentHash(at: .root) == root.contentHash)
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func theHashOfAWindowIsThatOfItsChildrenAlone(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let root = try random.node(depth: 3)
    let tree = MemoryTree(root)
    let query = try random.query(random.path(depth: 0..<2))
    let rows = try tree.rows(of: query.path, in: RowSlice(query), detail: .full)
    let window = Node(
      children: rows.compactMap { row in
        row.node.map { Child(key: row.key, node: $0) }
      })
    let expected = query.loadsAllData ? root[query.path] : window
    #expect(try tree.contentHash(of: query) == expected.contentHash, "seed \(seed), \(query)")
  }

  @Test func aWindowHasNoPriorityOfItsOwn() throws {
    let tree = MemoryTree(try node(#"{"l":{"a":1,"b":2,".priority":3}}"#))
    let query = try Query(Path("l")).limited(to: 2, from: .first)
    #expect(try tree.contentHash(of: query) == node(#"{"a":1,"b":2}"#).contentHash)
    #expect(
      try tree.contentHash(of: Query(Path("l")))
        == node(#"{"a":1,"b":2,".priority":3}"#).contentHash)
    let nothing = try Query(Path("l")).ordered(by: .value).equal(to: .leaf(.number(9)))
    #expect(try tree.contentHash(of: nothing).isEmpty)
  }
}
