import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStreams

@Suite struct OrderPrefixTests {
  private static let keys = [
    "-2147483648", "-1", "0", "00", "7", "2147483647", "2147483648", "a", "aaaaaaaa", "aaaaaaab",
    "b", "\u{E9}", "\u{FFFD}", "\u{1F600}",
  ]

  private static let values: [JSONValue] = [
    nil, false, true, ["a": 1], "", "a", "aaaaaaaa", "aaaaaaab", "\u{FFFD}", "\u{1F600}",
    .number(JSONNumber(0)), .number(JSONNumber(-1)), .number(JSONNumber(1)),
    .number(JSONNumber(.max)), .number(JSONNumber(.max - 1)), .number(JSONNumber(.min)),
    .number(JSONNumber(1_788_111_900_000)), .number(JSONNumber(1_788_111_900_001)),
    .number(JSONNumber(0.5) ?? 0), .number(JSONNumber(-0.5) ?? 0), .number(JSONNumber(1e300) ?? 0),
    .number(JSONNumber(-1e300) ?? 0), .number(JSONNumber(Double.leastNonzeroMagnitude) ?? 0),
  ]

  private func rows() throws -> [TreeRow] {
    let index = QueryIndex.child(try Path("v"))
    return try OrderPrefixTests.keys.flatMap { key in
      try OrderPrefixTests.values.map { value in
        let node = try Node(json: ["v": value, "w": 1])
        return TreeRow(Child(key: try Key(key), node: node), index: index, detail: .full)
      }
    }
  }

  @Test func prefixesNeverContradictTheOrder() throws {
    let rows = try rows().sorted { $0.position < $1.position }
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.orderPrefix <= $1.orderPrefix })
  }

  @Test func prefixesTellTimesApart() throws {
    let index = QueryIndex.child(try Path("v"))
    let prefixes = try (0..<1000 as Range<Int64>).map { offset in
      let node = try Node(json: ["v": .number(JSONNumber(1_788_111_900_000 + offset))])
      return TreeRow(Child(key: try Key("k"), node: node), index: index, detail: .full).orderPrefix
    }
    #expect(Set(prefixes).count == 1000)
  }

  @Test func recordsStandInTheOrderOfTheirPositions() throws {
    let records = try rows().map { Record($0, in: .root) }
    for left in records {
      for right in records
      where Record.isOrdered(left, right) != (left.row.position < right.row.position) {
        Issue.record("\(left.row) \(right.row)")
      }
    }
  }
}
