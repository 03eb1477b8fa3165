import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Taking back what was written here, and doing it again.
@Suite struct UndoTests {
  private func app() throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small)
  }

  /// Deletes what is under the cursor, or what is marked.
  private func delete(_ app: AppDriver) {
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
  }

  @Test func anEditIsTakenBackAndDoneAgain() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    app.type("new@example.org")
    app.press("Enter Esc u")
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
    #expect(app.toast == "undone: changed /user/ana/email · C-r redoes")
    app.press("C-r")
    #expect(try app.stored("/user/ana/email") == "new@example.org")
    #expect(app.toast == "redone: changed /user/ana/email · u undoes")
  }

  @Test func marksThatWereDeletedTogetherAreOneStep() throws {
    let app = try app()
    app.press("g2 gg j Space Space")
    delete(app)
    #expect(try app.stored("/user/ana") == .null)
    #expect(try app.stored("/user/dan") == .null)
    app.press("u")
    #expect(app.toast.hasPrefix("undone: deleted 2 records"))
    #expect(try app.stored("/user/ana/plot") == 3)
    #expect(try app.stored("/user/dan/plot") == 7)
    app.press("u")
    #expect(app.toast.hasPrefix("all that was changed here is undone"))
    app.press("C-r")
    #expect(try app.stored("/user/ana") == .null)
    #expect(try app.stored("/user/dan") == .null)
  }

  @Test func aCountTakesSoManyStepsBack() throws {
    let app = try app()
    app.press("a")
    for text in ["one", "two", "three"] {
      app.type(text)
      app.press("Enter")
    }
    app.press("Esc 2 u")
    #expect(app.line(of: "one") != nil && app.line(of: "two") == nil)
    app.press("9 C-r")
    #expect(app.line(of: "three") != nil)
    app.press("C-r")
    #expect(app.toast == "nothing to redo")
  }

  @Test func aNewWriteForgetsWhatCouldBeDoneAgain() throws {
    let app = try app()
    delete(app)
    app.press("u g2 gg j e C-u")
    app.type("x")
    app.press("Enter Esc C-r")
    #expect(app.toast == "nothing to redo")
  }

  @Test func whatOthersChangedSinceStaysAndTheStepBeforeIsUndoneAfterAQuestion() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    app.type("one")
    app.press("Enter Esc j e C-u")
    app.type("two")
    app.press("Enter Esc")
    try app.set("/user/dan/email", "theirs")
    app.press("u")
    #expect(app.toast.contains("not undone: changed /user/dan/email"))
    #expect(app.toast.contains("was written since"))
    #expect(try app.stored("/user/dan/email") == "theirs")
    for answer in ["n", "y"] {
      app.press("u")
      #expect(app.screen.contains { $0.contains("Undo an older write?") }, "\(app.screen)")
      #expect(app.screen.contains { $0.contains("the write before it: changed /user/ana/email") })
      #expect(try app.stored("/user/ana/email") == "one")
      app.wait(milliseconds: 200)
      app.press(answer)
    }
    #expect(try app.stored("/user/ana/email") == "ana@example.org")
    #expect(try app.stored("/user/dan/email") == "theirs")
  }

  @Test func aNewWriteAfterARefusedUndoIsUndoneWithoutAQuestion() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    app.type("one")
    app.press("Enter Esc")
    try app.set("/user/ana/email", "theirs")
    app.press("u j e C-u")
    app.type("two")
    app.press("Enter Esc u")
    #expect(try app.stored("/user/dan/email") == "dan@example.org")
    #expect(app.state.layers.isEmpty)
  }

  @Test func comparisonAfterARefusedUndoNamesWhoseTheVersionsAre() throws {
    let app = try app()
    app.press("g2 gg j e C-u")
    app.type("one")
    app.press("Enter Esc")
    try app.set("/user/ana/email", "theirs")
    app.press("u c")
    let lines = app.body.filter { $0.contains("\"") }
    #expect(lines.contains { $0.contains("your write  \"one\"") }, "\(app.body)")
    #expect(lines.contains { $0.contains("before it   \"ana@example.org\"") })
    #expect(lines.contains { $0.contains("now         \"theirs\"") })
  }

  @Test func aStorageThatFailsLosesNoStep() throws {
    let app = try app()
    delete(app)
    app.backend.refusal = DatabaseError(.locked, "locked by another")
    app.press("u")
    #expect(app.toast.contains("locked by another"))
    app.backend.refusal = nil
    app.press("u")
    #expect(app.line(of: "ladder") != nil)
  }

  @Test func aDatabaseThatKeepsNoHistorySaysSo() throws {
    let app = try app()
    try app.elsewhere { try $0.setHistoryLimit(0) }
    delete(app)
    app.press("u")
    #expect(app.toast.hasPrefix("nothing to take back: deleted /room/-M6"))
    #expect(app.line(of: "ladder") == nil)
  }

  @Test func nothingIsUndoneInADatabaseThatIsOpenReadOnly() throws {
    let app = try AppDriver(
      Fixture.views(),
      copying: Fixture.template("undo") { _ = try $0.write(.set(.root, Fixture.small)) },
      isReadOnly: true)
    app.press("u")
    #expect(app.toast.contains("read-only"))
    app.press("C-r")
    #expect(app.toast.contains("read-only"))
  }

  // MARK: Resources

  @Test func countersFollowWhatIsUndone() throws {
    let app = try Fixture.gardenApp()
    app.press("a")
    app.type("hello")
    app.press("Enter Esc")
    #expect(try app.stored("/group/g/message_count") == 3)
    app.press("u")
    #expect(try app.stored("/group/g/message_count") == 2)
    #expect(app.line(of: "hello") == nil)
    app.press("C-r")
    #expect(app.line(of: "hello") != nil)
    #expect(try app.report().isInStep)
  }

  @Test func othersMayCountMeanwhile() throws {
    let app = try Fixture.gardenApp()
    app.press("a")
    app.type("hello")
    app.press("Enter Esc")
    try app.elsewhere { session in
      let group = ResourceObject("group", key: try Key("g"))
      let message = ResourceObject(
        "message", value: ["from": "ana", "text": "theirs"])
      _ = try session.perform(
        ResourceOperation(.create, message, in: ["group": group]),
        in: app.state.database.resources.registry)
    }
    #expect(try app.stored("/group/g/message_count") == 4)
    app.press("u")
    #expect(app.line(of: "hello") == nil)
    #expect(app.line(of: "theirs") != nil)
    #expect(try app.report().isInStep)
  }

  @Test func whatWasDestroyedWithItsOwnerComesBackToo() throws {
    let app = try Fixture.gardenApp()
    app.press("g2 gg j")
    let before = try app.stored("/")
    delete(app)
    #expect(try app.stored("/group_message") == .null)
    #expect(try app.stored("/message_like") == .null)
    app.press("u")
    for place in ["/group", "/group_message", "/message_like"] {
      #expect(try app.stored(place) == before[String(place.dropFirst())])
    }
    #expect(try app.report().isInStep)
    app.press("C-r")
    #expect(try app.stored("/group_message") == .null)
    app.press("u")
    #expect(try app.stored("/group") == before["group"])
    #expect(try app.report().isInStep)
  }

  @Test func aLikeIsTakenBackByUndo() throws {
    let app = try Fixture.gardenApp()
    app.press("G T u")
    #expect(try app.stored("/group_message/g/-M2/like_count") == 0)
    app.press("C-r")
    #expect(try app.stored("/group_message/g/-M2/like_count") == 1)
  }

  @Test func aSessionWithUndoIsReplayedToAnEqualState() throws {
    let app = try Fixture.gardenApp(isRecording: true)
    app.press("g2 gg j")
    delete(app)
    app.press("u C-r u g1 a")
    app.type("x")
    app.press("Enter Esc u g5 j u g6 gg j l")
    let replay = try SessionReplay(parsing: app.recording, file: "s.log")
    #expect(replay.state == app.state)
  }

  // MARK: Steps

  @Test func onlyTheLastStepsAreKept() {
    var undoing = UndoHistory()
    for number in 1...(UndoHistory.stepsMax + 1) {
      undoing.begin(AppRequestID(number), "step \(number)")
      undoing.finish(AppRequestID(number), entry: Int64(number))
    }
    #expect(undoing.steps(.undo).count == UndoHistory.stepsMax)
    #expect(undoing.steps(.undo).first?.title == "step 2")
  }

  @Test func aWriteThatWasRefusedIsNoStep() {
    var undoing = UndoHistory()
    undoing.begin(AppRequestID(1), "refused")
    undoing.drop(AppRequestID(1))
    undoing.finish(AppRequestID(1), entry: 1)
    #expect(undoing.steps(.undo).isEmpty)
  }

  // MARK: What is put back

  @Test func theCursorGoesToWhatIsPutBackAndItIsNoNews() throws {
    let app = try AppDriver(
      Fixture.views(), copying: Fixture.historyFile.get(), columns: 120, rows: 40)
    app.press("G")
    let last = app.cursorLine
    delete(app)
    app.press("gg u")
    #expect(app.cursorLine == last)
    #expect(!app.screen[1].contains("new"), "\(app.screen[1])")
  }

  @Test func ofManyThatArePutBackTheCursorGoesToTheFirst() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("G 2 0 k")
    let first = app.cursorLine
    app.press("v G")
    delete(app)
    app.press("gg u")
    #expect(app.cursorLine.dropFirst(3) == first.dropFirst(3))
    #expect(!app.screen.contains { $0.contains(" new") })
    try app.set("/room/-M99999", Fixture.message("from others", at: Fixture.now))
    #expect(app.screen.contains { $0.contains("1 new") }, "what others write is news")
  }

  @Test func ofSeveralStepsTheCursorGoesToTheFirstRowOfAll() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("G 2 k")
    let first = app.cursorLine
    for _ in 0..<3 {
      app.press("G")
      delete(app)
    }
    app.press("gg 3 u")
    #expect(app.cursorLine == first)
    #expect(!app.screen.contains { $0.contains(" new") })
  }

  /// A list of 500 tickets with pages of 20.
  private func tickets() throws -> AppDriver {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Tickets
            path: /tickets
            order: $key
            anchor: first
            page: 20
            columns:
              - { field: title }
        """, name: "test.views.yaml"
    ).views
    let tickets = (0..<500).map { number in
      JSONMember("\(number)", ["title": .string("ticket-\(number).")])
    }
    return try AppDriver(views, json: ["tickets": .object(tickets)])
  }

  @Test func whatIsPutBackAmongRowsThatAreNotLoadedIsNoNews() throws {
    let app = try tickets()
    app.press("gg j Space Space Space")
    delete(app)
    app.press("G")
    #expect(app.list.reach.isAway && app.list.unloading.beyond?.total == 497)
    app.press("u")
    #expect(app.list.reach.total == 500)
    #expect(!app.list.hasRow("/tickets/0"))
    #expect(app.list.newAboveCount + app.list.newBelowCount == 0)
    try app.set("/tickets/-5", ["title": "from others"])
    #expect(app.list.newAboveCount + app.list.newBelowCount == 1, "what others write is news")
  }

  @Test func ownRowsAreNoNewsInAListThatDoesNotReachItsEnd() throws {
    let app = try tickets()
    app.press("G 5 k")
    #expect(app.list.reach.isAway && app.list.unloading.beyond?.total == 500)
    app.press("Space Space Space")
    delete(app)
    #expect(app.list.reach.total == 497)
    app.press("u")
    #expect(app.list.reach.total == 500)
    #expect(app.list.newAboveCount + app.list.newBelowCount == 0)
    #expect(!app.screen[1].contains("new"), "\(app.screen[1])")
    delete(app)
    app.press("u")
    #expect(!app.screen[1].contains("new"), "\(app.screen[1])")
  }

  @Test func whatOthersPutThereMuchLaterIsNews() throws {
    let app = try AppDriver(Fixture.views(), copying: Fixture.historyFile.get())
    app.press("G")
    let record = try #require(app.list.cursorRecord)
    delete(app)
    app.press("gg u")
    #expect(app.list.cursorRecord?.path == record.path)
    try app.remove(record.path.description)
    app.wait(milliseconds: Restoration.milliseconds)
    let before = app.cursorLine
    try app.set(record.path.description, Fixture.message("again", at: Fixture.now))
    #expect(app.screen.contains { $0.contains("1 new") })
    #expect(app.cursorLine == before)
  }

  @Test func whoGoesOnWhileSomethingIsPutBackKeepsTheCursor() throws {
    let app = try app()
    app.press("g2 gg j")
    delete(app)
    app.strike("u G")
    app.pump()
    #expect(app.list.list.cursor == .row("/user/eve"))
    #expect(try app.stored("/user/ana/plot") == 3)
  }
}
