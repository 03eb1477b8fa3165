import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelWorkspace

/// What is shown of data about which nobody has said anything.
@Suite struct ViewInferenceTests {
  private func view(_ records: [JSONValue], keys: [String] = []) throws -> ViewDefinition {
    let names = keys.isEmpty ? records.indices.map { "k\($0)" } : keys
    let sample = CollectionSample(
      path: try Path("list"), keys: try names.map { try Key($0) },
      records: try records.map { try Node(json: $0) })
    return ViewInference.view(of: sample, named: "list", pageSize: 50)
  }

  /// The fields in their order, with `*` at the one that takes what is left of the line.
  private func fields(_ view: ViewDefinition, at columns: Int = 200) -> [String] {
    view.columns.filter { $0.minimumScreen <= columns }.map { column in
      let name =
        switch column.field {
        case .key: "$key"
        case .value: "$value"
        case .path(let path): path.keys.map(\.text).joined(separator: "/")
        }
      return name + (column.width == nil ? "*" : "")
    }
  }

  // MARK: Five shapes

  @Test func chatShowsWhoAndWhenAndThenTheText() throws {
    let records: [JSONValue] = [
      ["created": 1_787_595_600_000, "from": "ana", "text": "Where is the key?"],
      ["created": 1_787_595_700_000, "from": "bo", "text": "Here, below the flower pot, as ever."],
    ]
    let keys = ["-Kx9tR2mQe4567890123", "-Kx9tR2mQe4567890124"]
    let view = try view(records, keys: keys)
    #expect(fields(view) == ["$key", "from", "created", "text*"])
    #expect(fields(view, at: 80) == ["from", "created", "text*"])
    #expect(view.columns[2].format == .date)
  }

  @Test func ticketsShowTheirTitleAndState() throws {
    let records: [JSONValue] = (0..<6).map { number in
      [
        "assignee": .string(number % 2 == 0 ? "olga" : "chidi"),
        "createdAt": .string("2026-11-\(10 + number)T08:00:00Z"),
        "description": .string(
          "No. \(number): " + String(repeating: "It does not work. ", count: 4)),
        "id": .number(JSONNumber(Int64(4000 + number))),
        "priority": .string(["low", "high", "urgent"][number % 3]),
        "status": .string(["open", "closed"][number % 2]),
        "title": .string("Ticket number \(number) is about the printer"),
        "url": .string("https://example.org/tickets/\(number)"),
      ]
    }
    let view = try view(records)
    #expect(
      fields(view) == [
        "$key", "title", "status", "priority", "assignee", "createdAt", "description*",
      ])
    #expect(
      fields(view, at: 80) == [
        "$key", "title", "status", "priority", "assignee", "description*",
      ])
    #expect(fields(view, at: 40) == ["$key", "title"])
    let colored = view.columns.filter(\.isColored).map(\.field.text)
    #expect(colored == ["status", "priority", "assignee"])
  }

  @Test func dumpOfAnInterfaceLeavesOutWhatIsForPrograms() throws {
    let records: [JSONValue] = (0..<5).map { number in
      [
        "created_at": .string("2019-01-0\(number + 1)T08:00:00Z"), "fork": false,
        "full_name": .string("octo/project-\(number)"),
        "html_url": .string("https://example.org/octo/project-\(number)"),
        "id": .number(JSONNumber(Int64(180_000_000 + number))),
        "language": .string(["Swift", "C", "Go"][number % 3]),
        "node_id": .string("MDEwOlJlcG9zaXRvcnkxODAwMDAw\(number)"),
        "owner": ["id": 5, "login": .string("octo\(number % 2)")],
        "stargazers_count": .number(JSONNumber(Int64(number * 37))),
      ]
    }
    let view = try view(records)
    #expect(
      fields(view) == [
        "$key", "full_name*", "language", "created_at", "owner/login", "stargazers_count", "id",
      ])
  }

  @Test func settingsInGroupsAreShownByTheirNames() throws {
    let records: [JSONValue] = [
      ["limits": ["depth": 32, "rows": 500], "on": true],
      ["limits": ["depth": 16, "rows": 100], "on": false],
    ]
    let view = try view(records, keys: ["production", "staging"])
    #expect(fields(view) == ["$key", "on", "limits/depth", "limits/rows"])
    #expect(view.columns[0].minimumScreen == 0, "there is nothing else to tell them apart")
  }

  @Test func oneGeneratedKeyDoesNotHideTheKeysThatPeopleChose() throws {
    let records: [JSONValue] = (0..<5).map {
      ["text": .string("A note of some words, number \($0)")]
    }
    let keys = ["J-1", "J-2", "J-3", "J-4", "-OxkT12abcdefghijkl0"]
    let column = try view(records, keys: keys).columns[0]
    #expect(column.minimumScreen == 0 && column.width == 4)
  }

  @Test func mapOfMapsIsShownByItsKeysAndValues() throws {
    let records: [JSONValue] = [["mon": 3, "tue": 0], ["mon": 1, "wed": 2]]
    let view = try view(records, keys: ["Ana", "Bo"])
    #expect(fields(view) == ["$key", "mon", "tue", "wed"])
    #expect(view.columns.dropFirst().allSatisfy { $0.width == 5 })
  }

  // MARK: Rules

  @Test func whatAllHaveAlikeComesLate() throws {
    let records: [JSONValue] = (0..<5).map { number in
      ["active": true, "plot": .number(JSONNumber(Int64(number))), "zone": "north"]
    }
    #expect(fields(try view(records)) == ["$key", "plot", "zone*", "active"])
  }

  @Test func whatFewHaveComesLate() throws {
    var records: [JSONValue] = (0..<5).map { ["a": .number(JSONNumber(Int64($0)))] }
    records.append(["a": 9, "aa": 1])
    #expect(fields(try view(records)) == ["$key", "a", "aa"])
  }

  /// Invoices as people write them, of which few have a note.
  private func invoices(note: String) -> [JSONValue] {
    (0..<10).map { number in
      var members: [JSONMember] = [
        JSONMember("betrag", .string("\(100 + number),50")),
        JSONMember("bezahlt", .bool(number % 3 == 0)),
        JSONMember("datum", .string("2026-10-0\(number % 9 + 1)")),
        JSONMember("kunde", .string("Kunde \(number % 7) aus Bern")),
        JSONMember("nr", .number(JSONNumber(Int64(1001 + number * 3 % 10)))),
        JSONMember("ort", .string(["Bern", "Basel", "Olten"][number % 3])),
      ]
      if number % 5 == 0 { members.append(JSONMember("notiz", .string("\(note) \(number)"))) }
      return .object(members)
    }
  }

  @Test(arguments: [40, 60, 80])
  func theNumberThatAllHaveComesBeforeANoteThatFewHave(columns: Int) throws {
    let notes = [
      "fragen", "noch einmal fragen", String(repeating: "noch einmal fragen ", count: 4),
    ]
    for note in notes {
      let view = try view(invoices(note: note))
      let shown = fields(view, at: columns)
      #expect(shown.contains("nr"), "\(shown)")
      #expect(shown.contains("kunde*"), "\(shown)")
      let note = try #require(view.columns.first { $0.field.text == "notiz" })
      let others = view.columns.filter { $0.field != note.field }
      #expect(others.allSatisfy { $0.minimumScreen <= note.minimumScreen }, "\(view.columns)")
    }
  }

  @Test func whatCountsTheRecordsIdentifiesThem() throws {
    let records: [JSONValue] = (0..<8).map { number in
      [
        "art": .string(["a", "b"][number % 2]), "laufend": .number(JSONNumber(Int64(number * 4))),
        "menge": .number(JSONNumber(Int64(number * 5 % 7))), "titel": .string("T\(number % 3)"),
      ]
    }
    #expect(fields(try view(records)).prefix(2) == ["$key", "laufend"])
  }

  @Test(
    arguments: [
      ("nr", true), ("Rechnungsnr", true), ("invoice_no", true), ("kundenNummer", true),
      ("note", false), ("numbers of it", false), ("owner", false),
    ])
  func namesTellTheNumberOfARecord(name: String, isNumber: Bool) throws {
    #expect(FieldRole.isNumber(try Path(name)) == isNumber)
  }

  @Test func noMoreColumnsAreMadeThanCanBeRead() throws {
    let members = (0..<30).map { JSONMember("f\($0)", .string("some words \($0)")) }
    let view = try view([.object(members)])
    #expect(view.columns.count == ViewInference.wideColumnsMax + 1)
    #expect(view.columns.count { $0.minimumScreen <= 80 } < view.columns.count)
  }

  @Test func datesAndNumbersOfAWideTableHaveColumns() throws {
    let records: [JSONValue] = (0..<5).map { number in
      let texts = (0..<10).map { JSONMember("f\($0)", .string("t\(number) \($0)")) }
      return .object(
        texts + [
          JSONMember("made", .string("1\(number).03.2026")),
          JSONMember("weight", .number(JSONNumber(Int64(number)))),
        ])
    }
    let view = try view(records)
    let names = Set(fields(view, at: 500).map { $0.filter { $0 != "*" } })
    #expect(names.isSuperset(of: ["made", "weight"]) && names.count == 13, "\(names)")
    // Those without room are counted.
    #expect(fields(view, at: 60).count < 13)
  }

  @Test func whatAllHaveAlikeGivesWayToWhatInforms() throws {
    let records: [JSONValue] = (0..<5).map { number in
      [
        "type": "ticket", "status": "open", "count": .number(JSONNumber(Int64(number))),
        "code": .string("A-\(number)"), "place": .string("Room \(number)"),
        "size": .number(JSONNumber(Int64(number * 2))), "title": .string("No. \(number)"),
        "note": .string("n\(number)"),
      ]
    }
    let shown = fields(try view(records))
    #expect(shown == ["$key", "title", "code", "place", "count", "size", "note*"])
  }

  @Test func datesLeaveRoomForOtherFields() throws {
    let names = ["added", "opened", "seen", "sent", "paid", "sold", "built", "born", "hired"]
    let records: [JSONValue] = (0..<5).map { number in
      .object(
        names.map { JSONMember($0, .string("2026-01-0\(number + 1)")) } + [
          JSONMember("code", .string("A-\(number)")), JSONMember("room", .string("R\(number)")),
        ])
    }
    let shown = fields(try view(records))
    #expect(shown.contains("code*") && shown.contains("room"), "\(shown)")
  }

  @Test func columnsGrowOnWideScreensUntilNothingIsCut() throws {
    let title = String(repeating: "A long title ", count: 4) + "ends"
    let records: [JSONValue] = (0..<5).map { number in
      [
        "title": .string("\(number) \(title)"), "assigned_to": .string("p\(number)"),
        "description": .string(String(repeating: "word ", count: 20)),
      ]
    }
    let view = try view(records)
    func lines(_ columns: Int) -> (row: String, titles: [String]) {
      let text = RowText(
        definition: view, now: 0, local: .utc, glyphs: .unicode, screenWidth: columns,
        listWidth: columns, timeStyle: .age)
      guard let child = (try? Node(json: ["k": records[0]]))?.children.first else {
        return ("", [])
      }
      let record = Record(
        TreeRow(child, index: .key, detail: .full), in: Fixture.path("/list"))
      let titles = text.titles(
        width: columns - 1, orderedBy: view.source.order, isDescending: false)
      return (
        text.line(for: record, state: RowText.State(), width: columns - 1).text,
        titles.map(\.word)
      )
    }
    #expect(lines(200).row.contains("A long title ends"))
    #expect(lines(200).titles.contains("assigned_to"))
    #expect(!lines(80).row.contains("A long title ends"))
  }

  /// The titles and the first row of some records on a screen.
  private func shown(
    _ records: [JSONValue], at columns: Int, sortedBy field: RowField? = nil
  ) throws -> (row: String, titles: [String], missing: Int) {
    let view = try view(records)
    let text = RowText(
      definition: view, now: 0, local: .utc, glyphs: .unicode, screenWidth: columns,
      listWidth: columns, timeStyle: .age, sortedField: field)
    let child = try #require(Node(json: ["k": records[0]]).children.first)
    let record = Record(TreeRow(child, index: .key, detail: .full), in: Fixture.path("/list"))
    let titles = text.titles(
      width: columns - 1, orderedBy: view.source.order, isDescending: false)
    return (
      text.line(for: record, state: RowText.State(), width: columns - 1).text,
      titles.map(\.word), text.columnsWithoutRoom
    )
  }

  @Test(arguments: [60, 80]) func numbersWithManyDigitsLeaveRoomForTheText(columns: Int) throws {
    let records: [JSONValue] = try (0..<5).map { number in
      var members = try (0..<6).map { field in
        JSONMember("n\(field)", .number(try #require(JSONNumber(Double(number + field) + 1 / 7))))
      }
      // Few records have the text, so that it comes after the numbers.
      if number == 0 { members.append(JSONMember("place", "Beside the old mill at the river")) }
      return .object(members)
    }
    let row = try shown(records, at: columns).row
    #expect(row.contains("Beside the old mil"), "\(row)")
    #expect(row.contains("0.1428571…"), "\(row)")
    #expect(try shown(records, at: 200).row.contains("0.14285714285714"))
  }

  @Test func aTitleTakesTheRoomThatItsNeighborsDoNotNeed() throws {
    // Without room to spare, each number has five columns, and needs three.
    let names = (0..<12).map { "N\($0)" } + ["Rahmen"]
    let records: [JSONValue] = (0..<5).map { row in
      .object(names.map { JSONMember($0, .number(JSONNumber(Int64(row)))) })
    }
    for columns in [50, 60, 80] {
      let titles = try shown(records, at: columns).titles
      #expect(!titles.contains { $0.hasPrefix("Ra") && $0 != "Rahmen" }, "\(titles)")
    }
  }

  @Test func wholeNumbersAreNotCut() throws {
    let records: [JSONValue] = (0..<5).map {
      ["title": .string("No. \($0)"), "size": .number(JSONNumber(Int64(912_345_678_901_234 + $0)))]
    }
    #expect(try shown(records, at: 80).row.contains("912345678901234"))
  }

  @Test func theLongestTextTakesTheRestOfTheLine() throws {
    let records: [JSONValue] = (0..<5).map { number in
      [
        "event": .string("\(number) the van broke down again"), "level": "warn",
        "room": .string("R\(number)"),
      ]
    }
    #expect(fields(try view(records)).contains("event*"))
  }

  @Test func titlesAreNotCutBesideAColumnWithRoom() throws {
    let records: [JSONValue] = (0..<5).map { number in
      [
        "note": .string("\(number) is a note of some words that are read from the left on"),
        "part no": .string("A-\(number)"), "humidity": .number(JSONNumber(Int64(number * 7))),
      ]
    }
    let titles = try shown(records, at: 80).titles
    #expect(titles.contains("part no") && titles.contains("humidity"), "\(titles)")
  }

  @Test func titlesThatAreCutTakeTheFreeCellsBesideThem() throws {
    func column(
      _ field: String, _ format: ColumnDefinition.Format = .plain, width: Int? = nil
    ) throws -> ColumnDefinition {
      ColumnDefinition(field: .path(try Path(field)), format: format, width: width)
    }
    let view = ViewDefinition(
      name: "Plots", source: SourceDefinition(path: Fixture.path("/plots")),
      columns: [
        try column("state", width: 10), try column("moisture", .number, width: 4),
        try column("gardener", width: 4), try column("area", .number, width: 8),
        try column("neighbor", width: 4), try column("note"),
      ])
    let text = RowText(
      definition: view, now: 0, local: .utc, glyphs: .unicode, screenWidth: 80, listWidth: 80,
      timeStyle: .age)
    let titles = text.titles(
      width: 79, orderedBy: view.source.order, isDescending: false)
    #expect(
      titles.map(\.word) == ["state", "moisture", "gardener", "area", "nei…", "note"],
      "a title that stands at its left has no room before another one")
    #expect(titles.map(\.start) == [3, 14, 19, 24, 33, 38], "the columns stay in their places")
    #expect(titles.map(\.place) == [3, 10, 19, 28, 33, 38])
  }

  @Test func timesOfDayAreShownWhereThereIsRoom() throws {
    let records: [JSONValue] = (0..<5).map { number in
      [
        "msg": .string("\(number) is a message of some words that are read from the left on"),
        "ts": .string("2024-05-01T00:3\(number):00Z"),
      ]
    }
    #expect(try shown(records, at: 120).row.contains("2024-05-01 00:30"))
    let narrow = try shown(records, at: 40).row
    #expect(narrow.contains("2024-05-01") && !narrow.contains("00:30"), "\(narrow)")
  }

  @Test func denseTimesShowTheTimeOfDayBeforeTextsAreWide() throws {
    func records(_ step: Int64) -> [JSONValue] {
      (0..<6).map { number in
        let word = String(repeating: "\(number)", count: 8)
        return [
          "host": .string(word), "svc": .string("s" + word.dropFirst()),
          "at": .number(JSONNumber(1_700_000_000_000 + Int64(number) * step)),
          "level": .string("w" + word.dropFirst()),
          "text": .string("\(number) is a text of some words that are read from the left on"),
        ]
      }
    }
    #expect(try shown(records(60_000), at: 80).row.contains("2023-11-14 22:13"))
    let days = try shown(records(86_400_000), at: 80).row
    #expect(days.contains("2023-11-14") && !days.contains("22:13"), "\(days)")
    // As it is saved, the column shows it too.
    let column = try #require(view(records(60_000)).columns.first { $0.isDense })
    var screen = ListScreen(try view(records(60_000)))
    screen.look.forgetHidden()
    let saved = screen.shownDefinition.columns.first { $0.field == column.field }
    #expect(saved?.width == ColumnDefinition.timestampWidth)
  }

  @Test func timesOfDayThatNobodyHidStayInASavedView() throws {
    let records: [JSONValue] = (0..<6).map { number in
      [
        "title": .string("title \(number)"),
        "at": .number(JSONNumber(1_700_000_000_000 + Int64(number) * 86_400_000)),
      ]
    }
    var screen = ListScreen(try view(records))
    let index = try #require(screen.definition.columns.firstIndex { $0.format == .date })
    #expect(!screen.definition.columns[index].isDense)
    #expect(screen.shownDefinition.columns[index].width == ColumnDefinition.timestampWidth)
    // The user has set a width.
    (screen.definition.columns[index].width, screen.definition.columns[index].wideWidth) = (12, nil)
    #expect(screen.shownDefinition.columns[index].width == 12)
  }

  @Test func theSortedColumnComesBeforeOthers() throws {
    let records: [JSONValue] = (0..<5).map { number in
      .object(
        (0..<8).map { JSONMember("text\($0)", .string("word \(number) of some")) }
          + [JSONMember("price", .number(JSONNumber(Int64(number))))])
    }
    let (usual, sorted) = (
      try shown(records, at: 60), try shown(records, at: 60, sortedBy: .child(try Path("price")))
    )
    #expect(!usual.titles.contains("price"))
    #expect(sorted.titles.contains("price"), "\(sorted.titles)")
    #expect(usual.missing > 0 && sorted.missing > 0)
  }

  @Test(
    arguments: [
      ("dueDate", ["due", "date"]), ("due_date", ["due", "date"]), ("URL", ["url"]),
      ("userID", ["user", "id"]), ("größe-2", ["größe", "2"]), ("", []),
    ] as [(String, [String])])
  func namesAreReadWordByWord(name: String, pieces: [String]) {
    #expect(FieldRole.pieces(of: name) == pieces)
  }

  @Test(
    arguments: [
      ("created_by", FieldRole.person), ("created_at", .date), ("owner/login", .person),
      ("owner/name", .person), ("userName", .title), ("pinned", .other), ("user_id", .identifier),
    ] as [(String, FieldRole)])
  func namesTellTheRole(name: String, role: FieldRole) throws {
    #expect(FieldRole(ofFieldAt: try Path(name)) == role)
  }
}
