import ArgumentParser
import RunnelApp
import RunnelBase
import RunnelSync
import RunnelTree

/// The options for the cases and the rules.
struct RulesCasesOptions: ParsableArguments {
  @Argument(
    help: "The file of cases, in YAML or JSON; Resources/docs/rules.md describes it.",
    completion: .file())
  var cases: String

  @Option(
    help: ArgumentHelp("Another rules file than the one that the cases name.", valueName: "file"),
    completion: .file())
  var rules: FileName?

  /// Loads the cases and the rules.
  ///
  /// - Throws: `Failure` of usage, or `ConfigurationError`, if they cannot be loaded.
  func load() throws -> (cases: RulesCases, rules: LoadedRules) {
    let (json, lined) = try DataFile.json(of: cases, linesOf: "rules")
    let loaded = try reporting { () throws(RulesCasesError) in try RulesCases(json: json) }
    if let rules { return (loaded, try LoadedRules(rules)) }
    if let rules = loaded.rules {
      return (loaded, try LoadedRules(rules, lined: lined, in: cases))
    }
    guard let name = loaded.rulesFile else {
      throw Failure(
        "\(cases) names no rules: write `rules: rules.json` there, or give --rules.", status: .usage
      )
    }
    let folder = cases.lastIndex(of: "/").map { cases[...$0] } ?? ""
    let path = name.hasPrefix("/") ? name : folder + name
    return (loaded, try LoadedRules(FileName(bytes: Array(path.utf8))))
  }

  /// Returns the result of `body`; mistakes in cases are reported with the name of their file.
  func reporting<Result>(_ body: () throws(RulesCasesError) -> Result) throws -> Result {
    do throws(RulesCasesError) {
      return try body()
    } catch {
      throw Failure(
        error.mistakes.map { "\(cases): \($0)" }.joined(separator: "\n"), status: .usage)
    }
  }
}

/// `runnel rules test`: compares the decisions of rules with expected ones.
struct TestRulesCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Try whether rules allow and deny what a file of cases expects.",
    discussion: """
      A case that comes out otherwise is told with the rules that were asked, and the values that they \
      read. A read that is allowed and has no index in the rules is remarked on, also if its case passes: \
      the server refuses it over HTTP. The last line is `N passed, N failed`.
      """)

  @OptionGroup var options: RulesCasesOptions
  @Flag(help: "Tell also which rules and conditions the cases never tried, or only one way.")
  var coverage = false
  @Flag(help: "Tell of every case, also of those that pass.")
  var all = false
  @Flag(help: "Print a line of JSON for each case.")
  var json = false

  var fileNames: [FileName] { options.rules.map { [$0] } ?? [] }

  func validate() throws {
    if json, coverage {
      throw ValidationError("--json tells of cases only: use `runnel rules coverage --json`.")
    }
  }

  func run() throws {
    let (cases, rules) = try options.load()
    let outcomes = try options.reporting { () throws(RulesCasesError) in
      try cases.run(with: rules.engine)
    }
    for outcome in outcomes { try tell(outcome, rules) }
    if coverage {
      let tried = try options.reporting { () throws(RulesCasesError) in
        try cases.coverage(of: rules.engine)
      }
      try CoverageOfRulesCommand.tell(tried, rules)
    }
    let failedCount = outcomes.count { !$0.isPassed }
    let summary = "\(outcomes.count - failedCount) passed, \(failedCount) failed"
    if !json { try StandardOutput.say(summary + "\n") }
    if failedCount > 0 {
      throw Failure(
        "\(options.cases): \(failedCount == 1 ? "a case" : "\(failedCount) cases") failed.")
    }
  }

  private func tell(_ outcome: RulesCases.Outcome, _ rules: LoadedRules) throws {
    let remark = remark(on: outcome, rules)
    if json {
      var told = outcome.json
      if let remark { told["remark"] = .string(remark) }
      return try StandardOutput.write(told.jsonText() + "\n")
    }
    let example = outcome.example
    if outcome.isPassed, !all {
      if let remark {
        try StandardOutput.say("\(example.title): \(example.actionText): \(remark)\n")
      }
      return
    }
    let expected = example.isAllowed ? "allow" : "deny"
    let result = outcome.isPassed ? "passed" : "FAILED, \(expected) was expected"
    try StandardOutput.say("\(example.title): \(example.actionText): \(result)\n")
    let lines = outcome.explanation.text(file: rules.name).split(separator: "\n")
    for line in lines + (remark.map { [$0[...]] } ?? []) { try StandardOutput.say("  \(line)\n") }
  }

  /// What the server makes of a read that the rules allow and that has no index; nil if there is nothing to
  /// say.
  private func remark(on outcome: RulesCases.Outcome, _ rules: LoadedRules) -> String? {
    guard case .read(let query) = outcome.example.action, outcome.explanation.verdict.isAllowed,
      !rules.engine.hasIndex(query.index, at: query.path)
    else { return nil }
    return
      "allowed, but refused over HTTP for want of an index, and a listen is decided as a read of "
      + "everything at \(query.path): \(MemoryServedTree.missingIndex(query).message)"
  }
}

extension RulesCases.Outcome {
  /// The outcome as an object.
  fileprivate var json: JSONValue {
    [
      "case": .number(JSONNumber(Int64(example.number))), "name": .string(example.name),
      "action": .string(example.actionText), "passed": .bool(isPassed),
      "expected": .string(example.isAllowed ? "allow" : "deny"), "explanation": explanation.json,
    ]
  }
}

/// `runnel rules coverage`: lists the rules and conditions that no case tries.
struct CoverageOfRulesCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "coverage",
    abstract: "Tell which rules and conditions a file of cases never tries.",
    discussion: """
      A line for each rule, or operand of &&, || and ?:, that no case evaluates, or that is never true, \
      or never false.
      """)

  @OptionGroup var options: RulesCasesOptions
  @Flag(help: "Print a line of JSON for each.")
  var json = false

  var fileNames: [FileName] { options.rules.map { [$0] } ?? [] }

  func run() throws {
    let (cases, rules) = try options.load()
    let tried = try options.reporting { () throws(RulesCasesError) in
      try cases.coverage(of: rules.engine)
    }
    if !json { return try CoverageOfRulesCommand.tell(tried, rules) }
    for gap in tried.gaps { try StandardOutput.write(gap.json.jsonText() + "\n") }
  }

  /// Prints everything that was not tried.
  static func tell(_ coverage: RulesCoverage, _ rules: LoadedRules) throws {
    for gap in coverage.gaps { try StandardOutput.say(gap.text(file: rules.name) + "\n") }
    let count = rules.engine.rules.count
    try StandardOutput.say(
      "\(coverage.evaluatedCount) of \(count) \(count == 1 ? "rule" : "rules") evaluated\n")
  }
}
