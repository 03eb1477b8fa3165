import ArgumentParser
import RunnelBase
import RunnelSync
import RunnelTree

/// `runnel rules`: the security rules of a database.
struct RulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Check, test and explain security rules.",
    discussion: """
      Security rules say who may read and write what, and what may be written. They are a JSON file \
      with expressions. The status is 0 if all is right, 1 if a case fails or an operation is denied, \
      and 2 if the rules cannot be loaded or the command line is wrong.

      Examples:
        runnel rules check rules.json
        runnel rules test cases.yaml --coverage
        runnel rules explain read /users/ana --as uid:bo -d chat.db
      """,
    subcommands: [
      CheckRulesCommand.self, TestRulesCommand.self, CoverageOfRulesCommand.self,
      ExplainRulesCommand.self,
    ])
}

/// A rules file that was loaded.
struct LoadedRules {
  /// The greatest size of rules that come through a pipe, in bytes.
  private static let bytesMax = 16 << 20

  /// The name of the file in messages.
  let name: String
  let engine: RulesEngine

  /// Loads a file.
  ///
  /// - Throws: `Failure` of usage, with all mistakes, if it cannot be loaded.
  init(_ file: FileName) throws {
    let document: InputDocument
    do {
      document = try InputDocument(file, .text(bytesMax: LoadedRules.bytesMax))
    } catch let failure as Failure {
      throw Failure(failure.message, status: .usage)
    }
    name = document.name
    engine = try LoadedRules.engine(document.withBytes { Array($0) }, name)
  }

  /// Loads rules from a part of another file; `lined` has them in the lines of that file, if these are known.
  ///
  /// - Throws: `Failure` of usage, with all mistakes, if they cannot be loaded.
  init(_ json: JSONValue, lined: [UInt8]?, in name: String) throws {
    // Very many lines before the rules make them too large, and their own lines are told then.
    let isLined = lined.map { $0.count <= RulesLimits.fileBytesMax } ?? false
    self.name = isLined ? name : "the rules of \(name)"
    engine = try LoadedRules.engine(
      (isLined ? lined : nil) ?? json.jsonBytes(pretty: true), self.name)
  }

  private static func engine(_ bytes: [UInt8], _ name: String) throws -> RulesEngine {
    do throws(RulesError) {
      return try RulesEngine(parsing: bytes)
    } catch {
      let count = error.mistakes.count
      let words = count == 1 ? "1 mistake" : "\(count)\(error.hasMore ? " or more" : "") mistakes"
      throw Failure(
        "\(name) cannot be loaded: \(words).\n\(error.text(file: name))", status: .usage)
    }
  }
}

/// `runnel rules check`: reports the mistakes in a rules file.
struct CheckRulesCommand: ParsableCommand, FileNaming {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a rules file, and print its mistakes.",
    discussion: """
      Each mistake is told with its file, line and column, the line itself, and what to do. A file in \
      order is told with its number of rules, and with the indexes that its .indexOn asks for, as the \
      commands that make them. A rule that asks for an order without .indexOn is told too: the server \
      refuses such queries.
      """)

  @Argument(help: "The rules file; - is standard input.", completion: .file())
  var file: FileName

  var fileNames: [FileName] { [file] }

  func run() throws {
    let rules = try LoadedRules(file)
    let count = rules.engine.rules.count
    try StandardOutput.say(
      "\(rules.name) is in order: \(count == 1 ? "1 rule" : "\(count) rules").\n")
    for index in rules.engine.indexes {
      let words = ["runnel", "index", "add", index.pattern, index.order.description]
      try StandardOutput.say(words.map(ShellText.quoted).joined(separator: " ") + " -d FILE\n")
    }
    for order in rules.engine.unindexedOrders {
      let (rule, name) = (order.rule, JSONValue.string(order.name).jsonText())
      try StandardOutput.say(
        """
        \(rules.name):\(rule.line):\(rule.column): no .indexOn at \(rule.pattern) or below has \(name), \
        which this rule asks for: queries by it are refused, and a listen is decided as a read of \
        everything at its place. Add ".indexOn": \(name) where the queries are.

        """)
    }
  }
}
