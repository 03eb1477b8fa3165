import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

/// A write that is too large for the tree's thread, carried out on another one in a transaction of its own.
///
/// The tree takes it afterwards like a write of another process.
final class SlowWrite: Sendable {
  /// What is needed to carry out a write.
  struct Setting: Sendable {
    var file: String
    var rules: RulesEngine?
    var allowance: TreeAllowance
    var trial: RulesTrial?
    /// Tells the time of day, in milliseconds since 1970.
    var calendar: @Sendable () -> Int64
  }

  /// What became of a write.
  struct Outcome: Sendable {
    /// The answer.
    var told: TreeTold
    /// False if it was refused, or changed nothing.
    var hasWritten: Bool
  }

  let job: TreeJob
  private let outcome = Mutex<Result<Outcome, any Error>?>(nil)

  init(_ job: TreeJob) { self.job = job }

  /// Writes; called once, on the thread of large writes.
  func run(_ setting: Setting) {
    let result = Result { try carryOut(setting) }
    outcome.withLock { $0 = result }
  }

  /// Takes the outcome; nil while it is not there, and after it was taken.
  ///
  /// A failure is that of the transaction, which has written nothing then.
  func takeOutcome() -> Result<Outcome, any Error>? { outcome.withLock { $0.take() } }

  private func carryOut(_ setting: Setting) throws -> Outcome {
    var environment = DatabaseEnvironment.system
    environment.now = setting.calendar
    let session = try ServingSession(servedFile: setting.file, environment: environment)
    // What is committed is not lost if closing fails.
    defer { try? session.close() }
    return try session.perform(isWriting: true) { transaction in
      let told = try perform(setting, transaction)
      return Outcome(told: told, hasWritten: transaction.hasWritten)
    }
  }

  private func perform(
    _ setting: Setting, _ transaction: ServingTransaction
  ) throws -> TreeTold {
    // It has no listeners, so the only message is the answer.
    var tree = ServedTree(rules: setting.rules, setting.allowance, trial: setting.trial)
    let now = max(setting.calendar(), transaction.earliestTime)
    switch job.wish {
    case .request(let request):
      return try tree.perform(request, of: job.connection, now: now, transaction)
    case .operation(let operation, let caller):
      return try tree.perform(operation, for: caller, of: job.connection, now: now, transaction)
    case .putSpooled(let body, let path, let condition, let hashes, let caller):
      let put = SpooledPut(body: body, path: path, condition: condition, hashes: hashes)
      return try tree.perform(put, for: caller, of: job.connection, now: now, transaction)
    case .service, .attend, .endStream, .takeRules, .look, .takeOver, .probe:
      preconditionFailure("Only writes of values are large.")
    }
  }
}
