/// The type of an expression, as far as it is known before evaluation.
///
/// Source: rules language, section 3.
enum RuleType: Hashable {
  case bool
  case number
  case string
  case null
  /// A value of the tree: a scalar of some kind, or an object.
  case primitive
  /// A value read from `auth`.
  case any
  case snapshot
  case query
  case pattern
  case array
  /// A method that is not called.
  case method
  /// A mistake, which was reported.
  case wrong

  /// The name of the type in messages.
  var name: String {
    switch self {
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .null: "null"
    case .primitive: "a value of the tree, whose kind is not known"
    case .any: "a part of auth, whose kind is not known"
    case .snapshot: "a place in the tree"
    case .query: "the query"
    case .pattern: "a regular expression"
    case .array: "a list"
    case .method: "a method that is not called"
    case .wrong: "wrong"
    }
  }

  /// True if the kind is known only when the rule is evaluated.
  var isFuzzy: Bool { self == .primitive || self == .any || self == .wrong }

  /// True for a type of single values.
  var isScalar: Bool {
    switch self {
    case .bool, .number, .string, .null, .primitive, .wrong: true
    default: false
    }
  }

  /// True if values of the type can be compared with `===` and its like.
  var isComparable: Bool { isScalar || self == .any }

  /// True if a value of this type may be given where `other` is expected.
  func mayBe(_ other: RuleType) -> Bool { self == other || isFuzzy }
}

/// A property or a method, by the name that rules have for it.
///
/// Source: rules language, sections 4.2 to 4.4.
enum RuleMember: String, CaseIterable {
  // Members of places in the tree.
  case val
  case exists
  case child
  case parent
  case hasChild
  case hasChildren
  case getPriority
  case isNumber
  case isString
  case isBoolean
  // Members of texts.
  case length
  case contains
  case beginsWith
  case endsWith
  case replace
  case toLowerCase
  case toUpperCase
  case matches
  // Members of the query.
  case orderByKey
  case orderByPriority
  case orderByValue
  case orderByChild
  case startAt
  case endAt
  case equalTo
  case limitToFirst
  case limitToLast

  static let ofSnapshots: [RuleMember] = [
    .val, .exists, .child, .parent, .hasChild, .hasChildren, .getPriority, .isNumber, .isString,
    .isBoolean,
  ]
  static let ofTexts: [RuleMember] = [
    .length, .contains, .beginsWith, .endsWith, .replace, .toLowerCase, .toUpperCase, .matches,
  ]
  static let ofQueries: [RuleMember] = [
    .orderByKey, .orderByPriority, .orderByValue, .orderByChild, .startAt, .endAt, .equalTo,
    .limitToFirst, .limitToLast,
  ]

  /// The members of values of a type.
  static func all(of type: RuleType) -> [RuleMember] {
    switch type {
    case .snapshot: ofSnapshots
    case .string, .primitive: ofTexts
    case .query: ofQueries
    default: []
    }
  }

  /// True if the member is a method.
  var isMethod: Bool { self != .length && !RuleMember.ofQueries.contains(self) }

  /// The types of the method's parameters; `hasChildren` may also be called without an argument.
  var parameters: [RuleType] {
    switch self {
    case .child, .hasChild, .contains, .beginsWith, .endsWith: [.string]
    case .replace: [.string, .string]
    case .matches: [.pattern]
    case .hasChildren: [.array]
    default: []
    }
  }

  /// The type of the member's value.
  var result: RuleType {
    switch self {
    case .val, .getPriority, .startAt, .endAt, .equalTo: .primitive
    case .child, .parent: .snapshot
    case .length, .limitToFirst, .limitToLast: .number
    case .replace, .toLowerCase, .toUpperCase, .orderByChild: .string
    case .exists, .hasChild, .hasChildren, .isNumber, .isString, .isBoolean, .contains,
      .beginsWith, .endsWith, .matches, .orderByKey, .orderByPriority, .orderByValue:
      .bool
    }
  }
}
