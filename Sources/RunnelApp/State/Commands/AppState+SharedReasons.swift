import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The reasons why commands are disabled that several places have.

extension AppState {
  // MARK: Writing

  /// The reason why nothing is written; nil if writing is on.
  var reasonReadOnly: String? {
    if let reasonGone { return reasonGone }
    if !isReadOnly { return nil }
    return isOpenedReadOnly
      ? "read-only: nothing can be changed in this database"
      : "read-only is on: \(keysOrName(.profileReadonly)) turns it off"
  }

  /// The reason why there is no form for what the keys are about; nil if there is one.
  var reasonNoForm: String? {
    reasonBeingRead ?? reasonReadOnly
      ?? (isOnResource
        ? nil : phrase("no resource describes what stands here", .recordEdit, "edits a field"))
  }

  var reasonNotToggled: String? {
    reasonReadOnly ?? (toggledAtHand == nil ? "nothing is toggled here" : nil)
  }

  /// The reason why nothing is edited as JSON in the user's editor; nil if something is.
  var reasonNotEditedOutside: String? {
    let none = "move to a record to edit it"
    if case .record(let screen)? = layers.last {
      return screen.node == nil ? nil : reasonReadOnly ?? reasonNotEditable(screen.path)
    }
    if isTree {
      guard case .node(let path, _, _)? = tree.cursorLine else { return none }
      return reasonReadOnly ?? reasonNotEditable(path)
    }
    guard let path = lists[active].cursorRecord?.path else { return none }
    return reasonReadOnly ?? reasonNotEditable(path)
  }

  private func reasonNotEditable(_ path: Path) -> String? {
    do throws(Refusal) {
      try resources.checkEditable(path)
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: Undo

  var reasonNotUndone: String? {
    if undoing.reversal != nil { return nil }
    if entryAtHand != nil || !undoing.steps(.undo).isEmpty { return reasonReadOnly }
    return reasonReadOnly ?? "nothing to undo: nothing was changed here since the start"
  }

  var reasonNotRedone: String? {
    if undoing.reversal != nil { return nil }
    return reasonReadOnly ?? (undoing.steps(.redo).isEmpty ? "nothing to redo" : nil)
  }

  // MARK: Values

  /// The reason why nothing is copied in a form; nil if something is.
  func reasonNotCopied(_ form: CopyForm) -> String? {
    reasonNothingToCopy(form) ?? reasonHasNoForm(form)
  }

  private func reasonNothingToCopy(_ form: CopyForm) -> String? {
    if case .record? = layers.last { return form.isOfPlace ? nil : reasonBeingRead }
    if isTree {
      if tree.markCount > 0 { return nil }
      if case .node? = tree.cursorLine { return nil }
      return "move to a node to copy it"
    }
    if lists[active].markCount > 0 { return reasonNoneMarkedInSight }
    return lists[active].cursorRecord == nil ? "move to a record to copy it" : nil
  }

  /// The reason why nothing is done with an open record; nil if it was read, or none is open.
  var reasonBeingRead: String? {
    guard case .record(let screen)? = layers.last else { return nil }
    return screen.node == nil ? "the record is being read" : nil
  }

  // MARK: Searching

  var reasonNotSearched: String? {
    search == nil && searchHistory.entries.isEmpty
      ? phrase("nothing was looked for yet", .searchStart, "searches") : nil
  }

  // MARK: Words

  /// The keys of a command here, or its name if it has none.
  func keysOrName(_ id: ActionID) -> String {
    keymap.firstKeys(for: id, in: contexts) ?? "`\(id)`"
  }

  /// A sentence that ends with a key and what it does; without the key if nothing is bound to it here.
  func phrase(_ words: String, _ id: ActionID, _ deed: String) -> String {
    guard let keys = keymap.firstKeys(for: id, in: contexts) else { return words }
    return "\(words): \(keys) \(deed)"
  }
}
