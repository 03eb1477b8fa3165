public import RunnelBase
public import RunnelTree

/// Examples of operations with what the rules are to say of them: the tests of a rules file, as data.
///
/// `Resources/docs/rules.md` describes the format.
public struct RulesCases: Sendable {
  /// An example.
  public struct Case: Sendable {
    /// The number of the case in its file, from 1.
    public var number: Int
    /// What it is to show.
    public var name: String
    /// The identity that asks; null for nobody.
    public var auth: JSONValue
    /// What is wanted.
    public var action: Action
    /// The tree before.
    public var data: MemoryTree
    /// The time, in milliseconds since 1970.
    public var now: Int64
    /// Whether it is to be allowed.
    public var isAllowed: Bool

    /// The case in a line: its number and name.
    public var title: String { name.isEmpty ? "case \(number)" : "case \(number), \(name)" }
  }

  /// What is wanted in a case.
  public enum Action: Hashable, Sendable {
    /// A read, or a listen.
    case read(Query)
    /// A write with server values that are not resolved.
    case write(Write)
  }

  /// The cases in the order of the file.
  public let cases: [Case]
  /// The name of the rules file, relative to that of the cases; nil if there is none.
  public let rulesFile: String?
  /// The rules, if they stand in the file of the cases.
  public let rules: JSONValue?

  /// Reads the contents of a file of cases.
  ///
  /// - Throws: `RulesCasesError` with all that is wrong.
  public init(json: JSONValue) throws(RulesCasesError) {
    var reader = RulesCaseReader()
    let file = reader.file(json)
    if !reader.mistakes.isEmpty { throw RulesCasesError(mistakes: reader.mistakes) }
    cases = file.cases
    rulesFile = file.rulesFile
    rules = file.rules
  }
}

/// What is wrong with a file of cases.
public struct RulesCasesError: Error, Hashable, Sendable {
  /// What is wrong and what to do, each with the number of its case.
  public var mistakes: [String]
}

extension RulesCases.Case {
  /// What is wanted, as rules take it: a write with its server values resolved.
  ///
  /// - Throws: `TreeError` if no tree takes the write.
  public func operation() throws(TreeError) -> RulesOperation {
    switch action {
    case .read(let query): .read(query)
    case .write(let write): .write(try write.assignments(now: now, reader: data))
    }
  }

  /// What is wanted in words: `read /users/ana`.
  public var actionText: String {
    switch action {
    case .read(let query): "read \(query.path)"
    case .write(.set(let path, .null)): "remove \(path)"
    case .write(.set(let path, _)): "set \(path)"
    case .write(.update(let path, _)): "update \(path)"
    case .write(.copy(_, let path)), .write(.move(_, let path)): "write \(path)"
    }
  }
}

extension RulesCases {
  /// How a case came out.
  public struct Outcome: Sendable {
    /// The case.
    public var example: Case
    /// Why the rules said what they said.
    public var explanation: RulesExplanation

    /// True if the rules said what was expected.
    public var isPassed: Bool { explanation.verdict.isAllowed == example.isAllowed }
  }

  /// Decides about all cases.
  ///
  /// - Throws: `RulesCasesError` for writes that no tree takes, whatever the rules say.
  public func run(with engine: RulesEngine) throws(RulesCasesError) -> [Outcome] {
    var outcomes: [Outcome] = []
    var mistakes: [String] = []
    for example in cases {
      do throws(TreeError) {
        let explanation = try engine.explain(
          example.operation(), as: example.auth, now: example.now, before: example.data)
        outcomes.append(Outcome(example: example, explanation: explanation))
      } catch {
        mistakes.append("\(example.title): no tree takes the write: \(error)")
      }
    }
    if !mistakes.isEmpty { throw RulesCasesError(mistakes: mistakes) }
    return outcomes
  }

  /// What the cases try of the rules.
  ///
  /// - Throws: `RulesCasesError` for writes that no tree takes, whatever the rules say.
  public func coverage(of engine: RulesEngine) throws(RulesCasesError) -> RulesCoverage {
    var coverage = RulesCoverage(of: engine)
    var mistakes: [String] = []
    for example in cases {
      do throws(TreeError) {
        _ = try coverage.decide(
          example.operation(), as: example.auth, now: example.now, before: example.data)
      } catch {
        mistakes.append("\(example.title): no tree takes the write: \(error)")
      }
    }
    if !mistakes.isEmpty { throw RulesCasesError(mistakes: mistakes) }
    return coverage
  }
}
