import Logging
import RunnelDatabase
import Synchronization

/// The plan for a server's backups: the folder, the interval and the number.
public struct BackupPlan: Hashable, Sendable {
  /// The folder.
  public var folder: String
  /// The interval between backups of a database, in milliseconds.
  public var everyMilliseconds: Int64
  /// The number of backups of a database that are kept; nil for all.
  public var keep: Int?

  /// Makes a plan.
  public init(folder: String, everyMilliseconds: Int64, keep: Int? = nil) {
    (self.folder, self.everyMilliseconds, self.keep) = (folder, everyMilliseconds, keep)
  }
}

/// Makes scheduled backups of a server's databases, on a thread of its own.
///
/// A backup is due if the newest one in the folder is old enough, so that frequent restarts of the
/// server do not cause more backups.
final class BackupSchedule: Sendable {
  /// The longest interval between checks whether a backup is due.
  private static let lookMillisecondsMax: Int64 = 60_000

  private let plan: BackupPlan
  private let logger: Logger
  private let metrics: ServerMetrics
  private let databases: @Sendable () -> [(name: String, backup: DatabaseBackup)]
  private let executor: TreeExecutor
  private let isStopping = Atomic<Bool>(false)

  /// Makes a schedule.
  ///
  /// - Throws: `ServerError` if no backups can be made in the folder.
  init(
    _ plan: BackupPlan, metrics: ServerMetrics, logger: Logger,
    databases: @escaping @Sendable () -> [(name: String, backup: DatabaseBackup)]
  ) throws {
    (self.plan, self.metrics, self.logger, self.databases) = (plan, metrics, logger, databases)
    try BackupFolder(plan.folder).check()
    executor = try TreeExecutor(label: "runnel.backups")
  }

  func start() {
    executor.submit { [weak self] in self?.look() }
    let pause = min(max(plan.everyMilliseconds, 1), BackupSchedule.lookMillisecondsMax)
    _ = executor.repeating(everyMilliseconds: Int(pause)) { [weak self] in self?.look() }
  }

  /// Stops making backups, and waits until a running one has stopped.
  func stop() {
    isStopping.store(true, ordering: .relaxed)
    executor.submitAndWait {}
  }

  /// Makes the backups that are due.
  func look(now: Int64 = ServerWorld.calendar) {
    let databases = databases()
    for (name, _) in databases { metrics.beginBackups(of: name) }
    for (name, backup) in databases where !isStopping.load(ordering: .relaxed) {
      do {
        if !isTime(for: backup, now) { continue }
        let (path, manifest) = try backup.make(in: plan.folder, keep: plan.keep, now: now) {
          !self.isStopping.load(ordering: .relaxed)
        }
        let byteCount = manifest.files.reduce(0) { $0 + $1.byteCount }
        logger.info("\(name): the backup \(path) was made, \(byteCount) bytes")
        metrics.backedUp(name, isDone: true)
      } catch let error as DatabaseError where error.code == .cancelled {
        logger.notice("\(name): the backup was stopped because the server ends")
      } catch {
        logger.error("\(name): no backup was made: \(error)")
        metrics.backedUp(name, isDone: false)
      }
    }
  }

  private func isTime(for backup: DatabaseBackup, _ now: Int64) -> Bool {
    let folder = BackupFolder(plan.folder)
    // A folder that does not exist yet has no backups.
    // A database that cannot be read has no backup either, and the attempt says why.
    guard let source = try? backup.source(),
      let newest = (try? folder.backups(of: source))?.last?.1.time
    else { return true }
    // A backup from the future, by a wrong clock, does not count.
    return newest > now || now - newest >= plan.everyMilliseconds
  }
}
