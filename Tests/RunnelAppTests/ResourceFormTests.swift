import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Forms whose fields are those of a resource's schema.
@Suite struct ResourceFormTests {
  @Test func aNewRecordHasTheFieldsOfTheSchemaWithTheirKinds() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a")
    let form = try #require(app.form)
    #expect(form.fields.map(\.label) == ["name", "role", "plot", "away", "key"])
    #expect(form.fields.map(\.input.label) == ["text", "choice", "integer", "boolean", "string"])
    #expect(form.fields[1].input.editor.text == "participant", "a first value is filled in")
  }

  @Test func aFilledFormCreatesTheRecordUnderTheTypedKey() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a")
    app.type("Cleo")
    app.press("Tab Tab")
    app.type("7")
    app.press("Tab Tab")
    app.type("cleo")
    app.press("Enter")
    #expect(app.toast == "added")
    #expect(
      try app.stored("/user/cleo") == ["name": "Cleo", "plot": 7, "role": "participant"])
    #expect(try app.log().last?.kind == .create)
    #expect(app.cursorLine.contains("Cleo"))
  }

  @Test func whatIsTypedOverAWholeChoiceTakesItsPlace() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a Tab")
    #expect(app.form?.fields[1].input.editor.text == "participant")
    app.type("o")
    #expect(app.form?.fields[1].input.editor.text == "o")
    app.type("rganizer")
    #expect(app.form?.fields[1].input.editor.text == "organizer")
    app.type("x")
    #expect(app.form?.fields[1].input.editor.text == "organizerx", "it leads to no choice at all")
    #expect(app.form?.fields[1].input.error != nil)
  }

  @Test func mistakesAreSaidAtTheirFieldsWhileTheyAreTyped() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a Tab Tab")
    app.type("41")
    #expect(app.screen.contains { $0.contains("! must be a whole number from 1 to 40.") })
    app.press("Backspace")
    #expect(!app.screen.contains { $0.contains("must be a whole number") })
    app.type("x")
    #expect(app.form?.fields[2].input.error == "must be a whole number from 1 to 40.")
    app.press("C-s")
    #expect(app.form?.fields[0].input.error == "is missing.")
    #expect(app.form?.focus == 0, "the first mistake has the keys")
    #expect(app.backend.writeCount == 0)
  }

  @Test func aTakenKeyIsRefusedAndTheFormStays() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a")
    app.type("Ana again")
    app.press("S-Tab")
    app.type("ana")
    app.press("C-s")
    #expect(app.form?.fields.last?.input.error?.contains("is there already") == true)
    #expect(try app.stored("/user/ana/name") == "Ana")
  }

  @Test func aChoiceIsChosenByItsKey() throws {
    let app = try Fixture.gardenApp()
    app.press("g3 a Tab")
    #expect(app.screen.contains { $0.contains("organizer · participant") })
    app.press("F2")
    #expect(app.form?.fields[1].input.editor.text == "organizer")
    app.press("F2")
    #expect(app.form?.fields[1].input.editor.text == "participant")
    app.press("C-u")
    app.type("boss")
    #expect(app.form?.fields[1].input.error?.contains("must be one of") == true)
  }

  @Test func aReferenceIsChosenByKeyOrTitle() throws {
    let app = try Fixture.gardenApp()
    app.press("i Tab")
    #expect(app.screen.contains { $0.contains("ana Ana · bo Bo · zoe Zoe") })
    app.press("C-u")
    app.type("Zo")
    app.press("F2")
    #expect(app.form?.fields[1].input.editor.text == "zoe")
    app.press("C-s")
    #expect(try app.stored("/group_message/g/-M2/from") == "zoe")
  }

  @Test func anEditFormWritesOnlyWhatWasChanged() throws {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.go(to: "Ana")
    app.press("i")
    #expect(app.form?.fields.map(\.label) == ["name", "role", "plot", "away"])
    try app.set("/user/ana/role", "participant")
    app.press("Tab Tab C-u")
    app.type("9")
    app.press("C-s")
    #expect(app.toast == "saved")
    #expect(try app.stored("/user/ana") == ["name": "Ana", "plot": 9, "role": "participant"])
    #expect(try app.log().last?.kind == .update)
  }

  @Test func aFormFollowsItsRecordToTheKeyThatAServerGivesIt() throws {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.go(to: "Ana")
    app.press("i Tab Tab C-u")
    app.type("9")
    let record = try app.stored("/user/ana")
    try app.set("/user/ana9", record)
    try app.set("/user/ana", .null)
    var facts = OriginFacts(.live)
    facts.newPlaces = [try Path("/user/ana"): try Path("/user/ana9")]
    app.take(.origin(facts))
    #expect(OriginFacts(facts.json) == facts)
    app.press("C-s")
    #expect(app.toast == "saved")
    #expect(try app.stored("/user/ana9/plot") == 9)
    #expect(try app.stored("/user/ana") == .null)
  }

  @Test func anEmptiedFieldIsRemovedUnlessItIsRequired() throws {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.go(to: "Ana")
    app.press("i Tab Tab C-u C-s")
    #expect(try app.stored("/user/ana/plot") == .null)
    app.press("i C-u C-s")
    #expect(app.form?.fields[0].input.error == "is missing.")
    #expect(try app.stored("/user/ana/name") == "Ana")
  }

  @Test func whatTheWriteRefusesIsSaidAtItsField() throws {
    let app = try Fixture.gardenApp()
    app.press("i Tab C-u")
    app.type("nobody")
    app.press("C-s")
    let from = try #require(app.form?.fields[1])
    #expect(from.input.error?.contains("there is no such `user`") == true)
    #expect(from.input.editor.text == "nobody")
    #expect(app.form?.focus == 1)
  }

  @Test func anOpenRecordShowsTheFieldsThatItCouldHave() throws {
    let app = try Fixture.gardenApp()
    app.press("g3")
    app.go(to: "Ana")
    app.press("Enter")
    #expect(app.line(of: "3 fields") != nil)
    #expect(app.line(of: "away") != nil)
    app.go(to: "away")
    app.press("e")
    app.type("maybe")
    #expect(app.record?.edit?.input.error == "must be true or false.")
    app.press("Enter")
    #expect(app.record?.edit != nil)
    app.press("C-u")
    app.type("yes")
    app.press("Enter")
    #expect(try app.stored("/user/ana/away") == true)
    #expect(app.line(of: "4 fields") != nil)
  }

  @Test func theTreeOffersTheFormWhereRecordsStand() throws {
    let app = try Fixture.gardenApp()
    app.press("g6")
    app.go(to: "group ")
    app.press("a")
    #expect(app.form?.title == "Add a group to /group")
    app.type("Hut")
    app.press("Tab")
    app.type("hut")
    app.press("C-s")
    #expect(try app.stored("/group/hut") == ["message_count": 0, "name": "Hut"])
  }

  @Test func aReferenceIsChosenInPlace() throws {
    let offers = "ana Ana · bo Bo · zoe Zoe"
    let app = try Fixture.gardenApp()
    app.go(to: "Sun")
    app.press("Enter")
    app.go(to: "from")
    app.press("e")
    #expect(app.screen.contains { $0.contains(offers) }, "\(app.screen)")
    app.press("F2")
    #expect(app.record?.edit?.input.editor.text == "zoe")
    app.press("C-u")
    app.type("An")
    app.press("Enter")
    #expect(try app.stored("/group_message/g/-M2/from") == "ana", "the only target is taken")
    let cell = try Fixture.gardenApp()
    cell.go(to: "Sun")
    cell.press("| e")
    #expect(cell.screen.contains { $0.contains(offers) }, "\(cell.screen)")
    cell.press("F2 Enter")
    #expect(try cell.stored("/group_message/g/-M2/from") == "zoe")
  }

  @Test func theOnlyTargetIsTakenByItsTitle() throws {
    let app = try Fixture.gardenApp()
    try app.set("/user/wei", ["name": "李"])
    app.go(to: "Sun")
    app.press("i Tab C-u")
    app.type("李")
    app.press("Enter")
    #expect(app.form?.fields[1].input.editor.text == "wei")
    app.press("S-Tab C-u")
    app.type("nobody")
    app.press("Enter C-s")
    #expect(app.form?.fields[1].input.error?.contains("there is no such `user`") == true)
  }
}
