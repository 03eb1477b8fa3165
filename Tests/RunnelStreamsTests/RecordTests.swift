import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct RecordTests {
  private func record(_ key: String, _ node: Node = Node(.bool(true))) throws -> Record {
    let row = TreeRow(Child(key: try Key(key), node: node), index: .key, detail: .full)
    return Record(row, in: try Path("m"))
  }

  @Test func keyIsThePathOfAPlainRow() throws {
    #expect(try record("-Nx_1").key == "/m/-Nx_1")
  }

  @Test func keysOfCanonicallyEquivalentTextsDiffer() throws {
    let (composed, decomposed) = (try record("\u{E9}"), try record("e\u{301}"))
    #expect(composed.path != decomposed.path)
    #expect(composed.key != decomposed.key)
    #expect(composed.key == "/m/%C3%A9")
    #expect(try record("%C3%A9").key != composed.key)
  }

  @Test func equalityIsThatOfTheContent() throws {
    #expect(try record("a") == record("a"))
    #expect(try record("a") != record("b"))
    #expect(try record("a") != record("a", Node(.bool(false))))
  }
}
