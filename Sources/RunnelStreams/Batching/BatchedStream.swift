public import RunnelBase

/// The rows of another stream, told in batches: less often, with the sum of the changes in between.
///
/// It shows the state that it told last, not the present state of its source. A change of the load
/// state is told at once, with the rows that wait.
///
/// It has no clock: the caller passes the time, and `wakeTime` says when to call `wake`.
///
/// ```
///              +---------- change ----------+
///              v                            |
///   quiet --change--> waiting --------------+
///     ^                  |
///     +-- due, loaded, failed, flush -- told
/// ```
///
/// While it is held nothing is told, even if it is due; `release` tells everything as one change.
/// While it or its source is stopped nothing is told either; the waiting changes are told with the
/// restart.
///
/// Invariants:
/// - I1. Applying the changes that were told, one after the other, gives `sections`.
/// - I2. `wakeTime` is nil exactly if nothing waits, or the stream is held or stopped.
///
/// Cost of a change: O(t log t) in the rows that wait with it.
public final class BatchedStream<Item: StreamItem>: SectionedStream {
  /// The changes of the source that were not told yet.
  private struct Waiting {
    /// The sum of the changes; nil if everything must be read again.
    var net: NetChange?
    var sections: [StreamSection<Item>]
    var loadState: LoadState
  }

  /// The rows as they were told last.
  public private(set) var sections: [StreamSection<Item>] = []
  /// The load state of the source that was told last.
  public var loadState: LoadState { isStopped ? .idle : toldState }
  /// True while it is held, so that nothing is told.
  public private(set) var isHeld = false
  /// Called when `wakeTime` has changed.
  public var onWakeTime: ((Int64?) -> Void)?

  private var toldState = LoadState.idle
  private let source: any SectionedStream<Item>
  private let now: () -> Int64
  private let hub = ChangeHub<StreamChange<Item>>()
  private var token: StreamToken?
  private var timer: BatchingTimer
  private var waiting: Waiting?
  private var toldWakeTime: Int64?

  /// Makes a batched stream of another stream, which may have rows already.
  ///
  /// - Parameters:
  ///   - source: the stream; it is followed, and started and stopped with this one if possible.
  ///   - policy: when changes are told.
  ///   - now: returns the time in milliseconds; called when a change comes.
  public init(
    _ source: any SectionedStream<Item>, policy: BatchingPolicy = .standard,
    now: @escaping () -> Int64
  ) {
    self.source = source
    self.now = now
    timer = BatchingTimer(policy)
    hub.follow(
      [source], present: { [weak self] in self?.present },
      onRestart: { [weak self] in self?.flush() })
    token = source.observe { [weak self] change in self?.follow(change) }
  }

  deinit {
    if let token { source.cancel(token) }
  }
}

extension BatchedStream: RowsOfTrees {
  var treesOfRows: [any NamedTree] { source.knownTrees }
}

// MARK: Reading

extension BatchedStream {
  /// The row with an id, as it was told last.
  public func item(forID id: String) -> Item? {
    indexPath(forID: id).map { sections[$0.section].items[$0.row] }
  }

  /// The place of the row with an id, as it was told last.
  ///
  /// The source's cost, and O(t) in the rows that wait.
  public func indexPath(forID id: String) -> ListIndexPath? {
    let path = source.indexPath(forID: id)
    if let waiting {
      if let net = waiting.net, let old = net.oldPath(ofID: id, at: path), holds(id, at: old) {
        return old
      }
    } else if let path, holds(id, at: path) {
      return path
    }
    // The source is in a later state than the one it told, or everything must be read again.
    for (section, content) in sections.enumerated() {
      if let row = content.items.firstIndex(where: { $0.id == id }) {
        return ListIndexPath(section: section, row: row - content.items.startIndex)
      }
    }
    return nil
  }

  private func holds(_ id: String, at path: ListIndexPath) -> Bool {
    sections.indices.contains(path.section)
      && sections[path.section].items.indices.contains(path.row)
      && sections[path.section].items[path.row].id == id
  }

  /// Tells the present state and every later change.
  public func observe(_ observer: @escaping (StreamChange<Item>) -> Void) -> StreamToken {
    hub.observe(observer, present: present)
  }

  /// Ends an observation.
  public func cancel(_ token: StreamToken) { hub.cancel(token) }
}

// MARK: Starting and stopping

extension BatchedStream: StartableStream, RestartedStream {
  /// True from `stop` until `start`, and while the source is stopped.
  public var isStopped: Bool { hub.isStopped }

  /// Starts the source, if possible, and tells the waiting changes, unless the stream is held.
  public func start() {
    hub.start { (source as? any StartableStream)?.start() }
    flush()
  }

  /// Stops the source, if possible; no observer is called until it is started again.
  ///
  /// The rows stay as they were told last.
  public func stop() {
    hub.isSilent = true
    (source as? any StartableStream)?.stop()
    tellWakeTime()
  }

  func whenStarted(_ body: @escaping () -> Void) { hub.whenStarted(body) }
}

// MARK: Telling

extension BatchedStream {
  /// The time at which `wake` must be called, in milliseconds of the given clock; nil if it need
  /// not be.
  public var wakeTime: Int64? { isHeld || isStopped ? nil : timer.deadline }

  /// The number of touched rows that wait to be told.
  public var waitingRowCount: Int { waiting?.net?.rowCount ?? 0 }

  /// Tells the waiting changes, if they are due.
  public func wake(now: Int64) { tell { $0.timer.isDue(now: now) } }

  /// Tells the waiting changes at once, unless the stream is held.
  public func flush() { tell { _ in true } }

  /// Tells nothing until `release`.
  public func hold() {
    isHeld = true
    tellWakeTime()
  }

  /// Tells the changes since `hold` as one, and continues by the policy.
  public func release() {
    isHeld = false
    flush()
  }

  private func tell(if isDue: @escaping (BatchedStream) -> Bool) {
    hub.perform { [self] in isDue(self) ? takeWaiting() : nil }
    tellWakeTime()
  }

  private func tellWakeTime() {
    if wakeTime == toldWakeTime { return }
    toldWakeTime = wakeTime
    onWakeTime?(wakeTime)
  }

  private func follow(_ change: StreamChange<Item>) {
    hub.perform { [self] in
      guard token != nil else {
        // The first state is not a change.
        (sections, toldState) = (change.sections, change.loadState)
        return nil
      }
      add(change)
      let time = now()
      timer.note(now: time, rowCount: waitingRowCount)
      let isUrgent = change.loadState != toldState || waiting?.net == nil
      return isUrgent || timer.isDue(now: time) ? takeWaiting() : nil
    }
    tellWakeTime()
  }

  private func add(_ change: StreamChange<Item>) {
    let net: NetChange?
    if let waiting {
      let next = NetChange(change, from: waiting.sections)
      net = next.flatMap { waiting.net?.followed(by: $0) }
    } else {
      net = NetChange(change, from: sections)
    }
    waiting = Waiting(net: net, sections: change.sections, loadState: change.loadState)
  }

  /// The change with everything that waits; nil if it changes nothing.
  private func takeWaiting() -> StreamChange<Item>? {
    guard let next = waiting, !isHeld else { return nil }
    if isStopped {
      hub.awaitSources()
      return nil
    }
    waiting = nil
    timer.reset()
    let (before, state) = (sections, toldState)
    (sections, toldState) = (next.sections, next.loadState)
    let changes =
      next.net?.changes(
        isSame: { old, new in
          before[old.section].items[old.row] == next.sections[new.section].items[new.row]
        },
        isSameHeading: { old, new in next.sections[new].hasSameHeading(as: before[old]) })
      ?? .reload
    return changes.isEmpty && state == toldState ? nil : change(changes)
  }
}
