import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct DatabaseQueryTests {
  private let folder: TemporaryFolder
  private let list: Reference
  private let query: Query

  init() async throws {
    folder = try TemporaryFolder()
    list = try await folder.open().reference(withPath: "l")
    query = Query(list.path)
  }

  private func key(_ text: String) throws -> Key { try Key(text) }

  @Test func ordersAreThoseOfTheTree() throws {
    #expect(try list.queryOrderedByKey().query == query.ordered(by: .key))
    #expect(try list.queryOrderedByValue().query == query.ordered(by: .value))
    #expect(try list.queryOrderedByPriority().query == query.ordered(by: .priority))
    let child = try list.queryOrdered(byChild: "a/b")
    #expect(child.query == (try query.ordered(by: .child(Path("a/b")))))
    #expect(child.reference == list)
  }

  @Test func boundsMayBeVariables() throws {
    let (text, count, id, high, isDone) = ("x", 5, Int64.max, 2.5, true)
    let byValue = try list.queryOrderedByValue()
    #expect(try byValue.queryStarting(atValue: text) == byValue.queryStarting(atValue: "x"))
    #expect(try byValue.queryStarting(afterValue: count) == byValue.queryStarting(afterValue: 5))
    #expect(
      try byValue.queryEnding(atValue: id, childKey: "k")
        == byValue.queryEnding(atValue: 9_223_372_036_854_775_807, childKey: "k"))
    #expect(try byValue.queryEnding(beforeValue: high) == byValue.queryEnding(beforeValue: 2.5))
    #expect(try byValue.queryEqual(toValue: isDone) == byValue.queryEqual(toValue: true))
    let (none, nan): (String?, Double) = (nil, .nan)
    for refused: () throws -> DatabaseQuery in [
      { try byValue.queryEqual(toValue: none) }, { try byValue.queryEqual(toValue: nan) },
      { try byValue.queryEqual(toValue: [text]) },
    ] {
      let error = #expect(throws: TreeError.self) { _ = try refused() }
      #expect(error?.code == .invalidQuery)
    }
  }

  @Test func boundsAreThoseOfTheTree() throws {
    let five = IndexValue.leaf(.number(5))
    let byValue = try list.queryOrderedByValue()
    let plain = try query.ordered(by: .value)
    #expect(try byValue.queryStarting(atValue: 5).query == plain.starting(at: five))
    #expect(
      try byValue.queryStarting(atValue: 5, childKey: "k").query
        == plain.starting(at: five, key: key("k")))
    #expect(
      try byValue.queryStarting(afterValue: 5).query == plain.starting(at: five, isInclusive: false)
    )
    #expect(
      try byValue.queryStarting(afterValue: nil, childKey: "k").query
        == plain.starting(at: .null, key: key("k"), isInclusive: false))
    #expect(try byValue.queryEnding(atValue: 5).query == plain.ending(at: five))
    #expect(
      try byValue.queryEnding(atValue: 5, childKey: "k").query
        == plain.ending(at: five, key: key("k")))
    #expect(
      try byValue.queryEnding(beforeValue: true).query
        == plain.ending(at: .leaf(.bool(true)), isInclusive: false))
    #expect(
      try byValue.queryEnding(beforeValue: "x", childKey: "k").query
        == plain.ending(at: .leaf(.string("x")), key: key("k"), isInclusive: false))
    #expect(try byValue.queryEqual(toValue: 5).query == plain.equal(to: five))
    #expect(
      try byValue.queryEqual(toValue: 5, childKey: "k").query
        == plain.equal(to: five, key: key("k")))
    #expect(try byValue.queryLimited(toFirst: 2).query == plain.limited(to: 2, from: .first))
    #expect(try byValue.queryLimited(toLast: 1).query == plain.limited(to: 1, from: .last))
  }

  @Test func whatIsAskedWronglyIsRefused() throws {
    let byValue = try list.queryOrderedByValue()
    let wrong: [() throws -> DatabaseQuery] = [
      { try byValue.queryOrderedByKey() },
      { try list.queryOrdered(byChild: "") },
      { try list.queryOrdered(byChild: "$key") },
      { try list.queryOrdered(byChild: "$value") },
      { try list.queryOrdered(byChild: ".priority") },
      { try byValue.queryStarting(atValue: 1).queryStarting(afterValue: 2) },
      { try byValue.queryEqual(toValue: 1).queryStarting(atValue: 2) },
      { try byValue.queryEqual(toValue: 1).queryEnding(atValue: 2) },
      { try byValue.queryEnding(atValue: 1).queryEnding(beforeValue: 2) },
      { try byValue.queryEnding(atValue: 1).queryEqual(toValue: 2) },
      { try byValue.queryStarting(atValue: [1]) },
      { try byValue.queryStarting(atValue: ["a": 1]) },
      { try list.queryStarting(atValue: true) },
      { try list.queryOrderedByKey().queryStarting(atValue: 1) },
      { try list.queryOrderedByKey().queryStarting(atValue: nil) },
      { try list.queryOrderedByKey().queryStarting(atValue: "a", childKey: "b") },
      { try list.queryLimited(toFirst: 0) },
      { try list.queryLimited(toLast: -1) },
      { try list.queryLimited(toLast: 1).queryLimited(toFirst: 1) },
    ]
    for (index, ask) in wrong.enumerated() {
      let error = #expect(throws: TreeError.self, "case \(index)") { try ask() }
      #expect(error?.code == .invalidQuery, "case \(index)")
    }
    let error = #expect(throws: TreeError.self) {
      try byValue.queryStarting(atValue: 1, childKey: "a.b")
    }
    #expect(error?.code == .invalidKey)
    let named = #expect(throws: TreeError.self) { try list.queryOrdered(byChild: "$priority") }
    #expect(named?.message.contains("queryOrderedByPriority()") == true)
  }

  @Test func queriesAreEqualIfTheyAskTheSameOfOneDatabase() async throws {
    let other = try await folder.open().reference(at: list.path)
    #expect(list.databaseQuery == (try list.queryOrderedByPriority()))
    #expect(try list.queryOrderedByKey() != list.queryOrderedByValue())
    #expect(Set([list.databaseQuery, other.databaseQuery]).count == 2)
  }

  @Test func aQueryGivesItsChildrenInItsOrder() async throws {
    try await list.setValue(
      ["a": ["s": 3], "b": ["s": 1, ".priority": 1], "c": ["s": 2], "d": 7, ".priority": 5])
    let byScore = try await list.queryOrdered(byChild: "s").get()
    #expect(byScore.children.map(\.key) == ["d", "b", "c", "a"])
    #expect(byScore.priority == 5)
    let best = try await list.queryOrdered(byChild: "s").queryLimited(toLast: 2).get()
    #expect(best.children.map(\.key) == ["c", "a"])
    #expect(best.exportValue == ["a": ["s": 3], "c": ["s": 2]])
    #expect(try await list.get().children.map(\.key) == ["a", "c", "d", "b"])
    #expect(try await list.child("d").queryLimited(toFirst: 1).get().exists == false)
    #expect(try await list.child("d").queryOrderedByKey().get().value == 7)
  }
}
