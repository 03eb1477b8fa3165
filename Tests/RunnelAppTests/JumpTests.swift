import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// Going far in a list that is not loaded.
@Suite struct JumpTests {
  private static let count = 1000

  /// A list of numbered tickets, by key or by time, from the first or the last on.
  private func app(order: String = "$key", anchor: String = "first") throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            order: \(order)
            anchor: \(anchor)
            page: 20
            columns:
              - { field: $key, width: 6 }
              - { field: at, format: date, width: 10 }
              - { field: title }
        """, name: "test.views.yaml"
    ).views
    let tickets = (0..<Self.count).map { number in
      JSONMember(
        String(number),
        ["title": .string("ticket-\(number)."), "at": .number(JSONNumber(Self.time(number)))])
    }
    return try AppDriver(views, json: ["tickets": .object(tickets)])
  }

  private static func time(_ number: Int) -> Int64 {
    Fixture.now + Int64(number - count) * Fixture.day
  }

  private func position(_ app: AppDriver) -> String { app.screen.last ?? "" }

  @Test(arguments: ["$key", "at", "title"])
  func lastRowIsReachedWithoutThoseBetween(order: String) throws {
    let app = try app(order: order)
    let last = order == "title" ? "ticket-999." : "ticket-999."
    app.press("G")
    #expect(app.cursorLine.contains(last), "\(app.screen)")
    #expect(position(app).contains("row 1000 of 1000"))
    #expect(app.list.reach.loadedCount <= 60)
    app.press("gg")
    #expect(position(app).contains("row 1 of 1000") || app.cursorLine.contains("▾"))
    #expect(app.body.contains { $0.contains("ticket-0.") })
  }

  @Test func rangeWhoseFirstRowIsNotReadEndsWithWords() throws {
    let app = try app()
    app.press("gg j v j")
    #expect(app.list.markCount == 2)
    app.press("G")
    #expect(app.list.rangeStart == nil && app.list.markCount == 0)
    #expect(
      app.toast
        == "the range ended: the row where it began is not loaded any more · before a range gm loads more"
    )
  }

  @Test func marksOfAListThatIsNotLoadedNameTheKeyThatLoads() throws {
    let app = try app()
    app.press("gg j *")
    #expect(app.toast.hasSuffix("others are not loaded: gm loads more of them"), "\(app.toast)")
  }

  @Test func jumpWithoutAConnectionLeavesNoKeyWaiting() throws {
    let app = try app()
    app.take(.origin(OriginFacts(.waiting, since: app.state.now)))
    app.strike("G j j")
    #expect(app.list.goal.jump == .farEnd)
    #expect(app.state.input.typeAhead.events.count == 2)
    app.wait(milliseconds: TypeAhead.offlineMilliseconds)
    #expect(app.toast == "offline, and not in the replica · 2 keys that waited are dropped")
    #expect(app.list.goal.jump == nil)
    app.strike("j")
    #expect(app.state.input.typeAhead.isEmpty)
  }

  @Test func jumpWithAConnectionKeepsItsKeys() throws {
    let app = try app()
    app.take(.origin(OriginFacts(.live)))
    app.strike("G k")
    app.wait(milliseconds: TypeAhead.offlineMilliseconds)
    #expect(app.state.input.typeAhead.events.count == 1)
    app.pump()
    #expect(app.cursorLine.contains("ticket-998."))
  }

  /// The error in the line of the palette.
  private func problem(_ app: AppDriver) -> String {
    guard case .palette(let screen)? = app.state.layers.last else { return "" }
    return screen.problem ?? ""
  }

  @Test func keyGivenInARecordOpensThatRecord() throws {
    let app = try app()
    app.press("j Enter")
    app.type(":go 5")
    app.press("Enter")
    #expect(app.record?.path.description == "/tickets/5")
    #expect(app.state.layers.count == 1)
    app.type(":go 700")
    app.press("Enter")
    #expect(problem(app).contains(":/tickets/700 opens a record by its path"))
    #expect(app.list.cursorRecord?.row.key.text == "5")
  }

  @Test func keyThatIsNotThereInAnotherOrderIsToldSo() throws {
    let app = try app(order: "title")
    app.type(":go x700")
    app.press("Enter")
    #expect(app.screen.joined().contains("there is no x700 here"))
  }

  @Test(arguments: ["sort title desc", "sort at desc", "group by title"])
  func cursorStaysOnItsRowFarFromTheStartWhenTheListIsReadAnew(line: String) throws {
    let app = try app()
    app.type(":go 500")
    app.press("Enter")
    app.press("gm")
    app.wait(milliseconds: 10_000)
    app.type(":" + line)
    app.press("Enter")
    #expect(app.cursorLine.contains("ticket-500."), "\(app.body)")
    #expect(!app.toast.contains("500"), "\(app.toast)")
    app.type(":" + (line.hasPrefix("sort") ? "sort own" : "group own"))
    app.press("Enter")
    #expect(app.cursorLine.contains("ticket-500."), "\(app.body)")
    #expect(app.list.reach.loadedCount < 200)
  }

  @Test func cursorOfARowThatIsGoneIsTold() throws {
    let app = try app()
    app.type(":go 500")
    app.press("Enter")
    app.type(":sort title desc")
    app.strike("Enter")
    // The new order is read only now.
    try app.remove("/tickets/500")
    app.pump()
    #expect(app.toast.contains("there is no 500 here"), "\(app.toast)")
  }

  @Test func bothEndsHaveFetchMoreRowsAfterAJump() throws {
    let app = try app()
    app.type(":")
    app.type("go 500")
    app.press("Enter")
    #expect(app.cursorLine.contains("ticket-500."))
    #expect(app.list.reach.paging == .more && app.list.reach.newer == .more)
    app.press("k")
    #expect(app.cursorLine.contains("ticket-499."))
  }

  @Test func oldestRowOfAHistoryIsReachedByASecondPress() throws {
    let app = try app(anchor: "last")
    #expect(app.cursorLine.contains("ticket-999."))
    app.press("gg")
    #expect(!app.body.contains { $0.contains("ticket-0.") })
    app.press("gg")
    #expect(app.body.contains { $0.contains("ticket-0.") })
    app.press("j j")
    #expect(app.cursorLine.contains("ticket-0."))
    #expect(position(app).contains("row 1 of 1000"))
    app.press("G")
    #expect(app.cursorLine.contains("ticket-999."))
    #expect(position(app).contains("row 1000 of 1000"))
  }

  @Test func positionCountsFromTheStartOfTheCollection() throws {
    let app = try app()
    app.press("gg j j j")
    #expect(position(app).contains("row 3 of 1000"))
    let history = try self.app(anchor: "last")
    history.press("k")
    #expect(position(history).contains("row 999 of 1000"))
  }

  @Test func dateLeadsToTheFirstRowOfThatTime() throws {
    let app = try app(order: "at")
    app.type(":")
    app.type("go 2024-06-01")
    app.press("Enter")
    #expect(app.cursorLine.contains("2024-06-01"), "\(app.cursorLine)")
  }

  @Test(arguments: [
    "[at:desc]", "[at, title]", "[at:desc, title]", "[at:desc, $key:desc]", "[at, $key:desc]",
  ])
  func dateIsFoundInAListOfFields(order: String) throws {
    let app = try app(order: order)
    app.type(":")
    app.type("go 2024-06-01")
    app.press("Enter")
    #expect(app.cursorLine.contains("2024-06-01"), "\(app.cursorLine)")
    app.press("k")
    let before = order.hasPrefix("[at:desc") ? "2024-06-02" : "2024-05-31"
    #expect(app.cursorLine.contains(before), "\(app.cursorLine)")
  }

  @Test(arguments: [
    ("at", "x/y", "can be no key"), ("title", "nonsense", "there is no nonsense here"),
  ])
  func whatIsNoPlaceIsToldSo(order: String, text: String, words: String) throws {
    let app = try app(order: order)
    app.type(":")
    app.type("go \(text)")
    app.press("Enter")
    #expect(app.screen.joined().contains(words), "\(app.screen)")
  }

  @Test func reasonThatIsWiderThanTheScreenIsShownWhole() throws {
    let app = try app()
    app.press("j Enter")
    app.type(":go " + String(repeating: "7", count: 20))
    app.press("Enter")
    let text = app.screen.joined(separator: " ").split(separator: " ").joined(separator: " ")
    #expect(problem(app).count > 80)
    #expect(text.contains(problem(app)), "\(app.screen)")
  }

  @Test func rowsThatOthersAddAfterAJumpAreCounted() throws {
    let app = try app()
    app.press("G")
    try app.set("/tickets/1000", ["title": "ticket-1000."])
    #expect(position(app).contains("of 1001"))
    app.press("j")
    #expect(app.cursorLine.contains("ticket-1000."))
  }

  @Test func endOfTheListIsNoPlaceToFetchFrom() throws {
    let app = try app()
    app.press("G j")
    #expect(app.cursorLine.contains("end"), "\(app.body)")
    #expect(!app.screen.contains { $0.contains("Enter fetch") })
    app.press("Enter")
    #expect(app.list.reach.paging == .exhausted)
    #expect(app.toast.contains("there are no more rows"))
    app.press("gg")
    #expect(app.body.contains { $0.contains("ticket-0.") })
  }

  @Test func keyThatIsNotThereIsTold() throws {
    let app = try app()
    app.type(":go zzz")
    app.press("Enter")
    #expect(app.cursorLine.contains("ticket-999."))
    #expect(app.toast == "there is no zzz here; this is the nearest row")
    app.type(":go 500")
    app.press("Enter")
    #expect(app.cursorLine.contains("ticket-500."))
    #expect(!app.toast.contains("there is no"))
  }

  @Test func dateInAListThatIsSortedByKeyIsToldTheOrder() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            columns: [{ field: title }, { field: made, format: date, width: 10 }]
        """, name: "test.views.yaml"
    ).views
    let made: JSONValue = 1_700_000_000_000
    let app = try AppDriver(
      view,
      json: ["tickets": ["a": ["title": "A", "made": made], "b": ["title": "B", "made": made]]])
    app.type(":go 2023-11-14")
    app.press("Enter")
    #expect(
      app.toast.hasPrefix("the rows are sorted by key, and no key is 2023-11-14"), "\(app.toast)")
    #expect(app.toast.contains("sorts them by made"), "\(app.toast)")
    // Keys that are dates are gone to.
    for key in ["2023-11-12", "2023-11-16"] { try app.set("/tickets/\(key)", ["title": "Day"]) }
    app.type(":go 2023-11-14")
    app.press("Enter")
    #expect(app.toast == "there is no 2023-11-14 here; this is the nearest row")
  }

  // MARK: Rows that only the server knows

  /// The server's tickets: those with high numbers have names that come first.
  private static let served = Node(
    children: (0..<200).compactMap { number -> Child? in
      guard let key = try? Key(String(number)),
        let node = try? Node(json: ["title": .string("t\(1000 - number).")])
      else { return nil }
      return Child(key: key, node: node)
    })

  /// The process with the connection asks what the workspace needs, and the server answers.
  private func answer(_ app: AppDriver) throws {
    for _ in 0..<6 {
      try app.elsewhere { other in
        _ = try other.catchUp()
        for command in other.takeOriginOutput().commands {
          guard case .listen(let id, let query, let tag, _) = command else { continue }
          var node = Node(children: Self.served.children)
          if let key = query.path.keys.dropFirst().first {
            node = node[key]
          } else if !query.loadsAllData {
            let rows = RowSlice(query).rows(among: node.children, detail: .full)
            node = Node(
              children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
          }
          _ = try other.receive(.push(.set(node), query.path, tag: tag))
          _ = try other.receive(.listenComplete(id))
        }
      }
    }
  }

  @Test(arguments: ["title", "$key"]) func recordThatOnlyTheServerKnowsIsFound(order: String) throws
  {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: T, path: /tickets, order: \(order), page: 20, columns: [{ field: title }] }
        """, name: "t.views.yaml"
    ).views
    let app = try AppDriver(views, origin: "home", levels: FakeLevels(.null))
    try app.elsewhere { _ = try $0.connectOrigin() }
    app.take(.origin(OriginFacts(.shared)))
    try answer(app)
    #expect(rows(app) == 20, "\(app.screen)")
    for number in [63, 163] {
      app.type(":go \(number)")
      app.press("Enter")
      try answer(app)
      #expect(app.cursorLine.contains("t\(1000 - number)."), "\(app.screen)")
      #expect(app.toast == "\(number) is the key of this record")
    }
    app.type(":go 400")
    app.press("Enter")
    try answer(app)
    #expect(app.toast.contains("no record has the key 400"), "\(app.toast)")
  }

  /// Until the server has answered, the rows known here are no last page, and those that come are no news.
  @Test(arguments: ["title", "$key"]) func lastRowThatOnlyTheServerKnowsIsReached(
    order: String
  ) throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: T, path: /tickets, order: \(order), page: 20, columns: [{ field: title }] }
        """, name: "t.views.yaml"
    ).views
    let app = try AppDriver(views, origin: "home")
    try app.elsewhere { _ = try $0.connectOrigin() }
    app.take(.origin(OriginFacts(.shared)))
    try answer(app)
    let first = app.list.cursorRecord
    app.press("G")
    #expect(app.list.cursorRecord == first, "the rows before stay until the answer")
    try answer(app)
    let last = Self.served.children.max { one, other in
      order == "$key"
        ? one.key < other.key
        : (one.node[Fixture.path("title")].leaf?.json.string ?? "")
          < (other.node[Fixture.path("title")].leaf?.json.string ?? "")
    }
    #expect(app.list.cursorRecord?.row.key == last?.key, "\(app.screen)")
    #expect(app.list.newAboveCount + app.list.newBelowCount == 0)
  }

  private func rows(_ app: AppDriver) -> Int { app.list.content.storedRowCount }

  @Test(arguments: ["first", "last"]) func rowWithANumberIsFetched(anchor: String) throws {
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Songs, path: /songs, anchor: \(anchor), page: 20, columns: [{ field: title }] }
        """, name: "songs.views.yaml"
    ).views
    let songs = (1...400).map { JSONMember("s\(1000 + $0)", ["title": .string("Song \($0).")]) }
    let app = try AppDriver(views, json: ["songs": .object(songs)])
    app.type(":go 203")
    app.press("Enter")
    #expect(app.cursorLine.contains("Song 203."), "\(app.screen)")
    #expect(position(app).contains("row 203 of 400"))
    app.type(":go 401")
    app.press("Enter")
    #expect(
      app.toast
        == "no record has the key 401, and there is no row 401: the collection has 400")
  }

  @Test func rowOfOnesOwnAmongThoseNotLoadedIsNotNew() throws {
    let app = try app()
    app.type(":go 500")
    app.press("Enter a")
    app.type("5")
    app.press("C-s")
    #expect(app.list.reach.total == 1001, "\(app.screen)")
    #expect(!app.screen[1].contains("new"), "\(app.screen[1])")
    try app.set("/tickets/zz", ["title": "by others"])
    #expect(app.screen[1].contains("1 new"), "\(app.screen[1])")
  }
}
