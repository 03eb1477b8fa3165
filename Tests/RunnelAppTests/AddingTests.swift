import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct AddingTests {
  private func chat(rows: Int = 24) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, rows: rows)
  }

  private func newest(_ app: AppDriver) throws -> JSONValue {
    guard case .object(let members) = try app.stored("/room"), let last = members.last else {
      return .null
    }
    return last.value
  }

  // MARK: Forms

  @Test func aFormTellsTheSameKeysInItsBoxAndBelow() throws {
    let app = try chat()
    app.press("g2 a")
    #expect(app.screen.count { $0.contains("Enter next  C-s save  Esc cancel") } == 2)
    app.press("S-Tab")
    #expect(app.screen.count { $0.contains("Enter save  Esc cancel") } == 2, "\(app.screen)")
    #expect(!app.screen.contains { $0.contains("C-s save") }, "one key for one act")
  }

  @Test func firstValuesLeaveTheOtherFieldsInTheForm() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Pots
            path: /pot
            columns: [{ field: title }]
            new: { state: thrown, by: $me }
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      view, json: ["pot": ["a": ["title": "Bowl", "by": "ana", "glaze": "tenmoku"]]])
    app.press("a")
    let form = try #require(app.form)
    // The key stands last; what is filled in is not typed.
    #expect(form.fields.map(\.label).prefix(3) == ["state", "title", "glaze"])
    #expect(form.fields.map(\.input.editor.text).prefix(3) == ["thrown", "", ""])
    app.press("C-s")
    guard case .object(let pots) = try app.stored("/pot") else {
      Issue.record("no records")
      return
    }
    #expect(pots.count == 2)
    #expect(pots.contains { $0.value == ["by": "zoe", "state": "thrown"] }, "\(pots)")
  }

  @Test func fieldsOfAFormStandInTheOrderOfTheColumns() throws {
    let view = try ViewFile(
      yaml: """
        views:
          - name: Pots
            path: /pot
            columns: [{ field: title }, { field: price }, { field: by }]
        """, name: "test.views.yaml"
    ).views
    let app = try AppDriver(
      view, json: ["pot": ["a": ["by": "ana", "glaze": "tin", "price": 3, "title": "Bowl"]]])
    app.press("a")
    let form = try #require(app.form)
    #expect(form.fields.map(\.label).prefix(4) == ["title", "price", "by", "glaze"])
  }

  // MARK: The compose line

  @Test func theLineNamesTheUserAsPeopleDo() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    var account = AccountFacts.Account(id: app.state.database.me, email: "zoe@x.org")
    app.take(.accounts(AccountFacts([account], current: account, .signedIn)))
    app.press("a")
    #expect(app.composeLine == " zoe@x.org")
    account.name = String(repeating: "Zoe ", count: 10)
    app.take(.accounts(AccountFacts([account], current: account, .signedIn)))
    #expect(app.composeLine.hasPrefix(" Zoe Zoe") && app.composeLine.count <= 21)
  }

  @Test func typedTextShowsAsARowThatIsNotSaved() throws {
    let app = try chat()
    app.press("a")
    #expect(app.composeLine == " zoe")
    app.type("hello")
    #expect(
      app.cursorLine
        == "> ~ 18:20 zoe      hello                                               not saved")
    #expect(app.composeLine == " zoe hello")
    #expect(app.backend.writeCount == 0)
    let last = try #require(app.list.content.sections.last)
    #expect(app.list.headings.all[last.id]?.detail.text == "2", "it does not count")
  }

  @Test func transientRowIsInSightOnAFullScreen() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("gg a")
    app.type("h")
    #expect(app.cursorLine.hasPrefix("> ~ 18:20 zoe"))
  }

  @Test func transientRowStaysUntilTheMessageIsSent() throws {
    let app = try chat()
    app.press("a")
    app.type("hello")
    app.strike("Enter")
    #expect(app.cursorLine.hasPrefix("> ~"))
    #expect(app.cursorLine.contains("hello"))
    #expect(app.composeLine == " ◐", "the line is free for the next one")
    app.pump()
    #expect(app.line(of: "~") == nil)
    #expect(app.cursorLine.contains("18:20 zoe      hello"))
    #expect(app.composeLine == " zoe")
    let stored = try newest(app)
    #expect(stored["text"] == "hello")
    #expect(stored["from"] == "zoe")
    #expect(stored["created"] == .number(JSONNumber(Fixture.now)))
  }

  @Test func whatIsTypedWhileSendingBelongsToTheNextMessage() throws {
    let app = try chat()
    app.press("a")
    app.type("one")
    app.strike("Left Enter t w o")
    app.pump()
    #expect(try newest(app)["text"] == "one")
    #expect(app.composeLine == " zoe two")
    app.press("Enter")
    #expect(try newest(app)["text"] == "two")
  }

  @Test func aMessageMayHaveSeveralLines() throws {
    let app = try chat()
    app.press("a")
    app.type("one")
    app.press("C-j")
    let height = app.state.height
    app.type("two")
    app.press("C-j")
    #expect(app.state.height == height - 1, "the field grows with its lines")
    app.type("three")
    app.press("Up")
    #expect(app.screen.contains { $0.hasPrefix(" zoe one") })
    #expect(app.cursorLine.hasPrefix("> ~"), "the row stays in sight")
    app.press("Enter")
    #expect(try newest(app)["text"] == "one\ntwo\nthree")
    #expect(app.state.height == height + 1)
    app.press("Up")
    #expect(app.state.height == height - 1, "it comes back with all lines")
  }

  @Test func aFieldOfAFormMayHaveSeveralLines() throws {
    let app = try chat()
    app.press("g2 a")
    app.type("Gus")
    app.press("C-j")
    app.type("Gustavsson")
    #expect(app.screen.contains { $0.contains("Gustavsson") })
    app.press("Up")
    #expect(app.form?.focus == 0, "within the text")
    app.press("Up")
    #expect(app.form?.focus != 0)
    app.press("C-s")
    #expect(try app.stored("/user").jsonText().contains("Gus\\nGustavsson"))
  }

  @Test func draftIsKept() throws {
    let app = try chat()
    app.press("a")
    app.type("half a tho")
    app.press("Esc")
    #expect(app.line(of: "~") == nil)
    #expect(app.toast == "kept as a draft: a goes on with it")
    app.press("g2 g1 a")
    #expect(app.cursorLine.contains("half a tho"))
    app.type("ught")
    app.press("Enter")
    #expect(try newest(app)["text"] == "half a thought")
    app.press("Esc a")
    #expect(app.state.tabs.lists[0].line.draft == "")
    #expect(app.composeLine == " zoe")
  }

  @Test func emptyMessageIsNotSent() throws {
    let app = try chat()
    app.press("a Enter")
    #expect(app.backend.writeCount == 0)
    app.type("x")
    app.press("Backspace")
    #expect(app.line(of: "~") == nil)
  }

  @Test func refusedMessageStaysInTheLineWithTheReason() throws {
    let app = try chat()
    app.press("a")
    app.type("hello")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.press("Enter")
    #expect(app.composeLine == " zoe hello")
    #expect(app.composeRule.contains("! the disk is full"))
    #expect(app.cursorLine.hasPrefix("> ~"))
    app.backend.refusal = nil
    app.press("Enter")
    #expect(try newest(app)["text"] == "hello")
  }

  @Test func messageSentBehindTheHelpLeavesNoRowBehind() throws {
    let app = try chat()
    app.press("a")
    app.type("hello")
    app.strike("Enter F1")
    app.pump()
    app.press("q Esc")
    #expect(app.line(of: "~") == nil)
    #expect(app.state.tabs.lists[0].line.draft == "")
  }

  @Test(arguments: [5, 6, 7, 8, 12])
  func lineIsSeenOnEveryScreen(rows: Int) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 20, rows: rows)
    app.press("a")
    app.type("hello")
    #expect(app.composeLine.hasPrefix(" zoe hello"))
    #expect(!app.cursorLine.isEmpty)
    #expect(app.canvas.cursor?.row == app.state.layout.composer.endRow - 1)
  }

  @Test func upAndDownGoThroughWhatWasSent() throws {
    let app = try chat()
    app.press("a")
    app.type("one")
    app.press("Enter")
    app.type("two")
    app.press("Enter")
    app.type("thr")
    app.press("Up")
    #expect(app.composeLine == " zoe two")
    app.press("C-p")
    #expect(app.composeLine == " zoe one")
    app.press("Up")
    #expect(app.composeLine == " zoe one")
    app.press("Down C-n")
    #expect(app.composeLine == " zoe thr")
  }

  @Test func lineOffersNoKeysThatDoNothingInIt() throws {
    let app = try chat()
    app.press("a F1")
    #expect(!app.body.contains { $0.contains("field.next") || $0.contains("field.type") })
  }

  @Test func pasteGoesIntoTheLineAndNeverIntoAList() throws {
    let app = try chat()
    app.send(.paste("dy\nq"))
    app.pump()
    #expect(app.state.layers.isEmpty)
    #expect(app.toast == "a paste goes into a text field: e edits, a adds")
    app.press("a")
    app.send(.paste("two\nlines\u{1B}[2J"))
    app.pump()
    #expect(app.cursorLine.contains("two⏎lines[2J"))
    #expect(app.list.line.draft == "two\nlines[2J")
  }

  // MARK: The form

  @Test func recordIsAddedByAForm() throws {
    let app = try chat()
    app.press("g2 a")
    app.type("Fay")
    app.press("Enter Enter C-u")
    app.type("8")
    // The last fields are that of other records and the key, which may stay empty.
    app.press("Enter Enter Enter Enter")
    #expect(app.toast == "added")
    #expect(app.cursorLine.contains("Fay          8     true"))
    #expect(app.line(of: "Fay") == 7)
  }

  @Test func computedFieldsAreNotAskedForButWritten() throws {
    let app = try chat()
    app.press("g2 a")
    #expect(app.form?.fields.allSatisfy { $0.label != "joined" } == true)
    #expect(app.screen.contains { $0.contains("+ joined  {\".sv\":\"timestamp\"}") })
    app.type("Fay")
    app.press("C-s")
    guard case .object(let members) = try app.stored("/user") else { return }
    let fay = try #require(members.first { $0.value["name"] == "Fay" })
    #expect(fay.value["joined"] == .number(JSONNumber(Fixture.now)))
  }

  @Test func emptiedFieldIsLeftOut() throws {
    let app = try chat()
    app.press("g2 a")
    app.type("Fay")
    app.press("Tab Tab C-u C-s")
    guard case .object(let members) = try app.stored("/user") else { return }
    let fay = try #require(members.first { $0.value["name"] == "Fay" })
    #expect(fay.value["plot"] == nil)
  }

  @Test func formRefusesABadFieldAndShowsWhich() throws {
    let app = try chat()
    app.press("g2 a")
    app.type("Fay")
    app.press("Tab Tab")
    app.type("x")
    app.press("Tab C-s")
    #expect(app.screen.contains { $0.contains("! not a number") })
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("the form is closed")
      return
    }
    #expect(form.focus == 2)
    #expect(app.backend.writeCount == 0)
  }

  @Test func rowBeyondTheLoadedOnesIsSaidToBeThere() throws {
    var views = try Fixture.views()
    (views[1].source.page, views[1].source.hasOwnPage) = (2, true)
    let app = try AppDriver(views, json: Fixture.small)
    app.press("g2 a")
    app.type("Zita")
    app.press("C-s")
    let user = try app.stored("/user")
    guard case .object(let members) = user,
      let zita = members.first(where: { $0.value["name"] == "Zita" })
    else {
      Issue.record("it is not stored")
      return
    }
    #expect(
      app.toast
        == "added \(zita.name): ordered by name, it stands beyond the loaded rows · :go \(zita.name) goes there"
    )
    let cursor = app.list.list.cursor
    app.press("gm")
    #expect(app.list.list.cursor == cursor, "it does not pull the cursor when it is fetched")
  }

  @Test func goFindsARecordByItsKeyInAnyOrder() throws {
    var views = try Fixture.views()
    (views[1].source.page, views[1].source.hasOwnPage) = (2, true)
    let app = try AppDriver(views, json: Fixture.small)
    app.press("g2")
    for name in ["Zita", "Aaron"] { try app.set("/user/\(name)", ["name": .string(name)]) }
    for name in ["Zita", "Aaron"] {
      app.press(":")
      app.type("go \(name)")
      app.press("Enter")
      #expect(app.cursorLine.contains(name), "\(app.body)")
    }
    app.press(":")
    app.type("go none")
    app.press("Enter")
    #expect(app.toast == "there is no none here")
  }

  @Test func textThatNobodyTypedIsLeftOutOfANewRecord() throws {
    var views = try Fixture.views()
    views[1].template = []
    let app = try AppDriver(views, json: Fixture.small)
    guard case .object(let before) = try app.stored("/user") else { return }
    let keys = Set(before.map(\.name))
    app.press("g2 gg j a")
    let email = try #require(app.form?.fields.firstIndex { $0.label == "email" })
    for _ in 0..<email { app.press("Tab") }
    app.type("x")
    app.press("C-s")
    guard case .object(let members) = try app.stored("/user") else { return }
    let added = try #require(members.first { !keys.contains($0.name) })
    guard case .object(let fields) = added.value else { return }
    #expect(!fields.isEmpty && !fields.contains { $0.value == "" }, "\(fields)")
  }

  @Test func formWithoutATemplateFollowsTheRecordAtHand() throws {
    var views = try Fixture.views()
    views[1].template = []
    let app = try AppDriver(views, json: Fixture.small)
    app.press("g2 a")
    #expect(app.screen.contains { $0.contains("active") && $0.contains("boolean") })
    #expect(app.screen.contains { $0.contains("plot") && $0.contains("number") })
  }

  // MARK: Keys that people choose

  /// Types a name, and a key into the last field of the form.
  private func add(_ app: AppDriver, key: String) {
    app.press("g2 a")
    app.type("Fay")
    app.press("S-Tab")
    #expect(app.form?.fields.last?.label == "key")
    app.type(key)
    app.press("C-s")
  }

  @Test func whereKeysAreChosenANewRecordMayGetOne() throws {
    let app = try chat()
    add(app, key: "fay")
    #expect(app.toast == "added")
    #expect(try app.stored("/user/fay/name") == "Fay")
    #expect(app.cursorLine.contains("Fay"), "the cursor goes to it")
  }

  @Test(arguments: [("bo", "is there already"), ("a/b", "'/'"), ("x.y", "'.'")])
  func aKeyThatIsTakenOrNotValidIsRefusedInItsField(key: String, words: String) throws {
    let app = try chat()
    add(app, key: key)
    let form = try #require(app.form)
    #expect(form.focus == form.fields.count - 1)
    #expect(
      form.fields.last?.input.error?.contains(words) == true,
      "\(form.fields.last?.input.error ?? "")")
    #expect(app.backend.writeCount == 0)
  }

  @Test func aKeyThatOthersTookUnseenIsRefusedAndTheirRecordStays() throws {
    let app = try chat()
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/fay"), ["name": "Other"])) }
    add(app, key: "fay")
    #expect(try app.stored("/user/fay/name") == "Other")
    #expect(app.form?.fields.last?.input.error == "/user/fay is there already: choose another key")
  }

  @Test func withoutAKeyOneIsMade() throws {
    let app = try chat()
    app.press("g2 a")
    app.type("Fay")
    #expect(app.screen.contains { $0.contains("without a key, one is made") })
    app.press("C-s")
    guard case .object(let members) = try app.stored("/user") else { return }
    let fay = try #require(members.first { $0.value["name"] == "Fay" })
    #expect(fay.name.hasPrefix("-"))
    #expect(fay.value["key"] == nil)
  }

  @Test func whereKeysAreMadeNoneIsAskedFor() throws {
    var views = try Fixture.views()
    views[1].source.path = try Path("/made")
    let app = try AppDriver(
      views, json: ["made": ["-OxkT12abcdefghijkl0": ["name": "Ana"]]])
    app.press("g2 a")
    #expect(app.form?.fields.contains { $0.label == "key" } == false)
  }
}
