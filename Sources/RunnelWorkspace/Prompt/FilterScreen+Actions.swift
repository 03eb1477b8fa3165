import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The filter bar: it filters the list while the user types; a kept filter stays until it is
// cleared.

extension FilterScreen {
  static func openFilter(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    // The bar also opens while the first rows are loaded: text typed ahead must not run commands.
    let filter = state.tabs.lists[view].filtering.filter
    state.layers.append(
      .filter(
        FilterScreen(
          view: view, editor: LineEditor(filter?.text ?? ""), before: filter,
          past: state.trail.filters.adding(state.trail.unfinished.filter),
          isKept: filter?.isEmpty == false)))
    if case .row(let id)? = state.tabs.lists[view].list.cursor {
      state.tabs.lists[view].goal.want(row: id)
    }
    fitList(&state)
  }

  /// Leaves the filter bar, and restores the earlier filter.
  static func cancelFilter(_ state: inout AppState) {
    guard case .filter(let screen)? = state.layers.last else { return }
    state.trail.unfinished.note(screen)
    closePrompt(&state)
    show(&state, screen.before, inView: screen.view)
  }

  /// Leaves the filter bar, and keeps the filter.
  static func acceptFilter(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard case .filter(let screen)? = state.layers.last else { return }
    if let error = screen.error { return state.say(.warning, error.message) }
    state.trail.filters.add(screen.editor.text)
    state.trail.unfinished.filter = ""
    closePrompt(&state)
    searchOn(&state)
    if state.tabs.lists[view].filtering.filter?.isEmpty == false {
      state.tabs.lists[view].filtering.searchesWhenLoaded =
        state.tabs.lists[view].reach.phase == .loading
    }
    sayWhatIsLeftOut(&state)
  }

  /// Says that the filter compares some rows only, if others have texts where it has a number or a date.
  private static func sayWhatIsLeftOut(_ state: inout AppState) {
    guard let list = state.tabs.frontList, let filter = list.filtering.filter,
      let doubt = FilterDoubt(filter, in: list), doubt.comparesSomeRows
    else { return }
    let isSearching = list.reach.isFetching
    state.say(
      .info,
      isSearching
        ? state.phrase("\(doubt.message); searching on", .jobCancel, "stops it") : doubt.message)
  }

  /// Searches the rows that are not loaded, if fewer rows are shown than there is room for.
  ///
  /// What is found is shown at once; the search ends with a page of rows, or when it has read many.
  /// `shownCount` is the number of rows that the filter will show, if the list does not show it yet.
  static func searchOn(_ state: inout AppState, shownCount: Int? = nil) {
    guard let view = state.tabs.front.view else { return }
    guard hasRowsToSearch(state, shownCount: shownCount) else { return }
    if state.tabs.lists[view].reach.paging == .more {
      ListScreen.fetchMore(&state)
    } else {
      ListScreen.fetchNewer(&state)
    }
    state.say(.info, searchingText(state))
  }

  /// Whether there are rows to search that are not loaded, and room for what is found.
  static func hasRowsToSearch(_ state: AppState, shownCount: Int? = nil) -> Bool {
    guard let screen = state.tabs.frontList, let filter = screen.filtering.filter, !filter.isEmpty,
      screen.reach.phase == .loaded,
      (shownCount ?? screen.content.storedRowCount) < state.height
    else { return false }
    return screen.reach.paging == .more
      || screen.reach.paging == .exhausted && screen.reach.newer == .more
  }

  /// Shows the rows that match a filter, and searches those that are not loaded, as if it had been typed
  /// into the filter bar.
  ///
  /// O(n) in the loaded rows.
  static func showAndSearch(_ state: inout AppState, _ filter: Filter?) {
    guard let view = state.tabs.front.view else { return }
    show(&state, filter, inView: view)
    guard let filter else { return }
    let screen = state.tabs.lists[view]
    let matcher = FilterMatcher(filter, in: screen.definition, surroundings(state, ofView: view))
    let count = screen.records.values.count { !screen.isTransient($0) && matcher.wants($0) }
    searchOn(&state, shownCount: count)
    state.tabs.lists[view].filtering.searchesWhenLoaded = screen.reach.phase == .loading
  }

  /// What is said while the rows that are not loaded are searched.
  static func searchingText(_ state: AppState) -> String {
    if let origin = state.database.origin, origin.hasServices, origin.isDisconnected {
      return "no connection: the rows that are not kept here are searched when it is back"
    }
    return state.phrase("searching the rows that are not loaded", .jobCancel, "stops it")
  }

  static func completeFilter(_ state: inout AppState) {
    guard case .filter(var screen)? = state.layers.last else { return }
    screen.isKept = false
    complete(&state, &screen)
    screen.refilter(in: &state)
    state.layers[state.layers.count - 1] = .filter(screen)
  }

  /// Recalls an earlier or later filter.
  static func recallFilter(_ state: inout AppState, _ direction: ActionID) {
    guard case .filter(var screen)? = state.layers.last,
      let other = screen.past.recall(direction, from: screen.editor.text)
    else { return }
    screen.isKept = false
    screen.editor.replaceText(other)
    screen.refilter(in: &state)
    state.layers[state.layers.count - 1] = .filter(screen)
  }

  private static func complete(_ state: inout AppState, _ screen: inout FilterScreen) {
    let completion = FilterCompletion(
      before: screen.editor.textBeforeCursor, in: state.tabs.lists[screen.view])
    screen.candidates = completion.candidates.count > 1 ? completion.candidates : []
    guard let text = completion.commonText else { return }
    let end = screen.editor.cursor
    screen.editor.replace((end - completion.wordLength)..<end, with: text)
  }

  fileprivate static func narrow(_ state: inout AppState, _ view: Int, to filter: Filter) {
    if filter.text == state.tabs.lists[view].filtering.filter?.text ?? "" { return }
    show(&state, filter.isEmpty ? nil : filter, inView: view)
  }

  /// Parses a filter; relative times in it are relative to now.
  static func filter(_ state: AppState, _ text: String) throws(FilterError) -> Filter {
    var parser = FilterParser(
      text, moments: MomentReader(now: state.now, local: state.settings.local))
    return try parser.filter()
  }

  /// Shows the rows that match a filter, or all rows if it is nil.
  static func show(_ state: inout AppState, _ filter: Filter?, inView view: Int) {
    ListScreen.resume(&state, view)
    let far = filter == nil ? farPlace(state, inView: view) : nil
    state.tabs.lists[view].filtering.show(filter)
    state.tabs.lists[view].unloading.forgetFloor()
    // If every row fits, the rows do not change, but what the headers say does.
    state.tabs.lists[view].updateHeadings(now: state.now, local: state.settings.local)
    applyFilter(&state, inView: view)
    if let far {
      // The cursor waits for its row.
      state.tabs.lists[view].goal.want(row: state.tabs.lists[view].cursorRecord?.id)
      state.tabs.lists[view].unloading.totalWhenAsked = state.tabs.lists[view].reach.total
      state.tabs.lists[view].unloading.forgetSearch()
      state.effects.append(.goTo(view: view, far))
    }
  }

  /// Returns the place of the cursor's row in the list in front, if a search found it beyond the rows that
  /// are loaded: without the filter it is to be read again.
  ///
  /// Where a server found the row, nobody has read those before it, and there may be many.
  private static func farPlace(_ state: AppState, inView view: Int) -> IndexPosition? {
    guard let list = state.tabs.frontList, state.tabs.front == .view(view),
      list.filtering.searchedCount > 0,
      !list.filtering.isServers,
      let row = list.cursorRecord?.row, let node = row.node
    else { return nil }
    let source = list.definition.source
    let child = Child(key: row.key, node: node)
    return IndexPosition(value: source.order.value(of: child), key: .key(row.key))
  }

  /// Requests the rows that match the list's filter, with the present marks and new rows.
  static func applyFilter(_ state: inout AppState, inView view: Int) {
    state.effects.append(
      .filter(
        view: view, state.tabs.lists[view].filtering.filter, surroundings(state, ofView: view)))
  }

  private static func surroundings(
    _ state: AppState, ofView view: Int
  ) -> FilterMatcher.Surroundings {
    FilterMatcher.Surroundings(
      me: state.database.me, new: state.tabs.lists[view].news.arrived,
      marked: state.tabs.lists[view].marks)
  }

  /// Closes the filter bar or the search line, and gives its lines back to the list.
  static func closePrompt(_ state: inout AppState) {
    state.layers.removeLast()
    fitList(&state)
  }

  /// Changes the state, and fits the list if another number of lines is typed below it then.
  static func fittingList(_ state: inout AppState, _ body: (inout AppState) -> Void) {
    let before = state.height
    body(&state)
    if state.height != before { fitList(&state) }
  }

  /// Fits the list of the active tab to its present height.
  static func fitList(_ state: inout AppState) {
    state.withList { list, content, height in list.resize(toHeight: height, in: content) }
    SearchScreen.withSearchedList(&state) { list, content, height in
      list.resize(toHeight: height, in: content)
    }
  }
}

extension FilterScreen {
  /// Applies the typed text as the filter, or its valid beginning.
  ///
  /// Where all rows are known, a field that none has is an error, and so is a value that a field
  /// cannot have.
  mutating func refilter(in state: inout AppState) {
    let text = editor.text
    error = nil
    do throws(FilterError) {
      let filter = try FilterScreen.filter(state, text)
      FilterScreen.narrow(&state, view, to: filter)
      let list = state.tabs.lists[view]
      if list.isComplete, list.reach.loadedCount <= FilterDoubt.certainMax, list.remembersAllRows,
        let doubt = FilterDoubt(filter, in: list), doubt.isMistake
      {
        error = FilterError(range: doubt.range, message: doubt.message)
      }
    } catch {
      self.error = error
      // The text before the first invalid or unfinished term is a filter.
      if let right = try? FilterScreen.filter(state, String(text.prefix(error.range.lowerBound))) {
        FilterScreen.narrow(&state, view, to: right)
      }
    }
  }
}
