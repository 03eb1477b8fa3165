import Foundation
import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct RecordTests {
  /// Ana's record.
  private func ana() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Enter")
    return app
  }

  private func goTo(_ field: String, _ app: AppDriver) throws {
    let id = try Path(field).description
    let index = try #require(app.record?.content.sections[0].rows.firstIndex(of: id))
    app.press("\(index + 1)".map(String.init).joined(separator: " ") + " gg")
  }

  @Test func recordShowsItsFieldsWithTheirKinds() throws {
    let expected = """
       runnel  test ▸ /user/ana                                           ● live  zoe
       1 Chat  2 People  3 Tree                                                5 rows
      ────────────────────────────────────────────────────────────────────────────────
      ▾ /user/ana                                                             5 fields
      >  name          Ana                                                     string
         plot          3                                                       number
         active        true                                                   boolean
         email         ana@example.org                                         string
         role          organizer                                               string
      """
    let screen = try ana().screen.prefix(9).joined(separator: "\n")
    #expect(screen == expected)
  }

  @Test func fieldsOfAnObjectStayTogetherWhereTheFirstHasItsColumn() throws {
    let order = FieldOrder(
      [.key]
        + [["from", "name"], ["text"], ["from", "id"]].map { keys in
          .path(Path(unchecked: keys.map { Key(unchecked: $0) }))
        })
    let paths = ["created", "from/age", "from/id", "from/name", "text"].map(Fixture.path)
    #expect(
      order.sorted(paths) { $0 }.map(\.text)
        == ["from/name", "from/id", "from/age", "text", "created"])
    #expect(FieldOrder().sorted(paths) { $0 } == paths)
  }

  @Test func valuesStandOneBelowTheOtherBesideLongNames() throws {
    let app = try ana()
    try app.set("/user/ana/contact", ["telephone": "+43 1"])
    let places = ["+43 1", "ana@example.org", "organizer"].map { value in
      app.body.lazy.compactMap { line in
        line.firstRange(of: value).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
      }.first
    }
    #expect(places[0] != nil)
    #expect(Set(places).count == 1, "\(app.body)")
  }

  @Test func namesMayTakeTwoFifthsOfThePage() throws {
    let app = try ana()
    let name = "answer to the last question"
    try app.set("/user/ana/\(name)", "yes")
    func place(_ value: String) -> Int? {
      app.body.lazy.compactMap { line in
        line.firstRange(of: value).map { line.distance(from: line.startIndex, to: $0.lowerBound) }
      }.first
    }
    #expect(place("yes") == place("ana@example.org"), "\(app.body)")
    app.resize(columns: 50, rows: 24)
    let (yes, email) = (try #require(place("yes")), try #require(place("ana@example.org")))
    #expect(yes > email, "a narrow page keeps room for the values")
  }

  @Test func textIsEditedInItsPlace() throws {
    let app = try ana()
    try goTo("email", app)
    app.press("e C-u")
    app.type("ana@riverside.example")
    #expect(app.cursorLine.hasPrefix(">  email         ana@riverside.example"))
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
    app.press("Enter")
    #expect(try app.stored("/user/ana/email") == "ana@riverside.example")
    #expect(app.toast == "saved")
    #expect(app.line(of: "ana@riverside.example") == 4)
  }

  @Test func blankChangesTrueAndFalse() throws {
    let app = try ana()
    try goTo("active", app)
    app.press("e Space")
    #expect(app.cursorLine.hasPrefix(">  active        false"))
    app.press("Space Space Enter")
    #expect(try app.stored("/user/ana/active") == false)
  }

  @Test func textOfSeveralLinesGetsMoreInItsPlace() throws {
    let app = try AppDriver(
      Fixture.views(), json: ["user": ["ana": ["name": "Ana", "note": "one\ntwo"]]])
    app.press("g2 G Enter")
    try goTo("note", app)
    app.press("e")
    #expect(app.cursorLine.contains("one⏎two"))
    app.press("C-j")
    app.type("three")
    #expect(app.cursorLine.contains("one⏎two⏎three"))
    app.press("Enter")
    #expect(try app.stored("/user/ana/note") == "one\ntwo\nthree")
  }

  @Test func keyOfTheSameListIsFollowed() throws {
    let app = try AppDriver(
      Fixture.views(),
      json: ["user": ["ana": ["name": "Zoe", "mentor": "bo"], "bo": ["name": "Bo"]]])
    app.press("g2 G Enter")
    try goTo("mentor", app)
    app.press("gd")
    #expect(app.screen[0].contains("/user/bo"), "\(app.screen[0]) \(app.toast)")
    app.press("gb")
    #expect(app.screen[0].contains("/user/ana"), "\(app.screen[0]) \(app.toast)")
    #expect(app.cursorLine.contains("mentor"))
    app.press("gb")
    #expect(app.record == nil)
  }

  @Test func keyInTheCollectionNamedLikeTheFieldIsFollowed() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - { name: Pots, path: /pots, columns: [{ field: title }] }
          - { name: Firings, path: /firings, columns: [{ field: kiln }] }
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      view,
      json: [
        "pots": [
          "a": ["title": "Bowl", "Firing": "F029"], "b": ["title": "Cup", "Firing": "later"],
          "c": ["title": "Jug", "kiln": "F029"],
        ],
        "firings": ["F029": ["kiln": "gas"]],
      ])
    app.press("gg j gd")
    #expect(app.screen[0].contains("/firings/F029"), "\(app.screen[0]) \(app.toast)")
    app.press("Esc g2 g1 gg j j gd")
    #expect(app.toast == "nothing here refers to another record", "no firing has this key")
    app.press("j gd")
    #expect(app.toast == "nothing here refers to another record", "no collection has this name")
  }

  @Test func numberIsRefusedBesideTheFieldUntilItIsOne() throws {
    let app = try ana()
    try goTo("plot", app)
    app.press("e")
    app.type("x")
    app.press("Enter")
    #expect(app.cursorLine.contains("3x"))
    #expect(app.cursorLine.contains("! not a number"))
    #expect(app.backend.writeCount == 0)
    app.press("Backspace")
    #expect(!app.cursorLine.contains("not a number"))
    app.type(".5")
    app.press("Enter")
    #expect(try app.stored("/user/ana/plot") == .number(try #require(JSONNumber(3.5))))
  }

  @Test func booleanIsRefusedUntilItIsOne() throws {
    let app = try ana()
    try goTo("active", app)
    app.press("e C-u")
    app.type("perhaps")
    app.press("Enter")
    #expect(app.cursorLine.contains("! not true or false"))
    app.press("C-u")
    app.type("no")
    app.press("Enter")
    #expect(try app.stored("/user/ana/active") == false)
  }

  @Test func kindOfAFieldIsChanged() throws {
    let app = try ana()
    try goTo("plot", app)
    app.press("e F2")
    #expect(app.cursorLine.hasSuffix("boolean"))
    app.press("C-x C-t C-x C-t")
    #expect(app.cursorLine.hasSuffix("string"))
    app.press("Enter")
    #expect(try app.stored("/user/ana/plot") == "3")
  }

  @Test func escapeLeavesTheFieldAsItWas() throws {
    let app = try ana()
    try goTo("active", app)
    app.press("e C-u")
    app.type("no")
    app.press("Esc")
    #expect(app.cursorLine.contains("true"))
    #expect(app.backend.writeCount == 0)
    app.press("Esc")
    #expect(app.record == nil)
  }

  @Test func nothingIsWrittenWhenNothingWasTyped() throws {
    let app = try ana()
    app.press("e Enter")
    #expect(app.backend.writeCount == 0)
  }

  @Test func tabGoesOnToTheNextField() throws {
    let app = try ana()
    try goTo("active", app)
    app.press("e C-u")
    app.type("no")
    app.press("Tab C-u")
    app.type("a@b.c")
    app.press("S-Tab Esc")
    #expect(try app.stored("/user/ana/active") == false)
    #expect(try app.stored("/user/ana/email") == "a@b.c")
    #expect(app.cursorLine.contains("active"))
  }

  @Test func editKeyOfAListOpensTheMainField() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("e")
    #expect(app.record?.edit?.field == (try Path("text")))
    app.press("C-u")
    app.type("Found it")
    app.press("Enter q")
    #expect(app.cursorLine.contains("Found it"))
    #expect(try app.stored("/room/-M6/text") == "Found it")
  }

  @Test func fieldThatIsMissingIsEditedEmptyAndStaysSoIfItComes() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    try app.remove("/room/-M6/text")
    app.press("e")
    #expect(app.record?.edit?.field == (try Path("text")))
    try app.set("/room/-M6/text", "back")
    #expect(app.record?.edit?.input.editor.text.isEmpty == true)
  }

  @Test func fieldsAreAddedAndDeleted() throws {
    let app = try ana()
    app.press("a")
    app.type("note")
    app.press("Tab")
    app.type("[1, 2]")
    app.press("Enter")
    #expect(try app.stored("/user/ana/note/1") == 2)
    #expect(app.line(of: "note/0") != nil)
    try goTo("note/0", app)
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try app.stored("/user/ana/note/0") == .null)
    #expect(app.record != nil)
  }

  @Test func fieldThatIsThereIsNotAddedAgain() throws {
    let app = try ana()
    for name in ["plot", "plot/x"] {
      app.press("a")
      app.type(name)
      app.press("Tab")
      app.type("1")
      app.press("Enter")
      #expect(app.screen.contains { $0.contains("is there already: e edits it") })
      app.press("Esc")
    }
    #expect(app.backend.writeCount == 0)
  }

  // MARK: Refusals

  @Test func refusedEditKeepsWhatWasTypedAndSaysWhy() throws {
    let app = try ana()
    try goTo("email", app)
    app.press("e C-u")
    app.type("new@example.org")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("Enter")
    #expect(app.toast == "the disk is full")
    #expect(app.cursorLine.contains("new@example.org"))
    #expect(app.cursorLine.contains("! the disk is full"))
    app.backend.refusal = nil
    app.press("Enter")
    #expect(try app.stored("/user/ana/email") == "new@example.org")
  }

  @Test func refusedEditIsKeptForOneWhoLeftTheRecord() throws {
    let app = try ana()
    try goTo("email", app)
    app.press("e C-u")
    app.type("new@example.org")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.strike("Enter q")
    app.pump()
    #expect(app.record == nil, "no key of the list goes into the field")
    #expect(app.toast.contains("S lists it"))
    app.press("S e")
    #expect(app.record?.edit?.input.editor.text == "new@example.org")
    #expect(app.cursorLine.contains("! the disk is full"))
  }

  @Test func refusedFormComesBackAsItWas() throws {
    let app = try ana()
    app.press("a")
    app.type("note")
    app.press("Tab")
    app.type("\"x\"")
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("note") && $0.contains("string") })
    #expect(app.screen.contains { $0.contains("! the file is locked") })
    app.backend.refusal = nil
    app.press("C-s")
    #expect(try app.stored("/user/ana/note") == "x")
  }

  @Test func refusedFormDoesNotTakeKeysFromAnotherField() throws {
    let app = try ana()
    try goTo("active", app)
    app.press("a")
    app.type("note")
    app.press("Tab")
    app.type("1")
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    app.strike("Enter e C-u")
    app.pump()
    app.type("no")
    app.backend.refusal = nil
    app.press("Enter")
    #expect(try app.stored("/user/ana/active") == false)
  }

  // MARK: Others

  @Test func recordIsLive() throws {
    let app = try ana()
    try app.set("/user/ana/plot", 4)
    #expect(app.line(of: "plot          4") == 2)
    try app.set("/user/ana/address", ["street": "Brook Lane"])
    #expect(app.line(of: "address/street") == 5)
    #expect(app.cursorLine.contains("name"))
  }

  @Test func recordDeletedElsewhereSaysSo() throws {
    let app = try ana()
    try app.remove("/user/ana")
    #expect(app.body[1].contains("this record is gone · Esc goes back"))
    app.press("e d Enter")
    #expect(app.record?.edit == nil)
    app.press("Esc")
    #expect(app.line(of: "Ana") == nil)
  }

  /// An edit waits for the write of the one before: it begins with what that wrote.
  @Test func aFieldThatIsEditedAgainAtOnceIsNoConflict() throws {
    let app = try ana()
    try goTo("email", app)
    app.strike("e C-a C-k o n e Enter e C-a C-k t w o Enter e C-e ! Enter")
    #expect(app.backend.requests.count <= 1)
    app.pump()
    #expect(try app.stored("/user/ana/email") == "two!")
    #expect(app.record != nil && app.state.layers.count == 1)
    app.strike("e C-a C-k x Tab S-Tab C-e y Enter")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "xy")
  }

  @Test func aRecordDeletedElsewhereIsSavedWholeIfThatIsChosen() throws {
    let app = try ana()
    let before = try Node(json: app.stored("/user/ana"))
    try goTo("email", app)
    app.press("e")
    app.type("!")
    try app.remove("/user/ana")
    #expect(app.cursorLine.contains("ana@example.org!"))
    #expect(app.cursorLine.contains("deleted elsewhere"))
    app.press("Enter")
    #expect(try app.stored("/user/ana") == .null, "what others removed is not put back unasked")
    app.press("m C-s")
    let wanted = before.replacing(try Path("email"), with: try Node(json: "ana@example.org!"))
    #expect(before.children.count > 1)
    #expect(try Node(json: app.stored("/user/ana")) == wanted)
  }

  @Test func cancelledEditOfADeletedFieldLeavesItDeleted() throws {
    let app = try ana()
    try goTo("email", app)
    app.press("e")
    try app.remove("/user/ana/email")
    app.press("Esc")
    #expect(app.line(of: "email") == nil)
    #expect(try app.stored("/user/ana/email") == .null)
  }

  @Test func fieldChangedElsewhereWhileItIsEditedSaysSo() throws {
    let app = try ana()
    try goTo("plot", app)
    app.press("e")
    app.type("1")
    try app.set("/user/ana/plot", 8)
    #expect(app.cursorLine.contains("31"))
    #expect(app.cursorLine.contains("! changed elsewhere to 8"))
    app.press("Enter")
    #expect(try app.stored("/user/ana/plot") == 8, "what others wrote is not replaced unasked")
    app.press("m C-s")
    #expect(try app.stored("/user/ana/plot") == 31)
  }

  @Test func eventsOfAClosedRecordAreDropped() throws {
    let app = try ana()
    app.strike("q Enter q j Enter")
    app.pump()
    #expect(app.screen[0].contains("/user/dan"))
    try app.set("/user/ana/plot", 77)
    #expect(app.line(of: "77") == nil)
  }

  @Test(arguments: [80, 40])
  func anErrorWithoutRoomIsReadInFullBelow(columns: Int) throws {
    let app = try ana()
    app.resize(columns: columns, rows: 12)
    try goTo("plot", app)
    app.press("e")
    app.type("x")
    app.press("Enter")
    app.wait(milliseconds: 10_000)
    let below = app.screen.suffix(from: app.state.layout.body.endRow)
    let words = (below.isEmpty ? [] : below.map { $0.trimmingCharacters(in: .whitespaces) })
      .joined(separator: " ")
    let beside = app.cursorLine.contains("like 12 or -3.5")
    #expect(beside || words.contains("type digits, like 12 or -3.5"), "\(app.screen)")
  }
}
