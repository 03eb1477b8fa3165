import RunnelDatabase
import RunnelSync
import RunnelTree

// Writes that are too large for the tree's thread.

extension ServedDatabase {
  /// The most jobs that are done at once after a large write.
  private static let releasedMax = 256

  /// Begins the large write that waits, unless one is carried out.
  func writeOn() {
    guard !isClosed, let job = slowWrites.next, let file = place.file else { return }
    let write = SlowWrite(job)
    slowWrites.begin(write)
    let thread: TreeExecutor
    do {
      thread = try writes ?? TreeExecutor(label: "runnel.writes")
    } catch {
      return end(write, .failure(error))
    }
    writes = thread
    let setting = SlowWrite.Setting(
      file: file, rules: tree.rules, allowance: allowance, trial: tree.trial, calendar: calendar)
    thread.submit { [weak self, executor] in
      write.run(setting)
      executor.submit { [weak self] in self?.assumeIsolated { $0.end(write) } }
    }
  }

  /// Waits for the large write that is carried out, and does all that waits; called before the end.
  func endWrites() {
    while slowWrites.isActive {
      writeOn()
      guard let write = slowWrites.current else { continue }
      writes?.submitAndWait {}
      end(write)
    }
  }

  private func end(_ write: SlowWrite) {
    guard !isClosed, slowWrites.current === write, let outcome = write.takeOutcome() else { return }
    end(write, outcome)
  }

  private func end(_ write: SlowWrite, _ outcome: Result<SlowWrite.Outcome, any Error>) {
    let waited = slowWrites.end()
    switch outcome {
    case .success(let done):
      // The listeners are told before the answer.
      deliver(performNow([TreeJob(connection: 0, wish: .look)]))
      noteDone([write.job], hasWritten: done.hasWritten)
      deliver(done.told)
    case .failure(let error): deliver(refuse(write.job, error))
    }
    if let rules = slowWrites.takeRules() { declareIndexes(of: rules) }
    var rest = waited[...]
    while !rest.isEmpty {
      deliver(perform(Array(rest.prefix(ServedDatabase.releasedMax))))
      rest = rest.dropFirst(ServedDatabase.releasedMax)
    }
    readOn()
  }
}
