import RunnelBase
import RunnelStreams
import RunnelTerminal
package import RunnelTree

/// A row far away that the cursor goes to; the rows around it are read, and those between are not.
package enum Jump: Hashable, Sendable {
  /// The row at the end opposite to the one where rows arrive.
  case farEnd
  /// The row with a key, or the next one.
  case key(RunnelTree.Key)
  /// The first row with this value of a field, or the next one.
  case value(IndexValue, field: Path)
  /// A record whose place in the order is known by its value; `isNamed` tells that the user named its key.
  case record(RunnelTree.Key, IndexValue, isNamed: Bool = true)
  /// The row with a number among all rows, which is fetched with those before it; `isReadAnew` tells that
  /// the list is read again from the end where rows arrive.
  case number(Int, isReadAnew: Bool)
}

extension Jump {
  /// The place in the order of a list, around which the rows are read; nil if the order has no such
  /// place.
  package func position(in source: SourceDefinition) -> IndexPosition? {
    let index = source.order
    switch self {
    case .farEnd:
      let isAtEnd = source.anchor == .first
      if case .compound(let order) = index {
        let end = IndexTuple.Element(isAtEnd ? .highest : .lowest, isDescending: false)
        return order.isKeyDescending
          ? nil
          : IndexPosition(value: .tuple(IndexTuple([end])), key: isAtEnd ? .maximum : .minimum)
      }
      if index == .key { return IndexPosition(value: .null, key: isAtEnd ? .maximum : .minimum) }
      return isAtEnd
        ? IndexPosition(value: .children, key: .maximum)
        : IndexPosition(value: .null, key: .minimum)
    case .key(let key): return index == .key ? IndexPosition(value: .null, key: .key(key)) : nil
    case .value(let value, _):
      return source.position(ofFirst: value)
    case .record(let key, let value, _): return IndexPosition(value: value, key: .key(key))
    case .number: return nil
    }
  }
}

extension SourceDefinition {
  /// The field below a record that the rows are sorted by first, and whether its greater values are shown
  /// first; nil if the rows are sorted by something else.
  fileprivate var firstField: (path: Path, isDescending: Bool)? {
    guard let key = order.sortKeys.first, case .child(let path) = key.field else { return nil }
    return (path, key.isDescending != isDescending)
  }

  /// The place before all rows with a value of the first field, as they are shown; nil if the rows are
  /// sorted by no field.
  fileprivate func position(ofFirst value: IndexValue) -> IndexPosition? {
    guard let first = order.sortKeys.first, case .child = first.field else { return nil }
    let key = isDescending ? IndexPosition.KeyBound.maximum : .minimum
    guard case .compound(let compound) = order else {
      return IndexPosition(value: value, key: key)
    }
    var elements = [IndexTuple.Element(.value(value), isDescending: first.isDescending)]
    if compound.parts.count > 1 || compound.isKeyDescending {
      elements.append(.init(isDescending ? .highest : .lowest, isDescending: false))
    }
    return IndexPosition(value: .tuple(IndexTuple(elements)), key: key)
  }
}

// MARK: - The list

extension ListScreen {
  /// Whether the end opposite to the one where rows arrive can be read without the rows between.
  var canJumpToFarEnd: Bool {
    guard reach.phase == .loaded, filtering.filter == nil, reach.waitingCount == nil,
      definition.source.keep != nil,
      reach.paging != .exhausted, reach.paging != .fetching
    else { return false }
    return Jump.farEnd.position(in: definition.source) != nil
  }

  /// Whether an action goes to the end opposite to the one where rows arrive, and that end is not
  /// loaded.
  ///
  /// From the live end of a history, the first press goes to the oldest loaded row, and the second to
  /// the oldest of all.
  func leadsToFarEnd(_ action: ActionID) -> Bool {
    guard action == (isLiveAtBottom ? .rowFirst : .rowLast), canJumpToFarEnd else { return false }
    return !isLiveAtBottom || isAtLoadedEnd
  }

  /// Whether the cursor is at the first loaded row, or on what stands above it.
  private var isAtLoadedEnd: Bool {
    switch list.cursor {
    case .header(let section): content.sections.first?.id == section
    case .row(let id): content.sections.first { !$0.rows.isEmpty }?.rows.first == id
    case nil: false
    }
  }

  /// Moves the cursor from the line that says that there is no more, where going to the last line has
  /// put it, to the last record.
  mutating func stepOntoLastRecord(height: Int) {
    guard case .row(let id)? = list.cursor, ListScreen.isPlaceholder(id),
      (id == ListScreen.newerRow ? reach.newer : reach.paging) == .exhausted,
      let last = lastRecordRow
    else { return }
    list.moveTo(.row(last), in: content, height: height)
  }

  /// The last row that is no fetch-more row; nil if there is none.
  private var lastRecordRow: String? {
    for rows in content.sections.reversed().lazy.map(\.rows) where !rows.isEmpty {
      if !ListScreen.isPlaceholder(rows[rows.count - 1]) { return rows[rows.count - 1] }
      if rows.count > 1 { return rows[rows.count - 2] }
    }
    return nil
  }

  /// Ends the jump if its rows have come with a change; `fetched` are the rows whose page has come.
  mutating func finishJump(after change: ListChange, fetched: [String], height: Int) {
    guard let jump = goal.jump else { return }
    let isFetch = if case .number(_, isReadAnew: false) = jump { true } else { false }
    guard isFetch ? !fetched.isEmpty : change.isLettingGo else { return }
    goal.endReading()
    finish(jump, height: height)
    if !isFetch { list.clearNewRows() }
  }

  /// Moves the cursor to the row of a jump, after the rows around it have come.
  private mutating func finish(_ jump: Jump, height: Int) {
    let isDescending = definition.source.isDescending
    switch jump {
    case .farEnd:
      if isLiveAtBottom {
        list.moveToFirst(in: content, height: height)
      } else {
        goToFirst(height: height) { _ in false }
      }
    case .key(let key):
      goToFirst(height: height) { record in
        isDescending ? record.row.key <= key : record.row.key >= key
      }
    case .value(let value, let field):
      let isFalling = definition.source.firstField?.isDescending ?? isDescending
      goToFirst(height: height) { record in
        let own = IndexValue(record.row.node?[field] ?? .empty)
        return isFalling ? own <= value : own >= value
      }
    case .record(let key, let value, _):
      let isThere = hasRow(Record.id(of: Path(unchecked: definition.source.path.keys + [key])))
      let position = IndexPosition(value: value, key: .key(key))
      goToFirst(height: height) { record in
        if isThere { return record.row.key == key }
        return isDescending ? record.row.position <= position : record.row.position >= position
      }
    case .number(let number, _): goToRow(number, height: height)
    }
  }

  /// The numbers of the loaded rows among all rows, or among those that the filter shows; nil if they are
  /// not known, because rows before them are not loaded.
  var loadedNumbers: Range<Int>? {
    let count = content.storedRowCount
    if let first = numberInAll(ofLoaded: 1)?.number { return first..<first + count }
    let reachesStart = isLiveAtBottom ? reach.paging == .exhausted : !reach.isAway
    // Rows that are not loaded may stand in any section.
    let isOneSeries = definition.also.isEmpty && definition.sections.isEmpty
    return isComplete || (reachesStart && isOneSeries) ? 1..<1 + count : nil
  }

  /// Moves the cursor to the loaded row with a number; does nothing if that row is not loaded.
  mutating func goToRow(_ number: Int, height: Int) {
    guard let numbers = loadedNumbers, numbers.contains(number) else { return }
    let before = content.sections.first?.rows.first.map { ListScreen.isPlaceholder($0) } ?? false
    list.moveToRow(
      number: number - numbers.lowerBound + (before ? 2 : 1), in: content, height: height)
  }

  /// Returns the number of pages with which a row that is not loaded comes, or nil if it cannot be
  /// fetched from the loaded rows on.
  func pages(toRow number: Int) -> Int? {
    guard reach.phase == .loaded, reach.paging == .more, filtering.filter == nil,
      numberInAll(ofLoaded: 1) != nil,
      let total = reach.total, number >= 1, number <= total, let numbers = loadedNumbers
    else { return nil }
    let missing = isLiveAtBottom ? numbers.lowerBound - number : number - numbers.upperBound + 1
    if missing <= 0 { return nil }
    let pages = (missing + definition.source.page - 1) / definition.source.page
    return pages <= ListScreen.pagesMax ? pages : nil
  }

  /// Returns how many rows are to be read from the end where rows arrive, so that a row comes with them;
  /// nil if rows have no numbers here, there is no such row, or it is too far away.
  func rowsToReadAnew(toRow number: Int) -> Int? {
    guard reach.phase == .loaded, filtering.filter == nil, definition.also.isEmpty,
      definition.sections.isEmpty,
      let total = reach.total, number >= 1, number <= total
    else { return nil }
    let count = isLiveAtBottom ? total - number + 1 : number
    return count <= ListScreen.pagesMax * definition.source.page ? count : nil
  }

  /// Moves the cursor to the first row that fits, or else to the last one.
  private mutating func goToFirst(height: Int, _ fits: (Record) -> Bool) {
    var last: String?
    for id in content.sections.lazy.flatMap(\.rows) {
      guard let record = records[id], !isTransient(record) else { continue }
      last = id
      if fits(record) { break }
    }
    if let last { list.moveTo(.row(last), in: content, height: height) }
  }

  /// The number of a row among all rows of the collection, from its number among the loaded ones;
  /// nil if it is not known.
  ///
  /// It is known if the loaded rows reach one of the ends, and stand in the order of the collection.
  func numberInAll(ofLoaded number: Int) -> (number: Int, total: Int)? {
    guard filtering.filter == nil, definition.also.isEmpty, definition.sections.isEmpty,
      let total = reach.total,
      passing.rows.isEmpty
    else { return nil }
    let loaded = content.storedRowCount
    if total < loaded { return nil }
    // Above the first loaded row nothing is missing.
    if isLiveAtBottom ? reach.paging == .exhausted : !reach.isAway { return (number, total) }
    if isLiveAtBottom ? !reach.isAway : reach.paging == .exhausted {
      return (total - loaded + number, total)
    }
    return nil
  }
}

// MARK: - Jumping

extension Jump {
  /// Requests the rows around the place of a jump, in the list in front or in another view; returns false if
  /// the order has no such place.
  ///
  /// `count` is the number of rows at each side; nil for a page.
  @discardableResult
  static func start(
    _ state: inout AppState, _ jump: Jump, inView view: Int? = nil, count: Int? = nil
  ) -> Bool {
    guard let view = view ?? state.tabs.front.view,
      let position = jump.position(in: state.tabs.lists[view].definition.source)
    else { return false }
    ListScreen.resume(&state, view)
    state.tabs.lists[view].goal.read(jump)
    state.tabs.lists[view].unloading.totalWhenAsked = state.tabs.lists[view].reach.total
    state.effects.append(.goTo(view: view, position, count: count))
    return true
  }

  /// Goes to what a text names: a key, a number of a row, or a time; returns the error in it, or nil.
  static func go(_ state: inout AppState, to text: String) -> String? {
    guard let view = state.tabs.front.view, let screen = state.tabs.frontList else { return nil }
    let words = text.trimmingBlanks
    if words.isEmpty { return "go takes a key, the number of a row, or a date" }
    // What was said about an earlier jump is not true of this one.
    if state.toast?.toast.kind == .info { state.toast = nil }
    let source = screen.definition.source
    let path = (try? Key(words)).map { Path(unchecked: source.path.keys + [$0]) }
    let id = path.map { Record.id(of: $0) }
    if !state.layers.isEmpty { return open(&state, path, words) }
    if let id, screen.hasRow(id) {
      state.withList { list, content, height in
        list.moveTo(.row(id), in: content, height: height)
      }
      if Int(words) != nil { state.say(.info, "\(words) is the key of this record") }
      return nil
    }
    if let moments = moments(state, words), let first = source.firstField {
      guard let jump = time(state, moments, first) else {
        return noTimes(state, words, first.path)
      }
      return start(&state, jump) ? nil : "the rows are not sorted by \(first.path.text)"
    }
    guard let path, let key = path.lastKey else {
      let isTime = moments(state, words) != nil
      return "\(words) can be no key" + (isTime ? ", and the rows are not sorted by a time" : "")
    }
    if let number = Int(words) {
      // Whether a record has this key, is not to depend on what is loaded.
      state.ask(.value(path), for: .numberOrKey(path, number, view: view))
      return nil
    }
    // Where the rows stand in another order, the record tells its place; and so does one that only the origin
    // knows. A date is a key only if a record has it.
    if state.database.origin?.isDisconnected == false || wordsOnDate(state, key) != nil
      || !start(&state, .key(key))
    {
      state.ask(.value(path), for: .numberOrKey(path, nil, view: view))
    }
    return nil
  }

  /// Opens the record with a key in the place of what is open over the list.
  private static func open(_ state: inout AppState, _ path: Path?, _ words: String) -> String? {
    guard let view = state.tabs.front.view else { return nil }
    guard let path, state.tabs.lists[view].hasRow(Record.id(of: path)) else {
      let other = path.map { ": :\($0) opens a record by its path" } ?? ""
      return "\(words) is no key of a loaded row\(other)"
    }
    PaletteScreen.goTo(&state, path)
    return nil
  }

  /// Asks the origin for a record that is not known here; returns false if there is no need, or nobody to ask.
  static func asksOrigin(
    _ state: inout AppState, _ node: RunnelTree.Node, at path: Path, number: Int?, view: Int
  ) -> Bool {
    guard node.isEmpty, let origin = state.database.origin, !origin.isDisconnected else {
      return false
    }
    let id = state.requests.add(.numberOrKeyThere(path, number, view: view))
    state.effects.append(.find(id, path))
    return true
  }

  /// Goes to the record with a key; if there is none and the key is a number, to the row with this number.
  ///
  /// `node` is what stands at the place of the record.
  static func take(
    _ state: inout AppState, _ node: RunnelTree.Node, at path: Path, number: Int?, view: Int
  ) {
    // The user may have gone elsewhere meanwhile.
    guard let key = path.lastKey, let list = state.tabs.frontList, state.tabs.front == .view(view),
      state.layers.isEmpty
    else { return }
    if node.isEmpty {
      if let number { return goToRow(&state, number, key) }
      if let words = wordsOnDate(state, key) { return state.say(.info, words) }
      if !start(&state, .key(key)) { state.say(.info, "there is no \(key.text) here") }
      return
    }
    let order = list.definition.source.order
    let value = order.value(of: Child(key: key, node: node))
    start(&state, order == .key ? .key(key) : .record(key, value))
  }

  /// Goes to the row with a number, which is fetched if it is not loaded; says that the number is no key.
  private static func goToRow(
    _ state: inout AppState, _ number: Int, _ key: RunnelTree.Key
  ) {
    guard let view = state.tabs.front.view else { return }
    let screen = state.tabs.lists[view]
    if screen.loadedNumbers?.contains(number) == true {
      let height = state.tabs.frontHeight(in: state.height)
      state.tabs.lists[view].goToRow(number, height: height)
    } else if let pages = screen.pages(toRow: number) {
      ListScreen.fetchMore(&state, pages: pages)
      state.tabs.lists[view].goal.read(.number(number, isReadAnew: false))
      return
    } else if let count = screen.rowsToReadAnew(toRow: number) {
      ListScreen.resume(&state, view)
      state.tabs.lists[view].goal.read(.number(number, isReadAnew: true))
      state.tabs.lists[view].unloading.totalWhenAsked = screen.reach.total
      state.effects.append(.goToLiveEnd(view, count: count))
      return
    }
    state.say(.info, rowWords(number, state.tabs.lists[view]))
  }

  /// The words that the cursor is on the row with a number, or that this row is not there.
  private static func rowWords(_ number: Int, _ screen: ListScreen) -> String {
    let noKey = "no record has the key \(number)"
    let all = screen.filtering.filter == nil ? "" : " that fit the filter"
    if let numbers = screen.loadedNumbers, numbers.contains(number) {
      let count =
        screen.isComplete
        ? numbers.count : screen.filtering.filter == nil ? screen.reach.total : nil
      let place = count.map { " of \($0)" } ?? ""
      return "\(noKey): this is row \(number)\(place)" + (all.isEmpty ? "" : " of those\(all)")
    }
    if let total = screen.reach.total, screen.filtering.filter == nil,
      !(1...max(total, 1)).contains(number)
    {
      return "\(noKey), and there is no row \(number): the collection has \(total)"
    }
    guard let numbers = screen.loadedNumbers, let first = numbers.first, let last = numbers.last
    else {
      return "\(noKey), and the rows here have no numbers before all are loaded"
    }
    return "\(noKey), and row \(number) is not loaded: here are the rows \(first) to \(last)\(all)"
  }

  /// Says whether the cursor is on the key or the row that it was to go to.
  func sayWhatIsThere(_ state: inout AppState) {
    guard let screen = state.tabs.frontList else { return }
    switch self {
    case .key(let key), .record(let key, _, _):
      guard screen.reach.phase == .loaded else { return }
      guard screen.cursorRecord?.row.key != key else {
        if case .record(_, _, isNamed: false) = self { return }
        if Int(key.text) != nil { state.say(.info, "\(key.text) is the key of this record") }
        return
      }
      let nearest = screen.cursorRecord == nil ? "" : "; this is the nearest row"
      state.say(.info, "there is no \(key.text) here\(nearest)")
    case .number(let number, _): state.say(.info, Jump.rowWords(number, screen))
    case .farEnd, .value: break
    }
  }

  /// Words that a date names no row, as the rows are sorted by keys that are no dates; nil if it does.
  private static func wordsOnDate(_ state: AppState, _ key: RunnelTree.Key) -> String? {
    guard let screen = state.tabs.frontList else { return nil }
    guard screen.definition.source.order == .key, FieldProfile.isDate(key.text),
      moments(state, key.text) != nil
    else { return nil }
    let records = screen.someRecords(20)
    if records.isEmpty || records.contains(where: { FieldProfile.isDate($0.row.key.text) }) {
      return nil
    }
    let dates = screen.definition.columns.first { [.date, .time, .age].contains($0.format) }
    let column = dates.map { "by \($0.field.title)" } ?? "by a column of dates"
    return state.phrase(
      "the rows are sorted by key, and no key is \(key.text)", .sortMenu,
      "sorts them \(column), and :go finds the date")
  }

  /// Returns the moments that a text names, or nil if it names none.
  private static func moments(_ state: AppState, _ text: String) -> MomentRange? {
    let reader = MomentReader(now: state.now, local: state.settings.local)
    let stored = ZonedText(text).map {
      MomentRange(start: $0.milliseconds, end: $0.milliseconds + 1)
    }
    return stored ?? reader.value(text.replacingBlanks(by: "T")).moments
  }

  /// Returns the jump to a time in a field that the rows are sorted by; nil if no loaded row has a time there
  /// whose order is that of time.
  private static func time(
    _ state: AppState, _ moments: MomentRange, _ order: (path: Path, isDescending: Bool)
  ) -> Jump? {
    guard let list = state.tabs.frontList else { return nil }
    let field = order.path
    // The first row of a day is the last one in time where the latest stand first.
    let moment = order.isDescending ? max(moments.start, moments.end - 1) : moments.start
    for record in list.someRecords(20) {
      switch record.row.node?[field].leaf {
      case .number(let number)?:
        guard let stored = number.integer, StoredTime.contains(stored) else { continue }
        let isSeconds = StoredTime.seconds.contains(stored)
        return .value(
          .leaf(.number(JSONNumber(isSeconds ? moment / 1000 : moment))), field: field)
      case .string(let text)? where FieldProfile.isDate(text):
        let bound = DateText.bound(
          of: moment, like: text, isBehind: order.isDescending, state.settings.local)
        return .value(.leaf(.string(bound)), field: field)
      case .string?, .bool?, nil: continue
      }
    }
    return nil
  }

  /// The words that no time can be gone to, because the field that the rows are sorted by holds none.
  private static func noTimes(_ state: AppState, _ text: String, _ field: Path) -> String {
    guard let list = state.tabs.frontList else { return "" }
    if SortedTexts(in: list, sortedBy: field) == .dates {
      let term = FilterCompletion.quotedName(field.shownText) + ":" + FilterCompletion.quoted(text)
      return "\(field.shownText) holds dates as texts, sorted by characters: f \(term) finds one"
    }
    return "the rows are sorted by \(field.shownText), which holds no times: s sorts by others"
  }
}

extension String {
  /// The text without blanks at both ends.
  fileprivate var trimmingBlanks: String {
    String(trimmingPrefix { $0 == " " }.reversed().trimmingPrefix { $0 == " " }.reversed())
  }

  /// The text with another sign for each blank.
  fileprivate func replacingBlanks(by sign: Character) -> String {
    String(map { $0 == " " ? sign : $0 })
  }
}

extension PaletteCommand {
  package static let go = PaletteCommand(
    name: "go", hint: "KEY|DATE|N", ownTitle: "go to",
    description: "go to a key, a time, or the row with a number", argument: .text,
    tabs: .lists(else: "the tree has no order to go along"),
    ownReason: { ListCommands.reasonNoRows($0) },
    run: { Jump.go(&$0, to: $1) })
}
