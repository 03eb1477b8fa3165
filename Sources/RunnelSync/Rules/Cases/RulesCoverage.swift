package import RunnelBase
package import RunnelTree

/// The rules and conditions that a set of operations evaluated, and their outcomes.
package struct RulesCoverage: Sendable {
  /// The numbers of outcomes of a rule or a condition.
  struct Tally: Hashable, Sendable {
    var heldCount = 0
    var failedCount = 0
    var errorCount = 0

    var isEvaluated: Bool { heldCount + failedCount + errorCount > 0 }
  }

  /// A gap in the coverage of a rule.
  package struct Gap: Hashable, Sendable {
    /// The kind of gap.
    package enum Kind: String, Hashable, Sendable {
      /// The rule or condition was never evaluated.
      case neverEvaluated = "never evaluated"
      /// The rule or condition was evaluated, and was never true.
      case neverTrue = "never true"
      /// The rule or condition was evaluated, and was never false.
      case neverFalse = "never false"
    }

    /// The rule.
    package var rule: Rule
    /// The condition within the rule as it is written, or the text of the whole rule.
    package var text: String
    /// The line of the condition, from 1.
    package var line: Int
    /// The column of the condition in its line, in Unicode scalars from 1.
    package var column: Int
    /// The kind of gap.
    package var kind: Kind
  }

  private let engine: RulesEngine
  private var rules: [Tally]
  private var steps: [Tally]
  private var current = 0

  /// Makes an empty coverage.
  package init(of engine: RulesEngine) {
    self.engine = engine
    rules = Array(repeating: Tally(), count: engine.rules.count)
    steps = Array(repeating: Tally(), count: engine.contents.program.steps.count)
  }

  /// Decides about an operation, and records what was evaluated.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  package mutating func decide(
    _ operation: RulesOperation, as auth: JSONValue, now: Int64, before: any RulesReader,
    after: (any RulesReader)? = nil
  ) throws(TreeError) -> RulesVerdict {
    var decision = engine.decision(operation, auth, now, before, after, self)
    let verdict = try decision.verdict(operation)
    self = decision.trace
    return verdict
  }

  /// The number of rules that were evaluated at least once.
  package var evaluatedCount: Int { rules.count { $0.isEvaluated } }

  /// The gaps in the coverage, in the order of the file.
  package var gaps: [Gap] {
    engine.rules.flatMap { rule -> [Gap] in
      let tally = rules[rule.id]
      if !tally.isEvaluated { return [gap(rule, nil, .neverEvaluated)] }
      if case .constant = engine.contents.program.steps[engine.contents.roots[rule.id]] {
        return []
      }
      let whole = kinds(tally).map { gap(rule, nil, $0) }
      let parts = conditions(of: rule).flatMap { step in
        kinds(steps[step]).map { gap(rule, step, $0) }
      }
      return whole + parts
    }
  }

  private func kinds(_ tally: Tally) -> [Gap.Kind] {
    if !tally.isEvaluated { return [.neverEvaluated] }
    return (tally.heldCount == 0 ? [.neverTrue] : [])
      + (tally.failedCount + tally.errorCount == 0 ? [.neverFalse] : [])
  }

  /// The conditions within a rule, without the whole rule.
  private func conditions(of rule: Rule) -> [RuleStep.Index] {
    let root = engine.contents.roots[rule.id]
    let range = engine.contents.program.ranges[root]
    // The steps of a rule are stored one after the other, the whole rule last.
    let first = (0..<root).reversed().prefix {
      engine.contents.program.ranges[$0].lowerBound >= range.lowerBound
    }
    return first.reversed().filter { engine.contents.program.roles[$0] == .condition }
  }

  private func gap(_ rule: Rule, _ step: RuleStep.Index?, _ kind: Gap.Kind) -> Gap {
    guard let step else {
      return Gap(rule: rule, text: rule.text, line: rule.line, column: rule.column, kind: kind)
    }
    let place = engine.contents.text.position(of: engine.contents.program.ranges[step].lowerBound)
    return Gap(
      rule: rule, text: engine.writtenText(of: step), line: place.line, column: place.column,
      kind: kind)
  }
}

extension RulesCoverage: RulesDecisionTrace {
  static var isOn: Bool { true }

  mutating func begin(_ rule: Int, _ keys: [Key]) { current = rule }

  mutating func note(_ step: RuleStep.Index, _ value: RuleValue) {
    guard case .bool(let holds) = value else { return }
    if holds { steps[step].heldCount += 1 } else { steps[step].failedCount += 1 }
  }

  mutating func end(_ result: Result<Bool, RuleFault>) {
    switch result {
    case .success(true): rules[current].heldCount += 1
    case .success(false): rules[current].failedCount += 1
    case .failure: rules[current].errorCount += 1
    }
  }

  mutating func noteNoGrant(_ kind: RuleKind, _ path: Path) {}
}

extension RulesCoverage.Gap {
  /// The gap in the format of editors and compilers: file, line, column and what was never tried.
  package func text(file: String) -> String {
    let what =
      text == rule.text
      ? "\(rule.kind.rawValue) of \(rule.pattern)"
      : "`\(text)` in \(rule.kind.rawValue) of \(rule.pattern)"
    return "\(file):\(line):\(column): \(kind.rawValue): \(what)"
  }

  /// The gap as JSON.
  package var json: JSONValue {
    [
      "line": .number(JSONNumber(Int64(line))), "column": .number(JSONNumber(Int64(column))),
      "gap": .string(kind.rawValue), "rule": .string(rule.kind.rawValue),
      "of": .string(rule.pattern), "text": .string(text),
    ]
  }
}
