import Logging
import RunnelDatabase
import RunnelSync
import RunnelTree
import Synchronization

// A file that is lost while it is served: moved, deleted, or replaced.
//
// One that was moved away is looked for, and used again when it is back and certainly as it was. All others
// take a restart.

extension ServedDatabase {
  /// The interval of looking for a file that was moved away.
  private static let returnLookMilliseconds = 1000

  /// True while the file is lost, so that the database is unusable.
  nonisolated var isLost: Bool { hasLostFile.load(ordering: .relaxed) }

  /// The messages about jobs of a transaction that was done, after which the file was found to be lost.
  ///
  /// What wrote is told so, and nothing is done again. What was refused stays refused, and what only reads is
  /// done anew.
  func tellWritten(_ batch: [TreeJob], _ failure: any Error) -> TreeTold {
    let attempt = attempt
    return batch.enumerated().flatMap { (index, job) -> TreeTold in
      guard job.isWriting, let told = attempt[index] else { return perform([job]) }
      let own = told.filter { $0.connection == job.connection && $0.news.isAnswer }
      if !own.isEmpty, !own.contains(where: \.news.saysDone) { return own }
      return refuse(job, failure)
    }
  }

  /// Notes and logs that the file is lost, if it is.
  func noteLoss() {
    if storage.loss == nil { return }
    let isFirst = !hasLostFile.exchange(true, ordering: .relaxed)
    tellLoss()
    if isFirst { lookForReturn() }
  }

  /// Logs the loss as it is by now, unless that was logged last.
  private func tellLoss() {
    guard let loss = storage.loss else { return }
    needsRestart.store(!storage.mayReturn, ordering: .relaxed)
    let advice =
      storage.mayReturn
      ? "The server uses it again when it is at its place as it was."
      : "The server uses it again only after a restart."
    let text = "\(loss) \(advice)"
    if text == toldFailure { return }
    toldFailure = text
    logger.critical("\(name): \(text)")
  }

  private func lookForReturn() {
    executor.submit(afterMilliseconds: ServedDatabase.returnLookMilliseconds) { [weak self] in
      self?.assumeIsolated { database in
        if database.isClosed || !database.isLost { return }
        database.regain()
        if database.isLost { database.lookForReturn() }
      }
    }
  }

  /// Uses the file again if it is back as it was.
  func regain() {
    guard storage.regain() else { return tellLoss() }
    hasLostFile.store(false, ordering: .relaxed)
    needsRestart.store(false, ordering: .relaxed)
    toldFailure = nil
    logger.notice("\(name): \(place.name) is at its place again as it was, and is used again")
    // Those who listen are told what was written just before the loss.
    submit(TreeJob(connection: 0, wish: .look))
  }
}
