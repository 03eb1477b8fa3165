public import RunnelBase
public import RunnelTree

/// The explanation of a verdict: the rules that were evaluated, their places and outcomes, and the
/// values that they read.
public struct RulesExplanation: Sendable {
  /// A part of an expression, with its value.
  public struct Part: Hashable, Sendable {
    /// The part as it is written.
    public var text: String
    /// The value for people: JSON, cut to a readable length.
    public var value: String
    /// True for a condition: the whole rule, or an operand of `&&`, `||`, `!` or `?:`.
    public var isCondition: Bool
  }

  /// A rule that was evaluated.
  public struct Entry: Hashable, Sendable {
    /// The rule.
    public var rule: Rule
    /// The place at which it was evaluated.
    public var path: Path
    /// The outcome of the rule.
    public var outcome: RuleOutcome
    /// The rule's conditions and the values that were read, in the order of evaluation.
    public var parts: [Part]
  }

  /// A place for which no rule on the way grants the requested access.
  public struct Refusal: Hashable, Sendable {
    /// The kind of access: `read` or `write`.
    public var kind: RuleKind
    /// The place.
    public var path: Path
  }

  /// The verdict of the rules.
  public let verdict: RulesVerdict
  /// The rules in the order of evaluation; if there are very many, those that held are left out.
  public let rules: [Entry]
  /// The number of rules that held and were left out.
  public let omittedCount: Int
  /// The place that no rule grants, if that is the reason for the denial.
  public let refusal: Refusal?

  /// The most rules in an explanation.
  static let entriesMax = 1000
}

extension RulesEngine {
  /// Decides about an operation, and explains the verdict.
  ///
  /// The verdict is the same as that of `decide`, which is much faster.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  public func explain(
    _ operation: RulesOperation, as auth: JSONValue, now: Int64, before: any RulesReader,
    after: (any RulesReader)? = nil
  ) throws(TreeError) -> RulesExplanation {
    var decision = decision(operation, auth, now, before, after, RuleRecording())
    let verdict = try decision.verdict(operation)
    let recording = decision.trace
    return RulesExplanation(
      verdict: verdict, rules: recording.entries.map(entry), omittedCount: recording.omittedCount,
      refusal: recording.refusal)
  }

  private func entry(_ recorded: RuleRecording.Entry) -> RulesExplanation.Entry {
    var parts: [RulesExplanation.Part] = []
    for (step, value) in recorded.notes {
      let part = RulesExplanation.Part(
        text: writtenText(of: step), value: value.shown,
        isCondition: contents.program.roles[step] == .condition)
      // A value that is read a second time is listed once.
      if !parts.contains(part) { parts.append(part) }
    }
    return RulesExplanation.Entry(
      rule: rules[recorded.rule], path: Path(unchecked: recorded.keys),
      outcome: outcome(recorded.result), parts: parts)
  }

  private func outcome(_ result: Result<Bool, RuleFault>?) -> RuleOutcome {
    switch result {
    case .success(true)?: .holds
    case .success(false)?: .fails
    case .failure(.wrongKind(let step))?: .error(.wrongKind, text: writtenText(of: step))
    case .failure(.noParent(let step))?: .error(.noParent, text: writtenText(of: step))
    case .failure(.tooLong(let step))?: .error(.tooLong, text: writtenText(of: step))
    // The decision ended within the rule.
    case .failure(.tooCostly)?, .failure(.storage)?, nil: .fails
    }
  }

  /// The text of a step in the file, in one line and with the escapes of a string undone.
  func writtenText(of step: RuleStep.Index) -> String {
    let raw = contents.text.text(contents.program.ranges[step])
    var written = raw
    if raw.utf8.contains(UInt8(ascii: "\\")),
      case .string(let unescaped)? = try? JSONValue(parsing: "\"\(raw)\"")
    {
      written = unescaped
    }
    return written.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

/// A recording of the steps of a decision.
struct RuleRecording: RulesDecisionTrace {
  /// A rule that was evaluated.
  struct Entry {
    let rule: Int
    let keys: [Key]
    var result: Result<Bool, RuleFault>?
    var notes: [(step: RuleStep.Index, value: RuleValue)] = []
  }

  static var isOn: Bool { true }

  private(set) var entries: [Entry] = []
  private(set) var omittedCount = 0
  private(set) var refusal: RulesExplanation.Refusal?

  mutating func begin(_ rule: Int, _ keys: [Key]) { entries.append(Entry(rule: rule, keys: keys)) }

  mutating func note(_ step: RuleStep.Index, _ value: RuleValue) {
    entries[entries.count - 1].notes.append((step, value))
  }

  mutating func end(_ result: Result<Bool, RuleFault>) {
    entries[entries.count - 1].result = result
    if entries.count > RulesExplanation.entriesMax, case .success(true) = result {
      entries.removeLast()
      omittedCount += 1
    }
  }

  mutating func noteNoGrant(_ kind: RuleKind, _ path: Path) {
    refusal = RulesExplanation.Refusal(kind: kind, path: path)
  }
}
