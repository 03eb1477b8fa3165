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
  private struct State {
    var rules: RulesEngine
    var lines = LineRate()
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

  /// True if the rules declare the index that a query needs, or it needs none.
  func hasIndex(_ query: Query) -> Bool {
    state.withLock { $0.rules }.hasIndex(query.index, at: query.path)
  }

  /// Looks at an operation that is allowed, before it is done.
  ///
  /// - Returns: true if the rules on trial allow it too.
  /// - Throws: `TreeError` (`storage`) if the tree cannot be read.
  @discardableResult
  func look(
    at operation: RulesOperation, by caller: Caller, now: Int64, before: some RulesReader
  ) throws(TreeError) -> Bool {
    let rules = state.withLock { $0.rules }
    let verdict = try rules.decide(operation, as: caller.auth, now: now, before: before)
    if verdict.isAllowed { return true }
    allowance.metrics.wouldDeny(in: database)
    guard state.withLock({ $0.lines.takesLine(second: now / 1000) }) else { return false }
    let why = try rules.explain(operation, as: caller.auth, now: now, before: before)
    logger.notice(
      """
      \(database): trial of \(file): \(DenialText.operation(operation)) \
      by \(DenialText.user(caller)) would be denied: \(DenialText.reason(why))
      """)
    return false
  }
}
