import RunnelBase
package import RunnelStreams
package import RunnelTree

/// The undo and redo steps of this run of the program.
///
/// A step is what one key asked for: one write, or several that belong together. It is known by what
/// the database says of it, so that it is taken back only where what it wrote still stands.
package struct UndoHistory: Hashable, Sendable {
  /// The most steps that are kept.
  static let stepsMax = 1000
  /// The most records that one operation may have changed to be taken back record by record.
  static let recordsMax = 1000

  /// One thing that was done.
  package enum Part: Hashable, Sendable {
    /// A write, by its entry in the database's history.
    case entry(Int64)
    /// What became of a record of a resource: taken back by an operation, so that counters follow.
    case operation(RunnelStreams.ActionLogEntry)
  }

  /// What one key did.
  package struct Step: Hashable, Sendable {
    /// What was done, in words.
    package var title: String
    /// What is to be taken back, in the order in which it was done; none if it cannot be.
    package var parts: [Part]
    /// How many of its writes the history did not keep: they stay as they are.
    var missingCount = 0
    /// Where its writes were, as far as its parts do not say.
    var places: Set<Path> = []
  }

  /// A step whose writes are not all answered.
  private struct OpenStep: Hashable, Sendable {
    var title: String
    var waitingCount = 0
    /// How many writes it has.
    var count = 0
    var parts: [Part] = []
    var missingCount = 0
    var places: Set<Path> = []
    var isDone = false
  }

  /// A step that gets all writes which begin meanwhile.
  private struct Joining: Hashable, Sendable {
    /// The first of them.
    var first: AppRequestID?
  }

  /// The direction in which one goes through the steps.
  package enum Direction: Hashable, Sendable {
    case undo
    case redo

    var opposite: Direction { self == .undo ? .redo : .undo }
  }

  /// A step that is being taken back, or done again.
  package struct Reversal: Hashable, Sendable {
    var direction: Direction
    package var step: Step
    /// How many steps are to follow it.
    var following: Int
    /// What the writes that are not answered take back.
    package var waiting: [AppRequestID: Part] = [:]
    /// What was done by it, in order.
    package var done: [Part] = []
    /// What could not be taken back, and why.
    var failures: [Failure] = []
  }

  /// The reason why something could not be taken back.
  package struct Failure: Hashable, Sendable {
    package var part: Part
    package var refusal: Refusal

    package init(part: Part, refusal: Refusal) {
      self.part = part
      self.refusal = refusal
    }
  }

  /// What can be taken back, oldest first.
  private(set) var undoable: [Step] = []
  /// What was taken back, oldest first.
  private(set) var redoable: [Step] = []
  /// What is being taken back, or done again.
  var reversal: Reversal?
  /// The first write of the step that each write belongs to, of those that are not answered.
  private var stepOfWrite: [AppRequestID: AppRequestID] = [:]
  private var open: [AppRequestID: OpenStep] = [:]
  /// The step that writes are joined to; nil while each is one of its own.
  private var joining: Joining?

  // MARK: Steps

  /// A write begins a step, or joins the one that is open for others; its place is nil if only the
  /// database knows it.
  package mutating func begin(_ id: AppRequestID, _ title: String, at place: Path? = nil) {
    let first = joining?.first ?? id
    joining?.first = first
    stepOfWrite[id] = first
    open[first, default: OpenStep(title: title)].waitingCount += 1
    open[first]?.count += 1
    if let place { open[first]?.places.insert(place) }
  }

  /// All writes that begin in `body` become one step with a title.
  static func joining(
    _ title: String, _ state: inout AppState, _ body: (inout AppState) -> Void
  ) {
    state.writes.undoing.joining = Joining()
    body(&state)
    if let first = state.writes.undoing.joining?.first {
      state.writes.undoing.open[first]?.title = title
    }
    state.writes.undoing.joining = nil
  }

  /// A write was done; its entry of the history is nil if that did not keep it.
  package mutating func finish(_ id: AppRequestID, entry: Int64?) {
    close(id, entry.map { [.entry($0)] })
  }

  /// An operation was done; a step of one operation is called by what it came to.
  package mutating func finish(_ id: AppRequestID, _ parts: [Part]?, title: String) {
    let isAlone = stepOfWrite[id] == id && open[id]?.count == 1
    if isAlone { open[id]?.title = title }
    close(id, parts)
  }

  /// A write was refused, or there was nothing to write.
  package mutating func drop(_ id: AppRequestID) {
    guard let first = stepOfWrite.removeValue(forKey: id) else { return }
    open[first]?.waitingCount -= 1
    keepIfDone(first)
  }

  /// A write is answered; nil for the parts of one that the history did not keep.
  private mutating func close(_ id: AppRequestID, _ parts: [Part]?) {
    guard let first = stepOfWrite.removeValue(forKey: id), var step = open[first] else {
      return
    }
    step.waitingCount -= 1
    step.isDone = true
    step.parts += parts ?? []
    if parts == nil { step.missingCount += 1 }
    open[first] = step
    keepIfDone(first)
  }

  private mutating func keepIfDone(_ first: AppRequestID) {
    guard let step = open[first], step.waitingCount == 0 else { return }
    open[first] = nil
    if !step.isDone { return }
    redoable = []
    push(
      Step(
        title: step.title, parts: step.parts, missingCount: step.missingCount, places: step.places),
      for: .undo)
  }

  /// True if there are steps whose writes are not all answered.
  var hasOpenSteps: Bool { !open.isEmpty }

  // MARK: Going through them

  /// The steps that are taken in a direction, the next one last.
  func steps(_ direction: Direction) -> [Step] { direction == .undo ? undoable : redoable }

  /// Takes the next step in a direction off.
  mutating func pop(_ direction: Direction) -> Step? {
    direction == .undo ? undoable.popLast() : redoable.popLast()
  }

  /// Forgets steps that did the same: they are taken back by another way.
  mutating func forget(_ parts: [Part]) { undoable.removeAll { $0.parts == parts } }

  /// Puts a step where it is the next one in a direction.
  package mutating func push(_ step: Step, for direction: Direction) {
    switch direction {
    case .undo:
      undoable.append(step)
      if undoable.count > UndoHistory.stepsMax { undoable.removeFirst() }
    case .redo: redoable.append(step)
    }
  }
}

extension UndoHistory {
  /// What is to be taken back of an operation; nil if it is too much.
  ///
  /// Records that were destroyed with their owner come first, as if each had been destroyed before it.
  package static func parts(of changes: [RunnelStreams.ActionLogEntry]) -> [Part]? {
    if changes.count > recordsMax { return nil }
    return changes.reversed().map { change in
      var change = change
      // A record that took the place of another is given the other's fields again.
      if change.kind == .create, change.old != .null { change.kind = .update }
      return .operation(change)
    }
  }
}
