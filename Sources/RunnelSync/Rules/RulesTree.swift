public import RunnelTree

/// What a rule is asked for.
public enum RuleKind: String, Hashable, Sendable, CaseIterable {
  /// Whether reading is granted, here and below.
  case read = ".read"
  /// Whether writing is granted, here and below.
  case write = ".write"
  /// Whether what is written may stand here.
  case validate = ".validate"
}

/// One rule of a file.
public struct Rule: Hashable, Sendable {
  /// The number of the rule in its file, from 0.
  public let id: Int
  /// The places that it is about, with its wildcards: `/users/$uid`.
  public let pattern: String
  /// What it is asked for.
  public let kind: RuleKind
  /// The expression as it is written.
  public let text: String
  /// The line of the expression, from 1.
  public let line: Int
  /// The place of the expression in its line, in Unicode scalars from 1.
  public let column: Int
}

/// The rules of one place, and where those of its children are.
struct RuleNode: Sendable {
  /// Those of children with a name of their own.
  var children: [Key: Int] = [:]
  /// Those of all other children.
  var wildcard: Int?
  var read: Int?
  var write: Int?
  var validate: Int?
  /// True if a `.validate` is below.
  var validatesBelow = false
  /// The orders that `.indexOn` declares for the children.
  var indexes: [QueryIndex] = []

  /// The rules of a child.
  func child(_ key: Key) -> Int? {
    children.isEmpty ? wildcard : children[key] ?? wildcard
  }

  /// The rule of a kind.
  func rule(_ kind: RuleKind) -> Int? {
    switch kind {
    case .read: read
    case .write: write
    case .validate: validate
    }
  }
}

/// An index that the rules of a place ask for.
public struct RulesIndex: Hashable, Sendable {
  /// The places, as a path in which a piece that begins with `$` stands for any key.
  public let pattern: String
  /// The order of the children.
  public let order: QueryIndex

  /// Makes an index.
  public init(pattern: String, order: QueryIndex) {
    self.pattern = pattern
    self.order = order
  }
}
