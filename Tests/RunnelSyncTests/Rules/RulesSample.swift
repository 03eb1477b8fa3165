import RunnelBase
import RunnelTree

/// A random expression, and what it comes to by the words of the specification: an interpreter that
/// shares nothing with the engine but the tree's nodes.
indirect enum RulesSample {
  case null
  case bool(Bool)
  case number(Int)
  case string(String)
  case name(String)
  case auth([String])
  case not(RulesSample)
  case negate(RulesSample)
  case conditional(RulesSample, RulesSample, RulesSample)
  /// `&&`, `||` and all operators of two operands.
  case binary(String, RulesSample, RulesSample)
  /// A call, or with nil in place of arguments a property.
  case member(RulesSample, String, [RulesSample]?)
  case list([RulesSample])
  case pattern(Int)

  /// Regular expressions, and what they match in other words.
  static let patterns: [(text: String, matches: @Sendable (String) -> Bool)] = [
    ("/^a/", { $0.hasPrefix("a") }), ("/b$/", { $0.hasSuffix("b") }),
    ("/^[ab]*$/", { $0.allSatisfy { "ab".contains($0) } }),
    ("/AB/i", { $0.lowercased().contains("ab") }),
    ("/^(a|b){2}$/", { $0.count == 2 && $0.allSatisfy { "ab".contains($0) } }),
    ("/\\d/", { $0.contains { $0.isNumber } }),
  ]
}

// MARK: As text

extension RulesSample {
  private static let levels = ["||": 1, "&&": 2, "==": 3, "!=": 3, "===": 3, "!==": 3]
    .merging(["<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6]) { $1 }

  /// How strongly the outermost operator binds.
  private var level: Int {
    switch self {
    case .conditional: 0
    case .binary(let sign, _, _): RulesSample.levels[sign] ?? 0
    case .not, .negate: 7
    default: 8
    }
  }

  /// The expression with as few parentheses as there may be.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): "'\(value)'"
    case .name(let name): name
    case .auth(let names): (["auth"] + names).joined(separator: ".")
    case .not(let inner): "!" + inner.text(above: 7)
    case .negate(let inner): "- " + inner.text(above: 7)
    case .conditional(let test, let one, let other):
      "\(test.text(above: 1)) ? \(one.text) : \(other.text)"
    case .binary(let sign, let left, let right):
      "\(left.text(above: level)) \(sign) \(right.text(above: level + 1))"
    case .member(let inner, let name, let arguments):
      inner.text(above: 8) + "." + name
        + (arguments.map { "(" + $0.map(\.text).joined(separator: ", ") + ")" } ?? "")
    case .list(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .pattern(let index): RulesSample.patterns[index].text
    }
  }

  private func text(above least: Int) -> String { level < least ? "(\(text))" : text }
}

// MARK: By chance

/// Makes expressions whose types are right.
struct RulesSampler {
  var random: SeededRandom
  /// The wildcards above.
  var captures: [String]
  var isRead: Bool

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &random)]
  }

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  mutating func bool(_ depth: Int) -> RulesSample {
    if depth == 0 { return chance(2) == 0 ? .bool(chance(2) == 0) : query() }
    switch chance(12) {
    case 0: return .not(bool(depth - 1))
    case 1, 2: return .binary(pick(["&&", "||"]), bool(depth - 1), bool(depth - 1))
    case 3: return .conditional(bool(depth - 1), bool(depth - 1), bool(depth - 1))
    case 4, 5:
      return .binary(pick(["==", "===", "!=", "!=="]), scalar(depth - 1), scalar(depth - 1))
    case 6: return order(depth - 1)
    case 7:
      return .member(place(depth - 1), pick(["exists", "isNumber", "isString", "isBoolean"]), [])
    case 8: return .member(place(depth - 1), "hasChild", [string(depth - 1)])
    case 9:
      if chance(2) == 0 { return .member(place(depth - 1), "hasChildren", []) }
      return .member(
        place(depth - 1), "hasChildren", [.list([string(depth - 1), string(depth - 1)])])
    case 10:
      return .member(
        text(depth - 1), pick(["contains", "beginsWith", "endsWith"]), [string(depth - 1)])
    default:
      return .member(text(depth - 1), "matches", [.pattern(chance(RulesSample.patterns.count))])
    }
  }

  private mutating func query() -> RulesSample {
    .member(.name("query"), pick(["orderByKey", "orderByPriority", "orderByValue"]), nil)
  }

  private mutating func order(_ depth: Int) -> RulesSample {
    let sign = pick(["<", "<=", ">", ">="])
    switch chance(3) {
    case 0: return .binary(sign, number(depth), number(depth))
    case 1: return .binary(sign, string(depth), string(depth))
    default: return .binary(sign, primitive(depth), chance(2) == 0 ? number(depth) : string(depth))
    }
  }

  private mutating func scalar(_ depth: Int) -> RulesSample {
    switch chance(6) {
    case 0: .null
    case 1: bool(depth)
    case 2: number(depth)
    case 3: string(depth)
    default: primitive(depth)
    }
  }

  private mutating func primitive(_ depth: Int) -> RulesSample {
    if depth == 0 { return .auth(pick([[], ["uid"], ["token", "level"], ["none", "more"]])) }
    return switch chance(5) {
    case 0: .auth(pick([["uid"], ["token", "level"], ["token", "tags"], ["none", "more"]]))
    case 1: .binary("+", primitive(depth - 1), primitive(depth - 1))
    case 2: .conditional(bool(depth - 1), number(depth - 1), string(depth - 1))
    case 3: .member(.name("query"), pick(["equalTo", "startAt", "endAt"]), nil)
    default: .member(place(depth - 1), chance(8) == 0 ? "getPriority" : "val", [])
    }
  }

  private mutating func number(_ depth: Int) -> RulesSample {
    if depth == 0 { return chance(4) == 0 ? .name("now") : .number(chance(4)) }
    return switch chance(6) {
    case 0: .negate(chance(2) == 0 ? number(depth - 1) : primitive(depth - 1))
    case 1: .member(text(depth - 1), "length", nil)
    case 2: .binary("+", number(depth - 1), number(depth - 1))
    case 3: .member(.name("query"), pick(["limitToFirst", "limitToLast"]), nil)
    case 4: .binary(pick(["-", "*", "/", "%"]), primitive(depth - 1), number(depth - 1))
    default: .binary(pick(["-", "*", "/", "%"]), number(depth - 1), number(depth - 1))
    }
  }

  private mutating func string(_ depth: Int) -> RulesSample {
    if depth == 0 {
      if let capture = captures.randomElement(using: &random), chance(2) == 0 {
        return .name(capture)
      }
      return .string(pick(["a", "b", "c", "a/b", "ab", "", "1", "x.y"]))
    }
    return switch chance(5) {
    case 0: .binary("+", string(depth - 1), primitive(depth - 1))
    case 1: .member(text(depth - 1), pick(["toLowerCase", "toUpperCase"]), [])
    case 2: .member(text(depth - 1), "replace", [string(depth - 1), string(depth - 1)])
    default: string(0)
    }
  }

  /// A text, or what may be one.
  private mutating func text(_ depth: Int) -> RulesSample {
    chance(2) == 0 ? string(depth) : .member(place(depth), "val", [])
  }

  private mutating func place(_ depth: Int) -> RulesSample {
    if depth == 0 || chance(3) == 0 {
      return .name(pick(["root", "data", isRead ? "data" : "newData"]))
    }
    return switch chance(4) {
    case 0: .member(place(depth - 1), "parent", [])
    case 1: .conditional(bool(depth - 1), place(depth - 1), place(depth - 1))
    default: .member(place(depth - 1), "child", [string(depth - 1)])
    }
  }
}

// MARK: What it comes to

/// The naive evaluator.
struct RulesNaive {
  struct Fault: Error {}

  enum Value {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case object(JSONValue)
    case place(isAfter: Bool, [String])
  }

  let auth: JSONValue
  let now: Int64
  let query: [String: JSONValue]
  let before: Node
  let after: Node
  var captures: [String: String] = [:]
  var place: [String] = []

  func holds(_ sample: RulesSample) -> Bool {
    guard let value = try? value(sample), case .bool(true) = value else { return false }
    return true
  }

  private func value(_ json: JSONValue?) -> Value {
    switch json {
    case nil, .null?: .null
    case .bool(let value)?: .bool(value)
    case .number(let value)?: .number(value.double)
    case .string(let value)?: .string(value)
    case .array?, .object?: .object(json ?? .null)
    }
  }

  private func node(_ isAfter: Bool, _ keys: [String]) -> Node {
    keys.reduce(isAfter ? after : before) { node, key in
      node.children.first { $0.key.text == key }?.node ?? .empty
    }
  }

  private func isTrue(_ sample: RulesSample) throws -> Bool {
    guard case .bool(let value) = try value(sample) else { throw Fault() }
    return value
  }

  func value(_ sample: RulesSample) throws -> Value {
    switch sample {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let value): return .number(Double(value))
    case .string(let value): return .string(value)
    case .name("now"): return .number(Double(now))
    case .name("root"): return .place(isAfter: false, [])
    case .name("data"): return .place(isAfter: false, place)
    case .name("newData"): return .place(isAfter: true, place)
    case .name(let name): return .string(captures[name] ?? "")
    case .auth(let names):
      return value(names.reduce(Optional(auth)) { json, name in json?[name] })
    case .not(let inner): return .bool(try !isTrue(inner))
    case .negate(let inner):
      guard case .number(let number) = try value(inner) else { throw Fault() }
      return .number(-number)
    case .conditional(let test, let one, let other): return try value(isTrue(test) ? one : other)
    case .binary("&&", let left, let right): return .bool(try isTrue(left) && isTrue(right))
    case .binary("||", let left, let right): return .bool(try isTrue(left) || isTrue(right))
    case .binary(let sign, let left, let right):
      let one = try value(left)
      return try result(sign, one, value(right))
    case .member(.name("query"), let name, _): return value(query[name])
    case .member(let inner, let name, let arguments):
      return try member(value(inner), name, arguments ?? [])
    case .list, .pattern: throw Fault()
    }
  }

  private func result(_ sign: String, _ left: Value, _ right: Value) throws -> Value {
    switch sign {
    case "==", "===": return .bool(isEqual(left, right))
    case "!=", "!==": return .bool(!isEqual(left, right))
    case "+": return try sum(left, right)
    default: break
    }
    if case .string(let a) = left, case .string(let b) = right {
      let (one, other) = (Array(a.utf16), Array(b.utf16))
      let isLess = one.lexicographicallyPrecedes(other)
      let isGreater = other.lexicographicallyPrecedes(one)
      switch sign {
      case "<": return .bool(isLess)
      case "<=": return .bool(!isGreater)
      case ">": return .bool(isGreater)
      case ">=": return .bool(!isLess)
      default: throw Fault()
      }
    }
    if case .null = left, case .null = right, "<>".contains(sign.prefix(1)) {
      return .bool(sign.hasSuffix("="))
    }
    guard case .number(let a) = left, case .number(let b) = right else { throw Fault() }
    switch sign {
    case "<": return .bool(a < b)
    case "<=": return .bool(a <= b)
    case ">": return .bool(a > b)
    case ">=": return .bool(a >= b)
    case "-": return .number(a - b)
    case "*": return .number(a * b)
    case "/": return .number(b == 0 ? .nan : a / b)
    default: return .number(a.truncatingRemainder(dividingBy: b))
    }
  }

  private func isEqual(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
    // Objects are equal if the tree would hold the same of both.
    case (.object(let a), .object(let b)): (try? Node(json: a)) == (try? Node(json: b))
    default: false
    }
  }

  private func sum(_ left: Value, _ right: Value) throws -> Value {
    if case .number(let a) = left, case .number(let b) = right { return .number(a + b) }
    let texts = try [left, right].map { value in
      switch value {
      case .string(let text): return text
      case .number(let number) where number.isNaN: return "NaN"
      case .number(let number):
        guard let exact = JSONNumber(number) else { throw Fault() }
        return JSONValue.number(exact).jsonText()
      default: throw Fault()
      }
    }
    return .string(texts.joined())
  }

  private func member(
    _ receiver: Value, _ name: String, _ arguments: [RulesSample]
  ) throws -> Value {
    if case .place(let isAfter, let keys) = receiver {
      return try member(ofPlace: keys, isAfter, name, arguments)
    }
    guard case .string(let text) = receiver else { throw Fault() }
    if case .pattern(let index)? = arguments.first {
      return .bool(RulesSample.patterns[index].matches(text))
    }
    let given = try arguments.map { argument in
      guard case .string(let text) = try value(argument) else { throw Fault() }
      return text
    }
    switch name {
    case "length": return .number(Double(text.utf16.count))
    case "contains": return .bool(given[0].isEmpty || text.contains(given[0]))
    case "beginsWith": return .bool(text.hasPrefix(given[0]) || given[0].isEmpty)
    case "endsWith": return .bool(text.hasSuffix(given[0]) || given[0].isEmpty)
    case "toLowerCase": return .string(text.lowercased())
    case "toUpperCase": return .string(text.uppercased())
    case "replace":
      if given[0].isEmpty {
        return .string(given[1] + text.map { String($0) + given[1] }.joined())
      }
      return .string(
        text.split(separator: given[0], omittingEmptySubsequences: false)
          .joined(separator: given[1]))
    default: throw Fault()
    }
  }

  private func member(
    ofPlace keys: [String], _ isAfter: Bool, _ name: String, _ arguments: [RulesSample]
  ) throws -> Value {
    let node = node(isAfter, keys)
    func below(_ sample: RulesSample) throws -> [String] {
      guard case .string(let path) = try value(sample) else { throw Fault() }
      let pieces = path.split(separator: "/").map(String.init)
      return keys + (pieces.isEmpty ? [""] : pieces)
    }
    switch name {
    case "val": return value(node.isEmpty ? nil : node.json)
    case "exists": return .bool(!node.isEmpty)
    case "getPriority": return value(node.priority?.json)
    case "parent":
      if keys.isEmpty { throw Fault() }
      return .place(isAfter: isAfter, Array(keys.dropLast()))
    case "child": return .place(isAfter: isAfter, try below(arguments[0]))
    case "hasChild": return .bool(!self.node(isAfter, try below(arguments[0])).isEmpty)
    case "hasChildren":
      guard case .list(let elements)? = arguments.first else {
        return .bool(!node.children.isEmpty)
      }
      let paths = try elements.map { try below($0) }
      return .bool(paths.allSatisfy { !self.node(isAfter, $0).isEmpty })
    default:
      switch (node.leaf, name) {
      case (.number?, "isNumber"), (.string?, "isString"), (.bool?, "isBoolean"): return .bool(true)
      default: return .bool(false)
      }
    }
  }
}
