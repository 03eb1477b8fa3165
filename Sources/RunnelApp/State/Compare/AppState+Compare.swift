import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Where others wrote what the user was about to write: base, mine and theirs, to choose from.

extension AppState {
  // MARK: Opening

  /// Compares what was refused last, or at the record at hand, with what others wrote.
  mutating func openComparison() {
    if case .queue(let screen)? = layers.last {
      if let draft = screen.cursorWrite(in: queue)?.draft { compare(draft) }
      return
    }
    guard let draft = draftAtHand else { return }
    // The next time it is the turn of the next one.
    if let index = comparable.firstIndex(of: draft) {
      comparable.append(comparable.remove(at: index))
    }
    compare(draft)
  }

  /// What is to be compared at the record at hand, or else what was refused last; nil if nothing is.
  var draftAtHand: CompareDraft? {
    if let path = placeAtHand, let draft = queue.conflict(at: path)?.draft { return draft }
    return comparable.first ?? queue.refused.last { $0.draft != nil }?.draft
  }

  /// Reads what others made of a place, to compare it; if nobody asked for that, it is shown only if the
  /// user has done nothing else by then.
  mutating func compare(_ draft: CompareDraft, isAsked: Bool = true) {
    read(draft.path, for: .compare(draft, after: isAsked ? nil : inputCount))
  }

  /// Says that something is to be compared, where the user does something else by now.
  mutating func sayKept(_ draft: CompareDraft) {
    say(.warning, phrase("\(draft.path) was changed meanwhile", .recordCompare, "compares"))
  }

  /// Gives up reading values for the editor or to be compared; false if none is read.
  mutating func stopReadingValues() -> Bool {
    let isStopped = requests.giveUpReads { purpose in
      switch purpose {
      case .editOutside, .compare: true
      case .copy, .duplicate: false
      }
    }
    if isStopped { say(.info, "stopped") }
    return isStopped
  }

  /// What others made of a place was read.
  mutating func startComparing(_ draft: CompareDraft, _ theirs: JSONValue) {
    let screen = CompareScreen(
      draft, theirs: theirs, columns: size.columns, height: height)
    if screen.model[.mine] == screen.model[.theirs] {
      forget(draft)
      return say(.info, "nothing to choose: \(draft.path) is as you wanted it")
    }
    layers.removeAll { layer in
      if case .compare(let other) = layer { other.draft.path == draft.path } else { false }
    }
    if hasEditor {
      let hint = phrase("it is kept", .syncOpen, "lists it")
      return say(.warning, "\(draft.path) was changed meanwhile · \(hint)")
    }
    layers.append(.compare(screen))
    if !isReadOnly, screen.model.undecidedCount > 0 { say(.warning, conflictText(of: draft)) }
  }

  /// What is said where something has to be chosen; short where there are no hints, with the keys.
  private func conflictText(of draft: CompareDraft) -> String {
    let keys = KeyText(keymap, contexts)
    if layout.isCompact, let mine = keys.keys(.conflictMine),
      let theirs = keys.keys(.conflictTheirs)
    {
      return "was changed: \(mine) mine, \(theirs) theirs"
    }
    return "\(draft.path) was changed meanwhile: choose what is kept"
  }

  private mutating func forget(_ draft: CompareDraft) {
    if let queued = draft.queued { queue.drop(queued) }
    comparable.removeAll { $0.path == draft.path }
    refreshQueue()
  }

  // MARK: Choosing

  /// Leaves the comparison.
  mutating func decideLater() {
    guard case .compare(let screen)? = layers.last else { return }
    closeLayer()
    if screen.draft.queued != nil { say(.info, phrase("kept as it is", .syncOpen, "lists it")) }
  }

  mutating func goToConflict(by step: Int) {
    let height = height
    changeComparison { _ = $0.moveToConflict(by: step, height: height) }
  }

  /// Changes what is compared, and shows it.
  mutating func changeComparison(_ body: (inout CompareScreen) -> Void) {
    guard case .compare(let before)? = layers.last else { return }
    var screen = before
    body(&screen)
    sayDecided(screen, before)
    screen.rebuild(columns: size.columns, height: height)
    layers[layers.count - 1] = .compare(screen)
  }

  /// Says what comes next when the last choice was made.
  private mutating func sayDecided(_ screen: CompareScreen, _ before: CompareScreen) {
    guard screen.model.undecidedCount == 0, before.model.undecidedCount > 0 else { return }
    say(.info, phrase("all is chosen", .conflictWrite, "writes it"))
  }

  /// Asks for another value for the field under the cursor.
  mutating func editChoice() {
    guard case .compare(let screen)? = layers.last, let index = screen.cursorIndex else { return }
    let row = screen.model.rows[index]
    let value = row.value ?? row.mine
    let field = FormScreen.Field(
      screen.name(of: row), kind: FieldKind(value), text: FieldKind.text(of: value))
    layers.append(
      .form(
        FormScreen(
          purpose: .choose(index), title: "Another value for \(screen.name(of: row))",
          fields: [field])))
  }

  /// Takes a value that was typed for a place.
  mutating func take(choice value: JSONValue, at index: Int) {
    // The form was opened from the comparison on top: others below are of other records.
    let top = layers.lastIndex { if case .compare = $0 { true } else { false } }
    guard let top, case .compare(var screen) = layers[top],
      screen.model.rows.indices.contains(index)
    else { return }
    screen.model.choose(.typed(value), at: index)
    screen.rebuild(columns: size.columns, height: height)
    layers[top] = .compare(screen)
  }

  // MARK: Writing

  /// Writes what was chosen, unless others have changed it again.
  mutating func writeChoices() {
    guard case .compare(var screen)? = layers.last else { return }
    if screen.model.undecidedCount > 0 {
      _ = screen.moveToConflict(by: 1, height: height)
      layers[layers.count - 1] = .compare(screen)
      return say(.info, CompareScreen.words(undecided: screen.model.undecidedCount))
    }
    let (theirs, result) = (screen.model.theirs, screen.model.result)
    do throws(Refusal) {
      guard let request = try resources.replacing(theirs, with: result, at: screen.draft.path)
      else {
        closeLayer()
        forget(screen.draft)
        return say(.info, "what others wrote is kept\(nextComparison)")
      }
      let conditions = screen.model.rows.filter { !$0.isSame }.map { row in
        WriteCondition(
          Path(unchecked: screen.draft.path.keys + row.place.keys), row.theirs)
      }
      closeLayer()
      var draft = screen.draft
      (draft.base, draft.mine) = (theirs, result)
      submit(.merge(draft, theirs: theirs), .guarded(request, conditions))
    } catch {
      say(.error, error.message)
    }
  }

  /// The merge of a comparison is on disk.
  mutating func finish(_ draft: CompareDraft) {
    forget(draft)
    say(.info, "saved\(nextComparison)")
  }

  /// How many more places are to be compared, to stand behind other words; empty if none is.
  private var nextComparison: String {
    let count = comparable.count
    if count == 0 { return "" }
    return phrase(" · \(count) more could not be taken back", .recordCompare, "compares")
  }

  // MARK: What is compared

  /// What is compared where a write was refused because others wrote there; nil if nothing can be.
  func draft(of purpose: WritePurpose) -> CompareDraft? {
    switch purpose {
    case .edit(let record, let edit):
      let mine = edit.input.isEmpty ? JSONValue.null : (try? edit.input.value()) ?? .null
      return CompareDraft(
        path: Path(unchecked: record.keys + edit.field.keys),
        base: edit.original?.json ?? .null, mine: mine)
    case .form(let form): return draft(of: form)
    case .editOutside(let edit, let text):
      guard let mine = try? JSONValue(parsing: text) else { return nil }
      return CompareDraft(path: edit.path, base: edit.original, mine: mine)
    case .merge(let draft, _): return draft
    case .send, .delete, .deleteMarked, .importRow, .pasted, .duplicate, .toggle, .undo,
      .reversal:
      return nil
    }
  }

  private func draft(of form: FormScreen) -> CompareDraft? {
    var form = form
    guard let values = form.values() else { return nil }
    switch form.purpose {
    case .setLeaf(let path, let original):
      return CompareDraft(path: path, base: original, mine: values.first?.value ?? .null)
    case .editResource(let path, let original):
      guard var mine = try? RunnelTree.Node(json: original) else { return nil }
      for field in form.fields {
        let value = values.first { $0.path == field.path }?.value ?? .null
        if let node = try? RunnelTree.Node(json: value) {
          mine = mine.replacing(field.path, with: node)
        }
      }
      return CompareDraft(path: path, base: original, mine: mine.json)
    case .addRecord, .addChild, .addField, .addResource, .choose, .export,
      .importFile:
      return nil
    }
  }

  /// What is compared where something could not be taken back: what it did, what would be put back.
  func draft(of part: UndoHistory.Part) -> CompareDraft? {
    guard case .operation(let entry) = part, entry.old != .null || entry.new != .null else {
      return nil
    }
    let owned = resources.registry.ownedFields(of: entry.resource)
    return CompareDraft(
      path: entry.path, base: entry.new.without(owned), mine: entry.old.without(owned))
  }

  /// Asks the history what a write did that could not be taken back, to compare it.
  mutating func compareWrite(_ id: Int64) {
    ask(.history(.root, before: id + 1, count: 1), for: .comparedWrite)
  }

  /// The history told of a write that could not be taken back.
  mutating func take(compared page: HistoryPage) {
    for part in page.entries.first?.parts ?? [] where !part.isPriority {
      guard let values = part.values else { continue }
      comparable.append(CompareDraft(path: part.path, base: values.new, mine: values.old))
    }
  }
}

extension JSONValue {
  /// The record without some fields.
  fileprivate func without(_ fields: Set<RunnelTree.Key>) -> JSONValue {
    guard case .object(let members) = self else { return self }
    let names = Set(fields.map(\.text))
    return .object(members.filter { !names.contains($0.name) })
  }
}

extension ResourceBook {
  /// The request that makes one value of another where it stands; nil if they are the same.
  func replacing(
    _ old: JSONValue, with new: JSONValue, at path: Path
  ) throws(Refusal) -> WriteRequest? {
    if old == new { return nil }
    if new == .null { return try removing(path) }
    if old == .null { return try setting(new, at: path) }
    if case .object = old, case .object = new { return try replacing(old, by: new, at: path) }
    return try setting(new, at: path)
  }
}
