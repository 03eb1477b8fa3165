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
    .sectionNext, .sectionPrevious, .rowActions, .rowNewest, .markToggle, .markAll,
  ]

  /// The moves that are always on, and are to be quick.
  private static let moves: Set<ActionID> = [
    .rowDown, .rowUp, .pageDown, .pageUp, .pageHalfDown, .pageHalfUp, .scrollDown, .scrollUp,
  ]

  /// Why an action cannot be done in the place below palette, menus and help; nil if it can.
  func reasonOff(_ action: ActionID) -> String? {
    if let layer = layers.last, layer.isAboutWhatIsBelow { return below.reasonOff(action) }
    guard isPlaceInFront else { return nil }
    return reasonOffEverywhere(action) ?? reasonOffInFront(action)
  }

  private func reasonOffInFront(_ action: ActionID) -> String? {
    switch layers.last {
    case nil where pane == .views: reasonOffInViews(action)
    case nil:
      reasonOffAnywhere(action) ?? (isTree ? reasonOffInTree(action) : reasonOffInList(action))
    case .record(let screen): reasonOffAnywhere(action) ?? reasonOff(action, in: screen)
    case .history(let screen): reasonOff(action, in: screen)
    case .compare(let screen): reasonOff(action, in: screen)
    case .queue(let screen): reasonOff(action, in: screen)
    case .debug: action == .debugOpen ? "these are the last actions" : nil
    default: nil
    }
  }

  /// Why something is off that is about no row, wherever one does not type; nil if it is not.
  private func reasonOffEverywhere(_ action: ActionID) -> String? {
    if let number = action.viewNumber { return reasonNoView(number) }
    switch action {
    case .siblingNext, .siblingPrevious: return reasonNoSibling(action)
    case .searchNext, .searchPrevious: return reasonNotSearched
    case .recordCompare: return reasonNotCompared
    case .historyBack: return reasonNotTravelled(isBack: true)
    case .historyForward: return reasonNotTravelled(isBack: false)
    case .profileReadonly: return reasonNotSwitched
    case .dataExport: return reasonNotExported
    case .dataImport: return reasonNotImported
    case .paneGrow, .paneShrink, .paneDetail: return reasonPaneStays(action)
    case .viewNext, .viewPrevious: return lists.isEmpty ? "there is one view only" : nil
    default: return nil
    }
  }

  private func reasonNoView(_ number: Int) -> String? {
    guard tabs.indices.contains(number - 1) else { return "there is no view \(number)" }
    return layers.isEmpty && number == active + 1 ? "this is \(tabs[active])" : nil
  }

  /// Why nothing is written; nil if writing is on.
  var reasonReadOnly: String? {
    if let reasonGone { return reasonGone }
    if !isReadOnly { return nil }
    return isOpenedReadOnly
      ? "read-only: nothing can be changed in this database"
      : "read-only is on: \(keysOrName(.profileReadonly)) turns it off"
  }

  /// Says why an action cannot be done here, if that is so.
  ///
  /// - Returns: true if it was said, and the action is not to be done.
  mutating func refuses(_ action: ActionID) -> Bool {
    if AppState.moves.contains(action) { return false }
    guard let reason = reasonOff(action) else { return false }
    say(reason == reasonReadOnly ? .warning : .info, reason)
    return true
  }

  func reason(readOnlyFor action: ActionID) -> String? {
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

  func reasonNotUndone(_ action: ActionID) -> String? {
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

  /// The keys of an action here, or its name if it has none.
  func keysOrName(_ action: ActionID) -> String {
    keymap.firstKeys(for: action, in: contexts) ?? "`\(action)`"
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
    if let reason = reasonNoRows(for: action, in: screen) { return reason }
    if let reason = reasonNoRecord(for: action, in: screen) { return reason }
    if let reason = reason(readOnlyFor: action) ?? reasonNotFolded(action, in: screen) {
      return reason
    }
    switch action {
    case .sortMenu: return reasonNotSorted(screen)
    case .recordAdd: return reasonNotAdded(to: screen.definition.source.path)
    case .recordForm: return reasonNoForm
    case .recordToggle: return toggledAtHand == nil ? "nothing is toggled here" : nil
    case .recordEditExternal: return screen.cursorRecord.flatMap { reasonNotEditable($0.path) }
    case .sectionMore: return reasonNoMore(in: screen)
    case .rowOpen, .rowIn: return reasonNotOpened(action, in: screen)
    case .filterEdit:
      if case .failed = screen.phase { return "the rows could not be read" }
      return nil
    case .copyKey, .copyPath, .copyLine, .copyString, .copyValue: return reasonNotCopied(action)
    default: return reasonNoneOfThese(action, in: screen)
    }
  }

  private func reasonNoRows(for action: ActionID, in screen: ListScreen) -> String? {
    guard screen.list.cursor == nil, AppState.ofRows.contains(action) else { return nil }
    switch screen.phase {
    case .loading: return "the first rows are being loaded"
    // A list that could not be read is asked for again by opening it.
    case .failed where action == .rowOpen || action == .rowIn: return nil
    case .failed: return phrase("the rows could not be read", .rowOpen, "reads them again")
    case .loaded: return "there are no rows here"
    }
  }

  /// Why no section is folded or unfolded; nil if one is, or the action is none of that.
  private func reasonNotFolded(_ action: ActionID, in screen: ListScreen) -> String? {
    let folded = screen.list.folded
    guard let section = screen.list.cursorSection(in: screen.content) else { return nil }
    switch action {
    case .foldOpen: return folded.contains(section) ? nil : "this section is not folded"
    case .foldClose: return folded.contains(section) ? "this section is folded" : nil
    case .foldOpenAll:
      return screen.content.sections.contains { folded.contains($0.id) }
        ? nil : "no section is folded"
    case .rowOut:
      return screen.list.cursor == .header(section) && folded.contains(section)
        ? "this section is folded" : nil
    case .foldCloseAll:
      return screen.content.sections.allSatisfy { folded.contains($0.id) }
        ? "all sections are folded" : nil
    default: return nil
    }
  }

  private func reasonNotOpened(_ action: ActionID, in screen: ListScreen) -> String? {
    if case .failed = screen.phase { return nil }
    switch screen.list.cursor {
    case .row(ListScreen.pagingRow):
      if action == .rowIn, screen.paging != .exhausted {
        return phrase("these rows are not loaded", .rowOpen, "fetches them")
      }
      return reasonNoMore(in: screen)
    case .row: return screen.cursorRecord == nil ? "this row is not saved yet" : nil
    case .header(let id) where action == .rowIn && !screen.list.folded.contains(id):
      return screen.content.firstRow(ofSection: id) == nil ? "there are no rows in it" : nil
    case .header, nil: return nil
    }
  }

  /// Why there is no row to go to or to mark; nil if there is, or the action is about none.
  private func reasonNoneOfThese(_ action: ActionID, in screen: ListScreen) -> String? {
    switch action {
    case .markNext, .markPrevious, .markClear, .markToggle, .markRange, .markAll:
      return reasonNotMarked(action)
    case .unreadNext, .unreadPrevious, .changeNext, .changePrevious:
      return reasonNotJumped(action)
    case .rowNewest:
      var other = screen
      other.goToNewest(height: height)
      return other.list == screen.list ? "this is the newest row" : nil
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
  var reasonNoForm: String? {
    isOnResource
      ? nil : phrase("no resource describes what stands here", .recordEdit, "edits a field")
  }

  func reasonNotEditable(_ path: Path) -> String? {
    do throws(Refusal) {
      try resources.checkEditable(path)
      return nil
    } catch {
      return error.message
    }
  }

  private func reasonNoMore(in screen: ListScreen) -> String? {
    switch (screen.phase, screen.paging) {
    case (.loading, _): "the first rows are being loaded"
    case (.failed, _): nil
    case (.loaded, .fetching): phrase("they are being fetched", .jobCancel, "stops")
    case (.loaded, .exhausted): "everything is loaded: there are no more rows"
    case (.loaded, .more), (.loaded, .failed): nil
    }
  }
}
