import RunnelBase
import RunnelTree
import Testing

/// The text of a document becomes what `Write.set` makes of its values.
@Suite struct ServerValueTextTests {
  private static let now: Int64 = 1_700_000_000_000
  private static let root =
    #"{"a":{"n":5,"p":{".value":1,".priority":7},"l":[1,2],"ö":1},"b":1}"#

  private func resolved(_ text: String, at path: Path) throws -> String {
    let tree = MemoryTree(try Node(json: JSONValue(parsing: Self.root)))
    var result: [UInt8] = []
    var readBytes = 0
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      try ServerValueText.resolve(bytes, at: path, now: Self.now, reader: tree) {
        result += $0
        #expect($1 >= readBytes)
        readBytes = $1
      }
    }
    #expect(readBytes == text.utf8.count)
    return String(decoding: result, as: UTF8.self)
  }

  private func expected(_ text: String, at path: Path) throws -> Node {
    let tree = MemoryTree(try Node(json: JSONValue(parsing: Self.root)))
    let parts = try Write.set(path, JSONValue(parsing: text))
      .assignments(now: Self.now, reader: tree)
    guard case .node(let node)? = parts.first?.target else { return .empty }
    return node
  }

  @Test(arguments: [
    #"{".sv":"timestamp"}"#, #" { ".sv" : {"increment":2} } "#, #"{"n":{".sv":{"increment":2}}}"#,
    #"{"x":{"y":[null, {".sv":"timestamp"} ,{"z":{".sv":"timestamp",".priority":3}}]},"n":1}"#,
    #"{"p":{".priority":{".sv":{"increment":1}},".value":"s"},"l":[{".sv":{"increment":9}}]}"#,
    #"{"p":{".value":{".sv":{"increment":1}},".priority":null}}"#,
    #"{"ö":{".sv":{"increment":1}},"q":{"gone":null,".sv":"timestamp"},"e":{},"f":[]}"#,
    #"{".priority":{".sv":"timestamp"},"x":"\".sv\"","y":{"z":true}}"#,
    #"{".priority":4,".sv":"timestamp"}"#, "1", "null", #"{"a":{"b":{"c":[1,2,{"d":"e"}]}}}"#,
  ])
  func isTheSameAsOfAWrite(text: String) throws {
    for path in [Path.root, try Path("/a")] {
      let json = try JSONValue(parsing: resolved(text, at: path))
      #expect(try Node(json: json, at: path) == expected(text, at: path), "\(path): \(text)")
    }
  }

  @Test func whatHasNoServerValueStaysAsItIs() throws {
    let text = " {\"a\": [1, {\"b\":\t\"\\u00e4\"}],\n\"sv\": {\".priority\" : 1, \".value\":2}} "
    #expect(try resolved(text, at: .root) == text)
  }

  @Test(arguments: [
    (#"{"a":{"b":{".sv":"never"}}}"#, "/x/a/b", "Unknown server value"),
    (#"{"a":[{"b":1,".sv":"timestamp"}]}"#, "/x/a/0", #""b" stands beside ".sv""#),
    (#"{"a":{".sv":"timestamp","b":1}}"#, "/x/a", #""b" stands beside ".sv""#),
  ])
  func whatIsUnknownIsRefusedWithItsPlace(
    row: (text: String, path: String, message: String)
  ) throws {
    let error = try #require(throws: TreeError.self) { try resolved(row.text, at: Path("/x")) }
    #expect(error.path == row.path)
    #expect(error.message.contains(row.message))
  }

  @Test func anObjectThatWouldBeLostNeedNotFitMemory() throws {
    let text = "{\".sv\":\"timestamp\",\"b\":\"" + String(repeating: "x", count: 70_000) + "\"}"
    let error = try #require(throws: TreeError.self) { try resolved(text, at: .root) }
    #expect(error.message.contains("more than 65536 bytes"))
  }

  @Test func whatIsNoJSONIsToldAsThat() throws {
    for text in ["", "{", #"{"a":{".sv":"timestamp"}"#, #"{"a":{".sv":"timestamp"}} x"#] {
      #expect(throws: JSONError.self) { try resolved(text, at: .root) }
    }
  }

  @Test func aTextOfManyPiecesIsWhole() throws {
    let padding = String(repeating: "x", count: 700_000)
    let value = "{\".sv\":\"timestamp\"}"
    let text = "[\"\(padding)\",\(value),\"\(padding)\",\(value),\"\(padding)\"]"
    let result = text.replacing(value, with: "\(Self.now)")
    #expect(try resolved(text, at: .root) == result)
  }
}
