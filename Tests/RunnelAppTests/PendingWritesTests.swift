import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// On a replica, what waits for the origin is listed with what was refused.
@Suite struct PendingWritesTests {
  private func open() throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
  }

  @Test func writesOfEarlierRunsAndOtherProcessesAreListedAsTheyComeAndGo() throws {
    let app = try open()
    #expect(app.screen[0].contains("↑1"))
    app.press("S")
    #expect(app.cursorLine.contains("pending  #0 set /"))
    try app.set("/notes/n1", "later")
    let line = app.line(of: "#1 set /notes/n1").map { app.body[$0] } ?? ""
    #expect(line.contains(#""later""#) && line.contains("now"))
    #expect(app.screen[0].contains("↑2"))
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
    }
    #expect(app.line(of: "#0") == nil)
    #expect(app.cursorLine.contains("#1"))
    #expect(app.screen[0].contains("↑1"))
  }

  @Test func whatIsWrittenHereIsAmongThem() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g S")
    #expect(app.line(of: "pending  #1 ") != nil)
    #expect(app.state.writes.queue.pending.count == 2)
    #expect(app.state.writes.queue.waiting.isEmpty)
  }

  /// What others do can wait for the next frame.
  @Test func userWaitsForTheRowThatWasTypedAndForTheLastAnswerAndNothingElse() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    let first = app.state.writes.queue.pending
    app.runtime.send(.input(.key(try #require(KeyStroke.sequence("Enter")?.first))))
    let stored = try #require(app.backend.answer())
    #expect(app.runtime.receive(stored))
    #expect(!app.runtime.receive([.deliveries([])]))
    #expect(!app.runtime.receive([.acknowledged(1), .pendingWrites(first)]))
    #expect(!app.runtime.receive([.pendingWrites([])]))
    #expect(app.runtime.receive([.acknowledged(2), .pendingWrites([])]))
  }

  @Test func rowsAndPlacesOfWaitingWritesAreMarkedUntilTheyAreAnswered() throws {
    let app = try open()
    // All of it waits: the write of the whole database.
    #expect(app.line(of: "Rain").map { app.body[$0].contains("↑") } == true)
    try app.elsewhere {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
    }
    #expect(app.body.allSatisfy { !$0.contains("↑") })
    let writes = [
      PendingWrite(
        id: 1, write: .set(Path(unchecked: []), .null),
        parts: [Assignment(path: try Path("/a/b/c"), target: .node(.empty))],
        maker: .anyone(name: nil))
    ]
    let places = WaitingPlaces(writes)
    for path in ["/", "/a", "/a/b", "/a/b/c", "/a/b/c/d"] { #expect(places.touch(try Path(path))) }
    for path in ["/b", "/a/c", "/a/b/d"] { #expect(!places.touch(try Path(path))) }
  }

  @Test func writeIsShownInFull() throws {
    let app = try open()
    try app.remove("/notes/n1")
    try app.elsewhere { _ = try $0.write(.update(Path("/notes"), [.init("a", 1), .init("b", 2)])) }
    app.press("S j")
    #expect(app.cursorLine.contains("#1 remove /notes/n1"))
    app.press("j")
    #expect(app.cursorLine.contains("#2 update /notes  a, b"))
    app.press("Enter")
    #expect(app.line(of: "/notes/a") != nil && app.line(of: "+ 2") != nil)
    app.press("j Enter")
    #expect(app.line(of: "+ 2") == nil)
    #expect(app.cursorLine.contains("#2"))
  }

  @Test func droppedWriteIsTakenBackAndTheOthersStay() throws {
    let app = try open()
    try app.set("/notes/n1", "mine")
    try app.set("/notes/n2", "other")
    app.press("S j d")
    #expect(app.line(of: "Drop the write") != nil)
    app.press("n")
    #expect(app.state.writes.queue.pending.map(\.id) == [0, 1, 2])
    app.press("d")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(app.state.writes.queue.pending.map(\.id) == [0, 2])
    #expect(app.line(of: "#1") == nil)
    #expect(try app.stored("/notes") == ["n2": "other"])
    #expect(app.toast == "dropping the write")
  }

  @Test func writeThatWasAnsweredMeanwhileIsNotDropped() throws {
    let app = try open()
    try app.set("/notes/n1", "mine")
    app.press("S j d")
    app.wait(milliseconds: 200)
    try app.elsewhereUnseen {
      _ = try $0.connectOrigin()
      _ = try $0.receive(.acknowledged(id: 0))
      _ = try $0.receive(.acknowledged(id: 1))
    }
    app.press("y")
    #expect(app.toast.contains("not pending any more"))
    #expect(try app.stored("/notes/n1") == "mine")
  }

  @Test func whatWaitsIsNeitherTypedAgainNorTriedAgain() throws {
    let app = try open()
    app.press("S e")
    #expect(app.toast.contains("waits for the origin"))
    app.press("r")
    #expect(app.toast.contains("waits for the origin"))
  }

  /// Such as a write that waited until its user signed in again, and that the rules refuse now.
  @Test func pendingWriteThatTheOriginRefusesIsKeptInTheQueueAndMarked() throws {
    let app = try open()
    try app.set("/user/ana/name", "mine")
    app.press("g2")
    #expect(app.state.writes.queue.pending.map(\.id) == [0, 1])
    let row = app.body.first { $0.contains("mine") } ?? ""
    #expect(!row.contains("!"))
    try app.reject(1, "not yours")
    #expect(app.toast.contains("not yours") && app.toast.contains("S lists the write"))
    #expect(app.screen[0].contains("!1"))
    #expect(app.body.contains { $0.contains("Ana") && $0.contains("!") }, "\(app.body)")
    let path = try Path("/user/ana")
    #expect(app.state.writes.queue.wasRejected(at: path))
    #expect(app.state.writes.queue.wasRejected(at: try Path("/user/ana/name/x")))
    #expect(!app.state.writes.queue.wasRejected(at: try Path("/user/bo")))
    app.press("S gg j")
    #expect(app.cursorLine.contains("refused  set /user/ana/name"))
    app.press("Enter")
    #expect(app.line(of: "not yours") != nil && app.line(of: #"+ "mine""#) != nil)
    app.press("e")
    #expect(app.record?.edit?.input.editor.text == "mine")
    app.press("Esc Esc S gg j r")
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(try app.stored("/user/ana/name") == "mine")
    // One that is not known, or was dropped by the user, is only said.
    app.runtime.receive([.rejected(nil, write: 99, TreeError(.permissionDenied, "gone"))])
    #expect(app.toast.contains("gone"))
    app.runtime.receive([.rejected(nil, write: 0, TreeError(.writeCanceled, "dropped"))])
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func severalRefusalsAreOneMessageWithTheirNumber() throws {
    let app = try open()
    for name in ["ana", "bo", "cy"] { try app.set("/user/\(name)/name", "mine") }
    let refusals = (1...3).map { id in
      DatabaseMessage.rejected(nil, write: id, TreeError(.permissionDenied, "no \(id)"))
    }
    app.runtime.receive(Array(refusals.prefix(2)))
    #expect(app.toast.hasPrefix("2 writes were refused: S lists them · the last one: "))
    app.wait(milliseconds: 8000)
    // Where keys are typed, the message names the key of the list.
    app.press("g1 a")
    app.runtime.receive(refusals)
    let later = "3 writes were refused · they are kept: S in the list shows them · the last one: "
    #expect(app.toast.hasPrefix(later) && app.toast.contains("no 3"), "\(app.toast)")
    // Once the message is gone, the next one counts anew.
    app.wait(milliseconds: 8000)
    #expect(app.toast.isEmpty)
    try app.set("/user/ana/name", "again")
    app.runtime.receive([.rejected(nil, write: 4, TreeError(.permissionDenied, "no 4"))])
    #expect(app.toast.contains("no 4 · what was sent is kept"), "\(app.toast)")
  }

  @Test func hintAfterASentenceIsASentence() throws {
    let app = try open()
    try app.set("/user/ana/name", "mine")
    let error = TreeError(.changed, "/user/ana/name was changed meanwhile. Nothing was written.")
    app.runtime.receive([.rejected(nil, write: 1, error)])
    #expect(app.toast.hasSuffix("Nothing was written. S lists the write"), "\(app.toast)")
    app.wait(milliseconds: 8000)
    try app.set("/user/bo/name", "mine")
    app.press("g1 a")
    app.runtime.receive([.rejected(nil, write: 2, error)])
    #expect(app.toast.contains("Nothing was written · what was sent is kept"), "\(app.toast)")
  }

  @Test func refusalThatComesWhileSomethingIsTypedSaysWhereTheWriteIs() throws {
    let app = try open()
    try app.set("/user/ana/name", "mine")
    app.press("g1 a")
    app.runtime.receive([.rejected(nil, write: 1, TreeError(.permissionDenied, "not yours"))])
    #expect(app.toast.contains("not yours · what was sent is kept: S in the list shows it"))
  }

  @Test func messageThatTheOriginRefusesIsTypedAgainInItsLine() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g")
    app.runtime.receive([.rejected(nil, write: 1, TreeError(.permissionDenied, "too late"))])
    app.press("S e")
    guard case .compose(let composer)? = app.state.layers.last else {
      Issue.record("the line is not open: \(app.toast)")
      return
    }
    #expect(composer.editor.text == "hello")
    app.press("Enter")
    #expect(app.state.writes.queue.refused.isEmpty)
  }

  @Test func triesOfARefusedWriteAreCounted() throws {
    let app = try open()
    try app.set("/user/ana/name", "mine")
    try app.reject(1, "no")
    app.press("S r")
    #expect(app.state.writes.queue.pending.last?.id == 2)
    try app.reject(2, "still no")
    #expect(app.state.writes.queue.refused.map(\.tries) == [2])
    #expect(try app.keptRefusals().map(\.write.id) == [2])
  }

  /// A write of a value at a place, upon a value that was there.
  private func write(_ path: Path, _ json: JSONValue, upon old: JSONValue) throws -> PendingWrite {
    PendingWrite(
      id: 7, write: .set(path, json),
      parts: [Assignment(path: path, target: .node(try Node(json: json)))],
      bases: [try Node(json: old)])
  }

  /// A day offline: others wrote the same field, and the write that waited wins.
  @Test func whatAWaitingWriteReplacesIsToldAndCompared() throws {
    let app = try open()
    let path = try Path("/user/ana")
    let base: JSONValue = ["name": "Ana", "team": "red"]
    let before = try write(path, ["name": "Anna", "team": "red"], upon: base)
    app.take(.pendingWrites([before]))
    var merged = before
    merged.bases = [try Node(json: ["name": "Ana", "team": "blue"])]
    app.take(.pendingWrites([merged]))
    #expect(app.state.writes.comparable.isEmpty)
    app.take(.pendingWrites([before]))
    merged.bases = [try Node(json: ["name": "Anne", "team": "red"])]
    app.take(.pendingWrites([merged]))
    #expect(app.toast.contains("your write to /user/ana replaces what others wrote since"))
    let draft = try #require(app.state.writes.comparable.first)
    #expect(draft.base == ["name": "Anna", "team": "red"])
    #expect(draft.mine == ["name": "Anne", "team": "red"])
  }

  /// The undo of an operation uses what the workspace knows of it.
  @Test func undoOfAnOperationKnowsWhatItReplaced() throws {
    let path = try Path("/user/ana")
    var entry = ActionLogEntry(
      id: Key(unchecked: "e"), at: 0, author: "", resource: "user", key: Key(unchecked: "ana"),
      kind: .update, path: path, old: ["name": "Ana", "team": "red"],
      new: ["name": "Anna", "team": "red"], context: [:], isCascaded: false, isCut: false)
    var undoing = UndoHistory()
    undoing.push(UndoHistory.Step(title: "changed", parts: [.operation(entry)]), for: .undo)
    undoing.learn(
      Conflict(
        path: try path.child("name"), base: try Node(json: "Ana"), mine: try Node(json: "Anna"),
        theirs: try Node(json: "Anne")))
    (entry.old, entry.new) = (["name": "Anne", "team": "red"], ["name": "Anna", "team": "red"])
    #expect(undoing.steps(.undo).map(\.parts) == [[.operation(entry)]])
    undoing.learn(
      Conflict(
        path: try Path("/user/bo"), base: try Node(json: "Ana"), mine: try Node(json: "Anna"),
        theirs: try Node(json: "Anne")))
    #expect(undoing.steps(.undo).map(\.parts) == [[.operation(entry)]])
  }

  @Test func refusedValueIsTypedAgainInAForm() throws {
    var state = try open().state
    let id = state.requests.newID()
    let path = try Path("/notes/n1")
    let purpose = EarlierEdit(try write(path, "mine", upon: "old"))?.purpose(state, as: id)
    guard case .form(let form)? = purpose else {
      Issue.record("no form")
      return
    }
    #expect(form.purpose == .setLeaf(path, original: "old"))
    #expect(form.fields.map(\.input.editor.text) == ["mine"])
  }

  @Test func refusedRecordIsTypedAgainAsText() throws {
    var state = try open().state
    let id = state.requests.newID()
    let path = try Path("/notes/n1")
    let purpose = EarlierEdit(try write(path, ["a": 2], upon: ["a": 1]))?.purpose(state, as: id)
    let edit = OutsideEdit(path: path, original: ["a": 1])
    let text = JSONValue.object([JSONMember("a", 2)]).jsonText(pretty: true) + "\n"
    #expect(purpose == .editOutside(edit, text: text))
    let removal = EarlierEdit(try write(path, .null, upon: ["a": 1]))
    #expect(removal?.purpose(state, as: id) == nil)
  }

  @Test func reasonIsShownInFull() throws {
    let app = try open()
    try app.set("/notes/n1", "mine")
    let reason = String(repeating: "many words before ", count: 6) + "what matters"
    app.runtime.receive([.rejected(nil, write: 1, TreeError(.permissionDenied, reason))])
    app.press("S gg j Enter")
    #expect(app.line(of: "what matters") != nil, "\(app.body)")
  }

  @Test func refusedRemovalIsTriedAgainOnlyUponWhatWasRemoved() throws {
    let path = try Path("/notes/n1")
    var queue = WriteQueue()
    queue.pending = [
      PendingWrite(
        id: 3, write: .set(path, .null), parts: [Assignment(path: path, target: .node(.empty))],
        bases: [try Node(json: "old")])
    ]
    #expect(try queue.removes(path) && !queue.removes(Path("/notes")))
    queue.keep(queue.pending[0], as: AppRequestID(9), "look at it first", at: 0)
    queue.pending = []
    #expect(queue.removes(path))
    #expect(
      queue.refused[0].requestAgain() == .guarded(.remove(path), [WriteCondition(path, "old")]))
  }

  /// A row whose removal is refused was there before.
  @Test func rowThatComesBackIsNoNews() throws {
    let app = try open()
    let row = try #require(app.list.content.sections.flatMap(\.rows).last { app.list.hasRow($0) })
    let path = try #require(app.list.records[row]?.path)
    let record = try app.stored(path.description)
    try app.remove(path.description)
    #expect(!app.list.hasRow(row))
    app.press("gg")
    try app.set(path.description, record)
    #expect(app.list.hasRow(row))
    #expect(app.list.newBelowCount + app.list.newAboveCount == 0)
  }

  /// A record that was typed into the form of `a`, and sent.
  @Test func refusedNewRecordIsTypedAgainInTheFormOfItsList() throws {
    var state = try open().state
    let view = try #require(
      state.tabs.lists.indices.first { state.tabs.lists[$0].definition.compose == nil })
    let collection = state.tabs.lists[view].definition.source.path
    let place = try collection.child(try Key("-Nabc"))
    let record: JSONValue = [
      "name": "Eva", "extra": 7, "at": ["deep": true], "made": [".sv": "timestamp"],
    ]
    for bases in [[nil], [Node.empty]] as [[Node?]] {
      let write = PendingWrite(
        id: 7, write: .set(place, record),
        parts: [Assignment(path: place, target: .node(.empty))], bases: bases)
      let id = state.requests.newID()
      guard case .form(let form)? = EarlierEdit(write)?.purpose(state, as: id) else {
        Issue.record("no form")
        return
      }
      #expect(form.attempt == id)
      let typed = form.fields.filter { !$0.input.editor.isEmpty }
        .map { "\($0.label) \($0.input.editor.text)" }
      #expect(typed.contains("name Eva") && typed.contains("extra 7"), "\(typed)")
      #expect(typed.contains { $0.hasSuffix("deep true") } && typed.contains("key -Nabc"))
      #expect(!typed.contains { $0.contains("made") })
    }
  }

  @Test func refusedRecordIsShownWithItsTextFirstAndInWholeLines() throws {
    let text = String(repeating: "word ", count: 30)
    let record: JSONValue = ["at": 1, "by": "wim", "text": .string(text)]
    let write = try write(Path("/room/m1"), record, upon: .null)
    #expect(PendingText.deed(of: write).hasPrefix(#"set /room/m1  {"text":"word word"#))
    let lines = PendingText.detail(of: write).map(\.text)
    #expect(lines.contains { $0.contains("+ text  \"word word") })
    #expect(lines.contains { $0.contains("+ at  1") } && lines.allSatisfy { $0.count <= 80 })
  }

  @Test func whatOfATransactionWaitsIsNotDropped() throws {
    let app = try open()
    try app.elsewhere { session in
      _ = try session.startTransaction(TransactionRequest(try Path("/notes/n1")) { _ in 1 })
    }
    app.press("S G")
    #expect(app.cursorLine.contains("transaction, set /notes/n1"))
    app.press("d")
    #expect(app.toast.contains("a transaction wrote it"))
  }

  @Test func writeOfUnknownOutcomeIsToldAndSentAgainOnRequest() throws {
    let app = try open()
    try app.set("/notes/n1", "mine")
    app.take(.origin(OriginFacts(.live, unknownWrites: [1])))
    #expect(app.screen[0].contains("?1"))
    app.press("S r")
    #expect(app.toast.contains("waits for the origin"))
    app.press("j")
    #expect(app.cursorLine.contains("unknown  #1 set /notes/n1"))
    app.press("Enter")
    #expect(app.line(of: "the connection ended before the answer") != nil)
    app.press("r")
    #expect(app.toast == "it is sent again")
    #expect(app.screenEffects.contains(.sendAgain(1)))
    app.take(.origin(OriginFacts(.live)))
    #expect(app.line(of: "unknown") == nil)
    #expect(app.line(of: "pending  #1") != nil)
  }

  @Test func recordedSessionHasThem() throws {
    let app = try AppDriver(
      Fixture.views(), json: Fixture.small, origin: "home", isRecording: true)
    app.press("S")
    let replay = try SessionReplay(parsing: app.recording, file: "recording")
    #expect(replay.state.writes.queue.pending == app.state.writes.queue.pending)
  }
}
