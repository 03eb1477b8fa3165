import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Thousands of random keys, foreign writes, sizes and hours; after each, what must always hold.
@Suite struct MonkeyTests {
  @Test(arguments: Seeds.first(2, oneOf: 10))
  func nothingBreaksUnderRandomUse(seed: UInt64) throws {
    var monkey = try Monkey(seed: seed)
    for step in 0..<600 {
      try monkey.step()
      let violations = try monkey.violations(draws: step % 5 == 0) + monkey.answerQuestion()
      try #require(violations.isEmpty, "seed \(seed), step \(step), \(monkey.last): \(violations)")
      guard step % 25 == 24 else { continue }
      let differences = try monkey.differences()
      try #require(differences.isEmpty, "seed \(seed), step \(step): \(differences)")
    }
  }
}

/// A user without a plan, with others at work on the same database.
private struct Monkey {
  private static let sizes = [(80, 24), (40, 10), (20, 5), (19, 4), (120, 40), (60, 13)]
  /// Keys that are struck more often than others.
  private static let favourites = [
    "j", "k", "Enter", "gm", "gn", "G", "gg", "]]", "[[", "za", "l", "h", "gt", "a", "e", "d", "y",
    "Esc", "PgDn", "PgUp",
  ]
  private static let texts = ["漢", "x", "3", " ", "true", "👩‍👧", "\u{301}", "{", "organizer"]

  let app: AppDriver
  /// What was done last.
  private(set) var last = ""
  private var random: SeededRandom
  private let keys = Commands.keymap.bindings.map(\.keys)
  private var messageCount = 130

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    let messages = (0..<130).map { index in
      JSONMember(
        Fixture.historyKey(index),
        Fixture.message(
          "message \(index)", at: Fixture.now - Int64(130 - index) * 5 * Fixture.hour,
          isPinned: index % 17 == 3))
    }
    let users = (0..<70).map { index in
      JSONMember(
        "u\(index)", Fixture.user("User \(index)", index % 3 == 0 ? "organizer" : "participant"))
    }
    var views = try Fixture.views()
    for index in [0, 1] { (views[index].source.page, views[index].source.hasOwnPage) = (20, true) }
    app = try AppDriver(
      views,
      json: .object([JSONMember("room", .object(messages)), JSONMember("user", .object(users))]))
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &random)
  }

  mutating func step() throws {
    switch Int.random(in: 0..<100, using: &random) {
    case ..<40: press(pick(Monkey.favourites) ?? "j")
    case ..<65: press(pick(keys) ?? "j")
    case ..<72:
      let text = pick(Monkey.texts) ?? ""
      last = "types \(text)"
      app.type(text)
    case ..<90: try write()
    case ..<94:
      let size = pick(Monkey.sizes) ?? (80, 24)
      last = "resizes to \(size)"
      app.resize(columns: size.0, rows: size.1)
    case ..<98:
      let milliseconds = pick([1, 100, 2_999, 60_000, 7_200_000] as [Int64]) ?? 1
      last = "waits \(milliseconds) ms"
      app.wait(milliseconds: milliseconds)
    default:
      last = "turns refusals on or off"
      let isOn = chance(30)
      app.backend.refusal = isOn ? DatabaseError(.locked, "locked") : nil
    }
  }

  /// Says yes to some of the questions about what to delete, and returns what is wrong.
  ///
  /// What is gone then is what the question was asked for, and nothing else.
  mutating func answerQuestion() throws -> [String] {
    guard case .question(let question)? = app.state.layers.last,
      let paths = question.removal?.paths,
      app.backend.refusal == nil, chance(50)
    else { return [] }
    last = "says yes to deleting \(paths)"
    // Others go on meanwhile, and the list below the question with them.
    try write()
    app.pump()
    let before = try app.stored("/")
    app.wait(milliseconds: Question.graceMilliseconds)
    if let word = question.word {
      app.press("C-e C-u")
      app.type(word.word)
      app.press("Enter")
    } else {
      app.press("y")
    }
    let after = try app.stored("/")
    let expected = paths.reduce(before) { $0.removing($1.keys.map(\.text)[...]) }
    return after == expected ? [] : ["\(paths) should be gone, and nothing else"]
  }

  private mutating func press(_ keys: String) {
    last = "strikes \(keys)"
    if chance(80) { app.press(keys) } else { app.strike(keys) }
  }

  /// Another process does something.
  private mutating func write() throws {
    let message = "/room/\(Fixture.historyKey(Int.random(in: 0..<messageCount, using: &random)))"
    let user = "/user/u\(Int.random(in: 0..<80, using: &random))"
    let number = Int.random(in: 0..<1000, using: &random)
    let writes: [(String, JSONValue)] = [
      (
        "/room/\(Fixture.historyKey(messageCount))",
        Fixture.message("new \(number)", at: Fixture.now)
      ),
      (message, .null), (message + "/text", .string("changed \(number)")),
      (message + "/pinned", number % 2 == 0 ? true : .null),
      (
        message + "/created",
        number % 3 == 0 ? .null : .number(JSONNumber(Int64(number) * 1_700_000_000))
      ),
      (user + "/role", number % 3 == 0 ? "guest" : number % 3 == 1 ? "organizer" : "participant"),
      (user + "/name", .string("User \(number)")), (user, .null),
      (user, Fixture.user("Back \(number)", "participant")), (message, .string("a leaf")),
      (user + "/deep/er", .number(JSONNumber(Int64(number)))), ("/other/\(number)", true),
      ("/other", .null),
    ]
    let (path, json) = number == 0 ? ("/room", JSONValue.null) : pick(writes) ?? writes[0]
    last = "writes \(path) elsewhere"
    messageCount += path.hasSuffix(Fixture.historyKey(messageCount)) ? 1 : 0
    try app.set(path, json)
  }

  // MARK: What must hold

  /// What is wrong with the state and, if it is drawn, with the screen.
  func violations(draws: Bool) -> [String] {
    let state = app.state
    let height = state.height
    var found = state.tabs.tree.list.isFit(
      state.tabs.tree.content, height, isActive: state.tabs.front == .tree)
    for (index, screen) in state.tabs.lists.enumerated() {
      // Rows of several lines count as one.
      found += screen.list.isFit(
        screen.content, state.tabs.height(ofView: index, in: height),
        isActive: state.tabs.front == .view(index))
    }
    for case .record(let screen) in state.layers {
      found += screen.list.violations(in: screen.content, height: height)
    }
    guard draws else { return found }
    found += CommandViews(state).disagreements
    let lines = app.screen
    for line in lines where CellWidth.width(of: line) > state.size.columns {
      found.append("too wide: \(line)")
    }
    let layout = state.layout
    // What may follow a key is shown over the list.
    let hidesList =
      !state.layers.isEmpty || layout.isTooSmall || layout.body.height == 0
      || state.input.matcher.isPending
    let content = state.tabs.frontList?.content ?? state.tabs.tree.content
    let isEmpty = content.sections.isEmpty
    if !hidesList, !isEmpty, app.cursorLine == "" {
      found.append(
        "the cursor is not on the screen")
    }
    return found
  }

  /// How the lists differ from what the database holds.
  func differences() throws -> [String] {
    app.pump()
    var found: [String] = []
    for screen in app.state.tabs.lists
    where screen.reach.isOpen && screen.reach.phase == .loaded && screen.reach.waitingCount == nil {
      found += try differences(of: screen)
    }
    for (path, children) in app.state.tabs.tree.expanded.sorted(by: { $0.key < $1.key })
    where children.phase == .loaded {
      let query = try Query(path).ordered(by: .key)
      let stored = try app.backend.session.rows(query, detail: .shallow)
      let shown = children.rows.map(\.row)
      if Array(stored.prefix(shown.count)) != shown { found.append("tree: \(path) differs") }
      if children.paging == .exhausted, stored.count != shown.count {
        found.append("tree: \(path) has \(stored.count) children, \(shown.count) are shown")
      }
    }
    return found
  }

  private func differences(of screen: ListScreen) throws -> [String] {
    let view = screen.definition
    let query = try Query(view.source.path).ordered(by: view.source.order)
    let stored = try app.backend.session.rows(query, detail: .full)
    let all = Dictionary(uniqueKeysWithValues: stored.map { ($0.key.text, $0) })
    var shown: [String] = []
    var found = screen.bookkeepingMistakes
    for section in screen.content.sections {
      for id in section.rows where !ListScreen.isPlaceholder(id) && id != screen.composeRow {
        guard let record = screen.records[id], let row = all[record.row.key.text] else {
          found.append("\(view.name): \(id) is shown and not stored")
          continue
        }
        shown.append(row.key.text)
        if record.row.node != row.node { found.append("\(view.name): \(id) is out of date") }
        let place = SectionID(of: row.node ?? .empty, key: row.key, in: view, local: .utc)
        if place.text != section.id { found.append("\(view.name): \(id) is in \(section.id)") }
      }
    }
    if Set(shown).count != shown.count { found.append("\(view.name): a row is shown twice") }
    if let filter = screen.filtering.filter {
      return found + differences(of: screen, filter, stored, shown: Set(shown))
    }
    let pinned = view.also.isEmpty ? [] : stored.filter { $0.node?.json["pinned"] == true }
    let expected = Set(pinned.map(\.key.text)).union(try window(of: screen, stored, Set(shown)))
    if expected != Set(shown) {
      let difference = expected.symmetricDifference(shown).sorted()
      found.append("\(view.name): shown or stored, not both: \(difference)")
    }
    return found
  }

  /// What a filtered list shows against its filter, or does not show although it knows all rows.
  private func differences(
    of screen: ListScreen, _ filter: Filter, _ stored: [TreeRow], shown: Set<String>
  ) -> [String] {
    let view = screen.definition
    let matcher = FilterMatcher(
      filter, in: view, FilterMatcher.Surroundings(me: app.state.database.me))
    let wanted = Set(
      stored.filter { matcher.wants(Record($0, in: view.source.path)) }.map(\.key.text))
    let isWhole = screen.reach.paging == .exhausted && !screen.reach.isAway
    let isRight = isWhole ? shown == wanted : shown.isSubset(of: wanted)
    if isRight { return [] }
    let difference = wanted.symmetricDifference(shown).sorted()
    return ["\(view.name), filtered by \(filter.text): shown or wanted, not both: \(difference)"]
  }

  /// The keys of the rows that the paged query has to show: from the live end to the last row shown,
  /// or all; after a jump, from the first row shown.
  private func window(
    of screen: ListScreen, _ stored: [TreeRow], _ shown: Set<String>
  ) throws -> [String] {
    if screen.reach.paging == .exhausted, !screen.reach.isAway { return stored.map(\.key.text) }
    let isLast = screen.definition.source.anchor == .last
    let ordered = isLast ? stored.reversed() : stored
    // A pinned row may be shown for another reason, so the boundary is an ordinary one.
    let isOrdinary: (TreeRow) -> Bool = { row in
      shown.contains(row.key.text)
        && (screen.definition.also.isEmpty || row.node?.json["pinned"] != true)
    }
    guard let end = ordered.lastIndex(where: isOrdinary) else { return [] }
    let last = screen.reach.paging == .exhausted ? ordered.index(before: ordered.endIndex) : end
    let first =
      screen.reach.isAway ? ordered.firstIndex(where: isOrdinary) ?? end : ordered.startIndex
    return ordered[first...last].map(\.key.text)
  }
}

extension ListState {
  /// What is wrong with a list; one in the background is fitted to the screen when it is opened.
  fileprivate func isFit(_ content: ListContent, _ height: Int, isActive: Bool) -> [String] {
    var state = self
    if !isActive { state.resize(toHeight: height, in: content) }
    return state.violations(in: content, height: height)
  }
}

extension JSONValue {
  /// The value without what stands at a place; an object that loses its last member goes too.
  fileprivate func removing(_ keys: ArraySlice<String>) -> JSONValue {
    guard let key = keys.first else { return .null }
    guard case .object(let members) = self else { return self }
    let left = members.compactMap { member -> JSONMember? in
      guard member.name == key else { return member }
      let value = member.value.removing(keys.dropFirst())
      return value == .null ? nil : JSONMember(member.name, value)
    }
    return left.isEmpty ? .null : .object(left)
  }
}

extension ListScreen {
  /// How what the list keeps beside its rows differs from what is found by a look at all of them.
  fileprivate var bookkeepingMistakes: [String] {
    var found: [String] = []
    let ids = Set(content.sections.flatMap(\.rows))
      .subtracting([ListScreen.fetchMoreRow, ListScreen.newerRow])
    if Set(records.keys) != ids {
      found.append("records: \(Set(records.keys).symmetricDifference(ids).sorted())")
    }
    if Set(headings.all.keys) != Set(content.sections.map(\.id)) { found.append("headings differ") }
    for section in content.sections {
      let count = section.rows.count { !ListScreen.isPlaceholder($0) && $0 != composeRow }
      let words = headings.all[section.id]?.detail.text ?? ""
      if words.split(separator: " ").first.map(String.init) != "\(count)" {
        found.append("\(section.id) has \(count) rows, and says \(words)")
      }
    }
    if !news.unread.isSettled(in: self) {
      found.append("the line of the unread rows stands elsewhere")
    }
    return found
  }
}

extension Unread {
  /// True if the line stands beside the first unread row, or the last one.
  fileprivate func isSettled(in screen: ListScreen) -> Bool {
    guard let divider = screen.content.divider else { return true }
    let content = screen.content
    let paths = content.sections.indices.flatMap { section in
      content.sections[section].rows.indices.map { ListIndexPath(section: section, row: $0) }
    }.filter { content.row(at: $0).map(rows.contains) ?? false }
    guard let edge = screen.isLiveAtBottom ? paths.first : paths.last else { return false }
    let row = screen.isLiveAtBottom ? edge.row : edge.row + 1
    return divider == ListIndexPath(section: edge.section, row: row)
  }
}
