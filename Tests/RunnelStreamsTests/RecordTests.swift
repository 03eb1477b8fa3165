import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct RecordTests {
  private func record(_ key: String, _ node: Node = Node(.bool(true))) throws -> Record {
    let row = TreeRow(Child(key: try Key(key), node: node), index: .key, detail: .full)
    return Record(row, in: try Path("m"))
  }

  @Test func keyPathAndIDAreThreeThings() throws {
    let record = try record("-Nx_1")
    #expect(record.key == "-Nx_1")
    #expect(record.path.description == "/m/-Nx_1")
    #expect(record.id == "/m/-Nx_1")
    #expect(record.id == Record.id(of: record.path))
  }

  @Test func keyIsTheTextOfTheTreeEvenIfTheIDIsEscaped() throws {
    let record = try record("\u{E9}")
    #expect(record.key == "\u{E9}")
    #expect(record.id == "/m/%C3%A9")
  }

  @Test func idsOfCanonicallyEquivalentTextsDiffer() throws {
    let (composed, decomposed) = (try record("\u{E9}"), try record("e\u{301}"))
    #expect(composed.path != decomposed.path)
    #expect(composed.id != decomposed.id)
    #expect(composed.id == "/m/%C3%A9")
    #expect(try record("%C3%A9").id != composed.id)
  }

  @Test func equalityIsThatOfTheContent() throws {
    #expect(try record("a") == record("a"))
    #expect(try record("a") != record("b"))
    #expect(try record("a") != record("a", Node(.bool(false))))
  }

  @Test func valuesAreReadByKind() throws {
    let list = try record("a", Node(json: ["x", ["n": 2]]))
    #expect(list[0].string == "x" && list["1/n"].int == 2 && list[1].object?.count == 1)
    #expect(list[2] == .null && list.array == nil && list.object?.count == 2)
    #expect(try record("b", Node(json: "t")).string == "t")
    let number = try record("c", Node(json: 2.5))
    #expect(number.double == 2.5 && number.int == nil && number.bool == nil)
    #expect(try record("d").bool == true && record("d").string == nil)
  }
}
