import Foundation
import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Values at the ends of what can be read and written, and the messages about those beyond.
@Suite struct CodingLimitTests {
  private func decoded<Value: Decodable>(_ type: Value.Type, _ json: JSONValue) throws -> Value {
    try NodeDecoder().decode(type, from: Node(json: json), at: Path("at"))
  }

  @Test func namesThatAreOneWholeNumberAreNotMerged() throws {
    for name in ["00", "+0", "-0"] {
      let json: JSONValue = .object([JSONMember("0", "a"), JSONMember(name, "b")])
      let error = #expect(throws: DataCodingError.self) { try decoded([Int: String].self, json) }
      #expect(error?.description.contains("are one whole number") == true, "\(name)")
      #expect(error?.description.contains("\"\(name)\"") == true)
      #expect(try decoded([String: String].self, json).count == 2)
      #expect(throws: DataCodingError.self) {
        try decoded([String: [Int: String]].self, ["below": json])
      }
    }
    #expect(try decoded([Int: String].self, ["0": "a", "07": "b"]) == [0: "a", 7: "b"])
  }

  @Test func aTimeThatCouldNotBeWrittenIsNotRead() throws {
    #expect(throws: DataCodingError.self) { try decoded(Date.self, 1e300) }
    #expect(throws: DataCodingError.self) { try decoded(Date.self, -1e19) }
    #expect(try decoded(Date.self, 1500.25) == Date(timeIntervalSince1970: 1.50025))
  }

  @Test func aDecimalThatIsNoNumberIsToldAsSuch() throws {
    let error = #expect(throws: DataCodingError.self) { try NodeEncoder().json(Decimal.nan) }
    #expect(error?.description.contains("NaN is no finite number") == true, "\(error as Any)")
  }

  @Test func errorsOfTheTreeShowNoControlCharactersAndAlwaysAPlace() async throws {
    let error = TreeError(.invalidKey, "No.", path: "a\u{1b}[2J/b")
    #expect("\(error)" == #"a\u001b[2J/b: No."#)
    let folder = try TemporaryFolder()
    let database = try await folder.open()
    let place = try database.reference(withPath: "a")
    let empty = #expect(throws: TreeError.self) { try place.child("") }
    #expect(empty?.description == "/a: The path of a child is empty: has a variable no value?")
    let malformed = await #expect(throws: DatabaseError.self) {
      try await database.importJSON(Array("{".utf8))
    }
    #expect(malformed?.message.hasSuffix(".") == true)
    database.close()
  }
}
