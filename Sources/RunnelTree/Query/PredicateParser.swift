import RunnelBase

extension ChildPredicate {
  /// Reads a predicate from its text; see `ChildPredicate` for the grammar.
  ///
  /// - Throws: `ChildPredicate.SyntaxError` that tells the place.
  public init(parsing text: String) throws(SyntaxError) {
    var parser = try PredicateParser(text)
    self = try parser.wholePredicate()
    if let reason = refusal { throw SyntaxError(offset: 0, reason) }
  }
}

/// Reads the text of a predicate by recursive descent.
///
/// Invariant: `position` is the index of the first scalar of the next token, or the count.
struct PredicateParser {
  typealias SyntaxError = ChildPredicate.SyntaxError

  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0

  init(_ text: String) throws(SyntaxError) {
    scalars = Array(text.unicodeScalars)
    if scalars.count > ChildPredicate.textScalarsMax {
      throw SyntaxError(
        offset: ChildPredicate.textScalarsMax,
        "the predicate is too long: \(ChildPredicate.textScalarsMax) characters are allowed.")
    }
    skipSpaces()
  }

  /// Reads all of the text.
  mutating func wholePredicate() throws(SyntaxError) -> ChildPredicate {
    if position == scalars.count { throw error("a predicate is missing, such as `likes >= 3`.") }
    let predicate = try anyPredicate()
    if position < scalars.count {
      throw error(
        next == ")"
          ? "this `)` has no `(`."
          : "`and`, `or` or the end is expected here; a name with blanks is written `full name`.")
    }
    return predicate
  }

  // MARK: Rules

  private mutating func anyPredicate() throws(SyntaxError) -> ChildPredicate {
    var parts = [try allPredicate()]
    while takeWord("or") { parts.append(try allPredicate()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func allPredicate() throws(SyntaxError) -> ChildPredicate {
    var parts = [try term()]
    while takeWord("and") { parts.append(try term()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func term() throws(SyntaxError) -> ChildPredicate {
    // The grammar descends by two levels of predicates for each parenthesis.
    if depth > ChildPredicate.depthMax {
      throw error("this is nested too deep: \(ChildPredicate.depthMax) levels are allowed.")
    }
    depth += 1
    defer { depth -= 1 }
    if takeWord("not") { return .not(try term()) }
    if next == "(" {
      let opening = position
      advance()
      let predicate = try anyPredicate()
      if next != ")" {
        throw position == scalars.count
          ? SyntaxError(offset: opening, "this `(` has no `)`.")
          : error("`and`, `or` or `)` is expected here.")
      }
      advance()
      return predicate
    }
    return try test()
  }

  private mutating func test() throws(SyntaxError) -> ChildPredicate {
    for test in ["exists", "missing"] where takeWord(test) {
      if next == "(" { throw error("write it without parentheses: `\(test) author`.") }
      let field = try field()
      return test == "exists" ? .exists(field) : .not(.exists(field))
    }
    let (start, text) = (position, word)
    let field = try field()
    if ["exists", "missing"].contains(word) {
      throw error("this word stands before the field: `\(word) \(text.isEmpty ? "author" : text)`.")
    }
    if let place = ChildPredicate.TextMatch.Place.allCases.first(where: { takeWord($0.rawValue) }) {
      return try match(field, place)
    }
    guard let comparison = try comparison() else {
      let small = text.lowercased()
      if ["not", "exists", "missing"].contains(small), !word.isEmpty,
        !ChildPredicate.words.contains(word)
      {
        throw SyntaxError(offset: start, "words are written small: `\(small)`.")
      }
      return field == .key
        ? try unfinishedKey() : .compare(field, .equal, .bool(true))
    }
    return try compare(field, comparison)
  }

  private func unfinishedKey() throws(SyntaxError) -> ChildPredicate {
    throw error("an operator is expected after $key, such as `$key >= \"m\"`.")
  }

  private mutating func match(
    _ field: RowField, _ place: ChildPredicate.TextMatch.Place
  ) throws(SyntaxError) -> ChildPredicate {
    let ignoresCase = next == "~"
    if ignoresCase { advance() }
    let start = position
    guard case .string(let text) = try value(after: place.rawValue) else {
      throw SyntaxError(offset: start, "after `\(place.rawValue)` stands a text in quotes.")
    }
    return .matches(field, .init(place, text, ignoresCase: ignoresCase))
  }

  private mutating func compare(
    _ field: RowField, _ comparison: ChildPredicate.Comparison
  ) throws(SyntaxError) -> ChildPredicate {
    let start = position
    let json = try value(after: comparison.rawValue)
    guard let leaf = Leaf(json) else {
      switch comparison {
      case .equal: return .not(.exists(field))
      case .notEqual: return .exists(field)
      default:
        throw SyntaxError(
          offset: start, "nothing is less or greater than null: use == or !=.")
      }
    }
    if field == .key, let reason = ChildPredicate.keyRefusal(of: leaf) {
      throw SyntaxError(offset: start, reason)
    }
    return .compare(field, comparison, leaf)
  }

  // MARK: Tokens

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private func error(_ message: String) -> SyntaxError { SyntaxError(offset: position, message) }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
  }

  /// True if a scalar may stand in a field without backticks.
  static func isFieldScalar(_ scalar: Unicode.Scalar) -> Bool {
    !isSpace(scalar) && !"()=!<>~\"'`,&|".unicodeScalars.contains(scalar)
  }

  private mutating func skipSpaces() {
    while let next, PredicateParser.isSpace(next) { position += 1 }
  }

  /// Goes past one scalar and the spaces after it.
  private mutating func advance() {
    position += 1
    skipSpaces()
  }

  /// The scalars of a field from here on, which are not skipped.
  private var word: String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[position...].prefix(while: PredicateParser.isFieldScalar))
    return String(view)
  }

  private mutating func takeWord(_ expected: String) -> Bool {
    guard word == expected else { return false }
    position += expected.unicodeScalars.count
    skipSpaces()
    return true
  }

  private mutating func field() throws(SyntaxError) -> RowField {
    let start = position
    if next == "`" { return try quotedField() }
    let text = word
    if text.isEmpty {
      throw error(
        next == nil
          ? "a field is missing at the end."
          : "a field is expected here, such as author; a name with blanks or other signs stands between "
            + "two backticks: `first name`.")
    }
    if ChildPredicate.words.contains(text) {
      throw error("a field is expected here; one that is called \(text) stands in backticks.")
    }
    position += text.unicodeScalars.count
    skipSpaces()
    return try field(text, at: start)
  }

  private mutating func quotedField() throws(SyntaxError) -> RowField {
    let start = position
    var text = String.UnicodeScalarView()
    position += 1
    while let scalar = next {
      position += 1
      if scalar == "`" {
        guard next == "`" else {
          skipSpaces()
          if text.first == "$" {
            throw SyntaxError(offset: start, "a word with $ stands without backticks.")
          }
          return try field(String(text), at: start)
        }
        position += 1
      }
      text.append(scalar)
    }
    throw SyntaxError(offset: start, "this backtick has no second one.")
  }

  private func field(_ text: String, at start: Int) throws(SyntaxError) -> RowField {
    do throws(TreeError) {
      return try RowField(text)
    } catch {
      throw SyntaxError(offset: start, error.message)
    }
  }

  private mutating func comparison() throws(SyntaxError) -> ChildPredicate.Comparison? {
    guard let first = next, "=!<>&|~".unicodeScalars.contains(first) else { return nil }
    let second = position + 1 < scalars.count ? scalars[position + 1] : nil
    if second == "=", let comparison = ChildPredicate.Comparison(rawValue: "\(first)=") {
      position += 1
      advance()
      return comparison
    }
    guard let comparison = ChildPredicate.Comparison(rawValue: "\(first)") else {
      throw error(PredicateParser.advice(for: first))
    }
    advance()
    return comparison
  }

  private static func advice(for operation: Unicode.Scalar) -> String {
    switch operation {
    case "=": "equality is written `==`."
    case "!": "`not` stands before what it denies, and `!=` between two values."
    case "&": "both are joined by `and`."
    case "|": "both are joined by `or`."
    default: "`~` stands after `contains` or `begins`."
    }
  }

  // MARK: Values

  /// A JSON scalar.
  private mutating func value(after operation: String) throws(SyntaxError) -> JSONValue {
    let start = position
    guard let first = next else { throw error("a value is missing after `\(operation)`.") }
    let end = first == "\"" ? try endOfString() : endOfScalar()
    let text = String(String.UnicodeScalarView(scalars[start..<end]))
    // The JSON parser's messages are about JSON; this one says what a value of a predicate is.
    let json = try? JSONValue(parsing: text)
    switch json {
    case .null?, .bool?, .number?, .string?: break
    case .array?, .object?, nil:
      throw SyntaxError(offset: start, PredicateParser.valueAdvice(for: first, text))
    }
    position = end
    skipSpaces()
    return json ?? .null
  }

  private func endOfString() throws(SyntaxError) -> Int {
    var index = position + 1
    while index < scalars.count {
      switch scalars[index] {
      case "\"": return index + 1
      case "\\": index += 2
      default: index += 1
      }
    }
    throw error("this text has no quote at its end.")
  }

  private func endOfScalar() -> Int {
    position + scalars[position...].prefix(while: PredicateParser.isFieldScalar).count
  }

  private static func valueAdvice(for first: Unicode.Scalar, _ text: String) -> String {
    switch first {
    case "\"": "this text is not as JSON writes it: look at what follows a backslash."
    case "'": "a text stands in double quotes."
    case "[", "{": "a value is a text, a number, true, false or null."
    default:
      text.isEmpty
        ? "a value is expected here: a text in quotes, a number, true, false or null."
        : "\(text) is no value: a text stands in quotes, and on the left stands the field."
    }
  }
}
