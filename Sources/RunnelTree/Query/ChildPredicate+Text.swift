import RunnelBase

extension ChildPredicate {
  /// A mistake in the text of a predicate, and its place.
  ///
  /// It is an error type of its own, so that an editor can show the place.
  public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of characters (Unicode scalars) before the mistake.
    public var offset: Int
    /// The message: what is wrong and what is expected.
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

  /// Words that are not fields unless they stand in backticks.
  static let words: Set<String> = [
    "and", "or", "not", "exists", "missing", "contains", "begins", "true", "false", "null",
  ]
}

extension ChildPredicate: CustomStringConvertible {
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

  /// The text, in parentheses where the text beside it would otherwise change its meaning.
  private var operand: String {
    switch self {
    case .all(let parts) where parts.count != 1, .any(let parts) where parts.count != 1:
      "(\(self))"
    default: "\(self)"
    }
  }
}

extension RowField {
  /// The field as it is written in a predicate: in backticks where it needs them.
  fileprivate var predicateText: String {
    guard case .child = self else { return description }
    let text = description
    let isPlain =
      !ChildPredicate.words.contains(text) && !text.isEmpty
      && text.unicodeScalars.allSatisfy(PredicateParser.isFieldScalar)
    return isPlain
      ? text
      : "`"
        + text.split(separator: "`", omittingEmptySubsequences: false)
        .joined(separator: "``") + "`"
  }
}
