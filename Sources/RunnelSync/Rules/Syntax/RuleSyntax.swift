import RunnelBase

/// The syntax of an expression: nodes in an array, each after its children.
struct RuleSyntax {
  /// The number of a node.
  typealias Index = Int

  /// The kind of a node.
  enum Kind {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    /// A regular expression, with the bytes of its body and of its flags.
    case pattern(body: Range<Int>, flags: Range<Int>)
    case array([Index])
    case name(String)
    case capture(String)
    case not(Index)
    case negate(Index)
    case and([Index])
    case or([Index])
    case conditional(Index, Index, Index)
    /// An operator with two operands, and the offset of its sign.
    case binary(RuleSign, Index, Index, place: Int)
    /// A member, and the offset of its name.
    case member(Index, String, place: Int)
    case subscripted(Index, Index)
    case call(Index, [Index])
  }

  /// A node with its range.
  struct Node {
    let kind: Kind
    /// The range of the node, in bytes of the expression.
    let range: Range<Int>
    /// The number of levels of the node, itself included.
    let depth: Int
  }

  private(set) var nodes: [Node] = []

  subscript(index: Index) -> Node { nodes[index] }

  /// Adds a node above existing nodes.
  ///
  /// - Throws: `RuleSyntaxError` if the node would be too deep.
  mutating func add(
    _ kind: Kind, _ range: Range<Int>, above children: [Index] = []
  ) throws(RuleSyntaxError) -> Index {
    let depth = 1 + (children.map { nodes[$0].depth }.max() ?? 0)
    if depth > RulesLimits.expressionDepthMax { throw RuleSyntax.tooDeep(at: range.lowerBound) }
    nodes.append(Node(kind: kind, range: range, depth: depth))
    return nodes.count - 1
  }

  /// Extends a node's range by the parentheses around it.
  mutating func widen(_ index: Index, to range: Range<Int>) {
    nodes[index] = Node(kind: nodes[index].kind, range: range, depth: nodes[index].depth)
  }

  static func tooDeep(at place: Int) -> RuleSyntaxError {
    RuleSyntaxError(
      message:
        "The expression is more than \(RulesLimits.expressionDepthMax) levels deep: split it, "
        + "or move a part to a rule below or above.", place: place)
  }
}
