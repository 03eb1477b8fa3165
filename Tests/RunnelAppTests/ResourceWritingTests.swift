import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What the screens write goes by operations, wherever a resource describes the place.
@Suite struct ResourceWritingTests {
  // MARK: Composing

  @Test func aSentMessageIsCountedAndLoggedInTheSameWrite() throws {
    let app = try Fixture.gardenApp()
    app.press("a")
    app.type("hello")
    app.press("Enter")
    #expect(app.cursorLine.contains("zoe      hello"))
    #expect(try app.stored("/group/g/message_count") == 3)
    let entry = try #require(try app.log().last)
    #expect(entry.kind == .create && entry.resource == "message" && entry.author == "zoe")
    #expect(entry.new["text"] == "hello" && entry.new["from"] == "zoe")
    #expect(
      entry.new["created"] == .number(JSONNumber(Fixture.now)), "its first value is filled in")
    #expect(try app.report().isInStep)
    #expect(try app.backend.session.history().count == 2, "one write besides that of the fixture")
  }

  @Test func whatASchemaRefusesIsSaidWhileItIsTyped() throws {
    let app = try Fixture.gardenApp()
    app.press("a")
    app.type("a text that is too long")
    #expect(app.composeRule.contains("! must be a text of 1 to 20 characters."))
    app.press("Enter")
    #expect(app.composeLine == " zoe a text that is too long")
    #expect(try app.stored("/group/g/message_count") == 2)
    app.press("C-u")
    app.type("short")
    #expect(!app.composeRule.contains("!"))
    app.press("Enter")
    #expect(try app.stored("/group/g/message_count") == 3)
  }

  @Test func aRefusedReferenceLeavesWhatWasTyped() throws {
    let app = try Fixture.gardenApp(me: "nobody")
    app.press("a")
    app.type("hello")
    app.press("Enter")
    #expect(app.composeLine == " nobody hello")
    #expect(app.composeRule.contains("`from` names \"nobody\""))
    #expect(try app.log().isEmpty)
  }

  @Test func aVetoSaysItsReasonAndNothingTypedIsLost() throws {
    var book = try Fixture.gardenBook()
    book.registry.before(
      ResourceRule("quiet hours", for: ResourceScope(["message"])) { _ in
        .veto("It is quiet now: write after 7.")
      })
    let app = try Fixture.gardenApp(book)
    app.press("a")
    app.type("hello")
    app.press("Enter")
    #expect(app.composeRule.contains("It is quiet now: write after 7."))
    #expect(app.composeLine == " zoe hello")
    app.press("Esc")
    app.press("k e C-u")
    app.type("changed")
    app.press("Enter")
    #expect(app.record?.edit?.input.editor.text == "changed")
    #expect(app.record?.edit?.input.error == "It is quiet now: write after 7.")
    app.press("Esc Esc d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast == "It is quiet now: write after 7.")
    #expect(try app.stored("/group_message") == Fixture.garden["group_message"])
  }

  // MARK: Changing and deleting

  @Test func anEditedFieldIsAnUpdateOfItsRecord() throws {
    let app = try Fixture.gardenApp()
    app.press("e C-u")
    app.type("Moon")
    app.press("Enter")
    #expect(app.toast == "saved")
    let entry = try #require(try app.log().last)
    #expect(entry.kind == .update)
    #expect(entry.old["text"] == "Sun" && entry.new["text"] == "Moon")
    #expect(entry.old["from"] == "bo", "the log has the whole record")
  }

  @Test func aDeletedRecordIsCountedAndItsLikesGoWithIt() throws {
    let app = try Fixture.gardenApp()
    app.go(to: "Rain")
    app.press("d")
    #expect(app.screen.contains { $0.contains("records of `like` that belong to it go too") })
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast == "deleted")
    #expect(try app.stored("/group/g/message_count") == 1)
    #expect(try app.stored("/message_like") == .null)
    #expect(try app.log().map(\.kind) == [.destroy, .destroy])
    #expect(try app.report().isInStep)
  }

  @Test func aPlaceThatNoResourceDescribesIsWrittenAsItIs() throws {
    let app = try Fixture.gardenApp()
    app.press("g4")
    app.go(to: "free")
    app.press("e C-u")
    app.type("still free")
    app.press("Enter Esc a C-u")
    app.type("more")
    app.press("C-s d")
    app.wait(milliseconds: 200)
    app.press("y")
    guard case .object(let notes) = try app.stored("/note") else {
      Issue.record("the notes are gone")
      return
    }
    #expect(notes.map { $0.value["text"] } == ["still free"])
    #expect(try app.log().isEmpty)
  }

  @Test func countersAreNotEdited() throws {
    let app = try Fixture.gardenApp()
    app.press("g2")
    app.go(to: "Garden")
    app.press("Enter")
    app.go(to: "message_count")
    app.press("e")
    #expect(app.record?.edit == nil)
    #expect(app.toast == "`message_count` is counted from other records: it is not edited")
    #expect(app.line(of: "counted") != nil)
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.toast == "`message_count` is counted from other records: it is not edited")
    #expect(try app.stored("/group/g/message_count") == 2)
  }

  // MARK: The tree

  @Test func theTreeWritesRecordsByOperationsToo() throws {
    let app = try Fixture.gardenApp()
    app.press("g6 gg j j l j l j")
    #expect(app.cursorLine.contains("-M1"))
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try app.stored("/group/g/message_count") == 1)
    #expect(try app.report().isInStep)
  }

  @Test func theLogIsOnlyWrittenByWhatIsDone() throws {
    let app = try Fixture.gardenApp()
    try app.set("/action", ["-K1": ["at": 1, "by": "x"]])
    app.press("g6 gg j l j l j e")
    #expect(app.toast.contains("is the log of what was done"))
    #expect(app.form == nil)
  }

  @Test func whatStandsAboveRecordsIsRemovedWithAWarning() throws {
    let app = try Fixture.gardenApp()
    app.press("g6 gg j j d")
    #expect(app.screen.contains { $0.contains("counters will not follow") })
  }

  // MARK: Likes

  @Test func whoseNameIsNoKeyTogglesNothing() throws {
    let app = try Fixture.gardenApp(me: "zoe.b")
    #expect(!app.screen.contains { $0.contains("T like") })
    #expect(!app.state.contexts.contains(.toggle))
    #expect(app.state.contexts.contains(.resource))
  }

  @Test func aLikeIsToggledFromTheList() throws {
    let app = try Fixture.gardenApp()
    #expect(app.screen.contains { $0.contains("T like") })
    app.press("T")
    #expect(app.toast == "added your `like`")
    #expect(try app.stored("/message_like/g/-M2/zoe/created") == .number(JSONNumber(Fixture.now)))
    #expect(app.cursorLine.hasSuffix(" 1"))
    app.press("T")
    #expect(app.toast == "took your `like` back")
    #expect(try app.stored("/group_message/g/-M2/like_count") == 0)
    #expect(try app.log().map(\.kind) == [.create, .destroy])
  }

  @Test func theKeyForLikesIsThereOnlyWhereSomethingIsToggled() throws {
    let app = try Fixture.gardenApp()
    app.press("?")
    #expect(app.screen.contains { $0.contains("record.toggle") })
    app.press("Esc g2")
    app.go(to: "Garden")
    app.press("?")
    #expect(app.line(of: "record.toggle") == nil)
    app.press("Esc T")
    #expect(app.backend.writeCount == 0)
    app.press("g4")
    app.go(to: "free")
    app.press("?")
    #expect(app.line(of: "record.form") != nil, "each record has a form")
  }

  @Test func countsGoOnWhereTheKeysAreAboutARecord() throws {
    let app = try Fixture.gardenApp()
    app.press("2 k")
    let before = app.cursorLine
    app.press("G k k")
    #expect(app.cursorLine == before)
  }

  @Test func nothingIsToggledInADatabaseThatIsOpenReadOnly() throws {
    let app = try AppDriver(
      Fixture.gardenViews(), resources: Fixture.gardenBook(),
      copying: Fixture.template("garden") { _ = try $0.write(.set(.root, Fixture.garden)) },
      isReadOnly: true)
    app.press("T")
    #expect(app.toast.contains("read-only"))
    app.press("i")
    #expect(app.form == nil)
  }

  // MARK: Counters

  @Test func countersInAListFollowWhatOthersWrite() throws {
    let app = try Fixture.gardenApp()
    app.press("g2")
    #expect(app.line(of: "Garden       2") != nil)
    try app.elsewhere { session in
      let registry = app.state.database.resources.registry
      let group = ResourceObject("group", key: try Key("g"))
      let message = ResourceObject("message", value: ["text": "x", "from": "ana"])
      _ = try session.perform(
        ResourceOperation(.create, message, in: ["group": group]), in: registry)
    }
    #expect(app.line(of: "Garden       3") != nil)
  }
}
