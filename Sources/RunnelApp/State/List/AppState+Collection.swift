import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// What the user does in a collection.

extension AppState {
  /// One step back where nothing is open: the search, the range, the filter, the marks; what was said
  /// is read.
  mutating func stepBackInView() {
    toast = nil
    if search != nil {
      search = nil
    } else if marked.rangeStart != nil {
      marked.rangeStart = nil
    } else if !isTree, lists[active].filter != nil {
      show(nil, inView: active)
    } else if !marked.marks.isEmpty {
      clearMarks()
    }
  }

  // MARK: The list

  mutating func changeTimeStyle() {
    timeStyle = timeStyle.next
    say(.info, "times are shown as \(timeStyle.name)")
  }

  mutating func goToNewest() { goToNewest(inView: active) }

  /// Fetches the next page at the end that the cursor is on.
  mutating func fetchMoreAtCursor() {
    if lists[active].list.cursor == .row(ListScreen.newerRow) { fetchNewer() } else { fetchMore() }
  }

  /// Goes to the end where rows arrive if a move leads there and it is not loaded; else false.
  mutating func goesToUnloadedEnd(_ id: ActionID, count: Int?) -> Bool {
    guard layers.isEmpty, pane != .views, leadsToUnloadedEnd(id, count: count) else { return false }
    goToLiveEnd(ofView: active)
    return true
  }

  /// Follows the newest row, or no longer.
  mutating func toggleFollowing() {
    lists[active].list.isFollowing.toggle()
    if lists[active].list.isFollowing { goToNewest() }
  }

  /// Holds the list as it is, or makes it live again.
  mutating func togglePause() {
    let isPaused = lists[active].waitingCount == nil
    lists[active].waitingCount = isPaused ? 0 : nil
    effects.append(.pause(view: active, isPaused))
  }

  /// Makes a paused list live again, for what is asked for now is to be seen.
  mutating func resume(_ view: Int) {
    if lists[view].waitingCount == nil { return }
    lists[view].waitingCount = nil
    effects.append(.pause(view: view, false))
  }

  // MARK: Moving

  /// Opens the record under the cursor, fetches the next page, or folds a section.
  mutating func openRow() {
    if case .failed = lists[active].phase { return readAgain() }
    switch lists[active].list.cursor {
    case .header(let section):
      withList { list, content, height in
        list.toggleFold(section, in: content, height: height)
      }
    case .row(ListScreen.pagingRow): fetchMore()
    case .row(ListScreen.newerRow): fetchNewer()
    case .row: openRecordAtCursor()
    case nil: break
    }
  }

  /// Opens the record under the cursor, unfolds a section, or goes to its first row.
  mutating func goIntoRow() {
    if case .failed = lists[active].phase { return readAgain() }
    switch lists[active].list.cursor {
    case .header(let section):
      withList { list, content, height in
        if !list.folded.contains(section), let first = content.firstRow(ofSection: section) {
          list.moveTo(.row(first), in: content, height: height)
        } else {
          list.unfold(section, in: content, height: height)
        }
      }
    case .row(ListScreen.pagingRow), .row(ListScreen.newerRow), nil: break
    case .row: openRecordAtCursor()
    }
  }

  private mutating func openRecordAtCursor() {
    guard let record = lists[active].cursorRecord else { return }
    open(record: record.path, nil)
  }

  mutating func goOut() {
    withList { list, content, height in
      guard let section = list.cursorSection(in: content) else { return }
      if list.cursor == .header(section) {
        list.fold(section, in: content, height: height)
      } else {
        _ = list.moveTo(.header(section), in: content, height: height)
      }
    }
  }

  /// Fetches the next page of the list; at the true end it says so.
  mutating func fetchMore() {
    if case .failed = lists[active].phase { return readAgain() }
    resume(active)
    lists[active].paging = .fetching
    effects.append(.fetchMore(active))
  }

  /// Fetches the next page if the view wants that and the cursor has come near to its place.
  ///
  /// While a filter is in force, older rows are searched only when the user asks for it.
  mutating func fetchAhead() {
    guard !isTree, let distance = lists[active].definition.source.prefetch else { return }
    let screen = lists[active]
    guard screen.phase == .loaded, screen.filter == nil, screen.waitingCount == nil,
      let row = screen.list.rowNumber(in: screen.content)
    else { return }
    func isNear(_ placeholder: String) -> Bool {
      screen.content.number(ofPlaceholder: placeholder).map { abs(row - $0) <= distance } ?? false
    }
    if case .more = screen.paging, isNear(ListScreen.pagingRow) { return fetchMore() }
    if case .more = screen.newer, isNear(ListScreen.newerRow) { fetchNewer() }
  }

  /// Asks for the rows of a list again that are shown.
  mutating func readListAnew() {
    resume(active)
    if case .row(let id)? = lists[active].list.cursor { lists[active].wantedRow = id }
    readAgain()
    if lists[active].filter != nil { applyFilter(inView: active) }
    say(.info, "\(lists[active].definition.name) is read again")
  }

  /// Asks for the rows of a list again that could not be read.
  private mutating func readAgain() {
    lists[active].phase = .loading
    effects.append(.openView(active))
  }

  mutating func open(record path: Path, _ start: RecordScreen.Start?) {
    let name = isTree ? "Tree" : lists[active].definition.name
    let resource = resources.record(at: path).flatMap { record in
      resources.place(ofRecordAround: path) == path ? record.definition : nil
    }
    layers.append(
      .record(RecordScreen(path: path, viewName: name, resource: resource, start: start)))
    effects.append(.openRecord(path))
  }

  // MARK: Changing

  /// Opens the record at the field that one edits most: the composed one, or the widest column.
  mutating func editRecord() {
    guard let record = lists[active].cursorRecord else { return }
    open(record: record.path, .field(lists[active].definition.mainField ?? .root))
  }

  mutating func addRecord() {
    let screen = lists[active]
    if screen.definition.compose != nil { return openComposer() }
    if openFormForNewRecord(in: screen.definition.source.path, view: active) { return }
    layers.append(.form(screen.formForNewRecord(view: active)))
  }
}

extension ViewDefinition {
  /// The field that is edited first.
  var mainField: Path? {
    if let compose { return compose }
    for column in columns where column.width == nil {
      if case .path(let path) = column.field { return path }
    }
    return nil
  }
}

extension ListScreen {
  private var firstRecord: Record? {
    for id in content.sections.lazy.flatMap(\.rows) {
      if let record = records[id], !isTransient(record) { return record }
    }
    return nil
  }

  /// A form with the fields of the template, or else with those of the record under the cursor.
  func formForNewRecord(view: Int) -> FormScreen {
    var fields: [FormScreen.Field] = []
    if definition.template.isEmpty {
      let example = cursorRecord ?? firstRecord
      for child in example?.row.node?.children ?? [] {
        guard let leaf = child.node.leaf else { continue }
        fields.append(
          FormScreen.Field(
            child.key.text, path: Path(unchecked: [child.key]), kind: FieldKind(leaf.json)))
      }
    } else {
      for field in definition.template where !field.isComputed {
        fields.append(
          FormScreen.Field(
            String(field.path.description.dropFirst()), path: field.path,
            kind: FieldKind(field.value), text: FieldKind.text(of: field.value)))
      }
    }
    if fields.isEmpty { fields = [FormScreen.Field("value", kind: .json)] }
    return FormScreen(
      purpose: .addRecord(view: view), title: "Add to \(definition.source.path)", fields: fields)
  }
}
