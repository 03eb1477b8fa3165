import RunnelDatabase
import RunnelPostgres
import RunnelSync
import RunnelTree
import Synchronization

extension ServedDatabase {
  /// True while a write is under way that keeps the tree's thread busy for a while.
  nonisolated var hasLongWrite: Bool { longWriteCount.load(ordering: .relaxed) > 0 }

  nonisolated func beginLongWrite() { longWriteCount.wrappingAdd(1, ordering: .relaxed) }
  nonisolated func endLongWrite() { longWriteCount.wrappingSubtract(1, ordering: .relaxed) }

  /// A text that takes its room on the disk also where texts are compressed.
  private static func probeText() -> String {
    String(decoding: (0..<probe.bytes).map { _ in UInt8.random(in: 48...111) }, as: UTF8.self)
  }

  /// True if a job may write to the storage; the rules of a file stand beside it.
  func writesStorage(_ job: TreeJob) -> Bool {
    job.isWriting && !(job.writesRules && place.rulesFile != nil)
  }

  /// Does a job in a transaction; returns the messages to connections.
  func perform(
    _ job: TreeJob, _ tree: inout ServedTree, _ transaction: any ServedTransaction
  ) throws -> TreeTold {
    if job.isReadForClient, !place.isConfirmed {
      throw PostgresError(
        .leaseEnded, "The lease of this server has ended, so that what it reads may be old.")
    }
    let now = max(calendar(), transaction.earliestTime)
    switch job.wish {
    case .request(let request):
      let told = try tree.perform(request, of: job.connection, now: now, transaction)
      job.noteAnswer(in: told)
      return told
    case .operation(.readRules, _):
      return [(job.connection, .answered(.answer(.rules(RulesFile.text(of: tree.rules)))))]
    case .operation(.writeRules(let text, let isDryRun), _):
      return try write(text, isDryRun, job.connection, &tree, transaction)
    case .operation(let operation, let caller):
      return try tree.perform(
        operation, for: caller, of: job.connection, now: now, transaction)
    case .putSpooled(let body, let path, let condition, let hashes, let caller):
      let put = SpooledPut(body: body, path: path, condition: condition, hashes: hashes)
      return try tree.perform(put, for: caller, of: job.connection, now: now, transaction)
    case .service(let task):
      return try tree.perform(task, of: job.connection, now: now, transaction)
    case .attend(let caller):
      tree.attend(job.connection, as: caller)
      return []
    case .endStream:
      tree.leaveAll(job.connection)
      return []
    case .takeRules: return try takeRules(&tree, transaction)
    case .look: return []
    case .takeOver: return try tree.carryOutAll(now: now, transaction)
    case .probe(let isEnd):
      // A trial makes no file; the next write makes it, or fails.
      if storage.isMade {
        try transaction.keep(isEnd ? nil : ServedDatabase.probeText(), "probe")
      }
      return []
    }
  }
}
