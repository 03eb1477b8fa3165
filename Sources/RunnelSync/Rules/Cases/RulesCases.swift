public import RunnelBase
public import RunnelTree

/// Example operations with the expected verdicts of the rules: the tests of a rules file, as data.
///
/// `Resources/docs/rules.md` describes the format.
public struct RulesCases: Sendable {
  /// An example.
  public struct Case: Sendable {
    /// The number of the case in its file, from 1.
    public var number: Int
    /// The name of the case: what it shows.
    public var name: String
    /// The caller's identity; null for nobody.
    public var auth: JSONValue
    /// The operation.
    public var action: Action
    /// The tree before.
    public var data: MemoryTree
    /// The time, in milliseconds since 1970.
    public var now: Int64
    /// Whether the rules are expected to allow the operation.
    public var isAllowed: Bool

    /// The case in a line: its number and name.
    public var title: String { name.isEmpty ? "case \(number)" : "case \(number), \(name)" }
  }

  /// The operation of a case.
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
  /// - Throws: `RulesCasesError` with all mistakes.
  public init(json: JSONValue) throws(RulesCasesError) {
    var reader = RulesCaseReader()
    let file = reader.file(json)
    if !reader.mistakes.isEmpty { throw RulesCasesError(mistakes: reader.mistakes) }
    cases = file.cases
    rulesFile = file.rulesFile
    rules = file.rules
  }
}

/// The mistakes in a file of cases.
public struct RulesCasesError: Error, Hashable, Sendable {
  /// The mistakes: what is wrong and what to do, each with the number of its case.
  public var mistakes: [String]
}

extension RulesCases.Case {
  /// Returns the operation as rules take it: a write has its server values resolved.
  ///
  /// - Throws: `TreeError` if the write is invalid in any tree.
  public func operation() throws(TreeError) -> RulesOperation {
    switch action {
    case .read(let query): .read(query)
    case .write(let write): .write(try write.assignments(now: now, reader: data))
    }
  }

  /// The operation in words: `read /users/ana`.
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
  /// The result of a case.
  public struct Outcome: Sendable {
    /// The case.
    public var example: Case
    /// The explanation of the verdict.
    public var explanation: RulesExplanation

    /// True if the verdict was the expected one.
    public var isPassed: Bool { explanation.verdict.isAllowed == example.isAllowed }
  }

  /// Decides about all cases.
  ///
  /// - Throws: `RulesCasesError` for writes that are invalid in any tree, whatever the rules say.
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

  /// Returns the rules and conditions that the cases evaluate.
  ///
  /// - Throws: `RulesCasesError` for writes that are invalid in any tree, whatever the rules say.
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
