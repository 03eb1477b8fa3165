import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Undo and redo of writes that were made in this workspace.

extension UndoHistory {
  /// Undoes the entry of the action log under the cursor, or elsewhere the last writes.
  static func undo(_ state: inout AppState, _ count: Int) {
    if Activity.entryAtHand(state) != nil {
      Activity.undoEntry(&state)
    } else {
      go(&state, .undo, count)
    }
  }

  /// Redoes writes that were undone.
  static func redo(_ state: inout AppState, _ count: Int) { go(&state, .redo, count) }

  private static func go(_ state: inout AppState, _ direction: UndoHistory.Direction, _ count: Int)
  {
    if let reversal = state.writes.undoing.reversal {
      if reversal.direction == direction {
        state.writes.undoing.reversal?.following = min(
          reversal.following + count, UndoHistory.stepsMax)
      }
      return
    }
    if state.refusesWriting() { return }
    if direction == .undo, asksForOlderStep(&state) { return }
    let following = min(count, UndoHistory.stepsMax) - 1
    if asksForReversal(&state, direction, following: following) { return }
    takeStep(&state, direction, following: following)
  }

  private static func takeStep(
    _ state: inout AppState, _ direction: UndoHistory.Direction, following: Int
  ) {
    // Writing may have been turned off since the first step.
    if state.refusesWriting() { return }
    if direction == .undo, asksForOlderStep(&state) { return }
    guard let step = state.writes.undoing.pop(direction) else { return }
    if step.parts.isEmpty {
      return state.say(
        .warning,
        "nothing to take back: \(step.title) · it changed nothing, or the history keeps no writes")
    }
    startReversal(&state, direction, step, following: following)
  }

  /// Asks whether an older step is to be undone after the undo of the last one was refused; returns
  /// false if there is nothing to ask.
  private static func asksForOlderStep(_ state: inout AppState) -> Bool {
    guard let refused = state.writes.undoing.refusedTitle,
      let older = state.writes.undoing.steps(.undo).last
    else { return false }
    let question = Question(
      .undoOlder, title: "Undo an older write?",
      message: [
        StyledLine("not undone, and left as it is now: \(refused)", .muted),
        StyledLine("the write before it: \(older.title)", .warn),
      ],
      isDanger: false, openedAt: state.input.eventTime)
    Question.open(&state, question, yes: "undo the older one", no: "leave it")
    return true
  }

  /// Undoes the step before the one whose undo was refused.
  static func undoOlder(_ state: inout AppState) {
    state.writes.undoing.refusedTitle = nil
    takeStep(&state, .undo, following: 0)
  }

  /// Asks whether steps are to be undone or redone in a profile with `confirm`; returns false if there
  /// is nothing to ask.
  private static func asksForReversal(
    _ state: inout AppState, _ direction: UndoHistory.Direction, following: Int
  ) -> Bool {
    let steps = state.writes.undoing.steps(direction)
    guard let profile = state.database.profile, profile.confirms, let step = steps.last,
      !step.parts.isEmpty
    else { return false }
    var message = [StyledLine(step.title)]
    let others = min(following, steps.count - 1)
    if others > 0 {
      message.append(
        StyledLine("and \(others) more step\(others == 1 ? "" : "s")", .muted))
    }
    ask(
      &state, Reversing(direction: direction, step: step, following: others, isOfHistory: false),
      message)
    return true
  }

  /// Opens the question whether a step is to be undone or redone.
  private static func ask(
    _ state: inout AppState, _ reversing: Reversing, _ message: [StyledLine]
  ) {
    let word = reversing.direction == .undo ? "Undo" : "Redo"
    let question = Question(
      .reverse(reversing), title: "\(word) in \(state.database.profile?.name ?? "")",
      message: message, explanation: [HeldWrite.reason], openedAt: state.input.eventTime)
    Question.open(&state, question, yes: word.lowercased(), no: "leave it")
  }

  /// Undoes a step that stands in the history, after a question if the profile has `confirm`.
  static func undo(_ state: inout AppState, ofHistory step: UndoHistory.Step) {
    let reversing = Reversing(direction: .undo, step: step, following: 0, isOfHistory: true)
    if state.database.profile?.confirms == true {
      return ask(&state, reversing, [StyledLine(step.title)])
    }
    reverse(&state, reversing)
  }

  /// Undoes or redoes what the user agreed to; steps that were made or taken since stay as they are.
  static func reverse(_ state: inout AppState, _ reversing: Reversing) {
    if state.refusesWriting() || state.writes.undoing.reversal != nil { return }
    if reversing.isOfHistory {
      return startReversal(&state, .undo, reversing.step, following: 0)
    }
    guard state.writes.undoing.steps(reversing.direction).last == reversing.step else {
      let word = reversing.direction == .undo ? "undone" : "redone"
      return state.say(.warning, "not \(word): something else was written meanwhile")
    }
    takeStep(&state, reversing.direction, following: reversing.following)
  }

  /// Undoes or redoes a whole step, one write after another.
  static func startReversal(
    _ state: inout AppState, _ direction: UndoHistory.Direction, _ step: UndoHistory.Step,
    following: Int
  ) {
    state.writes.undoing.forget(step.parts)
    Restoration.beginRestoration(&state, of: step.restoredPlaces)
    state.writes.undoing.reversal = UndoHistory.Reversal(
      direction: direction, step: step, following: following)
    for part in step.parts.reversed() {
      let request: WriteRequest =
        switch part {
        case .entry(let id): .undoWrite(id)
        case .operation(let entry): .undo(entry)
        }
      let id = HeldWrite.start(&state, .reversal, request)
      state.writes.undoing.reversal?.waiting[id] = part
    }
  }

  // MARK: Answers

  /// Notes that a part of a step could not be undone or redone.
  static func failReversal(_ state: inout AppState, of id: AppRequestID, _ refusal: Refusal) {
    guard let part = state.writes.undoing.reversal?.waiting.removeValue(forKey: id) else { return }
    state.writes.undoing.reversal?.failures.append(
      UndoHistory.Failure(part: part, refusal: refusal))
    finishReversal(&state)
  }

  /// Notes that a part of a step was undone or redone; its result can be reversed in turn.
  static func endReversal(_ state: inout AppState, of id: AppRequestID, done: [UndoHistory.Part]) {
    guard state.writes.undoing.reversal?.waiting.removeValue(forKey: id) != nil else { return }
    state.writes.undoing.reversal?.done += done
    finishReversal(&state)
  }

  /// Notes that a write was undone or redone, but for the changes where others have written since.
  static func endReversal(
    _ state: inout AppState, of id: AppRequestID, entry: Int64?, _ partial: PartialUndo
  ) {
    guard state.writes.undoing.reversal?.waiting[id] != nil else { return }
    state.writes.undoing.reversal?.partial.append(partial)
    endReversal(&state, of: id, done: entry.map { [.entry($0)] } ?? [])
  }

  /// After all parts are answered, ends the step: says its result, and continues with the next one.
  private static func finishReversal(_ state: inout AppState) {
    guard let reversal = state.writes.undoing.reversal, reversal.waiting.isEmpty else { return }
    state.writes.undoing.reversal = nil
    let (direction, step) = (reversal.direction, reversal.step)
    if !reversal.done.isEmpty {
      state.writes.undoing.push(
        UndoHistory.Step(
          title: step.title, parts: reversal.done, extent: reversal.extent, places: step.places,
          removed: step.removed),
        for: direction.opposite)
    }
    if let failure = reversal.failures.first { return sayFailure(&state, failure, reversal) }
    if direction == .undo {
      for place in step.removedPlaces { ListScreen.noteOwnAdded(&state, place) }
    }
    if !reversal.partial.isEmpty { return sayLeft(&state, reversal) }
    let word = (direction == .undo ? "undone" : "redone") + step.extent.words
    if step.missingCount > 0 {
      let count = step.missingCount
      return state.say(
        .warning,
        "\(word): \(step.title) · \(count) of its writes changed nothing, or were not kept")
    }
    let back: ActionID = direction == .undo ? .editRedo : .editUndo
    let verb = direction == .undo ? "redoes" : "undoes"
    let hint =
      state.settings.keymap.firstKeys(for: back, in: state.contexts).map { " · \($0) \(verb)" }
      ?? ""
    state.say(.info, "\(word): \(step.title)\(hint)")
    if reversal.following > 0, !state.writes.undoing.steps(direction).isEmpty {
      let before = state.writes.restoration
      takeStep(&state, direction, following: reversal.following - 1)
      Restoration.goOnWithRestoration(&state, before)
    }
  }

  /// Says why a step was not undone or redone completely.
  ///
  /// A place that was changed since stays as it is, and the step before can be undone next, after a
  /// question. A step that failed for another reason can be tried again.
  private static func sayFailure(
    _ state: inout AppState, _ failure: UndoHistory.Failure, _ reversal: UndoHistory.Reversal
  ) {
    let word = reversal.direction == .undo ? "undone" : "redone"
    let failedCount = reversal.failures.count
    let partCount = failedCount + reversal.done.count
    let start =
      partCount == 1
      ? "not \(word): \(reversal.step.title)"
      : reversal.done.isEmpty
        ? "not \(word): \(reversal.step.title), in \(partCount) writes"
        : "\(word) in part: \(reversal.step.title) · \(failedCount) of \(partCount) writes could not be \(word)"
    if failure.refusal.cause.isOfStorage {
      state.writes.undoing.push(
        UndoHistory.Step(
          title: reversal.step.title, parts: reversal.failures.reversed().map(\.part),
          places: reversal.step.places, removed: reversal.step.removed),
        for: reversal.direction)
    }
    if reversal.direction == .undo, failure.refusal.cause == .outdated {
      state.writes.undoing.refusedTitle = reversal.step.title
      state.writes.undoing.hasLeft = true
    }
    state.writes.comparable = CompareScreen.drafts(of: reversal.partial.flatMap(\.left))
    var hint = reversal.partial.isEmpty ? "" : compareHint(state)
    for failure in reversal.failures where failure.refusal.cause == .outdated {
      hint = compareHint(state)
      if let draft = CompareScreen.draft(state, of: failure.part) {
        state.writes.comparable.append(draft)
      }
      if case .entry(let id) = failure.part { CompareScreen.compareWrite(&state, id) }
    }
    state.say(
      .error, "\(start) · \(failure.refusal.reason(isInPart: !reversal.done.isEmpty))\(hint)")
  }

  /// Says what was left of a step because others have changed it since.
  private static func sayLeft(_ state: inout AppState, _ reversal: UndoHistory.Reversal) {
    let partial = reversal.partial
    state.writes.comparable = CompareScreen.drafts(of: partial.flatMap(\.left))
    if reversal.direction == .undo { state.writes.undoing.hasLeft = true }
    let verb = reversal.direction == .undo ? "took back" : "redid"
    let deed =
      reversal.step.parts.count == 1
      ? "\(verb) \(partial[0].doneCount) of \(partial[0].count)"
      : "\(verb) all but \(partial.reduce(0) { $0 + $1.left.count })"
    let names = partial.map(\.names).joined(separator: ", ")
    state.say(.warning, "\(deed) · others changed \(names) since\(compareHint(state))")
  }

  private static func compareHint(_ state: AppState) -> String {
    state.settings.keymap.firstKeys(for: .recordCompare, in: state.contexts).map {
      " · \($0) compares"
    } ?? ""
  }
}

// MARK: Words

extension Refusal {
  /// The reason without the words that nothing was changed, if other writes of the step were.
  fileprivate func reason(isInPart: Bool) -> String {
    let end = " Nothing was changed."
    return isInPart && message.hasSuffix(end) ? String(message.dropLast(end.count)) : message
  }
}

extension WriteRequest {
  /// The change that was made, in words.
  var deed: String {
    switch self {
    case .set(let path, _), .update(let path, _): "changed \(path)"
    case .remove(let path): "deleted \(path)"
    case .push(let path, _): "added to \(path)"
    case .pushAll(let path, let values): "added \(values.count) records to \(path)"
    case .removeAll(let path, let keys): "deleted \(keys.count) records of \(path)"
    case .operation(let operation):
      "\(operation.kind.deed) \(operation.object.resource)"
        + (operation.object.key.map { " \($0.text)" } ?? "")
    case .append(let identity, let field, _):
      "added to \(field.text) of \(identity.resource) \(identity.key.text)"
    case .undo(let entry): "took back what became of \(entry.resource) \(entry.key.text)"
    case .undoWrite(let id): "took back write \(id)"
    case .guarded(let request, _), .taking(_, _, let request): request.deed
    }
  }
}

extension Performed {
  /// The change that was made, in words.
  var deed: String {
    let key = path.lastKey.map { " \($0.text)" } ?? ""
    let others = max(changes.count - 1, 0)
    return "\(kind?.deed ?? "changed") \(resource)\(key)"
      + (others == 0 ? "" : others == 1 ? " and 1 other place" : " and \(others) other places")
  }
}

extension ResourceChangeKind {
  /// The change that was made, as a word.
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
