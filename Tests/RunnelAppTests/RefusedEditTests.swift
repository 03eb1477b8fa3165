import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// What was edited, refused and kept is edited, compared and sent again; never over what others wrote since.
@Suite struct RefusedEditTests {
  private static let name = "/user/ana/name"
  private static let refusal = "\(name) was changed meanwhile. Nothing was written."

  private func open() throws -> AppDriver {
    try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
  }

  private func second(beside app: AppDriver) throws -> AppDriver {
    try AppDriver(Fixture.views(), beside: app, origin: "home", random: 100)
  }

  /// Two windows on a replica, whose origin has refused the edit of a name.
  ///
  /// Others may have written another one. The second window has it from the file.
  private func windows(theirs: JSONValue? = "Anne") throws -> [AppDriver] {
    let app = try open()
    app.press("g2 gg j Enter")
    app.go(to: "name")
    app.press("e C-u")
    app.type("Anna")
    app.press("Enter Esc")
    let write = try #require(app.state.writes.queue.pending.last)
    #expect(write.write == .set(try Path(RefusedEditTests.name), "Anna") && write.seen != nil)
    try app.reject(write.id, RefusedEditTests.refusal)
    if let theirs { try app.set(RefusedEditTests.name, theirs) }
    let other = try second(beside: app)
    other.press("g2")
    return [app, other]
  }

  private func comparison(_ app: AppDriver) -> CompareScreen? {
    if case .compare(let screen)? = app.state.layers.last { screen } else { nil }
  }

  @Test(arguments: [0, 1], ["m", "t"])
  func refusedFieldIsNotSentOverANewerValueWithoutAChoice(window: Int, key: String) throws {
    let apps = try windows()
    let app = apps[window]
    app.press("S gg j r")
    #expect(try app.stored(RefusedEditTests.name) == "Anne")
    let screen = try #require(comparison(app), "\(app.toast)")
    #expect(screen.model[.base] == "Ana" && screen.model[.mine] == "Anna")
    #expect(screen.model[.theirs] == "Anne")
    // Nothing was sent, so it is not another try.
    for app in apps { #expect(app.state.writes.queue.refused.map(\.tries) == [1]) }
    #expect(try app.keptRefusals().count == 1)
    app.press("\(key) C-s")
    #expect(try app.stored(RefusedEditTests.name) == (key == "m" ? "Anna" : "Anne"))
    #expect(try app.keptRefusals().isEmpty)
    for app in apps {
      try app.hear()
      #expect(app.state.writes.queue.refused.isEmpty)
    }
  }

  @Test(arguments: [0, 1])
  func refusedFieldIsSentWhereItIsAsItWas(window: Int) throws {
    let app = try windows(theirs: nil)[window]
    app.press("S gg j r")
    #expect(app.toast == "written")
    #expect(try app.stored(RefusedEditTests.name) == "Anna")
    #expect(try app.keptRefusals().isEmpty)
  }

  @Test(arguments: [0, 1], ["Ana", "Anne"])
  func refusedFieldIsComparedWithWhatStandsThere(window: Int, theirs: String) throws {
    let app = try windows(theirs: .string(theirs))[window]
    app.take(.origin(OriginFacts(.live)))
    app.press("S gg j c")
    let screen = try #require(comparison(app), "\(app.toast)")
    #expect(screen.model[.base] == "Ana" && screen.model[.mine] == "Anna")
    #expect(screen.model[.theirs] == .string(theirs))
    #expect((screen.model.undecidedCount == 0) == (theirs == "Ana"))
    #expect(screen.title(of: .theirs) == "theirs", "who wrote that is not known")
    app.press("Esc")
    #expect(try app.keptRefusals().count == 1)
  }

  @Test(arguments: [0, 1])
  func whatIsAsTheRefusedWriteWantedItIsRefusedNoMore(window: Int) throws {
    let app = try windows(theirs: "Anna")[window]
    app.press("S gg j c")
    #expect(app.toast.contains("is as you wanted it"))
    #expect(app.state.writes.queue.refused.isEmpty)
    app.pump()
    #expect(try app.keptRefusals().isEmpty)
  }

  @Test(arguments: [0, 1])
  func refusedFieldIsEditedAgainInItsRecord(window: Int) throws {
    let app = try windows()[window]
    app.press("S gg j e")
    let edit = try #require(app.record?.edit, "\(app.toast)")
    #expect(edit.field.text == "name" && edit.input.editor.text == "Anna")
    app.type("!")
    app.press("Enter")
    #expect(try app.stored(RefusedEditTests.name) == "Anne")
    #expect(comparison(app)?.model[.mine] == "Anna!")
    app.press("m C-s")
    #expect(try app.stored(RefusedEditTests.name) == "Anna!")
    #expect(try app.keptRefusals().isEmpty)
  }

  /// The same field of two records was set, and one of another.
  @Test func refusedBatchIsEditedAsOneText() throws {
    let app = try AppDriver(Fixture.views(), json: Fixture.small, origin: "home")
    var state = app.state
    let id = state.requests.newID()
    let place = try Path("/other")
    let names = ["a/x", "b/x", "b/deep/y"]
    let write = PendingWrite(
      id: 7, write: .update(place, names.map { JSONMember($0, 2) }),
      parts: try names.map {
        Assignment(path: try place.appending(Path($0)), target: .node(try Node(json: 2)))
      },
      bases: [try Node(json: 1), try Node(json: 1), .empty])
    let purpose = EarlierEdit(write)?.purpose(state, as: id)
    guard case .editOutside(let edit, let text)? = purpose else {
      Issue.record("\(String(describing: purpose))")
      return
    }
    #expect(edit == OutsideEdit(path: place, original: ["a": ["x": 1], "b": ["x": 1]]))
    let new: JSONValue = ["a": ["x": 2], "b": ["deep": ["y": 2], "x": 2]]
    #expect(try JSONValue(parsing: text) == new)
  }

  @Test func refusedFieldOfARecordThatIsNotThereIsEditedInAForm() throws {
    var state = try open().state
    let path = try Path("/notes/n1/title")
    let write = PendingWrite(
      id: 7, write: .set(path, "mine"),
      parts: [Assignment(path: path, target: .node(try Node(json: "mine")))], bases: [nil],
      seen: SeenNode(path, try Node(json: "old")))
    let purpose = EarlierEdit(write)?.purpose(state, as: state.requests.newID())
    guard case .form(let form)? = purpose else {
      Issue.record("no form")
      return
    }
    #expect(form.purpose == .setLeaf(path, original: "old"))
    #expect(form.fields.map(\.input.editor.text) == ["mine"])
  }

  @Test(arguments: [0, 1])
  func whatWasWrittenIsCopied(window: Int) throws {
    let app = try windows()[window]
    app.press("S gg j yy")
    #expect(app.clipboard == "\"Anna\"")
    app.press("ys")
    #expect(app.clipboard == "Anna")
    app.press("gg yy")
    #expect(app.toast.contains("move to a write"))
  }

  // MARK: Several places

  private func write(_ write: Write, upon bases: [JSONValue]) throws -> PendingWrite {
    guard case .update(let path, let members) = write else { preconditionFailure() }
    return PendingWrite(
      id: 7, write: write,
      parts: try members.map {
        let node = try Node(json: $0.value[".sv"] == nil ? $0.value : 1)
        return Assignment(path: try path.appending(Path($0.name)), target: .node(node))
      },
      bases: try bases.map { try Node(json: $0) })
  }

  @Test func fieldsOfARecordAreSentUponWhatTheyWere() throws {
    let path = try Path("/user/ana")
    let write = try write(
      .update(
        path,
        [
          JSONMember("name", "Anna"), JSONMember("plot", 9),
          JSONMember("count", [".sv": ["increment": 1]]),
        ]),
      upon: ["Ana", 3, 4])
    // Others may add to a count, too.
    #expect(
      write.conditions == [
        WriteCondition(try Path("/user/ana/name"), "Ana"),
        WriteCondition(try Path("/user/ana/plot"), 3),
      ])
    let draft = try #require(EarlierEdit(write)?.comparison(try open().state))
    #expect(draft.path == path)
    let now: JSONValue = ["name": "Anne", "plot": 3, "role": "x"]
    let (placed, theirs) = draft.placed(in: now)
    #expect(theirs == now)
    #expect(placed.base == ["name": "Ana", "plot": 3, "role": "x"])
    #expect(placed.mine == ["name": "Anna", "plot": 9, "role": "x"])
  }

  @Test func newFieldIsNotSentWhereTheRecordIsGone() throws {
    let (record, path) = (try Path("/user/ana"), try Path("/user/ana/note"))
    let write = PendingWrite(
      id: 7, write: .set(path, "n"),
      parts: [Assignment(path: path, target: .node(try Node(json: "n")))], bases: [nil],
      seen: SeenNode(record, try Node(json: ["name": "Ana"])))
    #expect(write.conditions == [.object(at: record), WriteCondition(path, .null)])
  }

  @Test func recordsOfAListAreNotComparedTogether() throws {
    let write = try write(
      .update(try Path("/user"), [JSONMember("ana/name", "A"), JSONMember("bo/name", "B")]),
      upon: ["Ana", "Bo"])
    #expect(EarlierEdit(write)?.comparison(try open().state) == nil)
  }

  // MARK: Two windows with one text

  private func count(
    _ collection: String, _ field: String, _ text: String, _ app: AppDriver
  )
    throws -> Int
  {
    guard case .object(let members) = try app.stored(collection) else { return 0 }
    return members.count { $0.value[field] == .string(text) }
  }

  private func asks(_ app: AppDriver) -> Bool {
    if case .question(let question)? = app.state.layers.last, case .writeToo = question.purpose {
      return true
    }
    return false
  }

  @Test(arguments: ["r", "e Enter"], [false, true])
  func messageThatAnotherWindowSentIsSentBesidesOnlyAfterAQuestion(
    keys: String, isHeard: Bool
  ) throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g")
    try app.reject(1, "too late")
    let other = try second(beside: app)
    app.press("S gg j e")
    other.press("S gg j \(keys)")
    if isHeard { try app.hear() }
    app.press("Enter")
    #expect(asks(app), "\(app.toast)")
    #expect(try count("/room", "text", "hello", app) == 1)
    app.press("n")
    #expect(app.list.line.draft == "hello")
    app.press("Enter")
    #expect(asks(app))
    app.press("Esc")
    // The text is a draft, also for who comes back to the line.
    app.press("C-g a Enter")
    #expect(asks(app))
    #expect(try count("/room", "text", "hello", app) == 1)
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try count("/room", "text", "hello", app) == 2)
    #expect(app.list.line.draft == "" && app.state.writes.queue.refused.isEmpty)
  }

  @Test func recordThatAnotherWindowSentIsAddedBesidesOnlyAfterAQuestion() throws {
    let app = try open()
    app.press("g2 a")
    app.type("Zed")
    app.press("C-s C-g")
    try app.reject(1, "too late")
    let other = try second(beside: app)
    app.press("S gg j e")
    #expect(app.form != nil)
    other.press("S gg j r")
    app.press("C-s")
    #expect(asks(app), "\(app.toast)")
    app.press("n")
    #expect(app.form?.fields.contains { $0.input.editor.text == "Zed" } == true)
    #expect(try count("/user", "name", "Zed", app) == 1)
    app.press("C-s")
    app.wait(milliseconds: 200)
    app.press("y")
    #expect(try count("/user", "name", "Zed", app) == 2)
  }

  @Test func fieldThatAnotherWindowDroppedIsWrittenOnlyAfterAQuestion() throws {
    let apps = try windows(theirs: nil)
    apps[0].press("S gg j e")
    apps[1].press("S gg j d")
    apps[1].wait(milliseconds: 200)
    apps[1].press("y")
    apps[0].press("Enter")
    #expect(asks(apps[0]), "\(apps[0].toast)")
    #expect(try apps[0].stored(RefusedEditTests.name) == "Ana")
    apps[0].press("n")
    #expect(apps[0].record?.edit?.input.editor.text == "Anna")
  }

  /// No question comes between the keys of a user who goes on.
  @Test func whoGoesOnFindsTheTextInTheQueue() throws {
    let app = try open()
    app.press("a")
    app.type("hello")
    app.press("Enter C-g")
    try app.reject(1, "too late")
    let other = try second(beside: app)
    app.press("S gg j e")
    other.press("S gg j r")
    app.strike("Enter n")
    app.pump()
    #expect(!asks(app))
    #expect(try count("/room", "text", "hello", app) == 1)
    let item = try #require(app.state.writes.queue.refused.first)
    #expect(item.write == nil && item.purpose.kind.typed == ["hello"])
    app.press("C-g S gg j r")
    #expect(try count("/room", "text", "hello", app) == 2)
  }
}
