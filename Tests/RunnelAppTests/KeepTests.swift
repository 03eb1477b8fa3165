import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Lists that are left open: what they let go of, and what stays.
@Suite struct KeepTests {
  /// A chat that keeps so many rows, with pages of 20; on a screen of 24 lines 80 is the least.
  private func chat(
    _ count: Int = 100, keep: Int? = 80, anchor: Query.Side = .last, isDescending: Bool = false,
    isRecording: Bool = false
  ) throws -> AppDriver {
    var views = try Fixture.views()
    views[0].source.anchor = anchor
    views[0].source.keep = keep
    (views[0].source.page, views[0].source.hasOwnPage) = (20, true)
    views[0].source.isDescending = isDescending
    views[0].also = []
    views[0].sections = []
    let messages = (1...count).map { number in
      JSONMember(
        AppDriver.key(number),
        Fixture.message("message \(number)", from: "eve", at: Fixture.now - Fixture.hour))
    }
    return try AppDriver(views, json: ["room": .object(messages)], isRecording: isRecording)
  }

  /// The most rows that may be loaded with `keep: 80`.
  private static let loadedMax = 80 + 20

  /// The numbers of the messages in the list, in its order.
  private func numbers(_ app: AppDriver) -> [Int] {
    app.list.content.sections.flatMap(\.rows).compactMap { id in
      app.list.records[id].flatMap { Int($0.row.key.text.dropFirst(2)) }
    }
  }

  @Test func aListThatFollowsKeepsItsNewestRows() throws {
    let app = try chat()
    app.press("F")
    for _ in 0..<8 {
      try app.write(25)
      #expect(app.list.reach.loadedCount <= Self.loadedMax)
      #expect(app.cursorLine.contains("message \(app.messageCount)"))
    }
    let shown = numbers(app)
    #expect(shown == Array((301 - shown.count)...300) && shown.count >= 80)
    #expect(app.list.reach.paging == .more && !app.list.reach.isAway)
    app.press("gm")
    #expect(numbers(app).count == shown.count + 20)
  }

  @Test(arguments: [false, true])
  func aCursorThatIsLeftBehindKeepsItsRowsAndTheScreenStands(isDescending: Bool) throws {
    let app = try chat(isDescending: isDescending)
    app.press(isDescending ? "5 j" : "5 k")
    let (line, before) = (app.cursorLine, app.body)
    for round in 1...12 {
      try app.write(10)
      #expect(app.list.reach.loadedCount <= Self.loadedMax, "round \(round)")
      #expect(app.cursorLine == line, "round \(round)")
    }
    #expect(app.body.dropFirst(8).dropLast(8) == before.dropFirst(8).dropLast(8))
    #expect(app.list.reach.isAway)
    #expect(app.status.contains(isDescending ? "↑120 new" : "↓120 new"))
    #expect(app.screen[1].contains(" of 220 rows"))
    app.press(isDescending ? "gg" : "G")
    #expect(!app.list.reach.isAway && app.line(of: "message 220") != nil)
    #expect(!app.status.contains("new"))
    try app.write(1)
    #expect(app.line(of: "message 221") != nil || app.status.contains("1 new"))
  }

  /// On a replica, the rows of writes that wait come back at once: they are unloaded once, not at each change.
  @Test func rowsThatComeBackByThemselvesAreNotUnloadedAgain() throws {
    func change(_ count: Int, new: Set<String> = [], isLettingGo: Bool = false) -> ListChange {
      ListChange(
        content: .sections([]), update: BatchUpdate(), newRows: new, phase: .loaded,
        paging: .more, loadedCount: count, isLettingGo: isLettingGo)
    }
    var list = try chat().list
    func take(_ change: ListChange) {
      list.noteReach(change, wasLoaded: true)
      list.reach.take(change)
    }
    func isUnloaded() -> Bool {
      guard let kept = list.rowsToKeep(height: 20, edited: []) else { return false }
      return !list.staysSinceRowsReturned(kept.count)
    }
    take(change(80, isLettingGo: true))
    take(change(250))
    var unloadings = 0
    for count in 251...350 {
      take(change(count, new: ["\(count)"]))
      guard isUnloaded() else { continue }
      unloadings += 1
      take(change(80, isLettingGo: true))
      take(change(count))
    }
    #expect((1...5).contains(unloadings), "\(unloadings)")
    // Rows that arrive are let go of as before.
    take(change(80, isLettingGo: true))
    take(change(101, new: Set((0..<21).map { "\($0)" })))
    #expect(isUnloaded())
  }

  @Test func rowsThatArriveBelowALongListAreCounted() throws {
    let app = try chat(100, anchor: .first)
    let loaded = app.list.reach.loadedCount
    #expect(app.list.reach.paging == .more && app.list.newBelowCount == 0)
    var arrived = 0
    for count in [1, 10, 60] {
      try app.write(count)
      arrived += count
      #expect(app.status.contains("↓\(arrived) new"))
    }
    app.press("gm")
    #expect(app.list.reach.loadedCount > loaded)
    #expect(app.list.newBelowCount == arrived, "The page has rows that were there before.")
    app.press("gn")
    #expect(app.cursorLine.contains("message \(100 + arrived)"), "\(app.body)")
    #expect(app.list.reach.loadedCount <= Self.loadedMax)
  }

  /// The rows around the cursor are far from each other in the order: what arrives between them stays, up
  /// to ten times the kept rows.
  @Test func aListWithSectionsIsBoundedToo() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            page: 20
            keep: 80
            sections: [{ field: team }]
            columns: [{ field: text }]
        """, name: "test.views.yaml"
    ).views
    let ticket = { (number: Int) -> JSONValue in
      ["team": .string("team \(number % 50)"), "text": .string("ticket \(number)")]
    }
    let tickets = (0..<100).map { JSONMember("k\(100 + $0)", ticket($0)) }
    let app = try AppDriver(view, json: ["tickets": .object(tickets)])
    app.press("gm gm gm gm gm")
    #expect(app.list.reach.loadedCount == 100)
    app.press("gg j")
    let line = app.cursorLine
    for round in 0..<14 {
      let new = (0..<100).map { number in
        JSONMember("k\(100 + number)-\(100 + round)", ticket(number + 7 * round))
      }
      try app.elsewhere { _ = try $0.write(.update(Path("/tickets"), new)) }
      #expect(app.list.reach.loadedCount <= 1000, "round \(round)")
    }
    #expect(app.cursorLine == line)
  }

  @Test func recordThatOthersAddFarFromTheLoadedRowsIsGoneTo() throws {
    let app = try chat(400, anchor: .first)
    let key = AppDriver.key(300) + "x"
    try app.set("/room/\(key)", Fixture.message("in the middle", from: "bo", at: Fixture.now))
    #expect(app.status.contains("↓1 new"))
    app.press("gn")
    #expect(app.cursorLine.contains("in the middle"), "\(app.body)")
    #expect(app.toast.isEmpty && !app.status.contains("new"), "\(app.screen)")
    #expect(app.list.reach.loadedCount < 100)
  }

  @Test func countOfNewRowsGoesOnWhenTheListUnloadsThem() throws {
    let app = try chat(30, anchor: .first)
    app.press("gm gg")
    #expect(app.list.reach.paging == .exhausted)
    for count in [10, 20, 30, 60] {
      let before = app.list.newBelowCount
      try app.write(count)
      #expect(app.list.newBelowCount == before + count)
    }
    #expect(app.list.reach.loadedCount <= Self.loadedMax && app.list.reach.paging == .more)
  }

  /// Rows that arrive between the question for the rows to keep and its answer are counted too.
  @Test(arguments: [1, 2, 7, 19, 20, 40])
  func everyRowThatArrivesIsCounted(atOnce count: Int) throws {
    let app = try chat()
    app.press("5 k")
    app.send(.focus(false))
    for _ in 0..<8 {
      let first = app.messageCount + 1
      try app.elsewhere {
        try AppDriver.write(first..<first + count, to: $0)
      } meanwhile: {
        try AppDriver.write(first + count..<first + count + 3, to: $0)
      }
    }
    try app.write(1)
    #expect(app.list.newBelowCount == 8 * (count + 3) + 1)
    #expect(app.list.unreadCount == 8 * (count + 3) + 1)
  }

  @Test func newerRowsAreFetchedAgainPageByPage() throws {
    let app = try chat()
    app.press("5 k")
    try app.write(150)
    #expect(app.list.reach.isAway)
    var pageCount = 0
    while app.list.reach.isAway, pageCount < 40 {
      let before = try #require(numbers(app).last)
      for _ in 0..<60 where app.list.list.cursor != .row(ListScreen.newerRow) { app.press("5 j") }
      #expect(app.cursorLine.contains("newer rows not loaded - Enter fetches 20"))
      app.press("Enter")
      #expect(app.cursorLine.contains("message \(before + 1) ") || !app.list.reach.isAway)
      #expect(app.list.reach.loadedCount <= Self.loadedMax + 20)
      pageCount += 1
    }
    #expect(numbers(app).last == 250 && app.list.newBelowCount == 0)
    #expect(numbers(app) == Array((251 - numbers(app).count)...250))
  }

  @Test func pagesToTheStartPassByEachRowOnce() throws {
    let app = try chat(240)
    var seen: Set<Int> = Set(numbers(app))
    for _ in 0..<60 where app.list.reach.paging != .exhausted {
      app.moveToFetchMoreRow()
      app.press("Enter")
      let shown = numbers(app)
      #expect(shown == Array((shown.first ?? 0)...(shown.last ?? 0)))
      #expect(app.list.reach.loadedCount <= Self.loadedMax + 20)
      seen.formUnion(shown)
    }
    #expect(seen == Set(1...240) && app.list.reach.isAway)
    app.press("gn")
    #expect(numbers(app).last == 240 && !app.list.reach.isAway)
  }

  @Test func markedRowsStay() throws {
    let app = try chat()
    app.press("3 k Space 9 k Space")
    let marks = app.list.marks
    #expect(marks.count == 2)
    try app.write(150)
    #expect(app.list.marks == marks && marks.allSatisfy(app.list.hasRow))
    // Whoever goes to the newest rows finds the marks when they come back.
    app.press("F")
    try app.write(150)
    #expect(app.list.marks == marks)
    #expect(app.status.contains("2 marked"))
  }

  @Test func aRowThatIsEditedStays() throws {
    let app = try chat()
    app.press("2 k Enter")
    let path = try #require(app.record?.path)
    for _ in 0..<10 { try app.write(15) }
    #expect(app.list.hasRow(Record.id(of: path)))
    app.press("Esc")
    #expect(app.list.cursorRecord?.path == path)
  }

  @Test func unreadRowsAreCountedAndMarkedWhenTheyAreLoadedAgain() throws {
    let app = try chat()
    app.press("5 k")
    app.send(.focus(false))
    for _ in 0..<15 { try app.write(10) }
    #expect(app.list.reach.loadedCount <= Self.loadedMax)
    #expect(app.list.unreadCount == 150)
    #expect(app.screen[1].contains("150 new"))
    app.press("G")
    #expect(app.body.contains { $0.contains("• ") && $0.contains("message 250") })
    app.send(.focus(false))
    #expect(app.list.unreadCount == 0)
  }

  /// The keys of new rows are before the only other one, which has the cursor.
  @Test(arguments: [false, true])
  func rowsThatArriveAmongTheLoadedOnesAreCountedOnce(isInFront: Bool) throws {
    var views = try Fixture.views()
    views[0].source.keep = 80
    (views[0].source.page, views[0].source.hasOwnPage) = (20, true)
    views[0].source.anchor = .first
    (views[0].also, views[0].sections) = ([], [])
    let last = Fixture.message("last", from: "eve", at: Fixture.now - Fixture.hour)
    let app = try AppDriver(views, json: ["room": .object([JSONMember("z", last)])])
    if !isInFront { app.press("g3") }
    for number in 1...130 {
      try app.set(
        "/room/\(AppDriver.key(number))", Fixture.message("new", from: "eve", at: Fixture.now))
      let list = app.state.tabs.lists[0]
      if isInFront {
        #expect(list.newAboveCount <= number)
      } else {
        #expect(list.unreadCount == number)
      }
    }
    #expect(app.state.tabs.lists[0].reach.isAway)
  }

  @Test func whatIsComposedIsSeenAtTheEnd() throws {
    let app = try chat()
    app.press("9 k")
    try app.write(150)
    #expect(app.list.reach.isAway)
    app.press("a")
    app.type("hello")
    #expect(
      !app.list.reach.isAway && app.line(of: "hello") != nil && app.line(of: "message 250") != nil)
    app.press("Enter")
    #expect(app.line(of: "hello") != nil)
  }

  @Test func aListThatIsToKeepAllDoes() throws {
    let app = try chat(keep: nil)
    try app.write(130)
    #expect(app.list.content.storedRowCount == 150 && !app.list.reach.isAway)
  }

  @Test func aRecordingOfAListThatLetsGoIsReplayed() throws {
    let app = try chat(isRecording: true)
    app.press("5 k")
    for _ in 0..<8 { try app.write(15) }
    app.press("G k k gm gm gm gm gm gn")
    try app.write(3)
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state == app.state)
    #expect(replay.canvas().textLines() == app.screen)
  }

  @Test(arguments: Seeds.first(2, oneOf: 5))
  func whatIsLoadedIsAlwaysOnePieceOfTheCollection(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let app = try chat(150)
    let keys = [
      "k", "j", "9 k", "9 j", "G", "gg", "gm", "Enter", "gn", "F", "Space", "PgUp", "PgDn",
    ]
    for step in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case ..<6: app.press(keys.randomElement(using: &random) ?? "k")
      case ..<8: try app.write(Int.random(in: 1...40, using: &random))
      default:
        let number = Int.random(in: 1...app.messageCount, using: &random)
        let key = AppDriver.key(number)
        if Bool.random(using: &random) {
          try app.remove("/room/\(key)")
        } else {
          try app.set("/room/\(key)/text", .string("changed \(step)"))
        }
      }
      if !app.state.layers.isEmpty { app.press("Esc Esc") }
      try check(app, "seed \(seed), step \(step)")
    }
  }

  private func check(_ app: AppDriver, _ place: String) throws {
    let query = try Query(Path("/room")).ordered(by: .key)
    let stored = try app.backend.session.rows(query, detail: .full)
    let shown = app.list.content.sections.flatMap(\.rows).compactMap { app.list.records[$0]?.row }
    let first = stored.firstIndex { $0.key == shown.first?.key } ?? 0
    let piece = stored.dropFirst(first).prefix(shown.count)
    #expect(piece.map(\.key) == shown.map(\.key), "\(place)")
    #expect(piece.map(\.node) == shown.map(\.node), "\(place)")
    if !app.list.reach.isAway { #expect(first + shown.count == stored.count, "\(place)") }
    if app.list.reach.paging == .exhausted { #expect(first == 0, "\(place)") }
    let violations = app.list.list.violations(in: app.list.content, height: app.state.height)
    #expect(violations.isEmpty, "\(place): \(violations)")
  }
}

extension AppDriver {
  /// The key of a message by its number.
  fileprivate static func key(_ number: Int) -> String {
    "-M" + String(repeating: "0", count: 6 - "\(number)".count) + "\(number)"
  }

  /// How many messages were written.
  fileprivate var messageCount: Int {
    let last = try? backend.session.rows(
      Query(Path("/room")).ordered(by: .key).limited(to: 1, from: .last)
    ).first
    return last.flatMap { Int($0.key.text.dropFirst(2)) } ?? 0
  }

  /// Writes messages with these numbers.
  fileprivate static func write(_ numbers: Range<Int>, to session: DatabaseSession) throws {
    for number in numbers {
      let message = Fixture.message("message \(number)", from: "eve", at: Fixture.now)
      _ = try session.write(.set(try Path("/room/\(key(number))"), message))
    }
  }

  /// Another process writes so many messages, one after the other.
  fileprivate func write(_ count: Int) throws {
    let first = messageCount + 1
    for number in first..<first + count {
      try set(
        "/room/\(AppDriver.key(number))",
        Fixture.message("message \(number)", from: "eve", at: Fixture.now))
    }
  }
}
