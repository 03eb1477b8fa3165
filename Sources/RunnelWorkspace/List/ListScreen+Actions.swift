import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The actions of a collection.

extension ListScreen {
  /// Steps back if no layer is open: from the search, the range, the filter, or the marks.
  ///
  /// It also closes the message.
  static func stepBackInView(_ state: inout AppState) {
    state.toast = nil
    if state.trail.search != nil {
      state.trail.search = nil
    } else if state.marked.rangeStart != nil {
      state.marked.rangeStart = nil
    } else if let view = state.tabs.front.view, state.tabs.lists[view].filtering.filter != nil {
      FilterScreen.show(&state, nil, inView: view)
    } else if !state.marked.marks.isEmpty {
      Marking.clearMarks(&state)
    }
  }

  // MARK: The list

  static func changeTimeStyle(_ state: inout AppState) {
    state.settings.timeStyle = state.settings.timeStyle.next
    state.say(.info, "times are shown as \(state.settings.timeStyle.name)")
  }

  static func goToNewest(_ state: inout AppState) {
    if let view = state.tabs.front.view { goToNewest(&state, inView: view) }
  }

  /// The greatest number of pages that are fetched at once.
  static let pagesMax = 1000

  /// Fetches the next pages at the end under the cursor.
  static func fetchMoreAtCursor(_ state: inout AppState, pages: Int) {
    let pages = min(max(pages, 1), pagesMax)
    guard let screen = state.tabs.frontList else { return }
    if screen.list.cursor == .row(ListScreen.newerRow) || screen.reach.hasOnlyNewerRows {
      fetchNewer(&state, pages: pages)
    } else {
      fetchMore(&state, pages: pages)
    }
  }

  /// Whether the last command fetched a page by Enter, which goes on then; `count` is the number of
  /// commands until then.
  static func goesOnFetching(_ state: AppState, after count: Int) -> Bool {
    guard let screen = state.tabs.frontList else { return false }
    guard screen.goal.fetchedAt == count, case .row(let id)? = screen.list.cursor else {
      return false
    }
    return !ListScreen.isPlaceholder(id) && screen.reach.paging == .more
  }

  /// Goes to an end of the list if an action leads there and the end is not loaded; otherwise returns
  /// false.
  static func goesToUnloadedEnd(_ state: inout AppState, _ id: ActionID, count: Int?) -> Bool {
    guard let view = state.tabs.front.view else { return false }
    guard state.layers.isEmpty, state.pane != .views, let list = state.tabs.frontList, count == nil
    else { return false }
    if list.leadsToFarEnd(id) { return Jump.start(&state, .farEnd) }
    guard leadsToUnloadedEnd(state, id, count: count) else { return false }
    goToLiveEnd(&state, ofView: view)
    return true
  }

  /// Turns following of the newest row on, from the live end on, or off.
  static func toggleFollowing(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    state.tabs.lists[view].list.isFollowing.toggle()
    guard state.tabs.lists[view].list.isFollowing else { return }
    let end: ActionID = state.tabs.lists[view].followsAtTop ? .rowFirst : .rowLast
    if goesToUnloadedEnd(&state, end, count: nil) { return }
    let height = state.tabs.height(ofView: view, in: state.height)
    state.tabs.lists[view].goToFollowedRow(height: height)
  }

  /// Pauses the list, or makes it live again.
  static func togglePause(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    let isPaused = state.tabs.lists[view].reach.waitingCount == nil
    state.tabs.lists[view].reach.waitingCount = isPaused ? 0 : nil
    state.effects.append(.pause(view: view, isPaused))
  }

  /// Makes a paused list live again, so that requested rows are shown.
  static func resume(_ state: inout AppState, _ view: Int) {
    if state.tabs.lists[view].reach.waitingCount == nil { return }
    state.tabs.lists[view].reach.waitingCount = nil
    state.effects.append(.pause(view: view, false))
  }

  // MARK: Moving

  /// Opens the list for the row under the cursor, or else its record; fetches the next page, or folds a
  /// section.
  static func openRow(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    if case .failed = state.tabs.lists[view].reach.phase { return readAgain(&state) }
    switch state.tabs.lists[view].list.cursor {
    case .header(let section):
      state.withList { list, content, height in
        list.toggleFold(section, in: content, height: height)
      }
    case .row(ListScreen.fetchMoreRow): fetchOn(&state)
    case .row(ListScreen.newerRow): fetchNewer(&state)
    case .row where goesOnFetching(state, after: state.input.count - 1): fetchOn(&state)
    case .row: if !DrillDown.openFromRow(&state) { openRecordAtCursor(&state) }
    case nil: break
    }
  }

  /// Fetches the next page; Enter as the next command fetches another one.
  private static func fetchOn(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    fetchMore(&state)
    state.tabs.lists[view].goal.fetchedAt = state.input.count
  }

  /// Opens the record under the cursor, unfolds a section, or goes to its first row.
  static func goIntoRow(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    if case .failed = state.tabs.lists[view].reach.phase { return readAgain(&state) }
    switch state.tabs.lists[view].list.cursor {
    case .header(let section):
      state.withList { list, content, height in
        if !list.folded.contains(section), let first = content.firstRow(ofSection: section) {
          list.moveTo(.row(first), in: content, height: height)
        } else {
          list.unfold(section, in: content, height: height)
        }
      }
    case .row(ListScreen.fetchMoreRow), .row(ListScreen.newerRow), nil: break
    case .row: openRecordAtCursor(&state)
    }
  }

  private static func openRecordAtCursor(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let record = state.tabs.lists[view].cursorRecord else { return }
    open(&state, record: record.path, nil)
  }

  static func goOut(_ state: inout AppState) {
    state.withList { list, content, height in
      guard let section = list.cursorSection(in: content) else { return }
      if list.cursor == .header(section) {
        list.fold(section, in: content, height: height)
      } else {
        _ = list.moveTo(.header(section), in: content, height: height)
      }
    }
  }

  /// Fetches the next pages of the list.
  static func fetchMore(_ state: inout AppState, pages: Int = 1) {
    guard let view = state.tabs.front.view else { return }
    if case .failed = state.tabs.lists[view].reach.phase { return readAgain(&state) }
    resume(&state, view)
    state.tabs.lists[view].noteSearch()
    state.tabs.lists[view].reach.paging = .fetching
    state.effects.append(.fetchMore(view, pages: pages))
  }

  /// Fetches a page after the last loaded row is gone while others are not loaded: they move up.
  static func refill(_ state: inout AppState, inView view: Int, after change: ListChange) {
    let screen = state.tabs.lists[view]
    guard !change.removed.isEmpty, !change.isLettingGo, screen.reach.phase == .loaded,
      screen.filtering.filter == nil, screen.reach.waitingCount == nil,
      screen.content.storedRowCount == 0
    else { return }
    if screen.reach.paging == .more {
      state.tabs.lists[view].reach.paging = .fetching
      state.effects.append(.fetchMore(view, pages: 1))
    } else if screen.reach.paging == .exhausted, screen.reach.newer == .more {
      state.tabs.lists[view].reach.newer = .fetching
      state.effects.append(.fetchNewer(view, pages: 1))
    }
  }

  /// Fetches the next page if the view has `prefetch` and the cursor is near the fetch-more row.
  ///
  /// While there is a filter, older rows are searched only when the user asks for it.
  static func fetchAhead(_ state: inout AppState) {
    guard let screen = state.tabs.frontList, let distance = screen.definition.source.prefetch
    else { return }
    guard screen.reach.phase == .loaded, screen.filtering.filter == nil,
      screen.reach.waitingCount == nil
    else { return }
    let (list, content) = (screen.list, screen.content)
    func isNear(_ placeholder: String) -> Bool {
      guard let row = list.rowNumber(in: content) else { return false }
      return content.number(ofPlaceholder: placeholder).map { abs(row - $0) <= distance } ?? false
    }
    if case .more = screen.reach.paging, isNear(ListScreen.fetchMoreRow) {
      return fetchMore(&state)
    }
    if case .more = screen.reach.newer, isNear(ListScreen.newerRow) { fetchNewer(&state) }
  }

  /// Reads the rows of the list again.
  static func readListAnew(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    resume(&state, view)
    if case .row(let id)? = state.tabs.lists[view].list.cursor {
      state.tabs.lists[view].goal.want(row: id)
    }
    // What its events have told wrongly stays until it is asked.
    if state.database.origin?.hasServices == true { state.effects.append(.readOrigin) }
    readAgain(&state)
    if state.tabs.lists[view].filtering.filter != nil {
      FilterScreen.applyFilter(&state, inView: view)
    }
    state.say(.info, "\(state.tabs.lists[view].definition.name) is read again")
  }

  /// Reads the rows of a list that could not be read.
  private static func readAgain(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    state.tabs.lists[view].reach.phase = .loading
    state.effects.append(.openView(view))
    Presence.showTyping(&state, inOpenedView: view)
  }

  /// Opens a record over the list; if only a cell of the list is to be edited, the list stays visible.
  static func open(
    _ state: inout AppState, record path: Path, _ start: RecordScreen.Start?, isCell: Bool = false,
    atRow row: String? = nil
  ) {
    let name = state.tabs.frontList?.definition.name ?? "Tree"
    let resource = state.database.resources.record(at: path).flatMap { record in
      state.database.resources.place(ofRecordAround: path) == path ? record.definition : nil
    }
    var screen = RecordScreen(
      path: path, viewName: name, resource: resource, order: FieldOrder(state, ofRecordAt: path),
      coding: state.database.coding, start: start)
    screen.isCell = isCell
    screen.firstRow = row
    screen.related = Related.all(state, of: path)
    state.layers.append(.record(screen))
    state.effects.append(.openRecord(path))
    Related.count(&state, at: state.layers.count - 1)
    showKnown(&state, record: path)
  }

  /// Shows a record as the row of the list has it, if the data come from the cache.
  ///
  /// A replica tells the value of a record only when it knows all of it, which it may not without the
  /// server's answer.
  private static func showKnown(_ state: inout AppState, record path: Path) {
    guard state.database.origin?.isCached == true,
      let node = state.tabs.frontList?.records[Record.id(of: path)]?.row.node, !node.isEmpty
    else { return }
    StateReducer.show(&state, node, ofRecord: path)
  }

  // MARK: Changing

  /// Opens the record at the field that is edited first.
  static func editRecord(_ state: inout AppState) {
    guard let view = state.tabs.front.view else { return }
    guard let record = state.tabs.lists[view].cursorRecord else { return }
    let field = firstField(state, of: record, in: state.tabs.lists[view])
    let count = state.tabs.lists[view].markCount
    if count > 0, state.tabs.lists[view].look.cell == nil {
      let words = count == 1 ? "not the marked one" : "not the \(count) marked ones"
      state.say(
        .info,
        "this edits the row under the cursor, \(words): \(state.keysOrName(.cellEnter)) and "
          + "\(state.keysOrName(.recordEdit)) edit a field of those", givesWay: true)
    }
    open(
      &state, record: record.path, .field(field, like: state.tabs.lists[view].example(of: field)))
  }

  /// Returns the field of a record that is edited first: the main one, if the list shows it; otherwise
  /// the first shown text, the first shown value, or the first value of the record.
  private static func firstField(
    _ state: AppState, of record: Record, in list: ListScreen
  ) -> Path {
    let node = record.row.node ?? .empty
    let main = list.definition.mainField
    if let main, list.definition.compose == main { return main }
    let columns = RowText.rowText(state, of: list, .unicode).shownColumns
    let shown = columns.compactMap { shown -> Path? in
      if case .path(let path) = shown.column.field { path } else { nil }
    }
    if let main, shown.contains(main) { return main }
    let text = shown.first { if case .string? = node[$0].leaf { true } else { false } }
    let value = text ?? shown.first { node[$0].leaf != nil }
    let first = node.children.first { $0.node.leaf != nil }
    return value ?? first.map { Path(unchecked: [$0.key]) } ?? main ?? .root
  }

  static func addRecord(_ state: inout AppState) {
    guard let view = state.tabs.front.view, let screen = state.tabs.frontList else { return }
    if screen.definition.compose != nil { return ComposeScreen.openComposer(&state) }
    if ResourceCommands.openFormForNewRecord(
      &state, in: screen.definition.source.path, view: view)
    {
      return
    }
    FormScreen.open(&state, screen.formForNewRecord(view: view))
  }
}

extension ViewDefinition {
  /// The field that is edited first, or nil.
  var mainField: Path? {
    if let compose { return compose }
    for column in columns where column.width == nil {
      if case .path(let path) = column.field { return path }
    }
    let paths = columns.compactMap { column -> (Path, Int)? in
      if case .path(let path) = column.field { (path, column.width ?? 0) } else { nil }
    }
    return paths.max { $0.1 < $1.1 }?.0
  }
}

extension ListScreen {
  /// The greatest number of records whose fields a form for a new record has.
  private static let examplesMax = 50
  /// The greatest number of fields of a form for a new record.
  private static let newFieldsMax = 40

  /// A value of a field in one of the loaded records, or nil if none of the first ones has the field.
  ///
  /// An empty text tells nothing of the others. The first rows come first: what is made of it is the same at each start.
  func example(of field: Path) -> Leaf? {
    let shown = content.sections.lazy.flatMap(\.rows).compactMap { records[$0] }
    let examples = shown.prefix(ListScreen.examplesMax) + someRecords(ListScreen.examplesMax)
    let known = examples.lazy.compactMap { $0.row.node?[field].leaf }
    return known.first { $0 != .string("") } ?? known.first
  }

  private var firstRecord: Record? {
    for id in content.sections.lazy.flatMap(\.rows) {
      if let record = records[id], !isTransient(record) { return record }
    }
    return nil
  }

  /// Returns the fields of a form for a new record: those of the template, then those of the record under the
  /// cursor and of others, in the order of the columns.
  private func fieldsForNewRecord() -> [FormScreen.Field] {
    let fields = definition.template.filter { !$0.isComputed }.map { field in
      FormScreen.Field(
        String(field.path.description.dropFirst()), path: field.path,
        kind: FieldKind(field.value), text: FieldKind.text(of: field.value))
    }
    // What the template computes is not typed.
    var known = Set(definition.template.map(\.path))
    var others: [FormScreen.Field] = []
    let examples =
      [cursorRecord ?? firstRecord].compactMap(\.self) + someRecords(ListScreen.examplesMax)
    for child in examples.lazy.flatMap({ $0.row.node?.children ?? [] }) {
      let path = Path(unchecked: [child.key])
      guard let leaf = child.node.leaf,
        fields.count + others.count < ListScreen.newFieldsMax, known.insert(path).inserted
      else { continue }
      let input = FieldInput(kind: FieldKind(leaf.json), like: leaf)
      others.append(FormScreen.Field(path.shownText, path: path, input))
    }
    return fields + inOrderOfColumns(others)
  }

  /// Returns the fields of a record with empty ones for what other records have, in the order of the columns.
  func fields(of own: [FormScreen.Field], in record: JSONValue) -> [FormScreen.Field] {
    let members = Set((record.object ?? []).map(\.name))
    let others = fieldsForNewRecord().filter { field in
      field.path.keys.count == 1 && field.path.lastKey.map { !members.contains($0.text) } == true
    }
    // The first values of a new record are none of this one.
    let empty = others.map { field in
      field.input.editor.isEmpty
        ? field : FormScreen.Field(field.label, path: field.path, kind: field.input.kind)
    }
    return inOrderOfColumns(own + empty.prefix(max(ListScreen.newFieldsMax - own.count, 0)))
  }

  /// Returns fields in the order of the list's columns, those without a column last.
  private func inOrderOfColumns(_ fields: [FormScreen.Field]) -> [FormScreen.Field] {
    let places = Dictionary(
      definition.columns.enumerated().map { ($1.field, $0) }, uniquingKeysWith: min)
    let ranked = fields.enumerated().map { place, field in
      (places[.path(field.path)] ?? definition.columns.count, place, field)
    }
    return ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
  }

  /// Returns a form with the fields of the template, of the record under the cursor and of others.
  func formForNewRecord(view: Int) -> FormScreen {
    var fields = fieldsForNewRecord()
    // What the view computes is added to them.
    if fields.isEmpty, !definition.template.isEmpty { fields = fieldsOfColumns }
    if fields.isEmpty { fields = [FormScreen.Field("value", kind: .json)] }
    var note = ""
    if hasChosenKeys, !fields.contains(where: { $0.label == FormScreen.keyLabel }) {
      fields.append(FormScreen.Field(FormScreen.keyLabel, kind: .string))
      note = "without a key, one is made"
    }
    var form = FormScreen(
      purpose: .addRecord(view: view), title: "Add to \(definition.source.path)", fields: fields)
    form.note = note
    return form
  }

  /// The fields that the columns show, but for those that are computed: no record tells of others.
  private var fieldsOfColumns: [FormScreen.Field] {
    var known = Set(definition.template.map(\.path))
    var fields: [FormScreen.Field] = []
    for column in definition.columns {
      guard case .path(let path) = column.field, !path.isRoot, known.insert(path).inserted,
        fields.count < ListScreen.newFieldsMax
      else { continue }
      fields.append(FormScreen.Field(path.shownText, path: path, kind: column.format.kindOfNew))
    }
    return fields
  }

  /// Whether people chose the keys of the records: most of some are not generated ones.
  private var hasChosenKeys: Bool {
    let keys = someRecords(ListScreen.examplesMax).map(\.row.key)
    return keys.count { PushIDGenerator.isPushID($0) } * 2 < keys.count
  }
}

extension ColumnDefinition.Format {
  /// The kind of the values that a column most likely shows, while there is none.
  fileprivate var kindOfNew: FieldKind {
    switch self {
    case .plain: .string
    case .mark: .boolean
    case .count, .number: .number
    // Times are numbers or texts.
    case .time, .date, .age, .change: .json
    }
  }
}
