import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What is typed while answers are on their way is neither lost nor merged, whatever it is about.
@Suite struct TypeAheadTests {
  private let refusal = DatabaseError(.diskFull, "the disk is full")

  private func app() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  /// The texts of the messages that were added, in their order.
  private func added(_ app: AppDriver) throws -> [String] {
    guard case .object(let members) = try app.stored("/room") else { return [] }
    return members.dropFirst(6).map { member in
      if case .string(let text)? = member.value["text"] { text } else { "" }
    }
  }

  private func refused(_ app: AppDriver) -> [String] {
    app.state.writes.queue.refused.sorted { $0.id < $1.id }.compactMap { item in
      if case .send(_, let text, _) = item.purpose { text } else { nil }
    }
  }

  // MARK: A row that is being saved

  /// The row was just sent, and nothing is answered.
  private func sent() throws -> AppDriver {
    let app = try app()
    app.strike("a h i Enter Esc")
    return app
  }

  @Test(arguments: [
    "e", "F2", "d", "i", "T", "D", "E", "Enter", "l", "x", "yy", "Space", "gh", "o",
  ])
  func whatIsDoneWithARowWaitsUntilItIsSaved(key: String) throws {
    let app = try Fixture.gardenApp()
    app.strike("a h i Enter Esc")
    #expect(app.list.sentRecord != nil)
    app.strike(key)
    #expect(app.state.input.typeAhead.reason == "this row is being saved", "\(app.toast)")
    app.pump()
    #expect(app.state.input.typeAhead.isEmpty)
  }

  @Test func textForARowThatIsBeingSavedGoesIntoItAndIsNoCommand() throws {
    let app = try sent()
    app.strike("e C-u q u i t Enter Esc")
    app.pump()
    #expect(try added(app) == ["quit"])
    #expect(!app.state.session.isLeaving)
  }

  @Test func movesDoNotWaitForARowThatIsBeingSaved() throws {
    let app = try sent()
    app.strike("k")
    #expect(app.state.input.typeAhead.isEmpty)
    #expect(app.list.sentRecord == nil)
  }

  @Test func keysForARowThatIsRefusedAreDroppedWithAWord() throws {
    let app = try app()
    let before = try app.stored("/")
    app.backend.refusal = refusal
    app.strike("a h i Enter Esc e C-u q u i t Enter")
    app.pump()
    #expect(
      app.toast
        == "not sent: the disk is full · 7 keys that waited are dropped · the text is kept as a draft"
    )
    #expect(try app.stored("/") == before)
    #expect(!app.state.session.isLeaving)
    #expect(app.state.layers.isEmpty)
    #expect(app.list.line.draft == "hi")
  }

  @Test func keysForARowThatAFilterHidesAreDoneToNoOther() throws {
    let app = try app()
    app.press("f r i c e Enter")
    let before = try app.stored("/room/-M1")
    app.strike("a h i Enter Esc d y")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.pump()
    #expect(try app.stored("/room/-M1") == before)
    #expect(try added(app) == ["hi"])
  }

  @Test func noMoreRowsAreMadeThanAreShownWhileTheyAreSent() throws {
    let app = try app()
    var state = app.state
    for number in 1...1000 {
      _ = state.submit(
        .send(view: 0, text: "m\(number)", attempt: AppRequestID(number)),
        .push(try Path("/room"), "x"))
    }
    ComposeScreen.showComposed(&state, inView: 0, nil)
    guard case .compose(_, let sending, _, _)? = state.effects.last else {
      Issue.record("nothing is shown")
      return
    }
    #expect(sending.count == ListScreen.sentRowsMax)
    #expect(sending.map(\.id) == sending.map(\.id).sorted())
    #expect(sending.last?.id == state.requests.writes.keys.max())
  }

  // MARK: Messages

  @Test func burstOfMessagesIsSentOneByOne() throws {
    let app = try app()
    let texts = (1...40).map { "message \($0)" }
    app.strike("a")
    for text in texts {
      for character in text { app.send(.key(KeyStroke(.character(character)))) }
      app.strike("Enter")
    }
    #expect(app.composeLine == " ◐")
    app.pump()
    #expect(try added(app) == texts)
    #expect(app.composeLine == " zoe")
    #expect(app.cursorLine.contains("message 40"))
    #expect(!app.status.contains("new"), "what one wrote is no news")
  }

  @Test func messagesOnTheirWayAreSeen() throws {
    let app = try app()
    app.strike("a o n e Enter t w o Enter t h r")
    for text in ["one", "two", "thr"] {
      #expect(app.body.contains { $0.contains("~") && $0.contains(text) }, "\(text)")
    }
    #expect(app.cursorLine.contains("thr"))
    app.pump()
    #expect(app.cursorLine.contains("thr"), "who types is not sent elsewhere")
    #expect(app.composeLine == " zoe thr")
  }

  @Test func refusedMessagesWithTheSameTextAreAllKept() throws {
    let app = try app()
    app.backend.refusal = refusal
    app.strike("a o k Enter o k Enter")
    app.pump()
    #expect(refused(app) == ["ok", "ok"])
    app.backend.refusal = nil
    app.press("Enter")
    #expect(try added(app) == ["ok"])
    #expect(refused(app) == ["ok"])
  }

  @Test func whatIsTypedAfterARefusalIsAnotherMessage() throws {
    let app = try app()
    app.backend.refusal = refusal
    app.press("a o n e Enter")
    #expect(app.composeLine == " zoe one", "it comes back")
    app.backend.refusal = nil
    app.press("t w o Enter")
    #expect(try added(app) == ["two"])
    #expect(refused(app) == ["one"])
  }

  @Test func refusedMessageThatIsCorrectedIsNotKeptBesides() throws {
    let app = try app()
    app.backend.refusal = refusal
    app.press("a o n e Enter")
    app.backend.refusal = nil
    app.press("Backspace x Enter")
    #expect(try added(app) == ["onx"])
    #expect(refused(app).isEmpty)
  }

  @Test func refusalAfterTheLineWasLeftIsADraft() throws {
    let app = try app()
    app.backend.refusal = refusal
    app.strike("a o n e Enter Esc j")
    app.pump()
    #expect(app.list.line.draft == "one")
    app.backend.refusal = nil
    app.press("a Enter")
    #expect(try added(app) == ["one"])
    #expect(refused(app).isEmpty)
  }

  /// Messages are typed key by key while answers come at any moment, and some are refused.
  @Test(arguments: Seeds.first(8))
  func everyMessageIsSentOnceInOrderOrGivenBack(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let app = try app()
    var outcomes: [Bool] = []
    app.backend.refuse = { [refusal] in
      outcomes.append(Int.random(in: 0..<4, using: &random) > 0)
      return outcomes.last == true ? nil : refusal
    }
    app.press("a")
    var typed: [String] = []
    for _ in 0..<25 {
      let text = ["ok", "one", "two", "a longer one", "é漢"].randomElement(using: &random) ?? ""
      typed.append(text)
      for character in text + "\n" {
        let isEnd = character == "\n"
        app.send(.key(KeyStroke(isEnd ? .enter : .character(character))))
        app.answer(Int.random(in: 0...2, using: &random) * Int.random(in: 0...1, using: &random))
      }
    }
    app.pump()
    let pairs = zip(typed, outcomes)
    #expect(outcomes.count == typed.count, "seed \(seed)")
    #expect(try added(app) == pairs.filter(\.1).map(\.0), "seed \(seed)")
    let kept = pairs.filter { !$0.1 }.map(\.0)
    #expect(refused(app) == kept, "seed \(seed)")
    let line = app.list.line.draft
    #expect(line.isEmpty || kept.contains(line), "seed \(seed): \(line)")
  }
}

/// Keys whose meaning depends on an answer wait for it.
@Suite struct WaitingKeysTests {
  private func people() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j")
    return app
  }

  @Test func textForAFieldIsNoCommandWhileTheRecordIsRead() throws {
    let app = try people()
    app.strike("e C-u d y @ q Enter")
    #expect(app.state.input.typeAhead.events.count == 6)
    app.pump()
    #expect(try app.stored("/user/ana/email") == "dy@q")
    #expect(app.state.input.typeAhead.isEmpty)
  }

  @Test func moveInARecordWaitsForIt() throws {
    let app = try people()
    app.strike("Enter j j k e C-u 4 2 Enter")
    app.pump()
    #expect(try app.stored("/user/ana/plot") == 42)
  }

  @Test func recordThatIsReadIsLeftAtOnce() throws {
    let app = try people()
    app.strike("Enter q j Enter")
    #expect(app.record?.path.description == "/user/dan")
  }

  @Test func keysForTheFirstRowsWaitForThem() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.strike("g2 gg j j Enter")
    #expect(app.record == nil)
    app.pump()
    let expected = try AppDriver(Fixture.views(), json: Fixture.small)
    expected.press("g2 gg j j Enter")
    #expect(app.record?.path == expected.record?.path)
    #expect(app.record != nil)
  }

  @Test func keysInTheTreeWaitForChildren() throws {
    let app = try AppDriver([], json: Fixture.small)
    app.press("gg j")
    app.strike("l j l j j")
    app.pump()
    let expected = try AppDriver([], json: Fixture.small)
    expected.press("gg j l j l j j")
    #expect(app.cursorLine == expected.cursorLine)
    #expect(app.body == expected.body)
  }

  @Test(arguments: ["gh", "c", "gw", "yp", "m a"])
  func whatIsAskedAboutANodeWaitsWhileTheTreeIsReadAgain(keys: String) throws {
    func app() throws -> AppDriver {
      let app = try AppDriver([], json: Fixture.small)
      app.press("gg j l j")
      return app
    }
    let (late, expected) = (try app(), try app())
    late.strike("R \(keys)")
    #expect(!late.state.input.typeAhead.isEmpty, "\(late.toast)")
    #expect(late.state.layers.isEmpty)
    late.pump()
    expected.press("R")
    expected.press(keys)
    #expect(late.screen == expected.screen)
    #expect(late.clipboard == expected.clipboard)
  }

  @Test(arguments: ["d", "Enter", "e", "Space"])
  func keyAfterTheEndWaitsForTheRowThere(key: String) throws {
    let members = (0..<500).map { JSONMember("m\(1000 + $0)", ["text": .string("row \($0)")]) }
    let views = try ViewFile(
      yaml: """
        views:
          - { name: Rows, path: /rows, page: 20, columns: [{ field: text }] }
        """, name: "test.views.yaml"
    ).views
    func app() throws -> AppDriver {
      try AppDriver(views, json: ["rows": .object(members)])
    }
    let (late, expected) = (try app(), try app())
    late.strike("G \(key)")
    late.pump()
    expected.press("G")
    #expect(expected.cursorLine.contains("row 499"))
    expected.press(key)
    #expect(late.screen == expected.screen)
  }

  @Test func movesBeyondTheLoadedRowsWaitForThem() throws {
    func app() throws -> AppDriver {
      let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
      app.moveToFetchMoreRow()
      return app
    }
    let (late, expected) = (try app(), try app())
    late.strike("Enter k k k")
    late.pump()
    expected.press("Enter k k k")
    #expect(late.cursorLine == expected.cursorLine)
  }

  @Test func undoTakesBackTheWriteBeforeItAndNoOther() throws {
    let app = try people()
    app.press("e x Enter Esc")
    #expect(try app.stored("/user/ana/email") == "ana@example.orgx")
    app.press("e")
    app.strike("y Enter u")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "ana@example.orgx")
  }

  @Test func redoAfterUndoIsNotLost() throws {
    let app = try people()
    app.press("e x Enter Esc")
    app.strike("u C-r")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "ana@example.orgx")
  }

  @Test func whoLeavesLeavesWhenAllIsWritten() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.strike("a h i Enter Esc q")
    #expect(!app.state.session.isLeaving)
    app.pump()
    #expect(app.state.session.isLeaving)
    #expect(app.list.line.draft == "")
  }

  @Test func readOnlyIsTurnedOnAfterTheWrite() throws {
    let app = try people()
    app.press("e x")
    app.strike("Enter Esc !")
    #expect(!app.state.database.isReadOnly)
    app.pump()
    #expect(app.state.database.isReadOnly)
    #expect(try app.stored("/user/ana/email") == "ana@example.orgx")
  }

  @Test func chosenUndoOfThePaletteWaitsToo() throws {
    let app = try people()
    app.press("e x")
    app.strike("Enter Esc : u n d o Enter")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
  }

  @Test func choiceOfAReferenceWaitsForWhatMayBeChosen() throws {
    let app = try Fixture.gardenApp()
    app.strike("i Tab C-u Z o F2 C-s")
    app.pump()
    #expect(try app.stored("/group_message/g/-M2/from") == "zoe")
  }

  @Test func answerThatIsStruckTooSoonIsNotSilent() throws {
    let app = try people()
    app.press("d y")
    #expect(app.toast == "struck too soon to be an answer: y again says yes")
    app.press("k")
    #expect(!app.toast.contains("too soon"), "the message gives way to the next key")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y")
    #expect(try app.stored("/user/ana") == .null)
  }

  @Test func interruptDropsWhatWaits() throws {
    let app = try people()
    app.strike("e d d C-c")
    #expect(app.toast == "2 keys that waited are dropped")
    app.pump()
    #expect(app.record?.edit?.input.editor.text == "ana@example.org")
    #expect(!app.state.session.isLeaving)
  }

  @Test func whatWaitsForLongIsSaid() throws {
    let app = try people()
    app.strike("e x y")
    #expect(!app.status.contains("wait"))
    let due = try #require(StateReducer.deadline(app.state))
    app.wait(milliseconds: due - app.state.now)
    #expect(app.status.contains("2 keys wait: the record is being read · C-c drops them"))
    app.pump()
    #expect(!app.status.contains("wait"))
  }

  @Test func asManyKeysWaitAsThereIsRoomFor() throws {
    let app = try people()
    app.strike("e C-e")
    for _ in 0..<TypeAhead.eventsMax - 1 { app.send(.key(KeyStroke(.character("x")))) }
    #expect(app.toast == "")
    app.send(.key(KeyStroke(.character("y"))))
    #expect(app.toast.contains("not taken: \(TypeAhead.eventsMax) keys wait already"))
    app.pump()
    let text = app.record?.edit?.input.editor.text ?? ""
    #expect(text == "ana@example.org" + String(repeating: "x", count: TypeAhead.eventsMax - 1))
  }

  @Test func pasteWaitsWithTheKeys() throws {
    let app = try people()
    app.strike("e C-u")
    app.send(.paste("dd qq"))
    app.strike("! Enter")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "dd qq!")
  }

  @Test func keysAfterUndoAreForWhatComesBack() throws {
    let app = try people()
    app.press("g2 gg j d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try app.stored("/user/ana") == .null)
    app.strike("u e C-u n e w Enter")
    app.pump()
    #expect(try app.stored("/user/ana/email") == "new")
    #expect(try app.stored("/user/dan/email") != "new")
  }

  @Test func keysAfterADeletionAreForTheNextRow() throws {
    let app = try people()
    app.press("g2 gg j d")
    app.wait(milliseconds: 200)
    app.strike("y e C-u n e w Enter Esc d")
    app.wait(milliseconds: 200)
    app.strike("y")
    app.pump()
    #expect(try app.stored("/user/ana") == .null)
    #expect(try app.stored("/user/dan") == .null)
    #expect(app.toast == "deleted")
  }

  @Test func refusedFormTakesNoKeysThatWereMeantForTheList() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 a")
    app.type("Zed")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.strike("C-s j")
    app.pump()
    app.press("j")
    #expect(app.state.layers.isEmpty)
    #expect(app.state.writes.queue.refused.count == 1)
    #expect(app.toast.contains("S lists it"))
  }

  @Test func addedRecordDoesNotTakeTheCursorFromWhoGoesOn() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 a")
    app.type("Zed")
    app.strike("C-s gg")
    app.pump()
    #expect(app.cursorLine.contains("Organizers"))
  }

  @Test func whatIsDoneAfterAFormIsDoneWithTheNewRecord() throws {
    let (app, expected) = (try people(), try people())
    for driver in [app, expected] { driver.press("a") }
    for driver in [app, expected] { driver.type("Zed") }
    expected.press("C-s e x Enter Esc")
    app.strike("C-s e")
    #expect(app.state.input.typeAhead.reason == "the new record is being saved")
    app.strike("x Enter Esc")
    app.pump()
    #expect(try app.stored("/user") == expected.stored("/user"))
    #expect(app.cursorLine == expected.cursorLine)
    #expect(app.body == expected.body)
  }

  @Test func keysThatMeanNothingOnTheOldRowWaitForTheNewOneToo() throws {
    let app = try people()
    app.press("a")
    app.type("Zed")
    app.strike("C-s i")
    #expect(app.state.input.typeAhead.reason == "the new record is being saved")
    app.pump()
    let form = try #require(app.form)
    #expect(form.fields.contains { $0.input.editor.text == "Zed" }, "the form of the new row")
  }

  @Test(arguments: ["k", "j", "gg j", "G k"])
  func movesPastARecordThatIsBeingDeletedWait(keys: String) throws {
    let (app, expected) = (try people(), try people())
    for driver in [app, expected] {
      driver.press("d")
      driver.wait(milliseconds: 200)
    }
    expected.press("y k k " + keys)
    app.strike("y k k " + keys)
    app.pump()
    #expect(app.cursorLine == expected.cursorLine)
  }

  @Test func keysForANewRecordThatIsRefusedAreDropped() throws {
    let app = try people()
    app.press("a")
    app.type("Zed")
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.strike("C-s d")
    app.pump()
    #expect(app.state.layers.isEmpty)
    #expect(app.toast.contains("the key that waited is dropped"))
    #expect(app.state.writes.queue.refused.count == 1)
  }

  @Test func whatIsDoneAfterADuplicateIsDoneWithTheCopy() throws {
    let (app, expected) = (try people(), try people())
    expected.press("D d")
    app.strike("D d")
    #expect(app.state.input.typeAhead.reason == "the new record is being saved")
    app.pump()
    #expect(app.state.layers == expected.state.layers)
    #expect(app.cursorLine == expected.cursorLine)
  }

  @Test func severalConflictsAreOneMessageWithTheirNumber() throws {
    let app = try people()
    app.press("e x")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/email"), "theirs")) }
    app.strike("Enter j")
    app.pump()
    for _ in 0..<8 where !app.cursorLine.contains("name") { app.press("k") }
    app.press("e x")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/name"), "theirs")) }
    app.strike("Enter k")
    app.pump()
    let words = "/user/ana/name and another place were changed meanwhile: S lists what was typed"
    #expect(app.toast == words)
  }

  @Test func comparisonDoesNotTakeKeysThatWereMeantForTheList() throws {
    let app = try people()
    app.press("e x")
    try app.elsewhereUnseen { _ = try $0.write(.set(Path("/user/ana/email"), "theirs")) }
    app.strike("Enter j")
    app.pump()
    #expect(app.toast.contains("was changed meanwhile"))
    #expect(app.state.layers.count == 1)
    app.press("c")
    #expect(app.state.layers.count == 2)
  }

  /// The same keys, answered at once and at any later moment, come to the same.
  @Test(arguments: Seeds.first(8))
  func lateAnswersChangeNothing(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let (prompt, late) = (try start(), try start())
    var script: [String] = []
    for _ in 0..<20 {
      let phrase = phrases.randomElement(using: &random) ?? "j"
      script.append(phrase)
      for (index, keys) in phrase.split(separator: "…").enumerated() {
        // A question is answered once it can be read.
        if index > 0 {
          late.pump()
          for app in [prompt, late] { app.wait(milliseconds: 200) }
        }
        prompt.press(String(keys))
        for stroke in KeyStroke.sequence(String(keys)) ?? [] {
          late.send(.key(stroke))
          late.answer(Int.random(in: 0...3, using: &random) * Int.random(in: 0...1, using: &random))
          // Keys for a new record in a folded section are dropped, and a message says so.
          if late.toast.contains("dropped") { return }
        }
      }
    }
    late.pump()
    #expect(try late.stored("/user") == prompt.stored("/user"), "seed \(seed): \(script)")
    #expect(try texts(late) == texts(prompt), "seed \(seed): \(script)")
    #expect(late.body == prompt.body, "seed \(seed): \(script)")
  }

  private func start() throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small)
  }

  private func texts(_ app: AppDriver) throws -> [JSONValue?] {
    guard case .object(let members) = try app.stored("/room") else { return [] }
    return members.map { $0.value["text"] }
  }

  /// What a user does in one go, from wherever and back to the list.
  private let phrases = [
    "g1", "g2", "g3", "j", "k", "G", "gg", "g2 gg j e x Enter Esc",
    "g2 gg j j Enter j k e 7 Enter q",
    "g1 G a h i Enter t h e r e Enter Esc", "g1 a o n e Enter Esc", "u", "C-r", "g3 gg j l j l",
    "g2 gg j d … y", "g2 gg j j d … y", "d … y", "e x Enter Esc",
    "g2 gg j Space Space d … y", "g2 gg j d … y u Enter j j j e x Enter Esc", "d … n",
    "g3 gg j l j Enter j Enter 1 Enter", "g3 gg j zc", "g2 G Enter q", "g2 gg j Enter l q q",
    "g2 a Z e d C-s", "j D", "g2 gg j D e x Enter Esc", "g2 a Y C-s e x Enter Esc",
  ]
}
