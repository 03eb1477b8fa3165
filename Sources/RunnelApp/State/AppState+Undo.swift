import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Taking back what was written here, and doing it again.

extension AppState {
  /// Takes the entry of the log under the cursor back, and elsewhere the last writes.
  mutating func undo(_ count: Int) {
    if entryAtHand != nil { undoEntry() } else { go(.undo, count) }
  }

  /// Does writes again that were taken back.
  mutating func redo(_ count: Int) { go(.redo, count) }

  private mutating func go(_ direction: UndoHistory.Direction, _ count: Int) {
    if let reversal = undoing.reversal {
      if reversal.direction == direction {
        undoing.reversal?.following = min(reversal.following + count, UndoHistory.stepsMax)
      }
      return
    }
    takeStep(direction, following: min(count, UndoHistory.stepsMax) - 1)
  }

  private mutating func takeStep(_ direction: UndoHistory.Direction, following: Int) {
    // Writing may have been turned off since the first step.
    if refusesWriting() { return }
    guard let step = undoing.pop(direction) else { return }
    if step.parts.isEmpty {
      return say(.warning, "cannot be undone: \(step.title)\(unknownWrite)")
    }
    startReversal(direction, step, following: following)
  }

  /// Takes a step back, or does it again; all of it, one write after another.
  mutating func startReversal(
    _ direction: UndoHistory.Direction, _ step: UndoHistory.Step, following: Int
  ) {
    undoing.forget(step.parts)
    beginRestoration(of: step.restoredPlaces)
    undoing.reversal = UndoHistory.Reversal(
      direction: direction, step: step, following: following)
    for part in step.parts.reversed() {
      let request: WriteRequest =
        switch part {
        case .entry(let id): .undoWrite(id)
        case .operation(let entry): .undo(entry)
        }
      let id = submit(.reversal, request)
      undoing.reversal?.waiting[id] = part
    }
  }

  private var unknownWrite: String { " · the history did not keep what stood there" }

  // MARK: Answers

  /// A part of a step could not be taken back.
  mutating func failReversal(of id: RequestID, _ refusal: Refusal) {
    guard let part = undoing.reversal?.waiting.removeValue(forKey: id) else { return }
    undoing.reversal?.failures.append(UndoHistory.Failure(part: part, refusal: refusal))
    finishReversal()
  }

  /// A part of a step was taken back, which can be taken back in its turn.
  mutating func endReversal(of id: RequestID, done: [UndoHistory.Part]) {
    guard undoing.reversal?.waiting.removeValue(forKey: id) != nil else { return }
    undoing.reversal?.done += done
    finishReversal()
  }

  /// When all parts are answered, says what became of the step, and goes on with the next one.
  private mutating func finishReversal() {
    guard let reversal = undoing.reversal, reversal.waiting.isEmpty else { return }
    undoing.reversal = nil
    let (direction, step) = (reversal.direction, reversal.step)
    if !reversal.done.isEmpty {
      undoing.push(
        UndoHistory.Step(title: step.title, parts: reversal.done, places: step.places),
        for: direction.opposite)
    }
    if let failure = reversal.failures.first { return sayFailure(failure, reversal) }
    let word = direction == .undo ? "undone" : "redone"
    if step.missingCount > 0 {
      let count = step.missingCount
      return say(.warning, "\(word) in part: \(step.title) · \(count) of its writes were not kept")
    }
    let back: ActionID = direction == .undo ? .editRedo : .editUndo
    let verb = direction == .undo ? "redoes" : "undoes"
    let hint = keymap.firstKeys(for: back, in: contexts).map { " · \($0) \(verb)" } ?? ""
    say(.info, "\(word): \(step.title)\(hint)")
    if reversal.following > 0, !undoing.steps(direction).isEmpty {
      let before = restoration
      takeStep(direction, following: reversal.following - 1)
      goOnWithRestoration(before)
    }
  }

  /// What was changed since stays as it is; the step before can be taken next.
  ///
  /// What failed for another reason can be tried again.
  private mutating func sayFailure(
    _ failure: UndoHistory.Failure, _ reversal: UndoHistory.Reversal
  ) {
    let word = reversal.direction == .undo ? "undone" : "redone"
    let others = reversal.failures.count - 1
    let rest = others == 0 ? "" : others == 1 ? " (and 1 more)" : " (and \(others) more)"
    if failure.refusal.cause == .storage {
      undoing.push(
        UndoHistory.Step(
          title: reversal.step.title, parts: reversal.failures.reversed().map(\.part),
          places: reversal.step.places),
        for: reversal.direction)
    }
    var hint = ""
    comparable = []
    for failure in reversal.failures where failure.refusal.cause == .outdated {
      hint = keymap.firstKeys(for: .recordCompare, in: contexts).map { " · \($0) compares" } ?? ""
      if let draft = draft(of: failure.part) { comparable.append(draft) }
      if case .entry(let id) = failure.part { compareWrite(id) }
    }
    say(.error, "not \(word): \(reversal.step.title)\(rest) · \(failure.refusal.message)\(hint)")
  }
}

// MARK: Words

extension WriteRequest {
  /// What it did, in words, once it is done.
  var deed: String {
    switch self {
    case .set(let path, _), .update(let path, _): "changed \(path)"
    case .remove(let path): "deleted \(path)"
    case .push(let path, _): "added to \(path)"
    case .operation(let operation):
      "\(operation.kind.deed) \(operation.object.resource)"
        + (operation.object.key.map { " \($0.text)" } ?? "")
    case .append(let identity, let field, _):
      "added to \(field.text) of \(identity.resource) \(identity.key.text)"
    case .undo(let entry): "took back what became of \(entry.resource) \(entry.key.text)"
    case .undoWrite(let id): "took back write \(id)"
    case .guarded(let request, _): request.deed
    }
  }
}

extension Performed {
  /// What was done, in words.
  var deed: String {
    let key = path.lastKey.map { " \($0.text)" } ?? ""
    let others = max(changes.count - 1, 0)
    return "\(kind?.deed ?? "changed") \(resource)\(key)"
      + (others == 0 ? "" : others == 1 ? " and 1 record below" : " and \(others) records below")
  }
}

extension ResourceChangeKind {
  /// What was done, in a word.
  var deed: String {
    switch self {
    case .create: "added"
    case .update: "changed"
    case .destroy: "deleted"
    }
  }
}

extension ResourceOperation.Kind {
  fileprivate var deed: String {
    switch self {
    case .create: "added"
    case .update, .createOrUpdate, .toggle: "changed"
    case .destroy: "deleted"
    }
  }
}
