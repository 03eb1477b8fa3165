import RunnelBase
import RunnelTree
import Testing

@Suite struct NodeReaderTests {
  private func read(
    _ json: String, at path: Path = .root, for key: Key? = nil, maxBytes: Int = .max
  ) throws -> (node: Node?, rest: String) {
    let bytes = Array(json.utf8)
    return try bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer)
      let node = try NodeReader(at: path).read(&scanner, for: key, maxBytes: maxBytes)
      return (node, String(decoding: bytes[scanner.offset...], as: UTF8.self))
    }
  }

  @Test(arguments: [
    "null", "1", "true", #""a""#, "[]", "{}", #"[1,null,{"a":[2]}]"#, #"{"a":null,"b":{}}"#,
    #"{".value":5,".priority":"x"}"#, #"{".value":null,".priority":1}"#, #"{".value":null,"a":1}"#,
    #"{".priority":1,"k":true}"#, #"{"b":1,"a":2,"b":3}"#, #"{"b":1,"a":2,"b":null}"#,
    #" { "10" : 1 , "9" : 2 } "#, #"{".priority":2,".priority":null,"a":1}"#,
  ])
  func itReadsWhatTheImportOfAValueGives(json: String) throws {
    #expect(try read(json).node == node(json))
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func itReadsRandomNodesBack(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let node = try random.node(depth: 4)
    let (read, rest) = try read(node.exportJSON.jsonText() + " ,")
    #expect(read == node)
    #expect(rest == " ,")
  }

  @Test(arguments: [
    #"{"a.b":1}"#, #"{"":1}"#, #"{".value":1,"a":2}"#, #"{".value":1,"a":null}"#,
    #"{".value":{"a":1}}"#, #"{"a":{".priority":true}}"#, #"{".sv":"timestamp"}"#,
    #"{".other":1}"#, #"{"a":[{"b":{"c.d":1}}]}"#,
  ])
  func itRefusesWhatTheImportOfAValueRefuses(json: String) throws {
    let path = try Path("x/y")
    let expected = #expect(throws: TreeError.self) {
      try Node(json: JSONValue(parsing: json), at: path)
    }
    let error = #expect(throws: TreeError.self) { try read(json, at: path) }
    #expect(error == expected)
    #expect(error?.path?.hasPrefix("/x/y") == true)
  }

  @Test func theErrorOfAChildNamesItsPlace() throws {
    let error = #expect(throws: TreeError.self) {
      try read(#"{"b":{".priority":true}}"#, at: Path("x"), for: Key("a"))
    }
    #expect(error?.path == "/x/a/b")
  }

  @Test func theLimitsOfPathsHoldBelowThePlace() throws {
    let nested =
      String(repeating: #"{"a":"#, count: 30) + "1" + String(repeating: "}", count: 30)
    #expect(throws: Never.self) { try read(nested, at: Path("x"), for: Key("y")) }
    let error = #expect(throws: TreeError.self) { try read(nested, at: Path("x/y"), for: Key("z")) }
    #expect(error?.code == .invalidPath)
    let long = String(repeating: "k", count: 383)
    #expect(throws: Never.self) { try read("{\"\(long)\":1}", at: Path(long + "k")) }
    #expect(throws: TreeError.self) { try read("{\"\(long)k\":1}", at: Path(long + "k")) }
  }

  @Test func aValueBeyondTheBudgetStaysUnread() throws {
    for json in [#"{"a":[1,2,3],"b":"text"}"#, #""12345678901234567890""#, "[[[1]],2,3]"] {
      let count = json.utf8.count
      #expect(try read(" " + json, maxBytes: count).node == node(json))
      for budget in [0, 1, count / 2, count - 1] {
        let (read, rest) = try read(" " + json + "x", maxBytes: budget)
        #expect(read == nil)
        #expect(rest == " " + json + "x")
      }
    }
  }

  @Test(arguments: ["", "{", #"{"a""#, #"{"a":tru}"#, "[1,]", "nul"])
  func whatIsNoJSONIsAnErrorOfJSON(json: String) {
    #expect(throws: JSONError.self) { try read(json) }
  }
}
