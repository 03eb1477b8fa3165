public import RunnelBase
public import RunnelTree

extension RulesEngine {
  /// Decides about an operation.
  ///
  /// Operations of administrators bypass the rules, so the caller does not ask about them.
  ///
  /// - Parameters:
  ///   - operation: the operation to decide about.
  ///   - auth: the caller: an object with `uid`, `provider` and `token`, or null if
  ///     unauthenticated.
  ///   - now: the time of the operation in milliseconds since 1970, as server values have it.
  ///   - before: the tree before the operation.
  ///   - after: the tree after the operation; nil if it is to be computed from `before`.
  /// - Returns: whether it may be done.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read; then nothing is decided.
  public func decide(
    _ operation: RulesOperation, as auth: JSONValue, now: Int64, before: any RulesReader,
    after: (any RulesReader)? = nil
  ) throws(TreeError) -> RulesVerdict {
    var decision = decision(operation, auth, now, before, after, NoTrace())
    return try decision.verdict(operation)
  }

  /// Makes the decision about an operation, without running it.
  func decision<Trace: RulesDecisionTrace>(
    _ operation: RulesOperation, _ auth: JSONValue, _ now: Int64, _ before: any RulesReader,
    _ after: (any RulesReader)?, _ trace: Trace
  ) -> RulesDecision<Trace> {
    var (query, parts) = (RulesQuery.all, [Assignment]())
    switch operation {
    case .read(_, let asked): query = asked
    case .write(let written): parts = written
    }
    let context = RuleContext(
      auth: RuleValue(auth), now: now, query: query, before: before,
      after: after ?? (parts.isEmpty ? before : nil), parts: parts)
    return RulesDecision(engine: self, context: context, trace: trace)
  }
}

/// The result of evaluating a rule.
public enum RuleOutcome: Hashable, Sendable {
  /// The rule is true.
  case holds
  /// The rule is false.
  case fails
  /// The rule cannot be evaluated, which counts as false: the reason, and the part of the
  /// expression.
  case error(RuleErrorReason, text: String)
}

/// The reason why a rule cannot be evaluated.
public enum RuleErrorReason: Hashable, Sendable {
  /// A value is of the wrong kind: mostly null in place of a text.
  case wrongKind
  /// The root has no parent.
  case noParent
  /// A text is longer than any text in the database.
  case tooLong
}

/// A decision about one operation; used once.
///
/// Source: rules language, section 6.
struct RulesDecision<Trace: RulesDecisionTrace> {
  private let contents: RulesContents
  private let validatesAboveRemovals: Bool
  private var evaluator: RuleEvaluator<Trace>

  init(engine: RulesEngine, context: RuleContext, trace: Trace) {
    contents = engine.contents
    validatesAboveRemovals = engine.validatesAboveRemovals
    evaluator = RuleEvaluator(
      contents: engine.contents, context: context, stepsMax: engine.stepsMax, trace: trace)
  }

  /// The trace that was recorded during the decision.
  var trace: Trace { evaluator.trace }

  /// Decides about the operation.
  ///
  /// - Throws: `TreeError` if the tree cannot be read.
  mutating func verdict(_ operation: RulesOperation) throws(TreeError) -> RulesVerdict {
    do throws(RuleFault) {
      return try isAllowed(operation) ? .allowed : .denied
    } catch {
      switch error {
      case .storage(let error): throw error
      default: return .tooCostly
      }
    }
  }

  private mutating func isAllowed(_ operation: RulesOperation) throws(RuleFault) -> Bool {
    switch operation {
    case .read(let path, _):
      evaluator.keys = path.keys
      return try isGranted(.read, path, contents.chain(to: path))
    case .write(let parts):
      let chains = parts.map { contents.chain(to: $0.path) }
      for (part, chain) in zip(parts, chains) {
        enter(part)
        if try !isGranted(.write, part.path, chain) { return false }
      }
      for (part, chain) in zip(parts, chains) {
        enter(part)
        if try !isValid(part, chain) { return false }
      }
      return true
    }
  }

  /// Moves the evaluator to the place of a part.
  private mutating func enter(_ part: Assignment) {
    evaluator.keys = part.path.keys
    if case .node(let node) = part.target { evaluator.node = node } else { evaluator.node = nil }
  }

  /// True if a rule of a chain grants reading or writing.
  private mutating func isGranted(
    _ kind: RuleKind, _ path: Path, _ chain: [(node: Int, level: Int)]
  ) throws(RuleFault) -> Bool {
    for (node, level) in chain {
      if let rule = contents.nodes[node].rule(kind), try holds(rule, level) { return true }
    }
    if Trace.isOn { evaluator.trace.noteNoGrant(kind, path) }
    return false
  }

  /// True if a rule holds at a level of the path.
  private mutating func holds(_ rule: Int, _ level: Int) throws(RuleFault) -> Bool {
    evaluator.level = level
    if Trace.isOn { evaluator.trace.begin(rule, Array(evaluator.keys.prefix(level))) }
    let outcome: Bool
    do throws(RuleFault) {
      try evaluator.pay(4)
      outcome = try evaluator.bool(contents.roots[rule])
    } catch {
      switch error {
      case .tooCostly, .storage: throw error
      case .wrongKind, .noParent, .tooLong:
        if Trace.isOn { evaluator.trace.end(.failure(error)) }
        return false
      }
    }
    if Trace.isOn { evaluator.trace.end(.success(outcome)) }
    return outcome
  }

  // MARK: Validating

  /// True if all `.validate` hold for a part of a write: those above its place and there, and those
  /// below.
  private mutating func isValid(
    _ part: Assignment, _ chain: [(node: Int, level: Int)]
  ) throws(RuleFault) -> Bool {
    let isRemoved = try isEmptyAfter(part)
    if isRemoved, !validatesAboveRemovals { return true }
    for (node, level) in chain {
      guard let rule = contents.nodes[node].validate else { continue }
      if isRemoved, try !exists(level) { continue }
      if try !holds(rule, level) { return false }
    }
    guard let last = chain.last, last.level == part.path.keys.count, !isRemoved,
      contents.nodes[last.node].validatesBelow
    else { return true }
    return try isValidBelow(nodeAfter(part), last.node)
  }

  private mutating func exists(_ level: Int) throws(RuleFault) -> Bool {
    try evaluator.summary(RulePlace(.after, level: level)).kind != .empty
  }

  private mutating func isEmptyAfter(_ part: Assignment) throws(RuleFault) -> Bool {
    if case .node(let node) = part.target { return node.isEmpty }
    return try !exists(part.path.keys.count)
  }

  /// The node at the place of a part after the write.
  private mutating func nodeAfter(_ part: Assignment) throws(RuleFault) -> Node {
    if case .node(let node) = part.target { return node }
    return try evaluator.subtree(RulePlace(.after, level: part.path.keys.count))
  }

  /// True if all `.validate` below a place hold for the node there.
  private mutating func isValidBelow(_ node: Node, _ number: Int) throws(RuleFault) -> Bool {
    let rules = contents.nodes[number]
    for child in node.children {
      evaluator.stepsLeft += RulesLimits.stepsPerChild
      try evaluator.pay(1)
      guard let below = rules.child(child.key) else { continue }
      let next = contents.nodes[below]
      if next.validate == nil, !next.validatesBelow { continue }
      evaluator.keys.append(child.key)
      evaluator.node = child.node
      defer { evaluator.keys.removeLast() }
      if let rule = next.validate, try !holds(rule, evaluator.keys.count) { return false }
      if next.validatesBelow, try !isValidBelow(child.node, below) { return false }
    }
    return true
  }
}

/// A recorder that is told the steps of a decision.
protocol RulesDecisionTrace: RuleTrace {
  /// Notes that the evaluation of a rule at a place begins.
  mutating func begin(_ rule: Int, _ keys: [Key])
  /// Notes the result of the rule.
  mutating func end(_ result: Result<Bool, RuleFault>)
  /// Notes that no rule granted reading or writing a place.
  mutating func noteNoGrant(_ kind: RuleKind, _ path: Path)
}

extension NoTrace: RulesDecisionTrace {
  mutating func begin(_ rule: Int, _ keys: [Key]) {}
  mutating func end(_ result: Result<Bool, RuleFault>) {}
  mutating func noteNoGrant(_ kind: RuleKind, _ path: Path) {}
}
