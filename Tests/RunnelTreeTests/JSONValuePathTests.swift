import RunnelBase
import RunnelTree
import Testing

@Suite struct JSONValuePathTests {
  private let value: JSONValue = ["users": [["name": "Ana"], "x"], "one": 1]

  @Test func pathsReachMembersAndElements() throws {
    #expect(try value[Path("users/0/name")]?.string == "Ana")
    #expect(try value[Path("users/1")] == "x")
    #expect(value[Path.root] == value)
  }

  @Test(arguments: ["users/2", "users/name", "one/two", "none"])
  func whatIsNotThereIsNil(path: String) throws {
    #expect(try value[Path(path)]?.isNull == nil)
  }
}
