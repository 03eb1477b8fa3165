import RunnelBase
import RunnelTree

/// Checks the types of one expression and compiles it.
///
/// Every type mistake is reported. A wrong part has the type `wrong`, about which nothing more is
/// reported.
///
/// Source: rules language, section 3.
struct RuleCompiler {
  /// The names that an expression may use.
  struct Scope {
    let kind: RuleKind
    /// The level of each wildcard above, by its name with `$`.
    var captures: [String: Int] = [:]
  }

  /// A compiled part of an expression.
  struct Part {
    let step: RuleStep.Index
    let type: RuleType
  }

  let scope: Scope
  let text: RuleText
  var syntax = RuleSyntax()
  var mistakes: MistakeList
  var program: RuleProgram
  /// The remaining budget for the tables of regular expressions.
  var patternBudget: Int

  /// Compiles the expression; nil if it has mistakes, which were reported.
  mutating func compile() -> RuleStep.Index? {
    do throws(RuleSyntaxError) {
      syntax = try RuleParser.parse(text.bytes)
    } catch {
      mistakes.add(error.message, at: text.offset(of: error.place))
      return nil
    }
    let before = mistakes.mistakes.count
    let root = syntax.nodes.count - 1
    let whole = part(root)
    requireBool(whole, root) { "A rule is true or false, and this is \($0): compare it with ===." }
    return mistakes.mistakes.count == before ? whole.step : nil
  }

  // MARK: Steps

  mutating func add(
    _ step: RuleStep, _ node: RuleSyntax.Index, _ type: RuleType,
    _ role: RuleProgram.Role = .none
  ) -> Part {
    let range = syntax[node].range
    let place = text.offset(of: range.lowerBound)..<text.offset(of: range.upperBound)
    return Part(step: program.add(step, at: place, role), type: type)
  }

  mutating func wrong(_ node: RuleSyntax.Index) -> Part {
    add(.constant(.null), node, .wrong)
  }

  mutating func tell(_ message: String, at node: RuleSyntax.Index) {
    mistakes.add(message, at: text.offset(of: syntax[node].range.lowerBound))
  }

  mutating func tell(_ message: String, atByte place: Int) {
    mistakes.add(message, at: text.offset(of: place))
  }

  /// Marks a part as a condition, and reports a mistake if it is not a Boolean.
  mutating func requireBool(
    _ part: Part, _ node: RuleSyntax.Index, _ message: (String) -> String
  ) {
    switch part.type {
    case .bool:
      switch syntax[node].kind {
      // Their operands are more informative.
      case .and, .or, .not, .bool: break
      default: program.set(.condition, of: part.step)
      }
    case .wrong: break
    case .method: tell("This method is not called: write () after it.", at: node)
    default: tell(message(part.type.name), at: node)
    }
  }

  // MARK: Nodes

  mutating func part(_ node: RuleSyntax.Index) -> Part {  // tidy:table
    switch syntax[node].kind {
    case .null: return add(.constant(.null), node, .null)
    case .bool(let value): return add(.constant(.bool(value)), node, .bool)
    case .number(let number): return add(.constant(.number(number)), node, .number)
    case .string(let text): return add(.constant(.string(text)), node, .string)
    case .pattern:
      tell("A regular expression stands only between the parentheses of matches().", at: node)
      return wrong(node)
    case .array:
      tell("A list stands only between the parentheses of hasChildren().", at: node)
      return wrong(node)
    case .name(let name): return variable(name, node)
    case .capture(let name): return capture(name, node)
    case .not(let operand):
      let inner = part(operand)
      requireBool(inner, operand) {
        "! takes what is true or false, and this is \($0): compare it."
      }
      return add(.not(inner.step), node, .bool)
    case .negate(let operand):
      let inner = part(operand)
      requireNumber(inner, operand, "-")
      return add(.negate(inner.step), node, .number)
    case .and(let operands): return chain(operands, node, "&&")
    case .or(let operands): return chain(operands, node, "||")
    case .conditional(let condition, let first, let second):
      return conditional(condition, first, second, node)
    case .binary(let sign, let left, let right, let place):
      return binary(sign, left, right, node, place)
    case .member(let receiver, let name, let place):
      let inner = part(receiver)
      return property(inner, name, node, place)
    case .subscripted(let receiver, let index): return subscripted(receiver, index, node)
    case .call(let callee, let arguments): return call(callee, arguments, node)
    }
  }

  private mutating func variable(_ name: String, _ node: RuleSyntax.Index) -> Part {
    switch name {
    case "auth": return add(.auth, node, .any, .reading)
    case "now": return add(.now, node, .number, .reading)
    case "root": return add(.root, node, .snapshot)
    case "data": return add(.data, node, .snapshot)
    case "query": return add(.constant(.null), node, .query)
    case "newData":
      if scope.kind != .read { return add(.newData, node, .snapshot) }
      tell("newData is the result of a write: a .read rule has only data and root.", at: node)
      return wrong(node)
    default:
      let known = ["auth", "now", "root", "data", "newData", "query"]
      let meant = Spelling.nearest(to: name, among: known + scope.captures.keys.sorted())
      tell(
        "There is no variable \"\(name)\"\(RuleSpelling.question(meant)) Rules have auth, now, root, "
          + "data, newData, query and the wildcards above them.", at: node)
      return wrong(node)
    }
  }

  private mutating func capture(_ name: String, _ node: RuleSyntax.Index) -> Part {
    if let level = scope.captures[name] { return add(.capture(level), node, .string, .reading) }
    let known = scope.captures.keys.sorted()
    let meant = Spelling.nearest(to: name, among: known)
    tell(
      "No wildcard \"\(name)\" is above this rule\(RuleSpelling.question(meant)) "
        + (known.isEmpty ? "There is none at all." : "There is \(known.joined(separator: ", "))."),
      at: node)
    return wrong(node)
  }

  // MARK: Operators

  private mutating func chain(
    _ operands: [RuleSyntax.Index], _ node: RuleSyntax.Index, _ sign: String
  ) -> Part {
    var steps: [RuleStep.Index] = []
    for operand in operands {
      let inner = part(operand)
      requireBool(inner, operand) {
        "\(sign) takes what is true or false, and this is \($0): compare it, such as with === true."
      }
      steps.append(inner.step)
    }
    return add(sign == "&&" ? .and(steps) : .or(steps), node, .bool)
  }

  private mutating func conditional(
    _ condition: RuleSyntax.Index, _ first: RuleSyntax.Index, _ second: RuleSyntax.Index,
    _ node: RuleSyntax.Index
  ) -> Part {
    let test = part(condition)
    requireBool(test, condition) {
      "What stands before ? is true or false, and this is \($0): compare it, such as with === true."
    }
    let (one, other) = (part(first), part(second))
    for (branch, place) in [(one, first), (other, second)] {
      switch branch.type {
      case .method: tell("This method is not called: write () after it.", at: place)
      case .query: tell("The query is not a value: name one of its properties.", at: place)
      case .bool: program.set(.condition, of: branch.step)
      default: break
      }
    }
    let type: RuleType =
      one.type == other.type
      ? one.type : one.type.isScalar && other.type.isScalar ? .primitive : .any
    return add(.conditional(test.step, one.step, other.step), node, type)
  }

  private mutating func requireNumber(_ part: Part, _ node: RuleSyntax.Index, _ sign: String) {
    if part.type.mayBe(.number) { return }
    tell("\(sign) takes numbers, and this is \(part.type.name).", at: node)
  }

  private mutating func binary(
    _ sign: RuleSign, _ left: RuleSyntax.Index, _ right: RuleSyntax.Index,
    _ node: RuleSyntax.Index, _ place: Int
  ) -> Part {
    let (one, other) = (part(left), part(right))
    switch sign {
    case .equal, .identical, .unequal, .unidentical:
      for (operand, node) in [(one, left), (other, right)] where !operand.type.isComparable {
        tell("\(sign.rawValue) compares values, and this is \(advice(operand.type)).", at: node)
      }
      let isEqual = sign == .equal || sign == .identical
      return add(
        isEqual ? .equal(one.step, other.step) : .unequal(one.step, other.step), node, .bool)
    case .plus: return sum(one, other, left, right, node)
    default:
      if let order = RuleOrder(sign) {
        checkOrder(one, other, sign, left, right, place)
        return add(.ordered(order, one.step, other.step), node, .bool)
      }
      requireNumber(one, left, sign.rawValue)
      requireNumber(other, right, sign.rawValue)
      guard let arithmetic = RuleArithmetic(sign) else { return wrong(node) }
      return add(.arithmetic(arithmetic, one.step, other.step), node, .number)
    }
  }

  /// The name of a type where a value is expected, and advice on what to do.
  private func advice(_ type: RuleType) -> String {
    switch type {
    case .snapshot: "a place in the tree: write .val() after it for its value"
    case .method: "a method that is not called: write () after it"
    case .query: "the query: name one of its properties"
    default: type.name
    }
  }

  private mutating func checkOrder(
    _ one: Part, _ other: Part, _ sign: RuleSign, _ left: RuleSyntax.Index,
    _ right: RuleSyntax.Index, _ place: Int
  ) {
    var isRight = true
    for (operand, node) in [(one, left), (other, right)] {
      let isOrdered = [.number, .string, .null].contains(operand.type) || operand.type.isFuzzy
      if isOrdered { continue }
      isRight = false
      tell(
        "\(sign.rawValue) compares numbers or texts, and this is \(advice(operand.type)).", at: node
      )
    }
    if isRight, !one.type.isFuzzy, !other.type.isFuzzy, one.type != other.type {
      tell(
        "\(sign.rawValue) compares values of one kind: \(one.type.name) stands before it, and "
          + "\(other.type.name) after it.", atByte: place)
    }
  }

  private mutating func sum(
    _ one: Part, _ other: Part, _ left: RuleSyntax.Index, _ right: RuleSyntax.Index,
    _ node: RuleSyntax.Index
  ) -> Part {
    for (operand, node) in [(one, left), (other, right)]
    where !operand.type.mayBe(.number) && !operand.type.mayBe(.string) {
      tell("+ takes numbers and texts, and this is \(advice(operand.type)).", at: node)
    }
    let types = [one.type, other.type]
    let type: RuleType =
      types.contains(.string) ? .string : types == [.number, .number] ? .number : .primitive
    return add(.add(one.step, other.step), node, type)
  }
}
