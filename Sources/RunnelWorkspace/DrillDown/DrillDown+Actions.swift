import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// From a row to the list for it, and back up.

extension DrillDown {
  /// Opens the list for the row under the cursor; returns false if the view has none.
  static func openFromRow(_ state: inout AppState) -> Bool {
    guard let list = state.tabs.front.view, let record = state.tabs.lists[list].cursorRecord,
      let view = state.tabs.viewsBelow(list).first
    else { return false }
    return open(&state, view, forRecord: record.path, inList: list)
  }

  /// Opens the list of a view for a row of another list, and notes the place before.
  ///
  /// - Parameters:
  ///   - state: the state of the workspace.
  ///   - view: the view; parameters that the list has are bound.
  ///   - record: the row.
  ///   - parent: the index of the list of the row.
  /// - Returns: whether it is in front.
  @discardableResult
  static func open(
    _ state: inout AppState, _ view: ViewDefinition, forRecord record: Path, inList parent: Int
  ) -> Bool {
    let above = state.tabs.lists[parent].definition
    guard let name = view.rowParameter(below: above), let key = record.lastKey else { return false }
    let before = state.place
    guard state.closeWhatIsRead() else { return false }
    let path = view.source.path.bound(to: [name: key])
    guard let index = list(&state, of: view.name, at: path) else { return false }
    state.trail.places.note(before)
    if state.toast?.toast.kind == .info { state.toast = nil }
    show(&state, index)
    return true
  }

  /// Brings a list in front.
  static func show(_ state: inout AppState, _ index: Int) {
    state.open(.view(index))
    state.tabs.lists[index].drillDown?.shownAt = state.input.count
    Panes.focusPane(&state, .list)
  }

  /// Goes to the row from which the list in front was opened.
  static func goUp(_ state: inout AppState) {
    guard let drillDown = state.tabs.frontList?.drillDown else { return }
    let above = state.tabs.lists[drillDown.parent]
    PlaceHistory.goAndNote(&state, Place(of: above, path: drillDown.record))
  }

  /// The reason why there is nothing above the list in front, or nil if there is.
  static func reasonNotUp(_ state: AppState) -> String? {
    state.tabs.frontList?.drillDown == nil ? "this list was opened from no row" : nil
  }

  // MARK: Lists

  /// Returns the index of the list of a view at a place, which is made if it is not open; nil if the
  /// views file has no such view, or there is no room for another list.
  static func list(_ state: inout AppState, of name: String, at path: Path) -> Int? {
    if let index = state.tabs.lists.firstIndex(where: {
      $0.drillDown != nil && $0.definition.name == name && $0.definition.source.path == path
    }) {
      return index
    }
    guard let template = state.tabs.templates.first(where: { $0.name == name }),
      let keys = template.source.path.keys(in: path),
      let (parent, record) = above(&state, template, keys)
    else {
      state.say(.info, "the views file has no view \(name) at \(path) any more")
      return nil
    }
    let list = state.tabs.lists[parent]
    let title =
      list.records[Record.id(of: record)].map { list.title(of: $0, in: state.database.resources) }
      ?? record.lastKey.map { WritableKey.name(of: $0.text) } ?? ""
    var screen = ListScreen(template.bound(to: keys))
    screen.drillDown = DrillDown(
      keys: keys, parent: parent, record: record, title: title, shownAt: state.input.count)
    screen.usePages(of: state.settings.pageSize)
    guard let index = add(&state, screen) else { return nil }
    if let view = state.session.remembered.views[screen.sessionName] {
      SessionState.restore(&state, view, inView: index)
    }
    return index
  }

  /// Returns the list from whose rows a view with these keys is opened, and the row.
  private static func above(
    _ state: inout AppState, _ template: ViewDefinition, _ keys: [String: RunnelTree.Key]
  ) -> (parent: Int, record: Path)? {
    guard let from = template.from else { return nil }
    let parent: Int?
    if let view = state.tabs.templates.first(where: { $0.name == from && $0 != template }) {
      parent = list(&state, of: from, at: view.source.path.bound(to: keys))
    } else {
      parent = state.tabs.lists.firstIndex { $0.drillDown == nil && $0.definition.name == from }
    }
    guard let parent, let definition = definition(state, parent, named: from),
      let name = template.rowParameter(below: definition), let key = keys[name]
    else { return nil }
    let collection = state.tabs.lists[parent].definition.source.path
    return (parent, Path(unchecked: collection.keys + [key]))
  }

  /// The view of a list with its parameters.
  private static func definition(
    _ state: AppState, _ list: Int, named name: String
  ) -> ViewDefinition? {
    state.tabs.templates.first { $0.name == name } ?? state.tabs.lists[list].definition
  }

  /// Adds a list, in the place of one that was not shown for long if there are many; nil if all of
  /// them are needed.
  private static func add(_ state: inout AppState, _ screen: ListScreen) -> Int? {
    let opened = state.tabs.lists.indices.dropFirst(state.tabs.fixedCount)
    guard opened.count >= listsMax else {
      state.tabs.lists.append(screen)
      return state.tabs.lists.count - 1
    }
    let free = opened.filter { !isNeeded(state, $0) }
    let oldest = free.min {
      (state.tabs.lists[$0].drillDown?.shownAt ?? 0)
        < (state.tabs.lists[$1].drillDown?.shownAt ?? 0)
    }
    guard let oldest else {
      state.say(.warning, "\(listsMax) lists for rows are open, and all have unsent text")
      return nil
    }
    SessionState.remember(&state, list: oldest)
    state.tabs.lists[oldest] = screen
    state.panes.choices[.view(oldest)] = nil
    return oldest
  }

  /// Whether a list may not make room for another one: it is in front or above another list, or what
  /// was typed there is not stored.
  private static func isNeeded(_ state: AppState, _ index: Int) -> Bool {
    if state.tabs.front == .view(index) || !state.tabs.lists[index].line.draft.isEmpty {
      return true
    }
    if state.files.importing != nil || state.files.reading != nil { return true }
    let purposes =
      Array(state.requests.writes.values) + state.writes.queue.refused.map(\.purpose)
    return purposes.contains { $0.kind.list == index }
      || state.tabs.lists.contains { $0.drillDown?.parent == index }
  }
}
