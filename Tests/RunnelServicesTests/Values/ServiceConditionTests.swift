import RunnelBase
import RunnelServices
import Testing

/// What queries match, and the order of records.
@Suite struct ServiceConditionTests {
  private func holds(_ query: ServiceQuery, _ record: JSONValue) throws -> Bool? {
    try QueryReading(query, rules: QueryRules(operators: ["$like"])).condition.holds(for: record)
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":1}"#, true), (#"{"a":1}"#, #"{"a":"1"}"#, false),
    (#"{"a":null}"#, #"{}"#, true), (#"{"a":null}"#, #"{"a":null}"#, true),
    (#"{"a":{"$ne":null}}"#, #"{}"#, false),
    (#"{"a":1}"#, #"{"a":[3,1]}"#, true), (#"{"a":[3,1]}"#, #"{"a":[3,1]}"#, true),
    (#"{"a":{"$gt":2}}"#, #"{"a":[1,3]}"#, true), (#"{"a":{"$ne":1}}"#, #"{"a":[1,3]}"#, false),
    (#"{"a":{"$nin":[1]}}"#, #"{"a":[1,3]}"#, false), (#"{"a":{"$in":[null]}}"#, #"{}"#, true),
    (#"{"a.b":1}"#, #"{"a":{"b":1}}"#, true), (#"{"a.b":1}"#, #"{"a":[{"b":2},{"b":1}]}"#, true),
    (#"{"a.1":5}"#, #"{"a":[4,5]}"#, true),
    (#"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":2,"x":1}}"#, true),
    (#"{"a":{"$gt":"10"}}"#, #"{"a":"9"}"#, true), (#"{"a":{"$gt":"10"}}"#, #"{"a":11}"#, false),
    (#"{"a":{"$lt":null}}"#, #"{"a":1}"#, false), (#"{}"#, #"{"a":1}"#, true),
    (#"{"$or":[{"a":1},{"b":1}],"c":1}"#, #"{"b":1,"c":1}"#, true),
    (#"{"$or":[{"a":1},{"b":1}],"c":1}"#, #"{"b":1}"#, false),
    (#"{"a":{"$in":2}}"#, #"{"a":2}"#, true),
    (#"{"a":{"$gte":1,"$lt":3}}"#, #"{"a":3}"#, false),
    (#"{"a":{"$gt":1,"b":2}}"#, #"{"a":2}"#, false),
  ])
  func aRecordMatches(query: String, record: String, isMatch: Bool) throws {
    #expect(try holds(ServiceQuery(text: query), JSONValue(parsing: record)) == isMatch)
  }

  @Test func whatOnlyTheServerKnowsIsLeftOpen() throws {
    #expect(try holds(["a": ["$like": "x"]], ["a": "x"]) == nil)
    #expect(try holds(["a": ["$like": "x"], "b": 1], ["a": "x", "b": 2]) == false)
    #expect(try holds(["$or": [["a": ["$like": "x"]], ["b": 1]]], ["b": 1]) == true)
  }

  @Test(arguments: [
    (#"{"$foo":1}"#, "Invalid filter value $foo"),
    (#"{"a":{"$foo":1}}"#, "Invalid query parameter $foo"),
    (#"{"a":{"b":{"$foo":1}}}"#, "Invalid query parameter $foo"),
    (#"{"$or":[{"$and":[{"a":1}]}]}"#, "Invalid query parameter $and"),
    (#"{"a":{"$and":[{"a":1}]}}"#, "Invalid query parameter $and"),
    (#"{"$or":[]}"#, "$or must be a nonempty array"),
    (#"{"$or":1}"#, "$or must be a nonempty array"),
  ])
  func unknownOperatorsAreRefused(query: String, message: String) {
    #expect {
      try QueryReading(ServiceQuery(text: query))
    } throws: { error in
      let error = error as? FeathersError
      return error?.code == 400 && error?.message == message
    }
  }

  @Test func anOrMayStandInAnOrAndInAnAnd() throws {
    let query: ServiceQuery = [
      "$and": [["$or": [["a": 1], ["$or": [["a": 2], ["a": 3]]]]], ["b": 1]]
    ]
    #expect(try holds(query, ["a": 3, "b": 1]) == true)
    #expect(try holds(query, ["a": 4, "b": 1]) == false)
  }

  /// Each answer is that of a slow matcher that is written after the description alone.
  @Test func theMatcherAgreesWithANaiveOne() throws {
    var (matched, missed) = (0, 0)
    for seed in 0..<4000 as Range<UInt64> {
      var random = RandomQueries(seed: seed)
      let (query, record) = (random.conditions(), random.record())
      let answer = try holds(query, record)
      let expected = NaiveMatcher.matches(query.json, record)
      #expect(answer == expected, "seed \(seed): \(query.json) on \(record)")
      if expected { matched += 1 } else { missed += 1 }
    }
    #expect(matched > 400 && missed > 400)
  }
}

/// A matcher by enumeration: all values that a path leads to are listed first.
enum NaiveMatcher {
  static func matches(_ query: JSONValue, _ record: JSONValue) -> Bool {
    (query.object ?? []).allSatisfy { member in
      switch member.name {
      case "$or": (member.value.array ?? []).contains { matches($0, record) }
      case "$and": (member.value.array ?? []).allSatisfy { matches($0, record) }
      default: field(member.name, member.value, record)
      }
    }
  }

  private static func field(_ name: String, _ value: JSONValue, _ record: JSONValue) -> Bool {
    let leaves = leaves(record, name.split(separator: ".").map(String.init))
    guard case .object(let operators) = value, operators.contains(where: { $0.name.first == "$" })
    else { return leaves.contains { same($0, value) } }
    return operators.allSatisfy { test in
      let values = test.value.array ?? [test.value]
      switch test.name {
      case "$ne": return !leaves.contains { same($0, test.value) }
      case "$in": return leaves.contains { leaf in values.contains { same(leaf, $0) } }
      case "$nin": return !leaves.contains { leaf in values.contains { same(leaf, $0) } }
      default: return leaves.contains { compares($0, test.name, test.value) }
      }
    }
  }

  private static func leaves(_ item: JSONValue?, _ path: [String]) -> [JSONValue?] {
    var all: [JSONValue?] = []
    if case .array(let elements)? = item, path.first.flatMap({ Int($0) }) == nil {
      all = elements.flatMap { leaves($0, path) }
    }
    guard let name = path.first, let item, item != .null else { return all + [item] }
    let child = Int(name) == nil ? item[name] : Int(name).flatMap { item[$0] }
    return all + leaves(child, Array(path.dropFirst()))
  }

  private static func same(_ left: JSONValue?, _ right: JSONValue) -> Bool {
    sorted(left ?? .null) == sorted(right)
  }

  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.map { JSONMember($0.name, sorted($0.value)) }.sorted { $0.name < $1.name })
    default: value
    }
  }

  private static func compares(_ left: JSONValue?, _ sign: String, _ right: JSONValue) -> Bool {
    let signs: (Bool, Bool)
    switch (left, right) {
    case (.number(let a)?, .number(let b)): signs = (a < b, a == b)
    case (.string(let a)?, .string(let b)):
      signs = (Array(a.utf16).lexicographicallyPrecedes(Array(b.utf16)), a == b)
    case (.bool(let a)?, .bool(let b)): signs = (!a && b, a == b)
    default: return false
    }
    switch sign {
    case "$lt": return signs.0
    case "$lte": return signs.0 || signs.1
    case "$gt": return !signs.0 && !signs.1
    default: return !signs.0
    }
  }
}

@Suite struct RecordOrderTests {
  @Test func valuesSortByKindAsOnTheServer() {
    let sorted: [JSONValue?] = [
      JSONValue?.none, .null, -1, 3, "10", "9", "a", "b", false, true, [1], ["a": 1],
    ]
    for (i, left) in sorted.enumerated() {
      for (j, right) in sorted.enumerated() {
        #expect(RecordOrder.compare(left, right) == (i - j).signum(), "\(i), \(j)")
      }
    }
  }

  @Test func textsSortByTheirUTF16() {
    let texts = ["", "a", "é", "\u{D7FF}", "😀", "\u{E000}", "\u{FFFD}", "a😀", "a\u{FFFD}", "ab"]
    for left in texts {
      for right in texts {
        let (a, b) = (Array(left.utf16), Array(right.utf16))
        let expected = a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
        let found = RecordOrder.compare(JSONValue.string(left), JSONValue.string(right))
        #expect(found == expected, "\(left), \(right)")
      }
    }
  }

  @Test func theFirstTermCountsMostAndEqualRecordsKeepTheirPlaces() throws {
    let records: [JSONValue] = [
      ["n": 1, "d": ["x": 1], "k": 0], ["n": 2, "d": ["x": 2], "k": 1],
      ["n": 1, "d": ["x": 2], "k": 2], ["n": 2, "d": ["x": 2], "k": 3],
    ]
    let order = try QueryReading(["$sort": ["d.x": "-1", "n": 1]]).order
    #expect(order.sorted(records).map { $0["k"] } == [2, 1, 3, 0])
  }
}
