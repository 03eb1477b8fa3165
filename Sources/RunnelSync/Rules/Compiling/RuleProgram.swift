import RunnelBase
import RunnelTree

/// A step of a compiled expression; operands are the numbers of other steps.
enum RuleStep: Sendable {
  /// The number of a step.
  typealias Index = Int

  case constant(RuleValue)
  /// The key at a level of the place, from 0.
  case capture(Int)
  case auth
  case now
  /// The root before the operation.
  case root
  /// The rule's place before the operation.
  case data
  /// The rule's place after the operation.
  case newData
  case query(RuleMember)

  case not(Index)
  case negate(Index)
  case and([Index])
  case or([Index])
  case conditional(Index, Index, Index)
  case equal(Index, Index)
  case unequal(Index, Index)
  case ordered(RuleOrder, Index, Index)
  case add(Index, Index)
  case arithmetic(RuleArithmetic, Index, Index)

  /// A property of a part of `auth`, by its name.
  case property(Index, String)
  /// A property of a part of `auth`, by a computed name.
  case dynamicProperty(Index, Index)

  case value(Index)
  case exists(Index)
  case child(Index, Index)
  /// A child whose path is a constant.
  case fixedChild(Index, RulePlace.Pieces)
  case parent(Index)
  case hasChild(Index, Index)
  case hasFixedChild(Index, RulePlace.Pieces)
  case hasAnyChild(Index)
  case hasChildren(Index, [Index])
  case hasFixedChildren(Index, [RulePlace.Pieces])
  case priority(Index)
  case isKind(Index, RuleLeafKind)

  case length(Index)
  case contains(Index, Index)
  case beginsWith(Index, Index)
  case endsWith(Index, Index)
  case replace(Index, Index, Index)
  case lowercased(Index)
  case uppercased(Index)
  case matches(Index, RegularExpression)
}

/// The comparison operators.
enum RuleOrder: Sendable {
  case less
  case notGreater
  case greater
  case notLess

  init?(_ sign: RuleSign) {
    switch sign {
    case .less: self = .less
    case .notGreater: self = .notGreater
    case .greater: self = .greater
    case .notLess: self = .notLess
    default: return nil
    }
  }
}

/// The arithmetic operators.
enum RuleArithmetic: Sendable {
  case subtract
  case multiply
  case divide
  case remainder

  init?(_ sign: RuleSign) {
    switch sign {
    case .minus: self = .subtract
    case .times: self = .multiply
    case .over: self = .divide
    case .remainder: self = .remainder
    default: return nil
    }
  }
}

/// The kinds of values that rules test for.
enum RuleLeafKind: Sendable {
  case number
  case string
  case bool
}

/// Compiled expressions: all steps of a rules file.
struct RuleProgram: Sendable {
  /// The role of a step in explanations and coverage.
  enum Role: Sendable {
    /// Not shown: a part of another step that is shown.
    case none
    /// A value that is read: of the tree, of `auth`, of the query, or a key.
    case reading
    /// A condition: the whole rule, or one of the operands of `&&`, `||`, `!` and `?:`.
    case condition
  }

  fileprivate(set) var steps: [RuleStep] = []
  /// The range of each step in the file.
  fileprivate(set) var ranges: [Range<Int>] = []
  /// The role of each step.
  fileprivate(set) var roles: [Role] = []

  mutating func add(_ step: RuleStep, at range: Range<Int>, _ role: Role) -> RuleStep.Index {
    steps.append(step)
    ranges.append(range)
    roles.append(role)
    return steps.count - 1
  }

  mutating func set(_ role: Role, of step: RuleStep.Index) { roles[step] = role }
}
