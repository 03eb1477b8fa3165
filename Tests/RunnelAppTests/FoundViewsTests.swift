import Foundation
import RunnelBase
import RunnelDatabase
import RunnelDemo
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct FoundViewsTests {
  private func views(in json: JSONValue) throws -> [ViewDefinition] {
    let file = NSTemporaryDirectory() + "runnel-found-\(UUID().uuidString).db"
    defer { AppDriver.removeDatabase(file) }
    let session = try DatabaseSession(
      file: file,
      environment: DatabaseEnvironment(now: { 0 }, random: SeededRandom(seed: 3)))
    if json != .null { _ = try session.write(.set(.root, json)) }
    let views = try FoundViews.find(in: session)
    try session.close()
    return views
  }

  @Test func columnsOfATableStandAsInItsFile() throws {
    let rows = (0..<5).map { number in
      JSONMember(
        "p\(number)",
        [
          "Name": .string("Bolt \(number)"), "note": .string("a note of some words, \(number)"),
          "part no": .string("A-\(number)"), "qty": .number(JSONNumber(Int64(number))),
        ])
    }
    let view = try #require(views(in: ["parts": .object(rows)]).first)
    let file = NSTemporaryDirectory() + "runnel-\(UUID().uuidString).csv"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data("part no,note,qty,Name\nA-1,x,1,Bolt\n".utf8).write(to: URL(fileURLWithPath: file))
    let ordered = view.ordered(asIn: file)
    #expect(ordered.columns.map(\.field.text) == ["$key", "part no", "note", "qty", "Name"])
    #expect(Set(ordered.columns) == Set(view.columns), "they only change their places")
    #expect(view.ordered(asIn: file + ".gone").columns == view.columns)
  }

  @Test func columnWithoutANameGivesWayToTheOthers() throws {
    let rows = (0..<5).map { number in
      JSONMember(
        "p\(number)",
        [
          "Anzahl": .string("A-\(number) long enough"), "Ort": .string("place \(number) of some"),
          "Preis": .string("\(number),00"), "Wer": .string("person \(number) or so"),
          "column 9": .string("a free text of more than forty characters, which is \(number)"),
        ])
    }
    let view = try #require(views(in: ["parts": .object(rows)]).first)
    let unnamed = try #require(view.columns.first { $0.field.text == "column 9" })
    #expect(unnamed.width != nil, "it does not take the rest of the line")
    #expect(view.columns.allSatisfy { $0.minimumScreen <= unnamed.minimumScreen })
    #expect(unnamed.minimumScreen > 0)
  }

  @Test func demoGetsAViewForEachOfItsCollections() throws {
    let demo = try Fixture.demo(messageCount: 30).json()
    let views = try views(in: demo)
    #expect(views.map(\.name) == ["group", "allotment", "committee", "kitchen", "user"])
    let columns = try #require(views.last).columns.map(\.field)
    #expect(columns.first == .key)
    #expect(columns.contains(.path(try Path("name"))))
    #expect(columns.count <= ViewInference.columnsMax + 1)
  }

  @Test(
    arguments: [
      .null, "a leaf", 5, ["a": 1, "b": "two"], ["a": ["b": ["c": ["d": ["e": ["x": 1]]]]]],
    ] as [JSONValue])
  func databaseWithoutCollectionsGetsNone(json: JSONValue) throws {
    #expect(try views(in: json).isEmpty)
  }

  @Test func viewsAreNamedByTheNamesOfTheirKeys() throws {
    let rows: JSONValue = ["a": ["n": 1], "b": ["n": 2]]
    let json: JSONValue = ["Zum%2EPunkt": rows, "r%2Fs": rows]
    let found = try views(in: json)
    #expect(found.map(\.name) == ["Zum.Punkt", "r/s"])
    #expect(found[0].source.path == (try Path("Zum%2EPunkt")))
    let app = try AppDriver(found, json: json)
    #expect(app.screen[1].contains(" Zum.Punkt "), "\(app.screen)")
    #expect(!app.screen.joined().contains("%2E"), "\(app.screen)")
  }

  @Test func longListsOfLeavesAreNotReadThrough() throws {
    let leaves = (0..<5_000).map { JSONMember("k\($0)", .string("v")) }
    let json: JSONValue = .object([
      JSONMember("log", .object(leaves)), JSONMember("user", ["ana": ["name": "Ana"]]),
    ])
    #expect(try views(in: json).map(\.name) == ["user"])
  }

  @Test func leavesBesideCollectionsDoNotHideThem() throws {
    let json: JSONValue = ["a version": 3, "user": ["ana": ["name": "Ana"]], "z": true]
    #expect(try views(in: json).map(\.name) == ["user"])
  }

  @Test func shortListsInSettingsGetNoViews() throws {
    func settings(_ count: Int) -> JSONValue {
      let tabs = (0..<count).map { JSONMember("\($0)", ["name": "t", "pinned": true]) }
      return [
        "editor": ["font%2Esize": 12, "tabs": .object(tabs)], "telemetry": ["enabled": false],
        "panes": ["left": ["tabs": .object(tabs)]], "window": ["height": 600, "width": 800],
      ]
    }
    #expect(try views(in: settings(2)).isEmpty, "they open in the Tree")
    #expect(try views(in: settings(40)).map(\.name) == ["editor/tabs", "panes/left/tabs"])
    // The same list in the only branch, or beside lists at the root, is what the data are about.
    let tabs: JSONValue = ["a": ["name": "t"], "b": ["name": "u"]]
    #expect(try views(in: ["data": ["total": 2, "items": tabs]]).map(\.name) == ["items"])
    let answer: JSONValue = ["items": tabs, "links": ["next": "/2"], "meta": ["total": 2]]
    #expect(try views(in: answer).map(\.name) == ["items"])
  }

  @Test func moreThanAFewBranchesAreLookedAt() throws {
    let branches = (0..<12).map { JSONMember("b\($0)", ["deep": ["only": ["nothing": "x"]]]) }
    let json: JSONValue = .object(branches + [JSONMember("user", ["ana": ["name": "Ana"]])])
    #expect(try views(in: json).map(\.name).contains("user"))
  }

  @Test func numberOfViewsIsLimited() throws {
    let branches = (10..<40).map { number in
      JSONMember("c\(number)", ["r": .object([JSONMember("name\(number)", "x")])])
    }
    let found = try views(in: .object(branches))
    #expect(found.count == FoundViews.viewsMax)
    #expect(found.first?.name == "c10")
  }

  @Test func collectionsWithOneNameAreToldApartByTheirPaths() throws {
    let json: JSONValue = [
      "x": ["list": ["r": ["name": "1"]]], "y": ["list": ["r": ["name": "2"]]],
    ]
    #expect(try views(in: json).map(\.name) == ["x/list", "y/list"])
  }

  /// Visits of so many patients, and the patients themselves.
  private func clinic(_ count: Int) -> JSONValue {
    let patients = (0..<count).map { "p\($0 + 100)" }
    let visits: JSONValue = ["b1": ["text": "a"], "b2": ["text": "b", "cost": 5]]
    return [
      "besuche": .object(patients.map { JSONMember($0, visits) }),
      "halter": ["h1": ["name": "Ida"]],
      "patienten": .object(patients.map { JSONMember($0, ["name": "Rex"]) }),
    ]
  }

  @Test func manyCollectionsInOnePlaceAreOneListOfThem() throws {
    let views = try views(in: clinic(12))
    #expect(views.map(\.name) == ["halter", "patienten", "besuche", "besuche/$patienten"])
    #expect(views[2].columns.map(\.field) == [.key, .value])
    #expect(views[3].source.path.text == "besuche/$patienten")
    #expect(views[3].columns.map(\.field.text).sorted() == ["$key", "cost", "text"])
    let few = try self.views(in: clinic(3)).map(\.name)
    #expect(few == ["p100", "p101", "p102", "halter", "patienten"])
  }

  @Test func manyCollectionsOfOneKindAtTheRootAreOneList() throws {
    func stations(_ count: Int) -> JSONValue {
      .object(
        (0..<count).map { number in
          JSONMember(
            "s\(number + 10)", ["m1": ["t": 1, "wert": .number(JSONNumber(Int64(number)))]])
        })
    }
    #expect(try views(in: stations(8)).count == 8)
    let json = stations(12)
    let found = try views(in: json)
    #expect(found.map(\.name) == ["all", "all/$key"])
    #expect(found.map(\.source.path.description) == ["/", "/$key"])
    let app = try AppDriver(found, json: json, columns: 50, rows: 14)
    app.press("gg j j Enter")
    #expect(app.list.definition.source.path.description == "/s11")
    #expect(app.screen[0].contains("/s11"), "\(app.screen[0])")
    #expect(app.screen.contains { $0.contains("all/s11") }, "the section says it: \(app.screen)")
  }

  @Test func rowOfSuchAListOpensItsCollection() throws {
    let json = clinic(12)
    let app = try AppDriver(try views(in: json), json: json)
    #expect(app.screen.first?.contains("$") == false, "the view of a row has no tab")
    app.press("gt gt")
    #expect(app.screen.contains { $0.contains("members") }, "\(app.screen)")
    app.press("g g j j")
    #expect(app.cursorLine.contains("p101") && app.cursorLine.contains("2"), "\(app.cursorLine)")
    app.press("Enter")
    #expect(app.list.definition.source.path.text == "besuche/p101")
    #expect(app.body.contains { $0.contains("b2") }, "\(app.screen)")
  }

  @Test func foundViewsOpen() throws {
    let demo = try Fixture.demo(messageCount: 30).json()
    let app = try AppDriver(try views(in: demo), json: demo, now: Fixture.demoNow)
    for _ in 0...5 {
      #expect(app.body[1] != "")
      app.press("gt")
    }
  }

  @Test func columnsAreAsWideAsTheValuesNeed() throws {
    let record: JSONValue = [
      "age": 41, "away": false, "since": 1_787_595_600_000, "text": "as long as there is room",
    ]
    let view = try #require(views(in: ["user": ["ana": record, "bo": record]]).first)
    #expect(view.columns.map(\.width) == [4, 10, 5, 4, nil])
    #expect(view.columns.map(\.format) == [.plain, .date, .number, .mark, .plain])
  }

  @Test func aShortKeyIsShownOnEveryScreenAndALongOneWhereThereIsRoom() throws {
    let short = try #require(views(in: ["user": ["ana": ["name": "Ana"]]]).first)
    #expect(short.columns[0].minimumScreen == 0)
    let long: JSONValue = ["log": ["-Kx9tR2mQe4567890123": ["text": "hello"]]]
    #expect(try #require(views(in: long).first).columns[0].minimumScreen == 120)
    let numbers: JSONValue = ["log": ["-Kx9tR2mQe4567890123": ["n": 1]]]
    #expect(try #require(views(in: numbers).first).columns[0].minimumScreen == 0)
  }

  @Test func theKeyIsShownBesideTheDetailPane() throws {
    let json: JSONValue = [
      "user": ["ana": ["n": 1, "text": "one"], "bo": ["n": 2, "text": "two"]]
    ]
    let app = try AppDriver(try views(in: json), json: json, columns: 120)
    app.press("gg j")
    #expect(app.cursorLine.contains("ana"))
    app.resize(columns: 80, rows: 24)
    app.press("p")
    #expect(app.cursorLine.contains("ana"))
  }

  /// Records that need about 100 columns.
  private static let wideTable: JSONValue = .object([
    JSONMember(
      "orders",
      .object(
        (0..<12).map { number in
          JSONMember(
            "k\(10 + number)",
            [
              "amount": .string("\(100 + number),50"), "city": .string("Stadt \(number % 5)"),
              "customer": .string("Kunde \(number) aus Bern"), "nr": .int(1000 + number),
              "ordered": .string("2026-10-\(10 + number)"), "paid": .bool(number % 3 == 0),
              "text": .string("Lieferung von \(number) Kisten, wie es besprochen war"),
            ])
        }))
  ])

  @Test func widerScreensNeverShowFewerColumns() throws {
    let app = try AppDriver(try views(in: Self.wideTable), json: Self.wideTable, rows: 35)
    var before: Set<Int> = []
    for columns in stride(from: 40, through: 240, by: 4) {
      app.resize(columns: columns, rows: 35)
      let shown = Columns.shown(app.state, inView: 0)
      #expect(shown.isSuperset(of: before), "\(columns): \(app.screen)")
      before = shown
    }
    // With room for all there are panes as before.
    #expect(app.state.arrangement.panes == [.views, .list, .detail])
  }

  @Test func theDetailPaneThatIsAskedForTakesItsRoom() throws {
    let app = try AppDriver(
      try views(in: Self.wideTable), json: Self.wideTable, columns: 120, rows: 35)
    #expect(!app.state.arrangement.shows(.detail), "\(app.screen)")
    app.press("p")
    #expect(app.state.arrangement.shows(.detail), "\(app.screen)")
    app.press("p")
    #expect(!app.state.arrangement.shows(.detail))
  }
}
