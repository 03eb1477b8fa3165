import Logging
import RunnelDatabase
import Synchronization

// A disk that takes no writes.

extension ServedDatabase {
  /// The interval at which a disk that took no write is tried again, and the bytes that are written.
  static let probe = (milliseconds: 1000, bytes: 65_536)

  func noteStorage() {
    for alarm in storage.takeAlarms() { logger.critical("\(name): \(alarm)") }
    let doubtCount = storage.takeDoubtCount()
    if doubtCount > 0 { metrics.note(doubts: doubtCount, of: name) }
  }

  func noteDone(_ batch: [TreeJob], hasWritten: Bool) {
    var isProven = hasWritten
    for job in batch {
      guard case .probe(let isEnd) = job.wish else { continue }
      if isEnd {
        (isProven, isProbing) = (true, false)
      } else {
        submit(TreeJob(connection: 0, wish: .probe(isEnd: true)))
      }
    }
    if isProven, hasFailedWrite.exchange(false, ordering: .relaxed) {
      logger.notice("\(name): the disk takes writes again")
    }
  }

  /// Notes that the disk did not take a write, and tries it again after a while.
  func noteFailure(of job: TreeJob, _ failure: any Error) {
    // A trial that fails for whatever reason is repeated.
    if !job.isProbe {
      guard job.isWriting, let code = (failure as? DatabaseError)?.code,
        [.diskFull, .readOnly, .cannotOpen, .storage].contains(code)
      else { return }
      hasFailedWrite.store(true, ordering: .relaxed)
      if isProbing { return }
      isProbing = true
    }
    executor.submit(afterMilliseconds: ServedDatabase.probe.milliseconds) { [weak self] in
      self?.assumeIsolated { database in
        // Another write may have shown meanwhile that the disk takes writes.
        database.isProbing = database.isUnwritable
        guard !database.isClosed, database.isUnwritable else { return }
        database.submit(TreeJob(connection: 0, wish: .probe(isEnd: false)))
      }
    }
  }
}
