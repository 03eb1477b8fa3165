import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

@Suite struct JSONValueDecodingTests {
  private struct User: Codable, Equatable {
    var name: String
    var age: Int?
    var tags: [String]
  }

  @Test func valuesAreDecodedAsFromTheTree() throws {
    let value: JSONValue = ["name": "Ana", "tags": ["a", "b"]]
    #expect(try value.decode(User.self) == User(name: "Ana", age: nil, tags: ["a", "b"]))
    #expect(try JSONValue.null.decode(User?.self) == nil)
    #expect(try JSONValue("text").decode() == "text")
  }

  @Test func aWrongKindNamesThePlaceAndTheType() {
    let value: JSONValue = ["name": "Ana", "age": "old", "tags": []]
    let error = #expect(throws: DataCodingError.self) { try value.decode(User.self) }
    #expect(error?.path == "/age")
    #expect(error?.expected == "Int")
    #expect(throws: DataCodingError.self) { try (["a.b": 1] as JSONValue).decode(User.self) }
  }

  @Test func recordsAreReadByFieldAndAsATypeWithTheirPlace() throws {
    let node = try Node(json: ["name": "Ana", "age": 7.5])
    let path = try Path("/users/ana")
    let row = TreeRow(key: try Key("ana"), value: .null, content: .node(node))
    let record = Record(path: path, row: row)
    #expect(record["name"].string == "Ana")
    #expect(record["name"].int == nil)
    let error = #expect(throws: DataCodingError.self) { try record.decode(User.self) }
    #expect(error?.path == "/users/ana/age")
  }
}
