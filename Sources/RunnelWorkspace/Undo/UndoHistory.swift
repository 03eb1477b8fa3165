import RunnelBase
package import RunnelStreams
package import RunnelTree

/// The undo and redo steps of this run of the program.
///
/// A step is the result of one command: one write, or several that belong together. It consists of
/// what the database reported about it, so that it is undone only where its results were not
/// changed since.
package struct UndoHistory: Hashable, Sendable {
  /// The greatest number of steps that are kept.
  static let stepsMax = 1000
  /// The greatest number of records changed by one operation that can be undone record by record.
  static let recordsMax = 1000

  /// A part of a step.
  package enum Part: Hashable, Sendable {
    /// A write, by its entry in the database's history.
    case entry(Int64)
    /// A change of a record of a resource, which an operation undoes, so that counters follow.
    case operation(RunnelStreams.ActionLogEntry)
  }

  /// The result of one command.
  package struct Step: Hashable, Sendable {
    /// The step in words.
    package var title: String
    /// The parts to undo, in the order in which they were done; empty if the step cannot be undone.
    package var parts: [Part]
    /// The number of its writes that the history did not keep; they cannot be undone.
    var missingCount = 0
    /// How much its parts do of what the title says.
    var extent = Extent.whole
    /// The places of its writes, as far as its parts do not tell them.
    var places: Set<Path> = []
    /// The places that its writes removed, as far as its parts do not tell them.
    var removed: Set<Path> = []
  }

  /// How much of a step was reversed, as others have changed the rest since.
  package enum Extent: Hashable, Sendable {
    /// All of it.
    case whole
    /// A number of its places.
    case places(Int, of: Int)
    /// All but a number of places, or not all of its writes if that is 0.
    case part(leftCount: Int)

    /// The words behind `undone`; empty if it is all.
    var words: String {
      switch self {
      case .whole: ""
      case .places(let done, let count): " \(done) of \(count)"
      case .part(0): " in part"
      case .part(let left): " all but \(left)"
      }
    }
  }

  /// A step with writes that are not answered yet.
  private struct OpenStep: Hashable, Sendable {
    var title: String
    var waitingCount = 0
    /// The number of its writes.
    var count = 0
    var parts: [Part] = []
    var missingCount = 0
    var places: Set<Path> = []
    var removed: Set<Path> = []
    var isDone = false
    /// Whether more writes may join the step later.
    var isHeld = false
  }

  /// A step that collects all writes which begin in the meantime.
  private struct Joining: Hashable, Sendable {
    /// The first write of the step, or nil if none has begun.
    var first: AppRequestID?
  }

  /// The direction through the steps.
  package enum Direction: Hashable, Sendable {
    case undo
    case redo

    var opposite: Direction { self == .undo ? .redo : .undo }
  }

  /// A step that is being undone or redone.
  package struct Reversal: Hashable, Sendable {
    var direction: Direction
    package var step: Step
    /// The number of steps to be taken after it.
    var following: Int
    /// The parts that are reversed by writes without an answer yet.
    package var waiting: [AppRequestID: Part] = [:]
    /// The parts that were done by it, in order.
    package var done: [Part] = []
    /// The parts that could not be reversed, and the reasons.
    var failures: [Failure] = []
    /// What was left of writes as others have written there since.
    var partial: [PartialUndo] = []

    /// How much of the step is in effect after it.
    var extent: Extent {
      if !failures.isEmpty { return .part(leftCount: 0) }
      let leftCount = partial.reduce(0) { $0 + $1.left.count }
      switch step.extent {
      case _ where partial.isEmpty: return step.extent
      case .whole where step.parts.count == 1:
        return .places(partial[0].doneCount, of: partial[0].count)
      case .places(_, of: let count): return .places(partial[0].doneCount, of: count)
      case .part(0): return step.extent
      case .part(let before): return .part(leftCount: before + leftCount)
      case .whole: return .part(leftCount: leftCount)
      }
    }
  }

  /// A step that is undone or redone after a question.
  struct Reversing: Hashable, Sendable {
    var direction: Direction
    var step: Step
    /// The number of steps to be taken after it.
    var following: Int
    /// Whether it was chosen in the history of a place, and not the next step of this run.
    var isOfHistory: Bool
  }

  /// The reason why a part could not be reversed.
  package struct Failure: Hashable, Sendable {
    package var part: Part
    package var refusal: Refusal

    package init(part: Part, refusal: Refusal) {
      self.part = part
      self.refusal = refusal
    }
  }

  /// The steps that can be undone, oldest first.
  private(set) var undoable: [Step] = []
  /// The steps that can be redone, oldest first.
  private(set) var redoable: [Step] = []
  /// The title of the step whose undo was refused because others wrote there since; nil after another
  /// step.
  ///
  /// The next undo asks before it takes an older one.
  var refusedTitle: String?
  /// Whether the last step that was undone left something as others have written it since.
  var hasLeft = false
  /// The undo or redo under way, or nil.
  var reversal: Reversal?
  /// For each write without an answer, the first write of its step.
  private var stepOfWrite: [AppRequestID: AppRequestID] = [:]
  private var open: [AppRequestID: OpenStep] = [:]
  /// The step that new writes join, or nil while each write is a step of its own.
  private var joining: Joining?

  // MARK: Steps

  /// Begins a step with a write, or adds the write to the step that collects writes.
  ///
  /// `places` are those whose values come back when the step is undone, and `removed` those that the
  /// write removes, as far as they are known.
  package mutating func begin(
    _ id: AppRequestID, _ title: String, at places: [Path] = [], removing removed: [Path] = []
  ) {
    let first = joining?.first ?? id
    joining?.first = first
    stepOfWrite[id] = first
    open[first, default: OpenStep(title: title)].waitingCount += 1
    open[first]?.count += 1
    open[first]?.places.formUnion(places)
    open[first]?.removed.formUnion(removed)
  }

  /// Makes one step with a title of all writes that begin in `body`.
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

  /// Adds all writes that begin in `body` to a long step, which stays open until it is released.
  ///
  /// - Parameters:
  ///   - step: the first write of the step; nil before there is one.
  ///   - state: the state of the workspace.
  ///   - body: requests writes.
  static func joining(
    longStep step: inout AppRequestID?, _ state: inout AppState,
    _ body: (inout AppState) -> Void
  ) {
    state.writes.undoing.joining = Joining(first: step)
    body(&state)
    step = state.writes.undoing.joining?.first
    if let step { state.writes.undoing.open[step]?.isHeld = true }
    state.writes.undoing.joining = nil
  }

  /// Whether all writes of a long step are done and none of them can be taken back: they changed
  /// nothing, or the history keeps no writes.
  func isEmpty(_ step: AppRequestID) -> Bool {
    open[step].map { $0.waitingCount == 0 && $0.parts.isEmpty } ?? false
  }

  /// Ends a long step, and gives it a title.
  mutating func release(_ step: AppRequestID, title: String) {
    open[step]?.isHeld = false
    open[step]?.title = title
    keepIfDone(step)
  }

  /// Notes that a write was done; its entry of the history is nil if the history did not keep it.
  package mutating func finish(_ id: AppRequestID, entry: Int64?) {
    close(id, entry.map { [.entry($0)] })
  }

  /// Notes that an operation was done; a step of a single operation gets the title of its result.
  package mutating func finish(_ id: AppRequestID, _ parts: [Part]?, title: String) {
    let isAlone = stepOfWrite[id] == id && open[id]?.count == 1
    if isAlone { open[id]?.title = title }
    close(id, parts)
  }

  /// Notes that a write was refused, or that there was nothing to write.
  package mutating func drop(_ id: AppRequestID) {
    guard let first = stepOfWrite.removeValue(forKey: id) else { return }
    open[first]?.waitingCount -= 1
    keepIfDone(first)
  }

  /// Notes the answer to a write; `parts` is nil if the history did not keep it.
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
    guard let step = open[first], step.waitingCount == 0, !step.isHeld else { return }
    open[first] = nil
    if !step.isDone { return }
    redoable = []
    push(
      Step(
        title: step.title, parts: step.parts, missingCount: step.missingCount, places: step.places,
        removed: step.removed),
      for: .undo)
  }

  /// Whether there are steps with writes that are not answered yet.
  var hasOpenSteps: Bool { !open.isEmpty }

  // MARK: Going through them

  /// Returns the steps in a direction, the next one last.
  func steps(_ direction: Direction) -> [Step] { direction == .undo ? undoable : redoable }

  /// Removes and returns the next step in a direction, or nil if there is none.
  mutating func pop(_ direction: Direction) -> Step? {
    direction == .undo ? undoable.popLast() : redoable.popLast()
  }

  /// Drops the steps with the same parts, because they are undone in another way.
  mutating func forget(_ parts: [Part]) { undoable.removeAll { $0.parts == parts } }

  /// Changes the newest step that can be undone for which `change` returns true.
  mutating func changeNewestStep(_ change: (inout Step) -> Bool) {
    for index in undoable.indices.reversed() where change(&undoable[index]) { return }
  }

  /// Names records by the places to which they have moved.
  mutating func follow(_ moves: RecordMoves) {
    undoable = undoable.map { $0.following(moves) }
    redoable = redoable.map { $0.following(moves) }
    reversal?.step.follow(moves)
    open = open.mapValues { step in
      var step = step
      step.places = Set(step.places.map(moves.place))
      step.removed = Set(step.removed.map(moves.place))
      return step
    }
  }

  /// Notes that the origin refused a write; if it undid the last step, that is not undone, nor can it be redone.
  ///
  /// The next undo asks before it takes an older step.
  mutating func noteRefusal(of write: PendingWrite) {
    guard let step = redoable.last, case let places = step.restoredPlaces, !places.isEmpty,
      write.parts.allSatisfy({ part in places.contains { $0.contains(part.path) } })
    else { return }
    redoable.removeLast()
    (refusedTitle, hasLeft) = (step.title, true)
  }

  /// Adds a step as the next one in a direction.
  package mutating func push(_ step: Step, for direction: Direction) {
    switch direction {
    case .undo:
      refusedTitle = nil
      hasLeft = false
      undoable.append(step)
      if undoable.count > UndoHistory.stepsMax { undoable.removeFirst() }
    case .redo: redoable.append(step)
    }
  }
}

extension UndoHistory {
  /// Returns the parts that undo an operation, or nil if they are too many.
  ///
  /// Records that were destroyed with their owner come first, as if each had been destroyed before
  /// it.
  package static func parts(of changes: [RunnelStreams.ActionLogEntry]) -> [Part]? {
    if changes.count > recordsMax { return nil }
    return changes.reversed().map { change in
      var change = change
      // A record that replaced another one gets the fields of the other one back.
      if change.kind == .create, change.old != .null { change.kind = .update }
      return .operation(change)
    }
  }
}
