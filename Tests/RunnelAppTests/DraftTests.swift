import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What was typed and not saved comes back: after Esc, in another visit, and the next time.
@Suite struct DraftTests {
  private func app(_ session: SessionState? = nil) throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, restoring: session)
  }

  private func texts(_ app: AppDriver) -> [String] {
    app.form?.fields.map(\.input.editor.text) ?? []
  }

  // MARK: Forms

  @Test func aFormOffersItsDraftAndTheTabShowsThatThereIsOne() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("Esc")
    #expect(app.screen.contains { $0.contains("k keep as a draft  y discard  n go on typing") })
    app.press("k")
    #expect(app.state.layers.isEmpty)
    #expect(app.toast == "kept as a draft: a goes on with it")
    #expect(app.screen[1].contains("2 People ~"))
    app.press("g1 g2 a")
    #expect(texts(app).first == "Gus")
    #expect(app.screen.contains { $0.contains("this is your draft: M-r begins anew") })
    app.press("C-s")
    #expect(app.toast == "added")
    #expect(!app.screen[1].contains("~"))
    app.press("a")
    #expect(texts(app).first == "", "the draft is saved, so it is no draft any more")
  }

  @Test func beginningAnewTakesAllBackAndUndoingBringsItAgain() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("M-r")
    #expect(texts(app).first == "")
    app.press("C-_")
    #expect(texts(app).first == "Gus")
    app.press("M-r Esc")
    #expect(app.state.layers.isEmpty, "where nothing is typed, nothing is asked")
    app.press("a M-r")
    #expect(app.toast == "nothing was typed here")
  }

  @Test func aDiscardedFormIsNoDraft() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("Esc")
    app.wait(milliseconds: Question.graceMilliseconds)
    app.press("y a")
    #expect(texts(app).first == "")
  }

  @Test func otherQuestionsHaveNoTextToKeep() throws {
    let app = try app()
    app.press("g2 gg j d k")
    #expect(app.toast == "there is no text to keep: yes or no")
    #expect(app.state.layers.count == 1)
  }

  @Test func anOpenFormComesBackTheNextTime() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("Tab Tab C-u")
    app.type("many")
    // As after the end of the machine: nobody left the form.
    let again = try self.app(SessionState.session(app.state))
    #expect(again.screen[1].contains("2 People ~"))
    again.press("a")
    #expect(texts(again).prefix(3) == ["Gus", "participant", "many"])
  }

  @Test func aWriteUnderWayAndARefusedOneAreDraftsOfTheNextTime() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.strike("C-s")
    let underWay = SessionState.session(app.state)
    app.backend.refusal = DatabaseError(.diskFull, "the disk is full")
    app.pump()
    app.press("Esc")
    let refused = SessionState.session(app.state)
    for session in [underWay, refused] {
      #expect(session.drafts.map(\.subject) == [Draft.Subject(.add, Fixture.path("/user"))])
      let again = try self.app(session)
      again.press("a")
      #expect(texts(again).first == "Gus")
    }
  }

  @Test func aSavedFormLeavesNoDraft() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("C-s")
    #expect(SessionState.session(app.state).drafts.isEmpty)
  }

  @Test func aDraftOfARecordStandsAtItsRowAndTellsWhatChangedMeanwhile() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 gg j i C-u")
    app.type("Anna")
    app.press("Esc k")
    #expect(app.cursorLine.hasPrefix("> ~ Ana"))
    try app.set("/user/ana/name", "Anne")
    app.press("i")
    #expect(app.form?.fields[0].input.editor.text == "Anna")
    #expect(app.form?.fields[0].input.error == "changed meanwhile: it is now Anne")
    app.press("C-s")
    #expect(try app.stored("/user/ana/name") == "Anne", "what others wrote is compared first")
    for text in ["base    \"Ana\"", "mine    \"Anna\"", "theirs  \"Anne\""] {
      #expect(app.line(of: text) != nil, "\(text)")
    }
    app.press("m C-s")
    #expect(try app.stored("/user/ana/name") == "Anna")
    #expect(app.cursorLine.contains("Anna") && !app.cursorLine.contains("~"))
  }

  @Test func aDraftOfAFieldOverAnothersChangeIsComparedBeforeItIsSaved() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    let field = try #require(app.record?.edit?.field)
    let place = "/user/ana/\(field.text)"
    let base = try app.stored(place)
    app.type("mine@example.org")
    app.press("Esc q")
    try app.set(place, "theirs@example.org")
    // A draft that is looked at and left again stays one over the first value.
    app.press("e Esc q e")
    #expect(app.record?.edit?.input.editor.text == "mine@example.org")
    #expect(app.record?.edit?.input.error?.contains("theirs@example.org") == true)
    app.press("Enter")
    #expect(try app.stored(place) == "theirs@example.org")
    for text in ["base    \(base.jsonText())", "mine    \"mine@", "theirs  \"theirs@"] {
      #expect(app.line(of: text) != nil, "\(text)")
    }
    app.press("m C-s")
    #expect(try app.stored(place) == "mine@example.org")
  }

  @Test func beginningAnewOverAnothersChangeSavesWithoutAComparison() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    let field = try #require(app.record?.edit?.field)
    app.type("mine@example.org")
    app.press("Esc q")
    try app.set("/user/ana/\(field.text)", "theirs@example.org")
    app.press("e M-r x Enter")
    #expect(try app.stored("/user/ana/\(field.text)") == "theirs@example.orgx")
  }

  @Test func aFieldThatTheFormLacksNowIsTold() throws {
    var session = SessionState()
    session.drafts = [
      Draft(
        Draft.Subject(.add, Fixture.path("/user")),
        [Draft.Text("name", "Gus", .string, base: ""), Draft.Text("hat", "red", .string, base: "")])
    ]
    let app = try app(session)
    app.press("g2 a")
    #expect(texts(app).first == "Gus")
    #expect(app.form?.noteText.hasSuffix("no field any more: hat: red") == true)
  }

  @Test func aPasteIsNotMixedWithADraft() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("Esc k")
    app.send(.paste("{\"name\": \"Ida\"}"))
    app.pump()
    #expect(texts(app).first == "Ida")
  }

  // MARK: Fields

  @Test func aFieldKeepsItsTextOverEsc() throws {
    let app = try app()
    app.press("g2 gg j Enter j j j e C-u")
    app.type("anna@")
    app.press("Esc")
    #expect(app.toast == "kept as a draft: e goes on with it")
    #expect(app.cursorLine.hasPrefix(">~ email"))
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
    app.press("e")
    #expect(app.record?.edit?.input.editor.text == "anna@")
    app.type("x.org")
    app.press("Enter")
    #expect(try app.stored("/user/ana/email") == "anna@x.org")
    #expect(!app.cursorLine.contains("~"))
  }

  @Test func aFieldThatIsAsItWasLeavesNoDraft() throws {
    let app = try app()
    app.press("g2 gg j Enter j j j e")
    app.type("x")
    app.press("M-r Esc")
    #expect(app.state.writes.drafts.all.isEmpty)
    app.press("e")
    #expect(app.record?.edit?.input.editor.text == "ana@example.org")
  }

  @Test func aCellKeepsItsTextToo() throws {
    let app = try app()
    app.press("g2 gg j | e C-u")
    app.type("Annabel")
    app.press("Esc")
    #expect(app.cursorLine.hasPrefix("> ~ Ana"))
    app.press("e")
    #expect(app.record?.edit?.input.editor.text == "Annabel")
  }

  // MARK: Lines

  @Test func linesThatWereLeftAreTheNewestOfTheirHistory() throws {
    let app = try app()
    app.press("f")
    app.type("from:b")
    app.press("Esc /")
    app.type("ladd")
    app.press("Esc :")
    app.type("go -M")
    app.press("Esc")
    #expect(app.list.filtering.filter == nil)
    let again = try self.app(SessionState.session(app.state))
    again.press("f Up")
    #expect(again.screen.contains { $0.contains("from:b") })
    again.press("Esc / Up")
    #expect(again.composeLine.contains("ladd"))
    again.press("Enter : Up")
    #expect(again.screen.contains { $0.contains("go -M") })
  }

  @Test func anEnteredLineIsNotUnfinished() throws {
    let app = try app()
    app.press("f")
    app.type("from:b")
    app.press("Esc f")
    app.type("from:bo")
    app.press("Enter")
    #expect(app.state.trail.unfinished == UnfinishedLines())
  }

  // MARK: Bounds

  @Test func theNewestDraftsAreKept() {
    var drafts = Drafts()
    for number in 0..<(Drafts.countMax + 20) {
      let subject = Draft.Subject(.line, Fixture.path("/r/\(number)"))
      let dropped = drafts.keep(Draft(subject, [Draft.Text("a", "x", .string, base: "")]))
      #expect(dropped.map(\.subject.path.text) == (number < 100 ? [] : ["r/\(number - 100)"]))
    }
    #expect(drafts.all.count == Drafts.countMax)
    let large = String(repeating: "x", count: Drafts.bytesMax)
    let subject = Draft.Subject(.add, Fixture.path("/r"))
    drafts.keep(Draft(subject, [Draft.Text("a", large, .string, base: "")]))
    #expect(drafts.all.map(\.subject) == [subject], "the newest is kept whatever its size")
    #expect(drafts.take(subject)?.texts.first?.text == large)
    #expect(drafts.take(subject) == nil)
  }

  @Test func messagesComeBackInTheOrderInWhichTheyWereWritten() throws {
    var session = SessionState()
    session.drafts = ["one", "two"].map { text in
      Draft(
        Draft.Subject(.message, Fixture.path("/room")),
        [Draft.Text("text", text, .string, base: "")])
    }
    let app = try self.app(session)
    app.press("a Enter Esc a Enter")
    guard case .object(let members) = try app.stored("/room") else { return }
    #expect(members.suffix(2).map { $0.value["text"] } == ["one", "two"])
  }

  @Test func leavingTellsDraftsThatNoSessionKeeps() throws {
    let app = try app()
    app.press("g2 a")
    app.type("Gus")
    app.press("Esc k Q")
    #expect(!app.state.session.isLeaving)
    #expect(app.screen.contains { $0.contains("a draft: a new record of /user") })
    app.press("n")
    var state = app.state
    state.session.isKept = true
    state.perform(.appQuit, count: nil)
    #expect(state.session.isLeaving)
  }
}
