import RunnelBase
import RunnelTree
import Testing

/// Queries as the file of a replica keeps them.
@Suite struct StoredQueryTests {
  private let place: Path

  init() throws { place = try Path("/notes") }

  private func queries() throws -> [Query] {
    let filter = try ChildPredicate(parsing: "rank > 3 and (text contains~ \"é\" or not done)")
    let order = try QueryIndex([SortKey("rank", isDescending: true), SortKey("a,b:c")])
    let backward = try QueryIndex([SortKey("rank"), SortKey(.key, isDescending: true)])
    let all = Query(place)
    let byRank = try all.ordered(byChild: "rank")
    let child = Child(key: try Key("k"), node: try Node(json: ["rank": 3, "a,b:c": "x"]))
    var found = [
      all, try all.filtered(by: filter), try byRank.filtered(by: filter),
      try byRank.equal(to: .leaf(.number(3))).limited(to: 5, from: .last),
      try all.ordered(by: order).limited(to: 7, from: .first),
      try all.ordered(by: order).equal(to: .leaf(.number(2))).filtered(by: filter),
      try all.ordered(by: backward).equal(to: .leaf(.string("é"))),
    ]
    for order in [order, backward, .child(try Path("rank"))] {
      for key in [IndexPosition.KeyBound.key(child.key), .minimum, .maximum] {
        for side in [Query.Side.first, .last] {
          let position = IndexPosition(value: order.value(of: child), key: key)
          found.append(
            try all.ordered(by: order).filtered(by: filter).clipped(at: position, keeping: side))
        }
      }
    }
    let children = IndexPosition(value: .children, key: .key(try Key("k")))
    found.append(byRank.clipped(at: children, keeping: .first))
    return found
  }

  @Test func queryIsReadAsItWasStored() throws {
    for query in try queries() {
      let text = query.storedJSON().jsonText()
      let read = try Query(stored: JSONValue(parsing: Array(text.utf8)), at: place)
      #expect(read == query, "\(text)")
    }
  }

  @Test func queryThatTheWireHasWordsForIsStoredAsOnTheWire() throws {
    for query in try queries() {
      guard let wire = try? query.wireJSON() else { continue }
      #expect(query.storedJSON() == wire)
    }
  }

  @Test(arguments: [
    "{\"by\":1}", "{\"by\":\"rank\",\"where\":\"((\"}", "{\"by\":\"rank\",\"other\":1}",
    "{\"by\":\"rank\",\"from\":{\"v\":1}}", "{\"by\":\"rank\",\"l\":0,\"vf\":\"l\"}",
  ])
  func damagedQueryIsRefused(_ text: String) throws {
    let json = try JSONValue(parsing: Array(text.utf8))
    #expect(throws: TreeError.self) { try Query(stored: json, at: place) }
  }
}
