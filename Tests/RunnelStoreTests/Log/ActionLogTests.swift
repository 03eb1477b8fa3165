import RunnelBase
import RunnelTree
import Testing

@testable import RunnelStore

private struct Add: LoggableAction {
  static let kind = "counter/add"
  var by: Int64

  init(by: Int64) { self.by = by }

  func json() throws -> JSONValue {
    if by == 13 { throw Misfit("13 is never written") }
    return ["by": .number(JSONNumber(by))]
  }

  init(json: JSONValue) throws {
    guard case .number(let number)? = json["by"], let by = number.integer else {
      throw Misfit("no \"by\"")
    }
    self.by = by
  }
}

private struct Reset: Action {}

@Suite struct ActionLogTests {
  private var registry: ActionRegistry {
    var registry = ActionRegistry()
    registry.register(Add.self)
    registry.registerActions(about: Group.self)
    return registry
  }

  private static let first = #"{"log":"runnel actions","version":1}"#
  private static let add2 = #"{"n":1,"ms":5,"kind":"counter/add","action":{"by":2}}"#
  private static let reset = #"{"n":2,"ms":6,"type":"Reset"}"#

  private func log(_ lines: String...) -> String { lines.map { $0 + "\n" }.joined() }

  // MARK: Lines

  @Test func entryIsOneLineAndIsReadBack() throws {
    var log = ActionLog()
    #expect(log.append(Add(by: 2), milliseconds: 5).line == ActionLogTests.add2)
    #expect(log.append(Reset(), milliseconds: 6).line == ActionLogTests.reset)
    #expect(log.text == self.log(ActionLogTests.first, ActionLogTests.add2, ActionLogTests.reset))
    #expect(try ActionLog(parsing: log.text) == log)
  }

  @Test func lineFeedsInTextsAreEscaped() throws {
    let entry = LoggedAction(
      number: 1, milliseconds: 0, content: .action(kind: "a\nb", .string("c\nd\u{2028}")))
    #expect(!entry.line.contains("\n"))
    #expect(try LoggedAction(line: entry.line) == entry)
  }

  @Test func actionThatCannotBeWrittenIsWithheld() {
    let entry = LoggedAction(number: 1, milliseconds: 0, action: Add(by: 13))
    #expect(entry.content == .withheld(type: "Add"))
  }

  @Test func lastLineThatWasCutIsLeftOut() throws {
    let whole = log(ActionLogTests.first, ActionLogTests.add2)
    for count in 1..<ActionLogTests.reset.count {
      let read = try ActionLog(parsing: whole + ActionLogTests.reset.prefix(count))
      #expect(read.entries.count == 1)
      #expect(read.isCut)
    }
    let complete = try ActionLog(parsing: whole + ActionLogTests.reset)
    #expect(complete.entries.count == 2)
    #expect(!complete.isCut)
  }

  @Test(arguments: [
    ("", ActionLogError.Code.malformed, nil),
    ("\n", .malformed, nil),
    (#"{"n":1,"ms":5,"type":"Reset"}"# + "\n", .malformed, 1),
    (#"{"log":"others","version":1}"# + "\n", .malformed, 1),
    (#"{"log":"runnel actions","version":2}"# + "\n", .newerVersion, 1),
    (first + "\nnonsense\n" + add2 + "\n", .malformed, 2),
    (first + "\n" + #"{"n":1}"# + "\n", .malformed, 2),
    (first + "\n" + #"{"n":1,"ms":5,"kind":"k"}"# + "\n", .malformed, 2),
    (first + "\n\n" + reset + "\n", .gap, 3),
    (first + "\n" + add2 + "\n" + add2 + "\n", .gap, 3),
  ])
  func textThatIsNoLogIsRefusedWithItsLine(
    text: String, code: ActionLogError.Code, line: Int?
  ) {
    #expect {
      try ActionLog(parsing: text)
    } throws: { error in
      let error = error as? ActionLogError
      return error?.code == code && error?.line == line
    }
  }

  // MARK: Replaying

  @Test func replayingReducesWhatIsKnownAndTellsWhatIsNot() throws {
    var log = ActionLog()
    for action: any Action in [Add(by: 2), Reset(), Add(by: 3)] {
      log.append(action, milliseconds: 0)
    }
    let replay = try log.replay(from: Int64(10), registry) { state, action in
      if let add = action as? Add { state += add.by }
    }
    #expect(replay.state == 15)
    #expect(replay.withheld == [2])
  }

  @Test func actionThatNobodyKnowsIsAnError() throws {
    var log = ActionLog()
    log.append(Add(by: 2), milliseconds: 0)
    #expect {
      try log.replay(from: Int64(0), ActionRegistry()) { _, _ in }
    } throws: { ($0 as? ActionLogError)?.code == .unknownKind }
  }

  @Test func contentThatDoesNotFitIsAnErrorThatNamesTheAction() throws {
    let text = log(
      ActionLogTests.first, #"{"n":1,"ms":5,"kind":"counter/add","action":{"by":"two"}}"#)
    let log = try ActionLog(parsing: text)
    #expect {
      try log.actions(registry)
    } throws: { error in
      let error = error as? ActionLogError
      return error?.code == .malformed && error?.message.contains("Action 1") == true
    }
  }

  @Test func recordingSeesWhatReachesTheReducerInItsOrder() throws {
    var lines: [String] = []
    let recording: Middleware<Int64> = recordingMiddleware(now: { 9 }) { lines.append($0.line) }
    let doubling: Middleware<Int64> = { _, _ in
      { next in
        { action in
          if let add = action as? Add { next(Add(by: add.by * 2)) } else { next(action) }
        }
      }
    }
    let store = Store(state: 0, middleware: [doubling, recording]) { state, action in
      if let add = action as? Add { state += add.by }
    }
    store.dispatch(Add(by: 1))
    store.dispatch(Reset())
    #expect(
      lines == [
        #"{"n":1,"ms":9,"kind":"counter/add","action":{"by":2}}"#,
        #"{"n":2,"ms":9,"type":"Reset"}"#,
      ])
  }

  // MARK: The actions of this library

  @Test func everyActionIsReadAsItWasWritten() throws {
    let path = try Path("/group/a")
    let query = try Query(Path("/group")).ordered(byChild: "rank")
      .starting(at: .leaf(.number(1))).limited(to: 5, from: .last)
    let (a, b) = (try Key("a"), try Key("b"))
    let entry = ObjectEntry(id: a, object: Group(id: a, name: "A", rank: 1))
    let error = TreeError(.malformedData, "no name", path: "/group/b")
    func request(_ kind: RequestSummary.Kind) -> RequestSummary {
      RequestSummary(id: "r", kind: kind, path: path)
    }
    func check<A: LoggableAction & Equatable>(_ action: A) throws {
      var log = ActionLog()
      log.append(action, milliseconds: 0)
      let read = try #require(try ActionLog(parsing: log.text).actions(registry).first as? A)
      #expect(read == action)
    }
    for kind in RequestSummary.Kind.allCases {
      try check(RequestPending<Group>(request(kind)))
    }
    try check(RequestSucceeded<Group>(request(.merge), answer: .written(awaitsOrigin: true)))
    try check(RequestSucceeded<Group>(request(.get), answer: .object(nil)))
    try check(RequestSucceeded<Group>(request(.get), answer: .object(entry.object)))
    try check(
      RequestSucceeded<Group>(request(.search), answer: .objects([entry], malformed: [error])))
    try check(RequestAcknowledged<Group>(request(.create)))
    try check(RequestFailed<Group>(request(.remove), error: TreeError(.storage, "broken")))
    try check(RequestCancelled<Group>(request(.update)))
    try check(ObjectSubscribed<Group>(query, isSubscribed: true))
    try check(ObjectsLoaded<Group>(query, entries: [entry]))
    try check(ObjectAdded<Group>(query, entry, previous: nil))
    try check(ObjectAdded<Group>(query, entry, previous: b))
    try check(ObjectChanged<Group>(query, entry))
    try check(ObjectMoved<Group>(query, entry, previous: b))
    try check(ObjectRemoved<Group>(query, id: a, object: entry.object))
    try check(ObjectRemoved<Group>(query, id: a, object: nil))
    try check(ObjectErrored<Group>(query, path: path, error: error))
    for event: ObjectObserved<Group>.Event in [.began, .object(nil), .object(entry.object), .ended]
    {
      try check(ObjectObserved<Group>(path, event))
    }
    try check(ConnectionChanged(isConnected: true))
  }

  @Test func actionAboutAQueryThatHasNoFormInJSONIsWithheld() throws {
    let query = try Query(Path("/group")).ordered(by: [SortKey(.key, isDescending: true)])
    let entry = LoggedAction(
      number: 1, milliseconds: 0, action: ObjectSubscribed<Group>(query, isSubscribed: true))
    #expect(entry.content == .withheld(type: "ObjectSubscribed<Group>"))
  }

  @Test func twoTypesOfOneKindAreAMistake() async {
    await #expect(processExitsWith: .failure) {
      struct Other: LoggableAction {
        static let kind = "ConnectionChanged"
        init(json: JSONValue) {}
        func json() -> JSONValue { nil }
      }
      var registry = ActionRegistry()
      registry.register(Other.self)
    }
  }
}
