import RunnelBase
import RunnelTree
import Testing

@Suite struct NodeJSONTests {
  // MARK: Import

  @Test(arguments: [
    // The table of section 3.1.
    (#"{"a":null,"b":{}}"#, "null"),
    (#"{"a":{"b":{"c":null}},".priority":3}"#, "null"),
    (#"{".value":5,".priority":"x"}"#, #"{".value":5,".priority":"x"}"#),
    (#"{".value":null,".priority":1}"#, "null"),
    (#"["x",null,"z"]"#, #"{"0":"x","2":"z"}"#),
    (#"{".priority":1,"k":true}"#, #"{"k":true,".priority":1}"#),
    // And around it.
    ("null", "null"), ("{}", "null"), ("[]", "null"), ("[null,[],{}]", "null"),
    (#"{".value":5}"#, "5"),
    (#"{".value":false,".priority":null}"#, "false"),
    (#"{".value":null,"a":1}"#, #"{"a":1}"#),
    (#"[[1],{"a":[2]}]"#, #"{"0":{"0":1},"1":{"a":{"0":2}}}"#),
    (#"{"a":1,"a":null}"#, "null"), (#"{"a":1,"a":2}"#, #"{"a":2}"#),
    (#"{"b":1,"a":2,"10":3,"9":4}"#, #"{"9":4,"10":3,"a":2,"b":1}"#),
    ("9007199254740993", "9007199254740993"), ("-0", "0"), ("1.0", "1"),
  ])
  func importGives(row: (String, String)) throws {
    #expect(try node(row.0).exportJSON.jsonText() == row.1)
  }

  @Test(arguments: [
    #"{"a.b":1}"#, #"{"":1}"#, #"{"a":{"$x":1}}"#, #"{"a/b":1}"#, "{\"a\\u0001\":1}",
  ])
  func aBadKeyIsRefused(json: String) {
    let error = #expect(throws: TreeError.self) { try node(json) }
    #expect(error?.code == .invalidKey)
    #expect(error?.path != nil)
  }

  @Test(arguments: [
    #"{".value":1,"a":2}"#, #"{".value":{"a":1}}"#, #"{".value":[1]}"#,
    #"{"a":1,".priority":true}"#, #"{"a":1,".priority":{"b":1}}"#, #"{"a":1,".priority":[1]}"#,
    #"{".sv":"timestamp"}"#, #"{"a":{".sv":"timestamp"}}"#,
  ])
  func aBadValueIsRefused(json: String) {
    let error = #expect(throws: TreeError.self) { try node(json) }
    #expect(error?.code == .invalidValue)
  }

  @Test func theErrorNamesThePlace() throws {
    let error = #expect(throws: TreeError.self) {
      try Node(json: JSONValue(parsing: #"{"a":[{"b":{".priority":true}}]}"#), at: Path("x/y"))
    }
    #expect(error?.path == "/x/y/a/0/b")
  }

  @Test func aStringHasAtMost10MiBWhereverItStands() throws {
    let longest = String(repeating: "x", count: TreeLimits.stringBytesMax)
    #expect(throws: Never.self) { try Node(json: .string(longest)) }
    let tooLong = JSONValue.string(longest + "x")
    let documents: [JSONValue] = [
      tooLong, ["a": tooLong], [tooLong], [".value": tooLong], [".value": 1, ".priority": tooLong],
    ]
    for document in documents {
      let error = #expect(throws: TreeError.self) { try Node(json: document) }
      #expect(error?.code == .invalidValue)
    }
  }

  @Test func aTreeHasAtMost32LevelsCountedFromTheRoot() throws {
    func nested(_ levels: Int) throws -> JSONValue {
      try JSONValue(
        parsing: String(repeating: #"{"a":"#, count: levels) + "1"
          + String(repeating: "}", count: levels))
    }
    #expect(throws: Never.self) { try Node(json: nested(32)) }
    #expect(throws: TreeError.self) { try Node(json: nested(33)) }
    #expect(throws: Never.self) { try Node(json: nested(30), at: Path("x/y")) }
    let error = #expect(throws: TreeError.self) { try Node(json: nested(31), at: Path("x/y")) }
    #expect(error?.code == .invalidPath)
  }

  @Test func aTreeHasPathsOfAtMost768Bytes() throws {
    let long = String(repeating: "k", count: 384)
    #expect(throws: Never.self) {
      try Node(json: [long: [String(repeating: "k", count: 383): 1]])
    }
    let error = #expect(throws: TreeError.self) { try Node(json: [long: [long: 1]]) }
    #expect(error?.code == .invalidPath)
  }

  // MARK: Plain export

  @Test(arguments: [
    (#"{"0":"a"}"#, #"["a"]"#),
    (#"{"1":"a"}"#, #"[null,"a"]"#),
    (#"{"2":"a"}"#, #"{"2":"a"}"#),
    (#"{"0":"a","3":"b"}"#, #"["a",null,null,"b"]"#),
    (#"{"0":"a","4":"b"}"#, #"{"0":"a","4":"b"}"#),
    (#"{"0":"a","01":"b"}"#, #"{"0":"a","01":"b"}"#),
    (#"{"0":"a","-0":"b"}"#, #"{"0":"a","-0":"b"}"#),
    (#"{"-1":"a","0":"b"}"#, #"{"-1":"a","0":"b"}"#),
    (#"{"0":"a","x":"b"}"#, #"{"0":"a","x":"b"}"#),
    (#"{"2147483647":"a"}"#, #"{"2147483647":"a"}"#),
    (#"{"a":{"0":{"1":true}}}"#, #"{"a":[[null,true]]}"#),
    (#"{"0":{".value":"a",".priority":1},".priority":2}"#, #"["a"]"#),
    ("null", "null"),
  ])
  func arraysAreMadeOfMostlyFilledIndexes(row: (String, String)) throws {
    #expect(try node(row.0).json(coercingArrays: true).jsonText() == row.1)
  }

  @Test func plainExportLosesPrioritiesAndKeepsObjects() throws {
    let node = try node(#"{"0":{".value":"a",".priority":1},".priority":2}"#)
    #expect(node.json.jsonText() == #"{"0":"a"}"#)
    #expect(node.exportJSON.jsonText() == #"{"0":{".value":"a",".priority":1},".priority":2}"#)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func anExportImportsToTheSame(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let node = try random.node(depth: 4)
    #expect(try Node(json: node.exportJSON) == node)
    #expect(try Node(json: JSONValue(parsing: node.exportJSON.jsonText())) == node)
  }
}
