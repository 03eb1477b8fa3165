import Logging
import RunnelBase
import RunnelSync
import RunnelTree
import Synchronization

/// Rules on trial: what they would deny is counted and logged, and done all the same.
///
/// They are asked about what the rules in force allow to callers who are no administrators. So an
/// administrator sees, before rules are put in force, whom they would keep from what.
final class RulesTrial: Sendable {
  /// The most lines of the log in a second; what they leave out is counted.
  static let linesPerSecond = 10
  /// The most characters of a place or a user in a line.
  private static let shownMax = 300

  private struct State {
    var rules: RulesEngine
    /// The second of the last line, since 1970, and the number of its lines.
    var second: Int64 = 0
    var lineCount = 0
  }

  /// The file of the rules.
  let file: String
  private let database: String
  private let allowance: TreeAllowance
  private let logger: Logger
  private let state: Mutex<State>

  /// Loads the rules to try for a database.
  ///
  /// - Throws: `ServerError` with all mistakes of the file.
  init(
    file: String, database: String, _ allowance: TreeAllowance, _ logger: Logger
  ) throws(ServerError) {
    (self.file, self.database, self.allowance) = (file, database, allowance)
    self.logger = logger
    state = Mutex(State(rules: try RulesTrial.load(file, allowance)))
  }

  private static func load(
    _ file: String, _ allowance: TreeAllowance
  ) throws(ServerError) -> RulesEngine {
    guard let rules = try RulesFile(path: file, isNamed: true).load() else {
      preconditionFailure("A file that the user named is loaded or refused.")
    }
    return allowance.bounded(rules)
  }

  /// Loads the file again; one with mistakes changes nothing.
  func reload() {
    do throws(ServerError) {
      let rules = try RulesTrial.load(file, allowance)
      state.withLock { $0.rules = rules }
      logger.info("\(database): \(file) was loaded, and is on trial")
    } catch {
      logger.error("\(database): the old rules stay on trial: \(error)")
    }
  }

  /// Looks at an operation that is allowed, before it is done.
  ///
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  func look(
    at operation: RulesOperation, by caller: Caller, now: Int64, before: some RulesReader
  ) throws(TreeError) {
    let rules = state.withLock { $0.rules }
    let verdict = try rules.decide(operation, as: caller.auth, now: now, before: before)
    if verdict.isAllowed { return }
    allowance.metrics.wouldDeny(in: database)
    guard mayLog(now / 1000) else { return }
    let why = try rules.explain(operation, as: caller.auth, now: now, before: before)
    logger.notice(
      """
      \(database): trial of \(file): \(RulesTrial.text(of: operation)) \
      by \(RulesTrial.user(caller)) would be denied: \(RulesTrial.reason(why))
      """)
  }

  private func mayLog(_ second: Int64) -> Bool {
    state.withLock { state in
      if state.second != second { (state.second, state.lineCount) = (second, 0) }
      state.lineCount += 1
      return state.lineCount <= RulesTrial.linesPerSecond
    }
  }

  private static func user(_ caller: Caller) -> String {
    caller.auth["uid"]?.string.map { "user \(shown($0))" } ?? "somebody who is not signed in"
  }

  private static func reason(_ why: RulesExplanation) -> String {
    let start = "denied: "
    let headline = why.headline
    let reason = headline.hasPrefix(start) ? String(headline.dropFirst(start.count)) : headline
    let line = why.refusal == nil ? why.rules.last.map { " (line \($0.rule.line))" } ?? "" : ""
    return shown(reason, countMax: 3 * shownMax) + line
  }

  private static func text(of operation: RulesOperation) -> String {
    switch operation {
    case .read(let path, _): "read \(shown(path.description))"
    case .write(let parts):
      "write \(shown((parts.first?.path ?? .root).description))"
        + (parts.count > 1 ? " and \(parts.count - 1) more places" : "")
    }
  }

  private static func shown(_ text: String, countMax: Int = shownMax) -> String {
    text.utf8.count <= countMax ? text : String(text.prefix(countMax)) + "..."
  }
}
