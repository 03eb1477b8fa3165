import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

@Suite struct DeletingTests {
  private func chat() throws -> AppDriver { try AppDriver(Fixture.views(), json: Fixture.small) }

  @Test func aMarkedRecordThatOthersRemoveMeanwhileIsNotCounted() throws {
    let app = try chat()
    app.press("g2 gg j Space Space d")
    app.wait(milliseconds: 500)
    try app.remove("/user/dan")
    app.press("y")
    #expect(app.toast == "deleted 1 record · others removed dan")
    #expect(try app.stored("/user/ana") == .null)
  }

  @Test func aRecordThatOthersChangeMeanwhileIsAskedAboutOnceMore() throws {
    let app = try chat()
    app.press("g2 gg j Space Space d")
    app.wait(milliseconds: 500)
    try app.set("/user/dan/plot", 8)
    app.press("y")
    #expect(try app.stored("/user/dan/plot") == 8)
    #expect(
      app.screen.contains { $0.contains("others changed dan since you were asked") },
      "\(app.screen)")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "deleted 2 records")
    #expect(try app.stored("/user/dan") == .null)
  }

  @Test func deletionAsksAndNamesWhatGoes() throws {
    let app = try chat()
    app.press("d")
    #expect(app.screen.contains { $0.contains("┌─ Delete ─") })
    #expect(app.screen.contains { $0.contains("/room/-M6") })
    #expect(app.screen.contains { $0.contains("3 children, and all below them") })
    #expect(app.backend.writeCount == 0)
  }

  @Test func yesDeletesAndTheCursorGoesToTheNeighbour() throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 120)
    app.press("y")
    #expect(try app.stored("/room/-M6") == .null)
    #expect(app.toast == "deleted")
    #expect(app.cursorLine.contains("Good morning"))
  }

  @Test func yesThatWasStruckForTheListDoesNotCount() throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 119)
    app.press("y")
    #expect(app.backend.writeCount == 0)
    #expect(app.screen.contains { $0.contains("Delete") }, "the question stays")
  }

  @Test(arguments: ["n", "Esc", "Enter", "C-g", "C-c", "q"])
  func everyOtherAnswerIsNo(key: String) throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 500)
    app.press(key)
    #expect(app.state.layers.isEmpty)
    #expect(app.backend.writeCount == 0)
    #expect(!app.state.session.isLeaving)
  }

  @Test(arguments: ["j", "d", "x", "Tab", "F1", "Space"])
  func otherKeysAnswerNothing(key: String) throws {
    let app = try chat()
    app.press("d")
    app.wait(milliseconds: 500)
    app.press(key)
    #expect(app.state.layers.count == 1)
    #expect(app.backend.writeCount == 0)
  }

  @Test func refusedDeletionSaysWhy() throws {
    let app = try chat()
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    app.press("d")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "the file is locked")
    #expect(app.line(of: "ladder") != nil)
  }

  @Test func manyMarkedRowsAreDeletedInFewWritesAndComeBackTogether() throws {
    let songs = (0..<620).map { JSONMember("s\(1000 + $0)", ["title": .string("Song \($0)")]) }
    let views = try ViewFile(
      yaml: "views: [{ name: Songs, path: /songs, page: 1000, columns: [{ field: title }] }]",
      name: "songs.views.yaml"
    ).views
    let app = try AppDriver(views, json: ["songs": .object(songs)])
    let before = try app.stored("/songs")
    app.press("* d")
    app.type("songs")
    app.press("Enter")
    #expect(app.toast == "deleted 620 records")
    #expect(try app.stored("/songs") == .null)
    #expect(app.backend.writeCount == 1)
    app.press("u")
    #expect(app.toast.hasPrefix("undone: deleted 620 records"))
    #expect(try app.stored("/songs") == before)
    #expect(app.list.unreadCount == 0)
    app.press("C-r")
    #expect(try app.stored("/songs") == .null)
  }

  @Test func questionDoesNotContradictItself() throws {
    let text = String(repeating: "x", count: 80_000)
    let app = try AppDriver(
      Fixture.views(), json: ["room": ["-M1": Fixture.message(text, from: "bo", at: 1)]])
    app.press("d ?")
    #expect(app.screen.contains { $0.contains("this cannot be taken back") })
    #expect(!app.screen.contains { $0.contains("It can be taken back") })
  }

  @Test func markedRowsAreDeletedAfterOneQuestion() throws {
    let app = try chat()
    app.press("g2 gg j Space Space d")
    #expect(app.screen.contains { $0.contains("Delete 2 marked records") })
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "deleted 2 records")
    #expect(try app.stored("/user/ana") == .null && app.stored("/user/dan") == .null)
    #expect(app.list.markCount == 0)
  }

  @Test func failureNamesTheRecordAndTheOthersGo() throws {
    let app = try Fixture.gardenApp()
    app.go(to: "Rain")
    app.press("Space Space d")
    app.wait(milliseconds: 500)
    app.strike("y")
    app.backend.refusal = DatabaseError(.locked, "the file is locked")
    if let messages = app.backend.answer() { app.runtime.receive(messages) }
    app.backend.refusal = nil
    app.pump()
    #expect(
      app.toast == "deleted 1 of 2 records; not /group_message/g/-M1: the file is locked")
    #expect(app.list.marks == ["/group_message/g/-M1"], "what is left stays marked")
    #expect(try app.report().isInStep)
  }

  @Test func manyRecordsAreDeletedByTypingTheirPlace() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.history(130))
    app.press("g m g m g m")
    app.press("G v gg j d")
    let count = app.list.markCount
    #expect(count > Deleting.deletedByYesMax)
    #expect(app.screen.contains { $0.contains("Enter delete all  Esc keep") })
    app.press("F2")
    app.type("rom")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("! not `room`: nothing is deleted") })
    #expect(app.backend.writeCount == 0)
    app.press("C-u")
    #expect(!app.screen.contains { $0.contains("not `room`") })
    app.type("room")
    app.press("Enter")
    #expect(app.toast == "deleted \(count) records")
    #expect(app.backend.writeCount == 1)
  }

  @Test func rowsThatAFilterHidesStay() throws {
    let app = try chat()
    app.press("g2 gg j Space Space f")
    app.type("name:Dan")
    app.press("Enter d")
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.backend.writeCount == 1)
    #expect(try app.stored("/user/dan") == .null)
    #expect(try app.stored("/user/ana") != .null)
  }

  @Test func deletionSaysHowLargeItIsAndWhetherItCanBeTakenBack() throws {
    let app = try chat()
    let size = try app.stored("/room/-M6").jsonText().utf8.count
    app.strike("d")
    #expect(app.screen.contains { $0.contains("3 children, and all below them · counting") })
    app.pump()
    #expect(app.screen.contains { $0.contains("all below them · \(size) bytes") })
    #expect(app.screen.contains { $0.contains("u takes it back") })
    app.wait(milliseconds: 500)
    app.press("y u")
    #expect(try app.stored("/room/-M6").jsonText().utf8.count == size)
  }

  @Test func deletionInAReplicaSaysThatItCanBeTakenBack() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
    app.take(.origin(OriginFacts(.live)))
    app.press("d")
    #expect(
      app.screen.contains { $0.contains("u takes it back, unless the server refuses that") },
      "\(app.screen)")
  }

  @Test func deletionSaysThatItCannotBeTakenBack() throws {
    let app = try chat()
    try app.set("/room/-M6/text", .string(String(repeating: "x", count: 70_000)))
    app.press("d")
    #expect(app.screen.contains { $0.contains("68.4 KiB") })
    #expect(
      app.screen.contains {
        $0.contains("this cannot be taken back: what is kept for that is 64 KiB at most")
      })
    app.press("?")
    #expect(app.screen.contains { $0.contains("ye writes it to a file first.") })
    app.wait(milliseconds: 500)
    app.press("y u")
    #expect(app.toast.contains("not undone"))
    #expect(try app.stored("/room/-M6") == .null)
  }

  @Test func markedRowsAreMeasuredTogether() throws {
    let app = try chat()
    let size = try ["ana", "dan"].reduce(0) {
      try $0 + app.stored("/user/\($1)").jsonText().utf8.count
    }
    app.press("g2 gg j Space Space d")
    #expect(app.screen.contains { $0.contains("2 records · \(size) bytes") })
    #expect(app.screen.contains { $0.contains("u takes them back") })
  }

  @Test func collectionIsDeletedByTypingItsName() throws {
    let app = try chat()
    app.press("g3")
    app.go(to: "room")
    app.press("d")
    #expect(app.screen.contains { $0.contains("6 children, and all below them") })
    #expect(app.screen.contains { $0.contains("type room") })
    app.wait(milliseconds: 500)
    app.press("y Enter")
    #expect(app.screen.contains { $0.contains("! not `room`: nothing is deleted") })
    #expect(app.backend.writeCount == 0)
    app.press("C-u")
    app.type("room")
    app.press("Enter")
    #expect(try app.stored("/room") == .null)
    app.press("u")
    #expect(try app.stored("/room/-M1") != .null)
  }

  @Test func whatHoldsCollectionsSaysHowManyRecordsGo() throws {
    let app = try Fixture.gardenApp()
    app.press("g6")
    app.go(to: "group_message")
    app.strike("d")
    #expect(app.screen.contains { $0.contains("1 child · counting") })
    app.pump()
    #expect(app.screen.contains { $0.contains("1 child, with 2 below · ") }, "\(app.screen)")
  }

  @Test(arguments: ["Esc", "C-g", "C-c"])
  func typedWordIsLeftByTheKeysOfAField(key: String) throws {
    let app = try chat()
    app.press("g3")
    app.go(to: "room")
    app.press("d")
    app.type("room")
    app.press(key)
    #expect(app.state.layers.isEmpty)
    #expect(app.backend.writeCount == 0)
  }

  @Test func nodeWithMoreThanAHundredChildrenIsDeletedByTypingItsName() throws {
    let many = (0..<101).map { JSONMember("k\($0)", 1) }
    let app = try AppDriver(
      Fixture.views(), json: ["free": .object(many), "few": ["a": 1]])
    app.press("g3")
    app.go(to: "free")
    app.press("d")
    #expect(app.screen.contains { $0.contains("type free") })
    app.press("Esc")
    app.go(to: "few")
    app.press("d")
    #expect(app.screen.contains { $0.contains("y delete") })
  }

  @Test(arguments: ["?", "F1"])
  func questionTellsInFullWhatWillHappen(key: String) throws {
    let app = try chat()
    app.press("g2 gg j Space Space Space Space d \(key)")
    #expect(app.screen.contains { $0.contains("goes at once") })
    #expect(app.screen.contains { $0.contains("as long as nobody writes there") })
    app.press(key)
    #expect(!app.screen.contains { $0.contains("goes at once") })
    app.wait(milliseconds: 500)
    app.press("y")
    #expect(app.toast == "deleted 3 records")
  }

  @Test(arguments: [(20, 5), (30, 8), (40, 10)])
  func questionNamesWhatGoesAtEverySize(columns: Int, rows: Int) throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: columns, rows: rows)
    app.press("d")
    #expect(app.screen.contains { $0.contains("/room/-M6") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("y delete  n keep") }, "\(app.screen)")
  }

  @Test func wordIsTypedAtTheSmallestSize() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, columns: 20, rows: 5)
    app.press("g3")
    app.go(to: "room")
    app.press("d")
    app.type("roam")
    #expect(app.screen.contains { $0.contains("/room") }, "\(app.screen)")
    #expect(app.screen.contains { $0.contains("roam") }, "\(app.screen)")
    app.press("Enter")
    #expect(app.screen.contains { $0.contains("! not `room`") }, "\(app.screen)")
  }

  @Test func headersAndFetchMoreRowsCannotBeDeletedOrEdited() throws {
    let app = try chat()
    app.press("gg d")
    #expect(app.toast == "move to a record to delete it")
    app.press("e")
    #expect(app.toast == "move to a record to edit it")
    app.moveToFetchMoreRow()
    app.press("d")
    #expect(app.state.layers.isEmpty)
  }

  @Test func nextRowsMoveUpWhenAllLoadedOnesAreDeleted() throws {
    let songs = (0..<130).map { JSONMember("s\(1000 + $0)", ["title": .string("Song \($0).")]) }
    let views = try ViewFile(
      yaml: "views: [{ name: Songs, path: /songs, page: 50, columns: [{ field: title }] }]",
      name: "songs.views.yaml"
    ).views
    let app = try AppDriver(views, json: ["songs": .object(songs)])
    app.press("* d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try app.stored("/songs/s1049") == .null)
    #expect(app.body.contains { $0.contains("Song 50.") }, "\(app.body)")
    #expect(app.list.content.storedRowCount == 50)
    #expect(app.list.reach.paging == .more)
  }
}
