import RunnelBase

/// Parses one expression.
///
/// The grammar is that of section 2: binary operators by precedence, all from left to right; the
/// operands of a chain of `&&` or `||` become one node.
///
/// Source: rules language, section 2.
struct RuleParser {
  private var lexer: RuleLexer
  private var token: RuleToken
  private var syntax = RuleSyntax()
  /// The number of expressions that are open around the current one.
  private var depth = 0

  /// Parses an expression; its last node is the root.
  ///
  /// - Throws: `RuleSyntaxError` with the place of the first mistake.
  static func parse(_ bytes: [UInt8]) throws(RuleSyntaxError) -> RuleSyntax {
    if bytes.count > RulesLimits.expressionBytesMax {
      throw RuleSyntaxError(
        message: "The expression has \(bytes.count) bytes: \(RulesLimits.expressionBytesMax) are "
          + "allowed.", place: 0)
    }
    var parser = try RuleParser(bytes)
    _ = try parser.expression()
    if parser.token.kind != .end { throw parser.afterExpression() }
    return parser.syntax
  }

  private init(_ bytes: [UInt8]) throws(RuleSyntaxError) {
    lexer = RuleLexer(bytes)
    token = try lexer.next()
  }

  // MARK: Tokens

  private mutating func advance() throws(RuleSyntaxError) { token = try lexer.next() }

  private func isAt(_ sign: RuleSign) -> Bool { token.kind == .sign(sign) }

  private mutating func take(_ sign: RuleSign) throws(RuleSyntaxError) -> Bool {
    guard isAt(sign) else { return false }
    try advance()
    return true
  }

  /// Reads a required sign; returns where it ends.
  private mutating func expect(
    _ sign: RuleSign, _ message: String
  ) throws(RuleSyntaxError) -> Int {
    guard isAt(sign) else { throw RuleUnknown.error(token, otherwise: message) }
    let end = token.range.upperBound
    try advance()
    return end
  }

  private func range(_ first: RuleSyntax.Index, _ last: RuleSyntax.Index) -> Range<Int> {
    syntax[first].range.lowerBound..<syntax[last].range.upperBound
  }

  // MARK: Operators

  private mutating func expression() throws(RuleSyntaxError) -> RuleSyntax.Index {
    depth += 1
    defer { depth -= 1 }
    if depth > RulesLimits.expressionDepthMax {
      throw RuleSyntax.tooDeep(at: token.range.lowerBound)
    }
    let condition = try chain(.or)
    guard try take(.question) else { return condition }
    let first = try expression()
    _ = try expect(
      .colon, "A : is expected here, with the value for a false condition after it.")
    let second = try expression()
    return try syntax.add(
      .conditional(condition, first, second), range(condition, second),
      above: [condition, first, second])
  }

  /// Reads operands with the same operator between them: `or`, or else `and`.
  private mutating func chain(_ sign: RuleSign) throws(RuleSyntaxError) -> RuleSyntax.Index {
    let first = try sign == .or ? chain(.and) : binary(level: 0)
    if !isAt(sign) { return first }
    var operands = [first]
    while try take(sign) { operands.append(try sign == .or ? chain(.and) : binary(level: 0)) }
    let kind: RuleSyntax.Kind = sign == .or ? .or(operands) : .and(operands)
    return try syntax.add(kind, range(first, operands[operands.count - 1]), above: operands)
  }

  /// The left-associative operators by precedence, lowest first.
  private static let levels: [[RuleSign]] = [
    [.equal, .unequal, .identical, .unidentical], [.less, .notGreater, .greater, .notLess],
    [.plus, .minus], [.times, .over, .remainder],
  ]

  private mutating func binary(level: Int) throws(RuleSyntaxError) -> RuleSyntax.Index {
    guard level < RuleParser.levels.count else { return try unary() }
    var left = try binary(level: level + 1)
    while case .sign(let sign) = token.kind, RuleParser.levels[level].contains(sign) {
      let place = token.range.lowerBound
      try advance()
      let right = try binary(level: level + 1)
      left = try syntax.add(
        .binary(sign, left, right, place: place), range(left, right), above: [left, right])
    }
    return left
  }

  private mutating func unary() throws(RuleSyntaxError) -> RuleSyntax.Index {
    var signs: [(sign: RuleSign, place: Int)] = []
    while isAt(.not) || isAt(.minus) {
      signs.append((isAt(.not) ? .not : .minus, token.range.lowerBound))
      try advance()
    }
    var operand = try postfix()
    for (sign, place) in signs.reversed() {
      let range = place..<syntax[operand].range.upperBound
      operand = try syntax.add(
        sign == .not ? .not(operand) : .negate(operand), range, above: [operand])
    }
    return operand
  }

  // MARK: Members and calls

  private mutating func postfix() throws(RuleSyntaxError) -> RuleSyntax.Index {
    var node = try primary()
    while true {
      let start = syntax[node].range.lowerBound
      if try take(.point) {
        guard case .name(let name) = token.kind else {
          throw RuleUnknown.error(
            token, otherwise: "The name of a member is expected after the point.")
        }
        let range = start..<token.range.upperBound
        node = try syntax.add(
          .member(node, name, place: token.range.lowerBound), range, above: [node])
        try advance()
      } else if try take(.openBracket) {
        let index = try expression()
        let end = try expect(.closeBracket, "A ] is expected here.")
        node = try syntax.add(.subscripted(node, index), start..<end, above: [node, index])
      } else if try take(.open) {
        var arguments: [RuleSyntax.Index] = []
        while !isAt(.close) {
          arguments.append(try expression())
          if try !take(.comma) { break }
        }
        let end = try expect(.close, "A ) is expected here, after the arguments of the call.")
        node = try syntax.add(.call(node, arguments), start..<end, above: [node] + arguments)
      } else {
        return node
      }
    }
  }

  private mutating func primary() throws(RuleSyntaxError) -> RuleSyntax.Index {
    let range = token.range
    switch token.kind {
    case .number(let number): return try leaf(.number(number))
    case .string(let text): return try leaf(.string(text))
    case .capture(let name): return try leaf(.capture(name))
    case .name("true"): return try leaf(.bool(true))
    case .name("false"): return try leaf(.bool(false))
    case .name("null"): return try leaf(.null)
    case .name(let name):
      if RuleUnknown.words.contains(name) { throw RuleUnknown.error(token, otherwise: "") }
      return try leaf(.name(name))
    case .sign(.open):
      try advance()
      let inner = try expression()
      let end = try expect(.close, "A ) is expected here.")
      syntax.widen(inner, to: range.lowerBound..<end)
      return inner
    case .sign(.openBracket): return try array(from: range.lowerBound)
    case .sign(.over):
      let (body, flags) = try lexer.pattern(from: range.lowerBound)
      return try leaf(.pattern(body: body, flags: flags), range.lowerBound..<flags.upperBound)
    case .end:
      throw RuleSyntaxError(
        message: range.lowerBound == 0
          ? "The expression is empty: write true or false, or a condition."
          : "The expression ends where a value is expected.", place: range.lowerBound)
    case .sign, .unknown:
      throw RuleUnknown.error(token, otherwise: "A value is expected here.")
    }
  }

  private mutating func leaf(
    _ kind: RuleSyntax.Kind, _ range: Range<Int>? = nil
  ) throws(RuleSyntaxError) -> RuleSyntax.Index {
    let index = try syntax.add(kind, range ?? token.range)
    try advance()
    return index
  }

  private mutating func array(from start: Int) throws(RuleSyntaxError) -> RuleSyntax.Index {
    try advance()
    var elements: [RuleSyntax.Index] = []
    while !isAt(.closeBracket) {
      elements.append(try expression())
      if try !take(.comma) { break }
    }
    let end = try expect(.closeBracket, "A ] is expected here, after the elements of the list.")
    return try syntax.add(.array(elements), start..<end, above: elements)
  }

  /// The mistake of a token after the end of the expression.
  private func afterExpression() -> RuleSyntaxError {
    switch token.kind {
    case .sign(.close), .sign(.closeBracket):
      RuleSyntaxError(
        message: "This bracket was not opened: remove it, or open it before.",
        place: token.range.lowerBound)
    case .name, .capture, .string, .number:
      RuleUnknown.error(
        token,
        otherwise: "An operator is expected here, such as && or ===: a rule is one expression.")
    default:
      RuleUnknown.error(token, otherwise: "The expression ends here, but this follows: remove it.")
    }
  }
}

/// Words of JavaScript that rules do not have.
enum RuleUnknown {
  /// Words of JavaScript that cannot begin a value here.
  static let words: Set<String> = [
    "var", "let", "const", "function", "new", "typeof", "in", "instanceof", "return", "if", "else",
    "for", "while", "do", "switch", "delete", "void", "this", "class", "throw", "try", "await",
    "async", "yield",
  ]

  private static let signs: [String: String] = [
    "=": "Rules assign nothing: compare with === in place of =.",
    ";": "A rule is one expression: remove the ;, and join conditions with &&.",
    "{": "Rules have no objects and no blocks: write one expression.",
    "}": "Rules have no objects and no blocks: write one expression.",
    "&": "Rules have no operators on bits: write && for and.",
    "|": "Rules have no operators on bits: write || for or.",
    "^": "Rules have no operators on bits.",
    "~": "Rules have no operators on bits.",
    "`": "A text stands in single or double quotes; join texts with +.",
    "\\": "A backslash stands in texts and regular expressions only.",
    "@": "Rules have no decorators: remove this.",
    "#": "Comments begin with // or stand between /* and */.",
  ]

  /// The mistake of an unexpected token.
  static func error(_ token: RuleToken, otherwise message: String) -> RuleSyntaxError {
    let place = token.range.lowerBound
    switch token.kind {
    case .name(let word) where words.contains(word):
      return RuleSyntaxError(
        message: "\"\(word)\" is not in the language of rules: a rule is one condition, without "
          + "statements and functions of its own.", place: place)
    case .unknown(let text):
      let known = signs[text] ?? "\"\(text)\" is not in the language of rules: remove it."
      return RuleSyntaxError(message: known, place: place)
    case .sign(.times):
      return RuleSyntaxError(
        message: "A value is expected before *; rules have no **.", place: place)
    case .sign(.plus):
      return RuleSyntaxError(
        message: "A value is expected before +: no sign stands before a number but -.", place: place
      )
    case .end:
      return RuleSyntaxError(
        message: message + " The expression ends.", place: place)
    default: return RuleSyntaxError(message: message, place: place)
    }
  }
}
