package import RunnelBase
package import RunnelTree

/// Example operations with the expected verdicts of the rules: the tests of a rules file, as data.
///
/// `Resources/docs/rules.md` describes the format.
package struct RulesCases: Sendable {
  /// An example.
  package struct Case: Sendable {
    /// The number of the case in its file, from 1.
    package var number: Int
    /// The name of the case: what it shows.
    package var name: String
    /// The caller's identity; null for nobody.
    package var auth: JSONValue
    /// The operation.
    package var action: Action
    /// The tree before.
    package var data: MemoryTree
    /// The time, in milliseconds since 1970.
    package var now: Int64
    /// Whether the rules are expected to allow the operation.
    package var isAllowed: Bool

    /// The case in a line: its number and name.
    package var title: String { name.isEmpty ? "case \(number)" : "case \(number), \(name)" }
  }

  /// The operation of a case.
  package enum Action: Hashable, Sendable {
    /// A read, or a listen.
    case read(Query)
    /// A write with server values that are not resolved.
    case write(Write)
  }

  /// The cases in the order of the file.
  package let cases: [Case]
  /// The name of the rules file, relative to that of the cases; nil if there is none.
  package let rulesFile: String?
  /// The rules, if they stand in the file of the cases.
  package let rules: JSONValue?

  /// Reads the contents of a file of cases.
  ///
  /// - Throws: `RulesCasesError` with all mistakes.
  package init(json: JSONValue) throws(RulesCasesError) {
    var reader = RulesCaseReader()
    let file = reader.file(json)
    if !reader.mistakes.isEmpty { throw RulesCasesError(mistakes: reader.mistakes) }
    cases = file.cases
    rulesFile = file.rulesFile
    rules = file.rules
  }
}

/// The mistakes in a file of cases.
package struct RulesCasesError: Error, Hashable, Sendable {
  /// The mistakes: what is wrong and what to do, each with the number of its case.
  package var mistakes: [String]
}

extension RulesCases.Case {
  /// Returns the operation as rules take it: a write has its server values resolved.
  ///
  /// - Throws: `TreeError` if the write is invalid in any tree.
  package func operation() throws(TreeError) -> RulesOperation {
    switch action {
    case .read(let query): .read(query)
    case .write(let write): .write(try write.assignments(now: now, reader: data))
    }
  }

  /// The operation in words: `read /users/ana`.
  package var actionText: String {
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
  package struct Outcome: Sendable {
    /// The case.
    package var example: Case
    /// The explanation of the verdict.
    package var explanation: RulesExplanation

    /// True if the verdict was the expected one.
    package var isPassed: Bool { explanation.verdict.isAllowed == example.isAllowed }
  }

  /// Decides about all cases.
  ///
  /// - Throws: `RulesCasesError` for writes that are invalid in any tree, whatever the rules say.
  package func run(with engine: RulesEngine) throws(RulesCasesError) -> [Outcome] {
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
  package func coverage(of engine: RulesEngine) throws(RulesCasesError) -> RulesCoverage {
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
