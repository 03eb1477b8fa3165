public import RunnelBase
public import RunnelTree

/// The security rules of a database: who may read and write which places, and which values are
/// valid.
///
/// A rules file is checked as a whole and compiled once; a file with a mistake gives no engine. A
/// decision is a function of the operation, the caller, the time and the tree: it has no state,
/// waits for nothing, and takes a bounded number of steps.
///
/// Terms:
/// - *chain*: the rules met on the way from the root to a place. A named child takes precedence
///   over a wildcard, whose rules then do not apply to it.
/// - *grant*: a `.read` or `.write` on the chain that is true; it holds for all below.
///
/// Isolation: an immutable value; any thread may decide with it.
///
/// Source: rules language.
public struct RulesEngine: Sendable {
  /// The rules in the order of the file.
  public var rules: [Rule] { contents.rules }
  /// The indexes that `.indexOn` declares, in the order of the file.
  public var indexes: [RulesIndex] { contents.indexes }
  /// The file as it was given.
  public var source: [UInt8] { contents.text.bytes }
  /// The file as JSON, without comments.
  public var json: JSONValue { contents.json }
  /// Whether `.validate` of places above is evaluated for a write that leaves nothing at its own place.
  ///
  /// The specification leaves this open. The documentation says that removals are not validated, so
  /// the default is false.
  public var validatesAboveRemovals = false
  /// The most steps of a decision; one that needs more is refused.
  public var stepsMax = RulesLimits.stepsMax

  let contents: RulesContents

  /// Loads a rules file.
  ///
  /// Complexity: O(n) in its bytes, except for regular expressions, whose tables are bounded.
  ///
  /// - Parameter bytes: the file in UTF-8: JSON that may have comments.
  /// - Throws: `RulesError` with all mistakes of the file.
  public init(parsing bytes: [UInt8]) throws(RulesError) {
    contents = RulesContents(try RulesLoader(bytes))
  }

  /// Loads a rules file from its text.
  ///
  /// - Throws: `RulesError` with all mistakes of the file.
  public init(parsing text: String) throws(RulesError) { try self.init(parsing: Array(text.utf8)) }

  /// Loads rules from the JSON of a file.
  ///
  /// - Throws: `RulesError`, whose lines are those of the JSON laid out for people.
  public init(json: JSONValue) throws(RulesError) {
    try self.init(parsing: json.jsonBytes(pretty: true))
  }

  /// True if the rules declare an index for the children of a place in an order, or the order needs none.
  ///
  /// Source: rules language, section 7.
  public func hasIndex(_ order: QueryIndex, at path: Path) -> Bool {
    if order == .key || order == .priority { return true }
    guard let last = contents.chain(to: path).last, last.level == path.keys.count else {
      return false
    }
    return contents.nodes[last.node].indexes.contains(order)
  }
}

/// A loaded rules file: one object, so that every decision holds a single reference.
final class RulesContents: Sendable {
  let rules: [Rule]
  let indexes: [RulesIndex]
  let json: JSONValue
  let nodes: [RuleNode]
  let program: RuleProgram
  /// The first step of each rule.
  let roots: [RuleStep.Index]
  let text: RulesSource

  init(_ loader: RulesLoader) {
    guard let document = loader.document else {
      preconditionFailure("A file without a mistake has a document.")
    }
    rules = loader.rules
    indexes = loader.indexes
    json = document.json
    nodes = loader.nodes
    program = loader.program
    roots = loader.roots
    text = loader.source
  }

  /// The rules from the root to a place: the number of each node, and its depth.
  func chain(to path: Path) -> [(node: Int, level: Int)] {
    var chain = [(node: 0, level: 0)]
    // The rules do not govern this part of the tree.
    if path.isInfo { return chain }
    chain.reserveCapacity(path.keys.count + 1)
    var node = 0
    for (level, key) in path.keys.enumerated() {
      guard let next = nodes[node].child(key) else { break }
      chain.append((next, level + 1))
      node = next
    }
    return chain
  }
}

/// An operation that is checked by the rules.
public enum RulesOperation: Hashable, Sendable {
  /// A read of, or a listen to, the result of a query.
  case read(Path, RulesQuery)
  /// A write: its parts with server values resolved, as `Write.assignments` gives them.
  case write([Assignment])

  /// A read of a whole place.
  public static func read(_ path: Path) -> RulesOperation { .read(path, .all) }
  /// A read of the result of a query.
  public static func read(_ query: Query) -> RulesOperation { .read(query.path, RulesQuery(query)) }
}

/// The verdict of the rules on an operation.
public enum RulesVerdict: Hashable, Sendable {
  /// The operation may be done.
  case allowed
  /// The operation is refused.
  case denied
  /// The operation is refused because the decision took too many steps.
  case tooCostly

  /// True if the operation may be done.
  public var isAllowed: Bool { self == .allowed }
}
