import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct TreeTabTests {
  private func tree(_ json: JSONValue = Fixture.small, rows: Int = 24) throws -> AppDriver {
    let app = try AppDriver([], json: json, rows: rows)
    return app
  }

  @Test func databaseWithoutViewsOpensItsTree() throws {
    let app = try tree()
    #expect(app.state.tabs.front == .tree)
    #expect(
      app.body.prefix(3) == [
        ">▾ /                                                                      2 keys",
        "  ▸ room                        6 keys", "  ▸ user                        5 keys",
      ])
  }

  @Test func keysMadeOfNamesAreShownAsTheseAndCopiedAsTheyAre() throws {
    let app = try tree(["editor": ["font%2Esize": 12, "rent%2Fyr": 5], "c%5B%23%5D": "x"])
    #expect(app.body[1].contains("c[#]") && !app.screen.joined().contains("%5B"), "\(app.body)")
    app.press("j y k")
    #expect(app.clipboard == "c%5B%23%5D")
    #expect(app.screen[0].contains("/c[#]"))
    app.press("j l j")
    #expect(app.screen[0].contains("/editor/font.size"), "\(app.screen)")
    app.press("j")
    #expect(app.screen[0].contains("/editor/rent%2Fyr"), "a slash in a name is no step of the path")
    // A path is found as it is shown, too.
    app.press("gg :")
    app.type("/editor/font.size")
    app.press("Enter")
    #expect(app.cursorLine.contains("font.size"), "\(app.body)")
  }

  @Test func objectSaysHowTheValuesInItAreEdited() throws {
    let app = try tree()
    app.press("j e")
    #expect(app.toast.hasPrefix("expand it to edit a value in it"))
    app.press("l e")
    #expect(app.toast.hasPrefix("move to a value in it to edit that"), "\(app.body)")
  }

  /// Adds children to `/log` from another process, in writes of fewer children than a page has.
  private func grow(_ app: AppDriver, _ numbers: Range<Int>) throws {
    for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 25) {
      let members = (first..<min(first + 25, numbers.upperBound)).map {
        JSONMember("k\(100_000 + $0)", .number(JSONNumber(Int64($0))))
      }
      try app.elsewhere { _ = try $0.write(.update(Path("/log"), members)) }
    }
  }

  private func children(_ app: AppDriver) throws -> TreeChildren {
    try #require(app.state.tabs.tree.expanded[Path("/log")])
  }

  @Test func nodeThatGrowsKeepsItsFirstChildren() throws {
    let kept = TreeScreen.keptChildrenCount
    let app = try tree(["log": ["k100000": 0], "zoo": 1])
    app.press("gg j l")
    try grow(app, 1..<2 * kept + 1)
    #expect(try children(app).rows.count == kept)
    #expect(try children(app).paging == .more)
    #expect(app.cursorLine.contains("log"))
    #expect(app.state.tabs.tree.content.rowCount == kept + 3)
    for round in 1...3 {
      try grow(app, round * 10_000..<round * 10_000 + 10)
      #expect(try children(app).rows.count == kept)
    }
    app.press("G k Enter")
    #expect(try children(app).rows.count > kept)
  }

  @Test func nodeThatGrowsKeepsWhatIsUnderTheCursor() throws {
    let kept = TreeScreen.keptChildrenCount
    let app = try tree(["log": ["k100000": 0], "zoo": 1])
    app.press("gg j l")
    try grow(app, 1..<kept + 10)
    app.press("G k")
    let line = app.cursorLine
    #expect(line.contains("k\(100_000 + kept + 9)"))
    try grow(app, kept + 10..<3 * kept)
    #expect(app.cursorLine == line)
    #expect(try children(app).rows.count == 3 * kept)
    app.press("gg")
    try grow(app, 50_000..<50_001)
    #expect(try children(app).rows.count == kept)
  }

  @Test func emptyDatabaseSaysSo() throws {
    let app = try tree(.null)
    #expect(app.body[1].contains("the database is empty · a adds a first value"))
  }

  @Test func nodesExpandOneByOneAndShowValuesWithTheirTypes() throws {
    let app = try tree()
    app.press("j j l j Enter")
    let expected = """
        ▾ user                        5 keys                                     live
      >   ▾ ana                         5 keys                                   live
              active                      true  boolean
              email                       "ana@example.org"  string
              name                        "Ana"  string
              plot                        3  number
              role                        "organizer"  string
          ▸ bo                          5 keys
      """
    #expect(app.body.dropFirst(2).prefix(8).joined(separator: "\n") == expected)
    #expect(app.screen[0].contains("/user/ana"))
  }

  @Test func numbersThatLookLikeTimesShowTheirDate() throws {
    let app = try tree()
    app.press("j Enter j Enter")
    #expect(app.line(of: "created") == 3)
    #expect(app.body[3].contains("1787422800000  2026-08-22 18:20"))
  }

  @Test func collapsingGoesToTheParentInTheEnd() throws {
    let app = try tree()
    app.press("j j l j l j j")
    #expect(app.cursorLine.contains("email"))
    app.press("h")
    #expect(app.cursorLine.contains("ana"))
    app.press("h")
    #expect(app.line(of: "email") == nil)
    app.press("h h")
    #expect(app.cursorLine.contains("user"))
    #expect(app.body[3] == "")
    app.press("h h")
    #expect(app.cursorLine.contains("▸"), "the header folds at last")
  }

  @Test func collapsingForgetsWhatWasExpandedBelow() throws {
    let app = try tree()
    app.press("j j l j l k h l")
    #expect(app.line(of: "email") == nil)
    #expect(app.state.tabs.tree.expanded.count == 2)
  }

  @Test func foldKeysWorkOnTheNodeUnderTheCursor() throws {
    let app = try tree()
    app.press("j za")
    #expect(app.line(of: "-M1") != nil)
    app.press("za")
    #expect(app.line(of: "-M1") == nil)
    #expect(app.line(of: "user") != nil)
  }

  @Test func headerFoldsTheWholeTree() throws {
    let app = try tree()
    app.press("Enter")
    #expect(app.line(of: "room") == nil)
    app.press("l")
    #expect(app.line(of: "room") != nil)
  }

  @Test func childrenArePagedWithoutMovingTheScreen() throws {
    let app = try AppDriver([], copying: Fixture.historyFile.get())
    app.press("j l G")
    #expect(app.cursorLine.hasPrefix(">     ⋯ more rows not loaded - Enter fetches 50"))
    app.press("k")
    let before = app.body.dropLast()
    app.press("gm")
    #expect(app.body.dropLast() == before)
    var pageCount = 1
    while app.state.tabs.tree.expanded[try Path("/room")]?.paging != .exhausted, pageCount < 20 {
      app.press("gm")
      pageCount += 1
    }
    #expect(pageCount == 8)
    #expect(app.state.tabs.tree.expanded[try Path("/room")]?.rows.count == 437)
    app.press("gm")
    #expect(app.toast == "all children of /room are loaded")
  }

  @Test func fetchMoreRowSaysThatItFetches() throws {
    let app = try AppDriver([], copying: Fixture.historyFile.get())
    app.press("j l G")
    app.strike("Enter")
    #expect(app.line(of: "◐ fetching more rows…") != nil)
    app.pump()
    #expect(app.line(of: "fetching") == nil)
    #expect(app.state.tabs.tree.content.rowCount == 102)
  }

  @Test func expandedNodesAreLive() throws {
    let app = try tree()
    app.press("j j l j l")
    try app.set("/user/ana/plot", 99)
    #expect(app.line(of: "99  number") != nil)
    try app.set("/user/ana/note", "new")
    #expect(app.line(of: "\"new\"  string") != nil)
    try app.set("/user/abe/name", "Abe")
    #expect(app.line(of: "abe") == 3)
    #expect(app.cursorLine.contains("ana"))
    try app.remove("/user/ana/note")
    #expect(app.line(of: "note") == nil)
  }

  @Test func nodeDeletedWhileExpandedIsForgotten() throws {
    let app = try tree()
    app.press("j j l j l j j")
    try app.remove("/user/ana")
    #expect(app.line(of: "email") == nil)
    #expect(app.cursorLine != "")
    #expect(try app.state.tabs.tree.expanded[Path("/user/ana")] == nil)
    try app.set("/user/ana", ["name": "Ana again"])
    #expect(app.line(of: "▸ ana") != nil, "it comes back collapsed")
  }

  @Test func nodeThatBecomesAValueIsCollapsed() throws {
    let app = try tree()
    app.press("j j l j l")
    try app.set("/user/ana", "gone on holiday")
    #expect(app.cursorLine.contains("\"gone on holiday\""))
    #expect(try app.state.tabs.tree.expanded[Path("/user/ana")] == nil)
    app.press("h")
    #expect(app.cursorLine.contains("user"))
  }

  @Test func childIsAddedWithItsType() throws {
    let app = try tree()
    app.press("j j a")
    app.type("fay/name")
    app.press("Tab")
    app.type("\"Fay\"")
    app.press("Enter")
    #expect(try app.stored("/user/fay/name") == "Fay")
    #expect(app.toast == "added")
  }

  @Test func childThatIsThereIsNotReplaced() throws {
    let app = try tree()
    app.press("a")
    app.type("user")
    app.press("Tab")
    app.type("1")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("/user is there already") })
    #expect(app.backend.writeCount == 0)
  }

  @Test(arguments: [
    ("", "1", "type a name"), ("x", "", "a value is missing"), ("a.b", "1", "a.b"),
    ("x", "{", "not JSON"), ("x", "null", "nothing would be stored"),
    ("x", "{\"a\":[]}", "nothing would be stored"),
  ])
  func badChildIsRefusedBesideItsField(name: String, value: String, reason: String) throws {
    let app = try tree()
    app.press("a")
    app.type(name)
    app.press("Tab")
    app.type(value)
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("! ") && $0.contains(reason) })
    #expect(app.backend.writeCount == 0)
    #expect(!app.state.layers.isEmpty)
  }

  @Test func nodeThatCannotBeReadSaysSoAndIsReadAgainOnEnter() throws {
    let app = try tree()
    app.backend.listenRefusal = DatabaseError(.locked, "the file is locked")
    app.press("j l")
    #expect(app.body[2].contains("the file is locked · Enter tries again"))
    app.backend.listenRefusal = nil
    app.press("j Enter")
    #expect(app.line(of: "-M1") != nil)
  }
}

/// Marked nodes.
@Suite struct TreeMarkTests {
  private func app() throws -> AppDriver {
    let app = try AppDriver(
      [], json: ["a": ["x": 1, "y": ["z": 2]], "b": "two", "c": 3, "d": ["e": 4]])
    app.press("gg j")
    return app
  }

  @Test func spaceMarksAndStepsDown() throws {
    let app = try app()
    app.press("Space Space")
    #expect(app.state.tabs.tree.marks == ["/a", "/b"])
    #expect(app.cursorLine.contains("c "))
    #expect(app.status.contains("2 marked"))
    #expect(app.body[1].hasPrefix(" *▸ a"))
    app.press("[m")
    #expect(app.cursorLine.contains("b "))
    app.press("Esc")
    #expect(app.state.tabs.tree.marks.isEmpty)
  }

  @Test func rangesAndSiblingsAreMarked() throws {
    let app = try app()
    app.press("j v j v")
    #expect(app.state.tabs.tree.marks == ["/b", "/c"])
    app.press("\\ g g j l j *")
    #expect(app.state.tabs.tree.marks == ["/a/x", "/a/y"])
    app.press("*")
    #expect(app.state.tabs.tree.marks.isEmpty)
  }

  @Test func markedNodesAreDeletedAfterAQuestionAndComeBack() throws {
    let app = try app()
    app.press("l j Space gg j Space G Space d")
    #expect(
      app.screen.contains { $0.contains("Delete 2 marked nodes") }, "what is inside goes along")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try app.stored("/") == ["b": "two", "c": 3])
    #expect(app.state.tabs.tree.marks.isEmpty)
    #expect(app.toast == "deleted 2 records")
    app.press("u")
    #expect(try app.stored("/a/y/z") == 2)
    #expect(try app.stored("/d/e") == 4)
  }

  @Test func markedNodesAreCopied() throws {
    let app = try app()
    app.press("Space Space y v")
    #expect(app.clipboard == "{\"x\":1,\"y\":{\"z\":2}}\n\"two\"")
    app.press("y p")
    #expect(app.clipboard == "/a\n/b")
    app.press("y y")
    #expect(try JSONValue(parsing: app.clipboard) == [["x": 1, "y": ["z": 2]], "two"])
  }

  @Test func markedNodesAreExported() throws {
    let file = NSTemporaryDirectory() + "marked-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let app = try app()
    app.press("Space j Space :")
    app.type("export json \(file)")
    app.press("Enter")
    #expect(app.toast.hasPrefix("exported 1 record and 1 value"), "\(app.toast)")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(try JSONValue(parsing: text)["a"] == ["x": 1, "y": ["z": 2]])
    #expect(try JSONValue(parsing: text)["c"] == 3)
    #expect(try JSONValue(parsing: text)["b"] == nil)
  }

  @Test func whatIsGoneIsNotMarked() throws {
    let app = try app()
    app.press("Space Space")
    try app.remove("/a")
    #expect(app.state.tabs.tree.marks == ["/b"])
  }
}
