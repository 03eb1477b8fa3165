import Logging
import RunnelDatabase
import RunnelServices
import RunnelSync
import RunnelTree
import Synchronization

// What cannot be done now.

extension ServedDatabase {
  /// Between two attempts to do what is owed, or what waits for a move.
  static let retryMilliseconds = 250

  /// True if nothing is waited for any more, because the server ends.
  var mustEnd: Bool { isEnding.load(ordering: .relaxed) || place.isPastDeadline }

  /// Refuses jobs that failed, without those that are owed if they may succeed later.
  func giveUp(_ batch: [TreeJob], _ failure: any Error, maySucceed: Bool) -> TreeTold {
    if !maySucceed || mustEnd {
      return batch.flatMap { refuse($0, failure) }
    }
    wait(for: batch.filter(\.isOwed), failure)
    return batch.filter { !$0.isOwed }.flatMap { refuse($0, failure) }
  }

  /// Does jobs before all others, after a while.
  private func wait(for jobs: [TreeJob], _ failure: any Error) {
    noteLoss()
    guard let first = jobs.first else { return }
    // Whatever becomes of what they left: nothing is told to them any more.
    for job in jobs where job.isLeave { tree.leaveAll(job.connection) }
    if isWaitingForDisk(failure) {
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

  /// The messages to a connection about a job that failed alone.
  func refuse(_ job: TreeJob, _ failure: any Error) -> TreeTold {
    noteFailure(of: job, failure)
    if case .probe = job.wish { return [] }
    if storage.isWritten(failure) || storage.loss == nil { tell(failure) }
    noteLoss()
    // Whatever becomes of what it left: nothing is told to it any more.
    if case .request(let request) = job.wish, case .leave = request.operation {
      tree.leaveAll(job.connection)
    }
    let error = error(for: job, failure)
    switch job.wish {
    case .request(let request):
      let answer: TreeTold = [(job.connection, .told(.answer(request.id, .refused(error))))]
      if storage.isMoved(failure) {
        if job.isSessionWrite { failed.insert(job.connection) }
        // Without an answer, clients send it to the servers of the other store.
        return [(job.connection, .writeFailed)]
      }
      // What nothing can change is answered, and the session goes on.
      if !job.isSessionWrite || error.code != .unavailable { return answer }
      failed.insert(job.connection)
      return answer + [(job.connection, .writeFailed)]
    case .operation, .putSpooled: return [(job.connection, .answered(.answer(.refused(error))))]
    case .service(let task):
      return [
        (job.connection, .served(task.number, .failure(FeathersError(error, for: task.caller))))
      ]
    case .attend, .endStream, .takeRules, .look, .takeOver, .probe: return []
    }
  }

  /// What the connection of a job that failed alone is told.
  private func error(for job: TreeJob, _ failure: any Error) -> TreeError {
    if storage.isWritten(failure), job.isWriting {
      return TreeError(.unavailable, job.doneBeforeLoss)
    }
    if storage.leavesDoubt(failure), job.isWriting || place.file == nil {
      return TreeError(
        .unavailable,
        "The database has not said whether this was done: look at the data before it is tried again."
      )
    }
    if let failure = failure as? DatabaseError,
      [.malformedJSON, .refused].contains(failure.code)
    {
      return TreeError(.invalidValue, failure.message)
    }
    if storage.isMoved(failure) {
      // The server learns within a quarter of a second where to.
      return TreeError(
        .unavailable,
        "\(name) was moved to another store, and \(job.nothingDone): try again in a moment.")
    }
    if storage.isFrozen(failure) {
      return TreeError(
        .unavailable,
        "\(name) is being moved to another store, and \(job.nothingDone): try again later.")
    }
    if storage.hasNoSpace(failure) {
      return TreeError(
        .unavailable,
        "The disk of the \(place.file == nil ? "store" : "server") has no space left, and \(job.nothingDone): try "
          + "again later.")
    }
    if storage.loss != nil, !storage.mayReturn {
      return TreeError(
        .unavailable,
        "The database cannot be used until the server is restarted, and \(job.nothingDone).")
    }
    // The cause names files of the server, so it is only logged.
    return TreeError(
      .unavailable,
      "The database cannot do this now, and \(job.nothingDone): try again later.")
  }

  /// Logs a failure; that of a store once, however many fail for the same reason.
  private func tell(_ failure: any Error) {
    let text = "\(failure)"
    if place.file == nil, text == toldFailure { return }
    toldFailure = text
    // A move is no fault.
    let isMove = storage.isMoved(failure) || storage.isFrozen(failure)
    logger.log(level: isMove ? .info : .error, "\(name): \(text)")
  }

  /// Lets what writes wait until the namespace is moved, and does the rest.
  func waitForMove(_ batch: [TreeJob], _ failure: any Error) -> TreeTold {
    let wasEmpty = held.isEmpty
    let patience = mustEnd ? nil : place.patience
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
  /// True from a write that the disk did not take until it takes one.
  nonisolated var isUnwritable: Bool { hasFailedWrite.load(ordering: .relaxed) }

  /// True if the disk may take the same writes when there is room.
  func isWaitingForDisk(_ failure: any Error) -> Bool {
    storage.diskTrouble(failure) == .passing
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
    }
  }

  /// Notes that the disk did not take a write, and tries it again after a while.
  func noteFailure(of job: TreeJob, _ failure: any Error) {
    if storage.isMoved(failure) {
      // It is the other store's disk that counts.
      hasFailedWrite.store(false, ordering: .relaxed)
      isProbing = false
      return
    }
    // A trial that fails for whatever other reason is repeated.
    if !job.isProbe {
      guard job.isWriting, storage.diskTrouble(failure) != nil else { return }
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
