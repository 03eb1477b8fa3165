import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Rows that are moved up and down in a list sorted by numbers.
@Suite struct ReorderingTests {
  private static func app(_ order: String, json: JSONValue, more: String = "") throws -> AppDriver {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Songs
            path: /songs
            order: \(order)
        \(more.isEmpty ? "" : "    \(more)\n")    columns:
              - { field: title, width: 10 }
        """, name: "test.views.yaml"
    ).views
    return try AppDriver(view, json: json)
  }

  private static let songs: JSONValue = [
    "songs": [
      "a": ["title": "Alto", "rank": 10], "b": ["title": "Bass", "rank": 20],
      "c": ["title": "Choir", "rank": 21], "d": ["title": "Duo", "rank": 40],
    ]
  ]

  /// Moves the cursor to the first record.
  private func goToTop(_ app: AppDriver) {
    app.press("gg")
    for _ in 0..<2 where app.list.cursorRecord == nil { app.press("j") }
  }

  /// The titles in the order of their rows.
  private func titles(_ app: AppDriver) -> [String] {
    app.list.content.sections.flatMap(\.rows).compactMap {
      app.list.records[$0]?.row.node?.json["title"]?.string
    }
  }

  @Test func aRowGetsANumberBetweenItsNewNeighbors() throws {
    let app = try Self.app("rank", json: Self.songs)
    app.press("gg j ]e")
    #expect(titles(app) == ["Bass", "Alto", "Choir", "Duo"])
    #expect(try app.stored("/songs/a/rank") == 20.5)
    #expect(app.list.cursorRecord?.path.lastKey?.text == "a")
    app.press("]e ]e")
    #expect(titles(app) == ["Bass", "Choir", "Duo", "Alto"])
    #expect(try app.stored("/songs/a/rank") == 1064)
    app.press("]e")
    #expect(app.toast == "this is the last row here")
    app.press("3 [e")
    #expect(titles(app) == ["Alto", "Bass", "Choir", "Duo"])
    app.press("u")
    #expect(titles(app) == ["Bass", "Choir", "Duo", "Alto"])
    #expect(try app.stored("/songs/b/rank") == 20)
  }

  @Test func aDescendingListIsArrangedAsItIsSeen() throws {
    let app = try Self.app("rank", json: Self.songs, more: "descending: true")
    goToTop(app)
    #expect(titles(app) == ["Duo", "Choir", "Bass", "Alto"])
    app.press("M-Down")
    #expect(titles(app) == ["Choir", "Duo", "Bass", "Alto"])
    app.press("M-Up")
    #expect(titles(app) == ["Duo", "Choir", "Bass", "Alto"])
  }

  @Test func rowsWithoutRoomGetNewNumbersInOneWrite() throws {
    let app = try Self.app(
      "rank",
      json: ["songs": ["a": ["title": "A"], "b": ["title": "B"], "c": ["title": "C", "rank": 1]]])
    app.press("gg j ]e")
    #expect(titles(app) == ["B", "A", "C"])
    #expect(try app.stored("/songs/b/rank") == 0)
    #expect(try app.stored("/songs/a/rank") == 1024)
    #expect(try app.stored("/songs/c/rank") == 2048)
    app.press("u")
    #expect(titles(app) == ["A", "B", "C"])
    #expect(try app.stored("/songs/a/rank") == .null)
    #expect(try app.stored("/songs/c/rank") == 1)
  }

  @Test func textsAreNeverReplacedByNumbers() throws {
    let app = try Self.app("title", json: Self.songs)
    app.press("gg j ]e")
    #expect(app.toast == "`title` does not hold numbers: s sorts by numbers")
    #expect(try app.stored("/songs/a/title") == "Alto")
    let keys = try Self.app("$key", json: Self.songs)
    keys.press("gg j ]e")
    #expect(keys.toast == "sorted by $key: s sorts by numbers")
  }

  @Test func noRowIsMovedPastRowsThatAreNotLoaded() throws {
    var members: [JSONMember] = []
    for number in 0..<9 {
      members.append(
        JSONMember("k\(number)", ["title": .string("T\(number)"), "rank": 7]))
    }
    let app = try Self.app("rank", json: ["songs": .object(members)], more: "page: 4")
    app.press("gg j ]e")
    #expect(app.toast.hasPrefix("there is no number between those rows"))
    app.press("j j j ]e")
    #expect(app.toast == "the rows beyond are not loaded: gm fetches them")
  }

  /// Random moves lead to the same order as moves in an array, whatever the numbers are.
  @Test(arguments: 0..<20) func movesAreThoseOfAnArray(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let count = Int.random(in: 2...7, using: &random)
    let songs = (0..<count).map { index in
      var members = [JSONMember("title", .string("T\(index)"))]
      if Bool.random(using: &random) {
        members.append(
          JSONMember("rank", .number(JSONNumber(Int64.random(in: 0...3, using: &random)))))
      }
      return JSONMember("k\(index)", .object(members))
    }
    let app = try Self.app(
      "rank", json: ["songs": .object(songs)],
      more: seed.isMultiple(of: 2) ? "" : "descending: true")
    goToTop(app)
    var model = titles(app)
    #expect(model.count == count)
    var at = 0
    for _ in 0..<12 {
      let step = Bool.random(using: &random) ? 1 : -1
      app.press(step > 0 ? "]e" : "[e")
      if model.indices.contains(at + step) {
        model.swapAt(at, at + step)
        at += step
      }
      #expect(titles(app) == model, "seed \(seed)")
      #expect(app.list.cursorRecord?.row.node?.json["title"]?.string == model[at], "seed \(seed)")
      if Bool.random(using: &random), at > 0 {
        app.press("k")
        at -= 1
      }
    }
  }
}
