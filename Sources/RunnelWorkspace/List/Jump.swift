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
  /// The row with a number among all rows, which is fetched with those before it.
  case number(Int)
}

extension Jump {
  /// The place in the order of a list, around which the rows are read; nil if the order has no such
  /// place.
  func position(in source: SourceDefinition) -> IndexPosition? {
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
      if case .child = index {} else { return nil }
      return IndexPosition(value: value, key: source.isDescending ? .maximum : .minimum)
    case .number: return nil
    }
  }
}

// MARK: - The list

extension ListScreen {
  /// Whether the end opposite to the one where rows arrive can be read without the rows between.
  var canJumpToFarEnd: Bool {
    guard phase == .loaded, filter == nil, waitingCount == nil, definition.source.keep != nil,
      paging != .exhausted, paging != .fetching
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
      (id == ListScreen.newerRow ? newer : paging) == .exhausted, let last = lastRecordRow
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
    guard let jump else { return }
    let isNumber = if case .number = jump { true } else { false }
    guard isNumber ? !fetched.isEmpty : change.isLettingGo else { return }
    self.jump = nil
    finish(jump, height: height)
    if !isNumber { list.clearNewRows() }
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
      goToFirst(height: height) { record in
        let own = IndexValue(record.row.node?[field] ?? .empty)
        return isDescending ? own <= value : own >= value
      }
    case .number(let number): goToRow(number, height: height)
    }
  }

  /// The numbers of the loaded rows among all rows, as far as they are known, or else among the loaded
  /// ones.
  var loadedNumbers: Range<Int> {
    let first = numberInAll(ofLoaded: 1)?.number ?? 1
    return first..<first + content.storedRowCount
  }

  /// Moves the cursor to the loaded row with a number; does nothing if that row is not loaded.
  mutating func goToRow(_ number: Int, height: Int) {
    let numbers = loadedNumbers
    guard numbers.contains(number) else { return }
    let before = content.sections.first?.rows.first.map { ListScreen.isPlaceholder($0) } ?? false
    list.moveToRow(
      number: number - numbers.lowerBound + (before ? 2 : 1), in: content, height: height)
  }

  /// Returns the number of pages with which a row that is not loaded comes, or nil if it cannot be
  /// fetched from the loaded rows on.
  func pages(toRow number: Int) -> Int? {
    guard phase == .loaded, paging == .more, filter == nil, numberInAll(ofLoaded: 1) != nil,
      let total, number >= 1, number <= total
    else { return nil }
    let numbers = loadedNumbers
    let missing = isLiveAtBottom ? numbers.lowerBound - number : number - numbers.upperBound + 1
    if missing <= 0 { return nil }
    let pages = (missing + definition.source.page - 1) / definition.source.page
    return pages <= ListScreen.pagesMax ? pages : nil
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
    guard filter == nil, definition.also.isEmpty, definition.sections.isEmpty, let total,
      transientRows.isEmpty
    else { return nil }
    let loaded = content.storedRowCount
    if total < loaded { return nil }
    // Above the first loaded row nothing is missing.
    if isLiveAtBottom ? paging == .exhausted : !isAway { return (number, total) }
    if isLiveAtBottom ? !isAway : paging == .exhausted {
      return (total - loaded + number, total)
    }
    return nil
  }
}

// MARK: - Jumping

extension Jump {
  /// Requests the rows around the place of a jump; returns false if the order has no such place.
  @discardableResult
  static func start(_ state: inout AppState, _ jump: Jump) -> Bool {
    guard let position = jump.position(in: state.tabs.front.definition.source) else { return false }
    ListScreen.resume(&state, state.tabs.index)
    state.tabs.front.jump = jump
    state.tabs.front.totalWhenAsked = state.tabs.front.total
    state.effects.append(.goTo(view: state.tabs.index, position))
    return true
  }

  /// Goes to what a text names: a key, a number of a row, or a time; returns the error in it, or nil.
  static func go(_ state: inout AppState, to text: String) -> String? {
    let screen = state.tabs.front
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
      return nil
    }
    if case .child(let field) = source.order.forward, let jump = time(state, words, field) {
      return start(&state, jump) ? nil : "the rows are not sorted by \(field.text) alone"
    }
    if let number = Int(words), source.order != .key || !hasNumbers(screen) {
      return goToRow(&state, number)
    }
    guard let path, let key = path.lastKey else { return "\(words) can be no key" }
    if start(&state, .key(key)) { return nil }
    return "the rows are not sorted by key: :\(path) opens the record, :sort $key sorts them"
  }

  /// Opens the record with a key in the place of what is open over the list.
  private static func open(_ state: inout AppState, _ path: Path?, _ words: String) -> String? {
    guard let path, state.tabs.front.hasRow(Record.id(of: path)) else {
      let other = path.map { ": :\($0) opens a record by its path" } ?? ""
      return "\(words) is no key of a loaded row\(other)"
    }
    PaletteScreen.goTo(&state, path)
    return nil
  }

  /// Whether the keys of a list are numbers, so that a number means a key.
  private static func hasNumbers(_ screen: ListScreen) -> Bool {
    screen.someRecords(5).allSatisfy { Int($0.row.key.text) != nil }
  }

  /// Goes to the row with a number, which is fetched if it is not loaded.
  private static func goToRow(_ state: inout AppState, _ number: Int) -> String? {
    let screen = state.tabs.front
    if screen.loadedNumbers.contains(number) {
      let height = state.tabs.frontHeight(in: state.height)
      state.tabs.front.goToRow(number, height: height)
      return nil
    }
    guard let pages = screen.pages(toRow: number) else { return notLoaded(number, screen) }
    ListScreen.fetchMore(&state, pages: pages)
    state.tabs.front.jump = .number(number)
    return nil
  }

  /// The words that a row is not loaded, or that there is none with this number.
  private static func notLoaded(_ number: Int, _ screen: ListScreen) -> String {
    let numbers = screen.loadedNumbers
    if let total = screen.total, screen.filter == nil, !(1...max(total, 1)).contains(number) {
      return "there is no row \(number): the collection has \(total)"
    }
    return
      "row \(number) is not loaded: here are the rows \(numbers.lowerBound) to \(numbers.upperBound - 1)"
  }

  /// Says that a key or a row that the cursor was to go to is not there.
  func sayWhatIsNotThere(_ state: inout AppState) {
    let screen = state.tabs.front
    switch self {
    case .key(let key):
      guard screen.phase == .loaded, screen.cursorRecord?.row.key != key else { return }
      let nearest = screen.cursorRecord == nil ? "" : "; this is the nearest row"
      state.say(.info, "there is no \(key.text) here\(nearest)")
    case .number(let number):
      if !screen.loadedNumbers.contains(number) {
        state.say(.info, Jump.notLoaded(number, screen))
      }
    case .farEnd, .value: break
    }
  }

  /// Returns the jump to a time in a field that the rows are sorted by; nil if the text is no time, or
  /// the field holds none.
  private static func time(_ state: AppState, _ text: String, _ field: Path) -> Jump? {
    let reader = MomentReader(now: state.now, local: state.settings.local)
    let example = state.tabs.front.someRecords(20).lazy
      .compactMap { $0.row.node?[field].leaf }.first
    guard let moments = reader.value(text.replacingBlanks(by: "T")).moments else { return nil }
    switch example {
    case .number(let number)?:
      let isSeconds = number.integer.map(StoredTime.seconds.contains) == true
      let start = isSeconds ? moments.start / 1000 : moments.start
      return .value(.leaf(.number(JSONNumber(start))), field: field)
    case .string?:
      let civil = state.settings.local.civil(moments.start)
      return .value(.leaf(.string(civil.dateText)), field: field)
    case .bool?, nil: return nil
    }
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
    name: "go", hint: "KEY|DATE|N", description: "go to a key, a time, or the row with a number",
    argument: .text,
    disabledReason: {
      $0.tabs.isTree
        ? "the tree has no order to go along" : ListCommands.reasonNoRows($0)
    },
    run: { Jump.go(&$0, to: $1) })
}
