public import RunnelTree

/// The kind of a rule.
public enum RuleKind: String, Hashable, Sendable, CaseIterable {
  /// The rule grants reading, here and below.
  case read = ".read"
  /// The rule grants writing, here and below.
  case write = ".write"
  /// The rule says whether the written value is valid here.
  case validate = ".validate"
}

/// One rule of a file.
public struct Rule: Hashable, Sendable {
  /// The number of the rule in its file, from 0.
  public let id: Int
  /// The places that the rule is about, with its wildcards: `/users/$uid`.
  public let pattern: String
  /// The kind of the rule.
  public let kind: RuleKind
  /// The expression as it is written.
  public let text: String
  /// The line of the expression, from 1.
  public let line: Int
  /// The column of the expression in its line, in Unicode scalars from 1.
  public let column: Int
}

/// The rules of one place, and the numbers of its children's nodes.
struct RuleNode: Sendable {
  /// The nodes of children with a name of their own.
  var children: [Key: Int] = [:]
  /// The node of all other children, if there is a wildcard.
  var wildcard: Int?
  var read: Int?
  var write: Int?
  var validate: Int?
  /// True if there is a `.validate` below.
  var validatesBelow = false
  /// The orders that `.indexOn` declares for the children.
  var indexes: [QueryIndex] = []

  /// The number of the node for a child.
  func child(_ key: Key) -> Int? {
    children.isEmpty ? wildcard : children[key] ?? wildcard
  }

  /// The number of the rule of a kind.
  func rule(_ kind: RuleKind) -> Int? {
    switch kind {
    case .read: read
    case .write: write
    case .validate: validate
    }
  }
}

/// An index that the rules declare for a place.
public struct RulesIndex: Hashable, Sendable {
  /// The places, as a path in which a key that begins with `$` stands for any key.
  public let pattern: String
  /// The order of the children.
  public let order: QueryIndex

  /// Makes an index.
  public init(pattern: String, order: QueryIndex) {
    self.pattern = pattern
    self.order = order
  }
}
