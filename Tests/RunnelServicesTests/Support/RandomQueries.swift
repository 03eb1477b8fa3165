import RunnelBase
import RunnelServices

/// Queries and records made by chance from a seed.
struct RandomQueries {
  private var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func chance(_ of: Int) -> Bool { number(0..<of) == 0 }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[number(0..<elements.count)]
  }

  mutating func text() -> String {
    pick(["", "a", "ab", "é", "😀x", "\u{FFFD}", "a b&c=d", "[0]", "%41", "+", "10", "9"])
  }

  /// A query whose values are texts, in the forms that a query string can carry.
  mutating func textQuery() -> ServiceQuery {
    var query = ServiceQuery()
    for index in 0..<number(0..<5) {
      let name = "f\(index)" + pick(["", "é", " x", ".y"])
      switch number(0..<4) {
      case 0: query[name] = .string(text())
      case 1:
        query[name] = .object([
          JSONMember(pick(["$gt", "$ne", "sub"]), .string(text())),
          JSONMember("$lt", .string(text())),
        ])
      case 2:
        query[name] = .object([
          JSONMember("$in", .array((0..<number(1..<20)).map { _ in .string(text()) }))
        ])
      default:
        query["$or"] = .array([
          .object([JSONMember(name, .string(text()))]),
          .object([JSONMember("b", .object([JSONMember("$ne", .string(text()))]))]),
        ])
      }
    }
    return query
  }

  /// A query with names and values of all kinds.
  mutating func oddQuery() -> ServiceQuery {
    var query = ServiceQuery()
    for _ in 0..<number(0..<3) { query[oddName()] = oddValue(depth: 3) }
    return query
  }

  private mutating func oddName() -> String {
    pick([
      "a", "b", "c", "$or", "$in", "é", "e\u{301}", "", "0", "1", "21", "a[b", "x]", "&", "valueOf",
    ])
  }

  private mutating func oddValue(depth: Int) -> JSONValue {
    switch depth > 0 ? number(0..<4) : 3 {
    case 0: .array((0..<number(0..<4)).map { _ in oddValue(depth: depth - 1) })
    case 1:
      .object((0..<number(0..<4)).map { _ in JSONMember(oddName(), oddValue(depth: depth - 1)) })
    default: chance(12) ? .null : chance(3) ? .string(text()) : scalar()
    }
  }

  // MARK: For the matcher

  mutating func scalar() -> JSONValue {
    switch number(0..<7) {
    case 0: .null
    case 1: .bool(chance(2))
    case 2: .string(text())
    default: .number(JSONNumber(Int64(number(-3..<4))))
    }
  }

  mutating func value(depth: Int = 2) -> JSONValue {
    switch depth > 0 ? number(0..<6) : 5 {
    case 0: .array((0..<number(0..<4)).map { _ in value(depth: depth - 1) })
    case 1: .object((0..<number(0..<3)).map { JSONMember("k\($0)", value(depth: depth - 1)) })
    default: scalar()
    }
  }

  /// A record with some of the fields a, b, c and an object d.
  mutating func record() -> JSONValue {
    var members: [JSONMember] = []
    for name in ["a", "b", "c"] where !chance(4) { members.append(JSONMember(name, value())) }
    if chance(2) { members.append(JSONMember("d", .object([JSONMember("x", value())]))) }
    return .object(members)
  }

  mutating func conditions(depth: Int = 2) -> ServiceQuery {
    var query = ServiceQuery()
    for _ in 0..<number(0..<4) {
      let field = pick(["a", "b", "c", "d.x", "d"])
      switch number(0..<5) {
      case 0: query[field] = value()
      case 1:
        query[field] = .object([
          JSONMember(pick(["$lt", "$lte", "$gt", "$gte", "$ne"]), scalar()),
          JSONMember(
            pick(["$in", "$nin"]), .array((0..<number(0..<4)).map { _ in value(depth: 1) })),
        ])
      case 2 where depth > 0:
        query["$or"] = .array(
          (0..<number(1..<3)).map { _ in conditions(depth: depth - 1).withoutAnd.json })
      case 3 where depth == 2:
        query["$and"] = .array(
          (0..<number(1..<3)).map { _ in conditions(depth: depth - 1).withoutAnd.json })
      default: query[field] = .object([JSONMember("$ne", value())])
      }
    }
    return query
  }
}

extension ServiceQuery {
  fileprivate var withoutAnd: ServiceQuery {
    var query = self
    query["$and"] = JSONValue?.none
    return query
  }
}

extension JSONValue {
  /// The value with texts in the place of numbers and flags.
  var withTexts: JSONValue {
    switch self {
    case .array(let elements): .array(elements.map(\.withTexts))
    case .object(let members): .object(members.map { JSONMember($0.name, $0.value.withTexts) })
    case .number, .bool: .string(jsonText())
    case .string, .null: self
    }
  }
}

extension ServiceQuery {
  /// Reads a query from JSON.
  init(text: String) throws {
    guard let query = ServiceQuery(json: try JSONValue(parsing: text)) else {
      throw FeathersError(.badRequest, "no object: \(text)")
    }
    self = query
  }
}
