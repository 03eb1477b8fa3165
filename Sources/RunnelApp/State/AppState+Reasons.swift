import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Why an action cannot be done now: the same words in help, palette and menus, and when its key is
// struck.

extension AppState {
  /// The actions that write.
  private static let writing: Set<ActionID> = [
    .recordAdd, .recordDelete, .recordEdit, .recordEditExternal, .recordForm,
    .recordToggle, .dataImport,
  ]
  /// The actions that need a row under the cursor.
  private static let ofRows: Set<ActionID> = [
    .rowOpen, .rowIn, .rowOut, .foldToggle, .foldOpen, .foldClose, .foldOpenAll, .foldCloseAll,
    .sectionNext, .sectionPrevious, .rowActions,
  ]

  /// Why an action cannot be done in the place below palette, menus and help; nil if it can.
  func reasonOff(_ action: ActionID) -> String? {
    let place = below
    if let number = action.viewNumber, number > place.tabs.count {
      return "there is no view \(number)"
    }
    if [.searchNext, .searchPrevious].contains(action) { return place.reasonNotSearched }
    switch place.layers.last {
    case nil:
      if let reason = place.reasonOffAnywhere(action) { return reason }
      return place.isTree ? place.reasonOffInTree(action) : place.reasonOffInList(action)
    case .record(let screen) where screen.edit == nil:
      return place.reasonOffAnywhere(action) ?? place.reasonOff(action, in: screen)
    default: return nil
    }
  }

  /// Why nothing is written; nil if writing is on.
  var reasonReadOnly: String? {
    if !isReadOnly { return nil }
    return isOpenedReadOnly
      ? "read-only: nothing can be changed in this database"
      : "read-only is on: \(keysOrName(.profileReadonly)) turns it off"
  }

  /// Says why an action cannot be done here, if that is so.
  ///
  /// - Returns: true if it was said, and the action is not to be done.
  mutating func refuses(_ action: ActionID) -> Bool {
    guard let reason = reasonOff(action) else { return false }
    say(reason == reasonReadOnly ? .warning : .info, reason)
    return true
  }

  private func reason(readOnlyFor action: ActionID) -> String? {
    AppState.writing.contains(action) ? reasonReadOnly : nil
  }

  /// Why something that is about the row or the list as a whole is off; nil if it is not.
  private func reasonOffAnywhere(_ action: ActionID) -> String? {
    reasonNotUndone(action) ?? reasonOffOnRow(action)
  }

  private var reasonNotSearched: String? {
    search == nil && searchHistory.entries.isEmpty
      ? phrase("nothing was looked for yet", .searchStart, "searches") : nil
  }

  private func reasonNotUndone(_ action: ActionID) -> String? {
    guard undoing.reversal == nil else { return nil }
    switch action {
    case .editUndo:
      if entryAtHand != nil || !undoing.steps(.undo).isEmpty { return reasonReadOnly }
      return reasonReadOnly ?? "nothing to undo: nothing was changed here since the start"
    case .editRedo:
      return reasonReadOnly ?? (undoing.steps(.redo).isEmpty ? "nothing to redo" : nil)
    default: return nil
    }
  }

  /// A sentence that ends with a key and what it does; without the key if nothing is bound to it here.
  func phrase(_ words: String, _ action: ActionID, _ deed: String) -> String {
    guard let keys = keymap.firstKeys(for: action, in: contexts) else { return words }
    return "\(words): \(keys) \(deed)"
  }
}

// MARK: Lists

extension AppState {
  private func reasonOffInList(_ action: ActionID) -> String? {
    let screen = lists[active]
    // A list that could not be read is asked for again by opening it.
    if case .loaded = screen.phase, screen.list.cursor == nil, AppState.ofRows.contains(action) {
      return "there are no rows here"
    }
    if let reason = reasonNoRecord(for: action, in: screen) { return reason }
    if let reason = reason(readOnlyFor: action) { return reason }
    switch action {
    case .sortMenu: return reasonNotSorted(screen)
    case .recordAdd: return reasonNotAdded(to: screen.definition.source.path)
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    case .recordEditExternal: return screen.cursorRecord.flatMap { reasonNotEditable($0.path) }
    case .sectionMore: return reasonNoMore(in: screen)
    case .filterEdit:
      if case .failed = screen.phase { return "the rows could not be read" }
      return nil
    case .markNext, .markPrevious:
      return screen.marks.isEmpty ? phrase("no row is marked", .markToggle, "marks") : nil
    case .markClear:
      return screen.marks.isEmpty && screen.rangeStart == nil
        ? phrase("no row is marked", .markToggle, "marks") : nil
    default: return nil
    }
  }

  private func reasonNoRecord(for action: ActionID, in screen: ListScreen) -> String? {
    switch action {
    case .recordDelete where screen.markCount > 0, .copyKey where screen.markCount > 0,
      .copyPath where screen.markCount > 0, .copyLine where screen.markCount > 0,
      .copyString where screen.markCount > 0, .copyValue where screen.markCount > 0:
      return screen.markedRecords.isEmpty
        ? phrase("the filter hides what is marked", .stepBack, "shows all") : nil
    case .recordEdit, .recordEditExternal:
      return screen.cursorRecord == nil ? "move to a record to edit it" : nil
    case .recordDelete: return screen.cursorRecord == nil ? "move to a record to delete it" : nil
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue:
      return screen.cursorRecord == nil ? "move to a record to copy it" : nil
    case .markRange:
      return screen.cursorRecord == nil && screen.rangeStart == nil
        ? "move to a record to start a range" : nil
    default: return nil
    }
  }

  /// Why no record is added to a collection; nil if one is.
  private func reasonNotAdded(to collection: Path) -> String? {
    do throws(Refusal) {
      _ = try resources.adding(.object([]), to: collection)
      return nil
    } catch {
      return error.message
    }
  }

  /// Why there is no form for what the keys are about; nil if there is one.
  private var reasonNoForm: String? {
    isOnResource
      ? nil : phrase("no resource describes what stands here", .recordEdit, "edits a field")
  }

  private func reasonNotEditable(_ path: Path) -> String? {
    do throws(Refusal) {
      try resources.checkEditable(path)
      return nil
    } catch {
      return error.message
    }
  }

  private func reasonNoMore(in screen: ListScreen) -> String? {
    switch screen.phase {
    case .loading: "the first rows are being loaded"
    case .failed: nil
    case .loaded:
      screen.paging == .exhausted ? "everything is loaded: there are no more rows" : nil
    }
  }
}

// MARK: The tree

extension AppState {
  private func reasonOffInTree(_ action: ActionID) -> String? {
    switch action {
    case .recordEdit, .recordDelete, .recordEditExternal, .recordForm, .recordToggle:
      guard case .node(let path, let row, _)? = tree.cursorLine else {
        return action == .recordEditExternal
          ? "move to a record to edit it" : "move to a node to change it"
      }
      return reason(readOnlyFor: action) ?? reasonOffAtNode(action, path, row)
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue:
      if case .node? = tree.cursorLine { return nil }
      return "move to a node to copy it"
    case .recordAdd: return reason(readOnlyFor: action)
    default: return nil
    }
  }

  private func reasonOffAtNode(_ action: ActionID, _ path: Path, _ row: TreeRow) -> String? {
    switch action {
    case .recordEdit:
      guard case .leaf(let leaf) = row.summary.kind else {
        return "expand it to edit a value in it, or \(keysOrName(.recordAdd)) adds a child"
      }
      do throws(Refusal) {
        _ = try resources.setting(leaf.json, at: path)
        return nil
      } catch {
        return error.message
      }
    case .recordEditExternal: return reasonNotEditable(path)
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    default: return nil
    }
  }

  /// The keys of an action here, or its name if it has none.
  func keysOrName(_ action: ActionID) -> String {
    keymap.firstKeys(for: action, in: contexts) ?? "`\(action)`"
  }
}

// MARK: A record

extension AppState {
  private func reasonOff(_ action: ActionID, in screen: RecordScreen) -> String? {
    let field = screen.cursorField
    if action == .recordEdit, field == nil { return "move to a field to edit it" }
    if action == .recordEdit, field?.childCount != nil {
      return "open it to edit a value in it: \(keysOrName(.rowOpen)) opens"
    }
    if action == .recordDelete {
      guard let field else { return "move to a field to delete it" }
      if field.leaf == nil, field.childCount == nil { return "nothing stands there" }
    }
    if let reason = reason(readOnlyFor: action) { return reason }
    switch action {
    case .recordEdit:
      return field.flatMap { reasonNotEdited($0.path, in: screen) }
    case .recordAdd:
      return screen.node?.leaf == nil ? nil : "\(screen.path) is a value: it has no fields"
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    case .recordEditExternal: return reasonNotEditable(screen.path)
    default: return nil
    }
  }
}
