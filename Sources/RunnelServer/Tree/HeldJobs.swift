/// The jobs that wait until a namespace may be written again, because it is being moved.
///
/// Who only reads waits for nothing. What a connection asked after a write that waits, waits too, so that
/// the jobs of a connection are done in their order.
///
/// Isolation: a value of the tree's thread.
struct HeldJobs {
  private var jobs: [TreeJob] = []
  private var connections: Set<Int64> = []
  /// When writes are not waited with any longer; nil while there are none.
  private var end: ContinuousClock.Instant?

  /// True if nothing waits.
  var isEmpty: Bool { jobs.isEmpty }

  /// Takes the jobs of connections that wait, and returns the others.
  mutating func admit(_ batch: [TreeJob]) -> [TreeJob] {
    if jobs.isEmpty { return batch }
    return batch.filter { job in
      guard connections.contains(job.connection) else { return true }
      jobs.append(job)
      return false
    }
  }

  /// Takes what writes in a batch, and what follows on the same connections.
  ///
  /// - Parameters:
  ///   - batch: the jobs.
  ///   - patience: for how long the first of them waits; nil for none.
  /// - Returns: the jobs that write nothing, and those that have waited long enough.
  mutating func take(
    _ batch: [TreeJob], for patience: Duration?
  ) -> (others: [TreeJob], refused: [TreeJob]) {
    var (others, refused): ([TreeJob], [TreeJob]) = ([], [])
    let isOver: Bool
    if let patience {
      let now = ContinuousClock.now
      let last = end ?? now + patience
      end = last
      isOver = last <= now
    } else {
      isOver = true
    }
    for job in batch {
      // Jobs of no connection are submitted again.
      let mayWait = job.connection != 0 && (!isOver || job.isOwed && patience != nil)
      if connections.contains(job.connection) || job.isWriting && mayWait {
        connections.insert(job.connection)
        jobs.append(job)
      } else if job.isWriting {
        refused.append(job)
      } else {
        others.append(job)
      }
    }
    return (others, refused)
  }

  /// Returns all jobs, which are tried again.
  mutating func release() -> [TreeJob] {
    defer { (jobs, connections) = ([], []) }
    return jobs
  }

  /// Lets the next writes wait anew, if nothing waits any more.
  mutating func settle() {
    if jobs.isEmpty { end = nil }
  }
}
