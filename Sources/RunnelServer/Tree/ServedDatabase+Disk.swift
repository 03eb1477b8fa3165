import Logging
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

// What cannot be done now.

extension ServedDatabase {
  /// Between two attempts to do what is owed, or what waits for a move.
  private static let retryMilliseconds = 250

  /// Refuses jobs that failed, without those that are owed if they may succeed later.
  func giveUp(_ batch: [TreeJob], _ failure: any Error, maySucceed: Bool) -> TreeTold {
    if !maySucceed || isEnding.load(ordering: .relaxed) {
      return batch.flatMap { refuse($0, failure) }
    }
    wait(for: batch.filter(\.isOwed), failure)
    return batch.filter { !$0.isOwed }.flatMap { refuse($0, failure) }
  }

  /// Does jobs before all others, after a while.
  private func wait(for jobs: [TreeJob], _ failure: any Error) {
    guard let first = jobs.first else { return }
    // Whatever becomes of what they left: nothing is told to them any more.
    for job in jobs where job.isLeave { tree.leaveAll(job.connection) }
    if place.file != nil {
      diskFailure = failure
      if !isUnwritable { logger.error("\(name): \(failure)") }
      noteFailure(of: first, failure)
    }
    let isFirst = owed.isEmpty
    owed += jobs
    if !isFirst { return }
    executor.submit(afterMilliseconds: ServedDatabase.retryMilliseconds) { [weak self] in
      self?.assumeIsolated { $0.work() }
    }
  }

  /// Lets what writes wait until the namespace is moved, and does the rest.
  func waitForMove(_ batch: [TreeJob], _ failure: any Error) -> TreeTold {
    let wasEmpty = held.isEmpty
    let patience = isEnding.load(ordering: .relaxed) ? nil : place.patience
    let (others, refused) = held.take(batch, for: patience)
    if wasEmpty, !held.isEmpty {
      metrics.noteRetry(of: name)
      executor.submit(afterMilliseconds: ServedDatabase.retryMilliseconds) { [weak self] in
        self?.assumeIsolated { database in
          database.owed = database.held.release() + database.owed
          database.work()
          database.held.settle()
        }
      }
    }
    return perform(others) + refused.flatMap { refuse($0, failure) }
  }
}

// MARK: The disk

extension ServedDatabase {
  /// True if the disk may take the same writes when there is room.
  func isWaitingForDisk(_ failure: any Error) -> Bool {
    guard storage.loss == nil, let code = (failure as? DatabaseError)?.code else { return false }
    return [.diskFull, .readOnly, .cannotOpen].contains(code)
  }

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
      metrics.note(isWritable: true, of: name)
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
      metrics.note(isWritable: false, of: name)
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
