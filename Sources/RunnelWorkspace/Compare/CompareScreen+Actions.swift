package import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

// The comparison after a conflict: the user chooses between the base version, theirs and the user's
// own.

extension CompareScreen {
  // MARK: Opening

  /// Compares the user's version at the record at hand, or else the next one that was refused or
  /// could not be undone, with what others wrote.
  static func openComparison(_ state: inout AppState) {
    if case .queue(let screen)? = state.layers.last {
      guard let item = screen.cursorWrite(in: state.writes.queue),
        let draft = QueueScreen.comparison(state, item)
      else { return }
      return compare(&state, draft)
    }
    guard let draft = draftAtHand(state) else { return }
    // The next call takes the next draft.
    if let index = state.writes.comparable.firstIndex(of: draft) {
      state.writes.comparable.append(state.writes.comparable.remove(at: index))
    }
    compare(&state, draft)
  }

  /// Returns the draft to be compared at the record at hand, or else the next one that could not be
  /// undone or was refused; nil if there is none.
  static func draftAtHand(_ state: AppState) -> CompareDraft? {
    if let path = OutsideEdit.placeAtHand(state),
      let draft = state.writes.queue.conflict(at: path)?.draft
    {
      return draft
    }
    return state.writes.comparable.first
      ?? state.writes.queue.refused.last { $0.draft != nil }?.draft
  }

  /// Reads the present value of a place to compare it with a draft.
  ///
  /// If the user did not ask for the comparison, it is shown only if the user has done nothing else
  /// by then.
  static func compare(_ state: inout AppState, _ draft: CompareDraft, isAsked: Bool = true) {
    state.read(draft.readPath, for: .compare(draft, after: isAsked ? nil : state.input.count))
  }

  /// Says that a draft is to be compared, for a user who is doing something else.
  static func sayKeptDraft(_ state: inout AppState, _ draft: CompareDraft) {
    let others = Set(state.writes.queue.refused.compactMap(\.draft?.path)).subtracting([draft.path])
    if others.isEmpty {
      let words = "\(draft.path) was changed meanwhile"
      return state.say(.warning, state.phrase(words, .recordCompare, "compares"))
    }
    let places = others.count == 1 ? "another place" : "\(others.count) other places"
    let words = "\(draft.path) and \(places) were changed meanwhile"
    state.say(.warning, state.phrase(words, .syncOpen, "lists what was typed"))
  }

  /// Cancels reads of values for the editor or for a comparison; returns false if there are none.
  static func stopReadingValues(_ state: inout AppState) -> Bool {
    let isStopped = state.requests.giveUpReads { purpose in
      switch purpose {
      case .editOutside, .compare: true
      case .copy, .duplicate: false
      }
    }
    if isStopped { state.say(.info, "stopped") }
    return isStopped
  }

  /// Opens the comparison after the present value was read.
  static func startComparing(_ state: inout AppState, _ draft: CompareDraft, _ value: JSONValue) {
    let (draft, theirs) = draft.placed(in: value)
    let screen = CompareScreen(
      draft, theirs: theirs, columns: state.size.columns, height: state.height)
    if screen.model[.mine] == screen.model[.theirs] {
      let words = "nothing to choose: \(draft.path) is as you wanted it"
      if QueueScreen.hasOthers(state, draft) {
        // Who looks does not write.
        return state.say(
          .info, state.phrase("\(words) · the write has other records", .syncOpen, "lists it"))
      }
      forget(&state, draft)
      return state.say(.info, words)
    }
    state.layers.removeAll { layer in
      if case .compare(let other) = layer { other.draft.path == draft.path } else { false }
    }
    if state.hasEditor {
      let hint = state.phrase("it is kept", .syncOpen, "lists it")
      return state.say(.warning, "\(draft.path) was changed meanwhile · \(hint)")
    }
    state.layers.append(.compare(screen))
    state.ask(
      .history(draft.path, before: nil, count: writesRead), for: .comparedHistory(draft.path))
    if !state.database.isReadOnly, screen.model.undecidedCount > 0 {
      state.say(.warning, conflictText(state, of: draft))
    }
  }

  /// The newest writes that are read to find who changed a field last.
  private static let writesRead = 20

  /// Takes the newest writes at a place, and notes who wrote the other version and when.
  ///
  /// The history of a replica has the writes that were made here, and no others: who wrote the other version
  /// is not known there.
  static func take(_ state: inout AppState, _ entries: [HistoryEntry], of path: Path) {
    if state.database.origin != nil { return }
    for (index, layer) in state.layers.enumerated() {
      guard case .compare(var screen) = layer, screen.draft.path == path else { continue }
      let places = screen.changedPlaces
      let newest = entries.first { entry in
        entry.parts.contains { part in
          places.contains { $0.contains(part.path) || part.path.contains($0) }
        }
      }
      guard let newest else { continue }
      let theirs = "\(newest.author), \(timeText(state, newest.at))"
      screen.note(writers: [screen.draft.side(chosenAs: .mine): state.database.me, .theirs: theirs])
      screen.rebuild(columns: state.size.columns, height: state.height)
      state.layers[index] = .compare(screen)
    }
  }

  /// Returns the time of day, after the date if it is of another day.
  private static func timeText(_ state: AppState, _ milliseconds: Int64) -> String {
    let local = state.settings.local
    let (then, now) = (local.civil(milliseconds), local.civil(state.now))
    let time = local.timeText(milliseconds)
    return then.dayNumber == now.dayNumber ? time : "\(then.dateText) \(time)"
  }

  /// The message that a choice is needed: a short one with the keys on a compact screen, which
  /// shows no hints.
  private static func conflictText(_ state: AppState, of draft: CompareDraft) -> String {
    let keys = KeyText(state.settings.keymap, state.contexts)
    // The user's version is what is wanted: of an undo, what stood there before.
    if state.layout.isCompact,
      let mine = keys.keys(draft.isUndo ? .conflictBase : .conflictMine),
      let theirs = keys.keys(.conflictTheirs)
    {
      return "was changed: \(mine) \(draft.label(of: .mine)), \(theirs) \(draft.label(of: .theirs))"
    }
    return "\(draft.path) was changed meanwhile: choose what is kept"
  }

  private static func forget(_ state: inout AppState, _ draft: CompareDraft) {
    if let queued = draft.queued { state.writes.queue.drop(queued) }
    state.writes.comparable.removeAll { $0.path == draft.path }
    QueueScreen.refreshQueue(&state)
  }

  // MARK: Choosing

  /// Leaves the comparison.
  static func decideLater(_ state: inout AppState) {
    guard case .compare(let screen)? = state.layers.last else { return }
    state.closeLayer()
    if screen.draft.queued != nil {
      state.say(.info, state.phrase("kept as it is", .syncOpen, "lists it"))
    }
  }

  static func goToConflict(_ state: inout AppState, by step: Int) {
    let height = state.height
    changeComparison(&state) { _ = $0.moveToConflict(by: step, height: height) }
  }

  /// Changes the comparison in front, and builds its rows again.
  static func changeComparison(_ state: inout AppState, _ body: (inout CompareScreen) -> Void) {
    guard case .compare(let before)? = state.layers.last else { return }
    var screen = before
    body(&screen)
    sayDecided(&state, screen, before)
    screen.rebuild(columns: state.size.columns, height: state.height)
    state.layers[state.layers.count - 1] = .compare(screen)
  }

  /// Says what comes next after the last choice was made.
  private static func sayDecided(
    _ state: inout AppState, _ screen: CompareScreen, _ before: CompareScreen
  ) {
    guard screen.model.undecidedCount == 0, before.model.undecidedCount > 0 else { return }
    state.say(.info, state.phrase("all is chosen", .conflictWrite, "writes it"))
  }

  /// Opens a form for another value of the field under the cursor.
  static func editChoice(_ state: inout AppState) {
    guard case .compare(let screen)? = state.layers.last, let index = screen.cursorIndex else {
      return
    }
    let row = screen.model.rows[index]
    let value = row.value ?? row.mine
    let field = FormScreen.Field(
      screen.name(of: row), kind: FieldKind(value), text: FieldKind.text(of: value))
    state.layers.append(
      .form(
        FormScreen(
          purpose: .choose(index), title: "Another value for \(screen.name(of: row))",
          fields: [field])))
  }

  /// Takes a value that was typed for the place with an index.
  static func take(_ state: inout AppState, choice value: JSONValue, at index: Int) {
    // The form was opened from the topmost comparison: comparisons below are of other records.
    let top = state.layers.lastIndex { if case .compare = $0 { true } else { false } }
    guard let top, case .compare(var screen) = state.layers[top],
      screen.model.rows.indices.contains(index)
    else { return }
    screen.model.choose(.typed(value), at: index)
    screen.rebuild(columns: state.size.columns, height: state.height)
    state.layers[top] = .compare(screen)
  }

  // MARK: Writing

  /// Writes the result of the choices, unless others have changed the place again.
  static func writeChoices(_ state: inout AppState) {
    guard case .compare(var screen)? = state.layers.last else { return }
    if screen.model.undecidedCount > 0 {
      _ = screen.moveToConflict(by: 1, height: state.height)
      state.layers[state.layers.count - 1] = .compare(screen)
      return state.say(.info, CompareScreen.words(undecided: screen.model.undecidedCount))
    }
    let (theirs, result) = (screen.model.theirs, screen.model.result)
    do throws(Refusal) {
      guard
        let request = try state.database.resources.replacing(
          theirs, with: result, at: screen.draft.path)
      else {
        state.closeLayer()
        let isSent = QueueScreen.leave(&state, toOthers: screen.draft)
        if !isSent { forget(&state, screen.draft) }
        return state.say(
          .info,
          "what others wrote is kept\(isSent ? "; the other records are sent" : "")\(nextComparison(state, after: screen.draft.path))"
        )
      }
      let conditions = screen.model.rows.filter { !$0.isSame }.map { row in
        WriteCondition(
          Path(unchecked: screen.draft.path.keys + row.place.keys), row.theirs)
      }
      state.closeLayer()
      var draft = screen.draft
      (draft.base, draft.mine) = (theirs, result)
      state.submit(.merge(draft, theirs: theirs), .guarded(request, conditions))
    } catch {
      state.say(.error, error.message)
    }
  }

  /// Ends a comparison whose result was written.
  static func finish(_ state: inout AppState, _ draft: CompareDraft) {
    forget(&state, draft)
    state.say(.info, "saved\(nextComparison(state, after: draft.path))")
  }

  /// Words that follow another message and say how many more places are to be compared, of the same record
  /// or else of others; empty if none.
  private static func nextComparison(_ state: AppState, after path: Path) -> String {
    let places = state.writes.comparable.map(\.path)
    if places.isEmpty { return "" }
    let record = record(state, around: path)
    let own = places.count(where: record.contains)
    let words =
      own > 0
      ? "\(own) more of \(record) to compare"
      : "\(places.count) other \(places.count == 1 ? "place" : "places") to compare"
    return state.phrase(" · \(words)", .recordCompare, "compares")
  }

  /// Returns the record of a resource, or of a list, to which a place belongs; else the place.
  private static func record(_ state: AppState, around path: Path) -> Path {
    if let record = state.database.resources.place(ofRecordAround: path) { return record }
    for list in state.tabs.lists {
      let source = list.definition.source.path
      if let key = path.relative(to: source)?.keys.first {
        return Path(unchecked: source.keys + [key])
      }
    }
    return path
  }

  // MARK: What is compared

  /// Returns the draft for a part of a write that could not be undone, or nil: theirs and mine are
  /// the values after and before the write.
  static func draft(_ state: AppState, of part: UndoHistory.Part) -> CompareDraft? {
    guard case .operation(let entry) = part, entry.old != .null || entry.new != .null else {
      return nil
    }
    let owned = state.database.resources.registry.ownedFields(of: entry.resource)
    return CompareDraft(
      path: entry.path, base: entry.new.without(owned), mine: entry.old.without(owned), isUndo: true
    )
  }

  /// Asks the history for a write that could not be undone, to compare it.
  static func compareWrite(_ state: inout AppState, _ id: Int64) {
    state.ask(.history(.root, before: id + 1, count: 1), for: .comparedWrite)
  }

  /// Takes the answer of the history about a write that could not be undone.
  static func take(_ state: inout AppState, compared page: HistoryPage) {
    state.writes.comparable += drafts(of: page.entries.first?.parts ?? [])
  }

  /// Returns the drafts for changes that were not undone.
  static func drafts(of parts: [HistoryEntry.Part]) -> [CompareDraft] {
    parts.compactMap { part in
      guard !part.isPriority, let values = part.values else { return nil }
      return CompareDraft(path: part.path, base: values.new, mine: values.old, isUndo: true)
    }
  }
}

extension JSONValue {
  /// The object without some fields; other values stay as they are.
  fileprivate func without(_ fields: Set<RunnelTree.Key>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    let names = Set(fields.map(\.text))
    return .object(members.filter { !names.contains($0.name) })
  }
}

extension ResourceBook {
  /// The request that replaces one value at a place by another, or nil if they are equal.
  package func replacing(
    _ old: JSONValue, with new: JSONValue, at path: Path
  ) throws(Refusal) -> WriteRequest? {
    if old == new { return nil }
    if new == .null { return try removing(path) }
    if old == .null { return try setting(new, at: path) }
    if case .object = old, case .object = new { return try replacing(old, by: new, at: path) }
    return try setting(new, at: path)
  }
}
