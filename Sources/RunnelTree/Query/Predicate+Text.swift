import RunnelBase

extension Predicate {
  /// What is wrong with the text of a predicate, and where.
  ///
  /// It is an error of its own, for who edits the text is to be shown the place.
  public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many characters (Unicode scalars) stand before the place.
    public var offset: Int
    /// What is wrong and what is expected.
    public var message: String

    /// Makes an error.
    public init(offset: Int, _ message: String) {
      self.offset = offset
      self.message = message
    }

    /// The place, counted from 1, and the message.
    public var description: String { "at character \(offset + 1): \(message)" }
  }

  /// The most characters in the text of a predicate.
  public static let textScalarsMax = 4096

  /// Words that are no fields unless they stand in backticks.
  static let words: Set<String> = [
    "and", "or", "not", "exists", "missing", "contains", "begins", "true", "false", "null",
  ]
}

extension Predicate: CustomStringConvertible {
  /// The text of the predicate, which `init(parsing:)` reads.
  public var description: String {
    switch self {
    case .compare(let field, let comparison, let leaf):
      "\(field.predicateText) \(comparison.rawValue) \(leaf.json.jsonText())"
    case .exists(let field): "exists \(field.predicateText)"
    case .matches(let field, let match):
      "\(field.predicateText) \(match.place.rawValue)\(match.ignoresCase ? "~" : "") "
        + JSONValue.string(match.text).jsonText()
    case .all(let predicates): predicates.map(\.operand).joined(separator: " and ")
    case .any(let predicates): predicates.map(\.operand).joined(separator: " or ")
    case .not(.exists(let field)): "missing \(field.predicateText)"
    case .not(let predicate): "not \(predicate.operand)"
    }
  }

  /// The text, in parentheses where it would otherwise join with what is beside it.
  private var operand: String {
    switch self {
    case .all(let parts) where parts.count != 1, .any(let parts) where parts.count != 1:
      "(\(self))"
    default: "\(self)"
    }
  }
}

extension RowField {
  /// The field as the text of a predicate has it: in backticks where it must be.
  fileprivate var predicateText: String {
    guard case .child = self else { return description }
    let text = description
    let isPlain =
      !Predicate.words.contains(text) && !text.isEmpty
      && text.unicodeScalars.allSatisfy(PredicateParser.isFieldScalar)
    return isPlain
      ? text
      : "`"
        + text.split(separator: "`", omittingEmptySubsequences: false)
        .joined(separator: "``") + "`"
  }
}
