public import RunnelBase
public import RunnelTree

/// Why the rules allow or deny an operation: which rules were asked, at which places, what they said, and
/// the values that they read.
public struct RulesExplanation: Sendable {
  /// A part of an expression, with what it came to.
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
    /// How it came out.
    public var outcome: RuleOutcome
    /// Its conditions and the values that were read, in the order in which they were evaluated.
    public var parts: [Part]
  }

  /// A place for which no rule on the way grants what was wanted.
  public struct Refusal: Hashable, Sendable {
    /// What was wanted: `read` or `write`.
    public var kind: RuleKind
    /// The place.
    public var path: Path
  }

  /// What the rules say.
  public let verdict: RulesVerdict
  /// The rules in the order in which they were evaluated; of very many, those that held are left out.
  public let rules: [Entry]
  /// How many rules that held were left out.
  public let omittedCount: Int
  /// The place that nothing grants, if that is why the operation is denied.
  public let refusal: Refusal?

  /// The most rules of an explanation.
  static let entriesMax = 1000
}

extension RulesEngine {
  /// Decides about an operation, and tells why.
  ///
  /// The verdict is that of `decide`, which is much faster.
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
      // What is read a second time is told once.
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

  /// What a step is in the file, in one line and without the escapes of its string.
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

/// Records what a decision does.
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
