import RunnelBase
import RunnelDatabase
import RunnelTerminal
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What was refused stays until it is written or dropped.
@Suite struct WriteQueueTests {
  private let refusal = DatabaseError(.refused, "the disk is full")

  @Test func refusedNewRecordOutlivesAnotherOfItsKind() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 a")
    app.type("Zed")
    app.press("C-s C-g")
    #expect(app.state.writes.queue.refused.count == 1)
    app.backend.refusal = nil
    app.press("a")
    app.type("Yan")
    app.press("C-s")
    #expect(app.screen.contains { $0.contains("Yan") })
    #expect(app.state.writes.queue.refused.count == 1)
    app.press("S e C-s")
    #expect(app.screen.contains { $0.contains("Zed") })
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func writesTriedAgainFromTheTopKeepTheirOrder() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    for name in ["Uma", "Vic", "Wim"] {
      app.press("g2 a")
      app.type(name)
      app.press("C-s C-g")
    }
    let made = app.state.writes.queue.refused.map(\.id)
    #expect(made.count == 3)
    app.press("S")
    app.backend.refusal = nil
    var order: [AppRequestID] = []
    while let next = app.state.writes.queue.refused.first {
      order.append(next.id)
      app.press("r")
      guard app.state.writes.queue.refused.first?.id != next.id else { break }
    }
    #expect(order == made)
  }

  @Test func refusedWriteIsTriedAgainAsItWas() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 a")
    app.type("Zed")
    app.press("C-s C-g S r C-g")
    #expect(app.state.writes.queue.refused.map(\.tries) == [2])
    app.backend.refusal = nil
    app.press("S r")
    #expect(app.state.writes.queue.refused.isEmpty)
    app.press("C-g")
    #expect(app.screen.contains { $0.contains("Zed") })
    app.press("S r")
    #expect(app.toast == "nothing was refused")
  }

  @Test func writeThatIsTriedAgainTwiceIsWrittenOnce() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 a")
    app.type("Zed")
    app.press("C-s C-g S")
    app.backend.refusal = nil
    let before = app.backend.writeCount
    app.strike("r r e d")
    #expect(app.state.input.typeAhead.events.count == 3, "they are about what is being tried again")
    #expect(app.state.layers.count == 1)
    app.pump()
    #expect(app.toast == "nothing was refused")
    #expect(app.backend.writeCount == before + 1)
    #expect(app.state.writes.queue.refused.isEmpty)
    app.press("C-g")
    #expect(app.screen.count { $0.contains("Zed") } == 1)
  }

  @Test func editThatWaitsForTheFileIsSeen() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.press("g2 gg j Enter")
    app.go(to: "name")
    app.press("e")
    app.strike("x Enter")
    #expect(app.cursorLine.contains("Anax"), "what was typed stays on the screen")
    #expect(!app.cursorLine.contains("waiting"))
    let due = try #require(StateReducer.deadline(app.state))
    app.wait(milliseconds: due - app.state.now)
    #expect(app.cursorLine.contains("Anax"))
    #expect(app.cursorLine.contains("↑ waiting"))
    #expect(app.screen[0].contains("↑1"))
    app.pump()
    #expect(app.cursorLine.contains("Anax"))
    #expect(!app.cursorLine.contains("waiting"))
    #expect(!app.screen[0].contains("↑1"))
  }

  @Test func valueOfTheTreeThatWaitsForTheFileIsSeen() throws {
    let app = try AppDriver(Fixture.views(), json: ["note": "old"])
    app.press("g3")
    app.go(to: "note")
    app.press("e C-u")
    app.type("new")
    app.strike("Enter")
    #expect(app.cursorLine.contains("new"))
    app.wait(milliseconds: 300)
    #expect(app.cursorLine.contains("↑ waiting"))
    app.pump()
    #expect(!app.cursorLine.contains("waiting"))
    #expect(app.cursorLine.contains("\"new\""))
  }

  @Test func messageThatIsEditedAgainTakesNoDraftsPlace() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("a")
    app.type("first")
    app.press("Enter")
    app.press("C-u")
    app.backend.refusal = nil
    app.type("second")
    app.press("C-g S j e")
    #expect(app.toast.contains("another draft"))
    #expect(app.list.line.draft == "second")
    #expect(app.state.writes.queue.refused.count == 1)
  }

  // MARK: A refused message

  private func refusedMessage() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("a")
    app.type("hello")
    app.press("Enter Esc")
    app.backend.refusal = nil
    return app
  }

  private func count(of text: String, _ app: AppDriver) throws -> Int {
    guard case .object(let members) = try app.stored("/room") else { return 0 }
    return members.count { $0.value["text"] == .string(text) }
  }

  @Test func messageThatIsTriedAgainIsNoDraftBesides() throws {
    let app = try refusedMessage()
    #expect(app.list.line.draft == "hello")
    app.press("S r C-g a Enter")
    #expect(try count(of: "hello", app) == 1)
    #expect(app.composeLine == " zoe")
  }

  @Test func messageThatIsTriedAgainInVainIsADraftAgain() throws {
    let app = try refusedMessage()
    app.backend.refusal = refusal
    app.press("S r C-g")
    #expect(app.list.line.draft == "hello")
    #expect(app.state.writes.queue.refused.count == 1)
  }

  @Test func droppedMessageIsNoDraft() throws {
    let app = try refusedMessage()
    app.press("S d")
    app.wait(milliseconds: 200)
    app.press("y C-g")
    #expect(app.list.line.draft == "")
  }

  /// Two fields of one record are refused while the queue lies over it.
  private func twoRefusedEdits() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 gg j Enter")
    app.go(to: "email")
    app.strike("e x Enter k k k e y Enter S")
    app.pump()
    app.backend.refusal = nil
    return app
  }

  @Test func refusedEditsAreKeptWhereSomethingElseIsDone() throws {
    let app = try twoRefusedEdits()
    #expect(app.state.writes.queue.refused.count == 2)
    #expect(app.record?.edit == nil, "no key goes into an edit that comes back by itself")
    #expect(app.toast.contains("what was typed is kept"))
    app.press("e")
    #expect(app.record?.edit?.field.text == "email")
    app.press("Enter")
    #expect(try app.stored("/user/ana/email") == "ana@example.orgx")
    #expect(app.state.writes.queue.refused.count == 1)
    app.press("S e")
    #expect(app.record?.edit?.field.text == "name")
    app.press("Enter")
    #expect(try app.stored("/user/ana/name") == "Anay")
  }

  @Test func refusedEditIsOpenedAgainOverWhatElseIsOpen() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    app.press("g2 gg j e x")
    app.strike("Enter Esc j Enter")
    app.pump()
    #expect(app.toast.contains("what was typed is kept"))
    #expect(app.state.layers.count == 1, "who reads another record is not interrupted")
    app.press("S")
    #expect(app.state.writes.queue.refused.count == 1)
    app.press("e")
    #expect(app.cursorLine.contains("ana@example.orgx"))
  }

  @Test func afterADropTheCursorIsOnTheNextWrite() throws {
    let app = try threeRefused()
    app.press("S j")
    #expect(app.body[2].hasPrefix(">"))
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.state.writes.queue.refused.count == 2)
    #expect(app.body[2].hasPrefix(">"))
  }

  @Test func agesInTheQueueFollowTheClock() throws {
    let app = try threeRefused()
    app.press("S")
    #expect(app.body[1].contains("now"))
    let deadline = try #require(StateReducer.deadline(app.state))
    app.wait(milliseconds: deadline - app.state.now)
    #expect(!app.body[1].contains("now"), "\(app.body[1])")
    app.wait(milliseconds: 2 * Fixture.minute)
    #expect(app.body[1].contains("2m"), "\(app.body[1])")
  }

  /// Three new records are refused.
  private func threeRefused() throws -> AppDriver {
    let app = try AppDriver(Fixture.views(), json: Fixture.small)
    app.backend.refusal = refusal
    for name in ["Xan", "Yan", "Zed"] {
      app.press("g2 a")
      app.type(name)
      app.press("C-s C-g")
    }
    app.backend.refusal = nil
    return app
  }
}
