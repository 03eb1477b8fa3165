import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands are disabled, for commands that several places share.

extension AppState {
  // MARK: Writing

  /// The reason why nothing is written; nil if writing is on.
  var reasonReadOnly: String? {
    if let reasonGone = FileGone.reasonGone(self) { return reasonGone }
    if !database.isReadOnly { return nil }
    return database.isOpenedReadOnly
      ? "read-only: nothing can be changed in this database"
      : "read-only is on: \(keysOrName(.profileReadonly)) turns it off"
  }

  // MARK: Words

  /// The keys of a command here, or its name if it has none.
  func keysOrName(_ id: ActionID) -> String {
    settings.keymap.firstKeys(for: id, in: contexts) ?? "`\(id)`"
  }

  /// A sentence that ends with the keys of a command and what the command does, or without that end
  /// if no key is bound to the command here.
  func phrase(_ words: String, _ id: ActionID, _ deed: String) -> String {
    guard let keys = settings.keymap.firstKeys(for: id, in: contexts) else { return words }
    // The reason of a server or a database may be whole sentences.
    return "\(words)\(words.hasSuffix(".") ? "" : ":") \(keys) \(deed)"
  }
}

extension String {
  /// The text without the full stop at its end, for a line that goes on after it.
  package var withoutFullStop: String {
    hasSuffix(".") && !hasSuffix("..") ? String(dropLast()) : self
  }
}

extension SharedCommands {
  /// A reason that names work under way.
  ///
  /// It names no key: where the reason is read, as in the palette, the key that stops the work may close what
  /// is in front.
  static func reasonUnderWay(_ words: String) -> String { "\(words): wait, or stop that first" }

  /// The reason why the record at hand cannot be edited in a form, or nil if it can.
  static func reasonNoForm(_ state: AppState) -> String? {
    reasonBeingRead(state) ?? state.reasonReadOnly ?? reasonNoFields(state)
      ?? (ResourceCommands.hasForm(state)
        ? nil
        : state.phrase("no record with fields stands here", .recordEdit, "edits a field"))
  }

  /// The reason why the open record has no fields for a form, or nil if it has some.
  private static func reasonNoFields(_ state: AppState) -> String? {
    guard case .record(let screen)? = state.layers.last, let node = screen.node,
      node.children.isEmpty
    else { return nil }
    return "\(screen.path) has no fields to edit"
  }

  static func reasonNotToggled(_ state: AppState) -> String? {
    state.reasonReadOnly
      ?? (ResourceCommands.toggledAtHand(state) == nil ? "nothing is toggled here" : nil)
  }

  /// The reason why a record cannot be edited as JSON in the user's editor, or nil if it can.
  static func reasonNotEditedOutside(_ state: AppState) -> String? {
    let none = "move to a record to edit it"
    if case .record(let screen)? = state.layers.last {
      return screen.node == nil
        ? nil : state.reasonReadOnly ?? reasonNotEditable(state, screen.path)
    }
    guard let list = state.tabs.frontList else {
      guard case .node(let path, _, _)? = state.tabs.tree.cursorLine else { return none }
      return state.reasonReadOnly ?? TreeListing.reasonNotWhole(state, [path])
        ?? reasonNotEditable(state, path)
    }
    guard let path = list.cursorRecord?.path else { return none }
    return state.reasonReadOnly ?? reasonNotEditable(state, path)
  }

  private static func reasonNotEditable(_ state: AppState, _ path: Path) -> String? {
    do throws(Refusal) {
      try state.database.resources.checkEditable(path)
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: Undo

  static func reasonNotUndone(_ state: AppState) -> String? {
    if state.writes.undoing.reversal != nil { return nil }
    if Activity.entryAtHand(state) != nil || !state.writes.undoing.steps(.undo).isEmpty {
      return state.reasonReadOnly
    }
    if let reason = state.reasonReadOnly { return reason }
    if state.writes.undoing.hasLeft {
      let words = "nothing more to undo: what others have changed since stays"
      return state.writes.comparable.isEmpty
        ? words : state.phrase(words, .recordCompare, "compares")
    }
    guard state.writes.undoing.steps(.redo).isEmpty else {
      return state.phrase("all that was changed here is undone", .editRedo, "redoes it")
    }
    return "nothing to undo: you changed nothing since the start"
  }

  static func reasonNotRedone(_ state: AppState) -> String? {
    if state.writes.undoing.reversal != nil { return nil }
    return state.reasonReadOnly
      ?? (state.writes.undoing.steps(.redo).isEmpty ? "nothing to redo" : nil)
  }

  // MARK: Values

  /// The reason why a value cannot be copied in a form, or nil if it can.
  static func reasonNotCopied(_ state: AppState, _ form: CopyForm) -> String? {
    reasonNothingToCopy(state, form) ?? Copying.reasonHasNoForm(state, form)
  }

  private static func reasonNothingToCopy(_ state: AppState, _ form: CopyForm) -> String? {
    if case .queue? = state.layers.last { return QueueCommands.reasonNothingToCopy(state) }
    if case .record? = state.layers.last { return form.isOfPlace ? nil : reasonBeingRead(state) }
    guard let list = state.tabs.frontList else {
      if state.tabs.tree.markCount > 0 { return nil }
      if case .node? = state.tabs.tree.cursorLine { return nil }
      return "move to a node to copy it"
    }
    if list.markCount > 0 { return ListCommands.reasonNoneMarkedInSight(state) }
    return list.cursorRecord == nil ? "move to a record to copy it" : nil
  }

  /// The reason why the open record cannot be used yet, or nil if it was read or none is open.
  static func reasonBeingRead(_ state: AppState) -> String? {
    guard case .record(let screen)? = state.layers.last else { return nil }
    return screen.node == nil ? "the record is being read" : nil
  }

  // MARK: Searching

  static func reasonNotSearched(_ state: AppState) -> String? {
    state.trail.search == nil && state.trail.searches.entries.isEmpty
      ? state.phrase("nothing was looked for yet", .searchStart, "searches") : nil
  }
}
