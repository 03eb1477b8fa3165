import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// Calls of methods that services have besides those for their records.
@Suite struct MethodCallTests {
  private static let methods = """
    {"messages":{
      "archive":{"description":"put it away","schema":{"type":"object","required":["id"],
        "properties":{"id":{"type":"string"},"days":{"type":"integer","minimum":1},
        "level":{"enum":["low","high"]}}}},
      "ping":{}},
    "other":{"none":{}}}
    """
  private let app: AppDriver

  init() throws {
    var profile = ProfileMark("chat")
    let json = try JSONValue(parsing: MethodCallTests.methods)
    profile.methods = try #require(
      MethodOffer.list(json) { try? Path("/" + $0) })
    let place = try Path("/messages")
    let view = ViewInference.view(
      of: CollectionSample(path: place, keys: [], records: []), named: "messages", pageSize: 20)
    app = try AppDriver(
      [view], json: ["messages": ["m1": ["text": "first"], "m2": ["text": "second"]]],
      profile: profile)
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
  }

  /// The calls that were asked for, in order.
  private var calls: [(id: AppRequestID, call: MethodCall)] {
    var calls: [(id: AppRequestID, call: MethodCall)] = []
    for case .callMethod(let id, let call) in app.screenEffects { calls.append((id, call)) }
    return calls
  }

  private func run(_ line: String) {
    app.press(":")
    app.type(line)
    app.press("Enter")
  }

  @Test func aLineCallsAMethodWithItsData() throws {
    run(#"call anything {"a":[1]}"#)
    let call = try #require(calls.first)
    #expect(call.call == MethodCall(try Path("/messages"), "anything", data: ["a": [1]]))
    app.take(.answered(call.id, .result(["ok": true])))
    #expect(app.toast == #"anything: {"ok":true}"#)
  }

  @Test func aMethodWithoutFieldsIsCalledAtOnce() throws {
    run("call ping")
    let call = try #require(calls.first)
    #expect(call.call.data == .object([]))
    app.take(.answered(call.id, .result(.null)))
    #expect(app.toast == "ping: done")
  }

  @Test func aSchemaMakesAFormWithTheRecordAtHand() throws {
    run("call archive")
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("there is no form: \(app.toast)")
      return
    }
    #expect(form.title == "Call archive" && form.note == "put it away")
    #expect(form.fields.map(\.label) == ["id", "days", "level"])
    #expect(form.fields[0].input.editor.text == "m1" || form.fields[0].input.editor.text == "m2")
    #expect(calls.isEmpty)
    var filled = form
    let id = form.fields[0].input.editor.text
    filled.fields[1].input.editor = LineEditor("3")
    let read = filled.values()
    let values = try #require(read)
    var state = app.state
    MethodCalls.submit(
      &state, try #require(state.database.profile?.methods.first), values)
    guard case .callMethod(_, let call)? = state.effects.last else {
      Issue.record("nothing is called")
      return
    }
    #expect(call.data == .object([JSONMember("id", .string(id)), JSONMember("days", 3)]))
    filled.fields[1].input.editor = LineEditor("0")
    #expect(filled.values() == nil, "the schema wants at least 1")
  }

  @Test func aFieldWithAnEnumOffersItsValues() throws {
    run("call archive")
    app.press("F2")
    #expect(app.toast.contains("this field has one type"), "\(app.toast)")
    app.press("Tab")
    app.press("Tab")
    app.press("F2")
    guard case .form(let form)? = app.state.layers.last else {
      Issue.record("there is no form")
      return
    }
    #expect(form.focus == 2 && form.fields[2].input.editor.text == "low", "\(app.toast)")
  }

  @Test func theMenuOfARowOffersTheMethodsOfItsService() throws {
    app.press("x")
    guard case .menu(let menu)? = app.state.layers.last else {
      Issue.record("there is no menu")
      return
    }
    let titles = menu.menu.shown.map(\.title)
    #expect(titles.suffix(2) == ["archive: put it away", "call ping"])
    app.type("/call ping")
    app.press("Enter")
    #expect(calls.map(\.call.name) == ["ping"])
  }

  @Test func aLongResultIsShownInLines() throws {
    run("call ping")
    let id = try #require(calls.first?.id)
    let list = JSONValue.array((0..<30).map { .string("line \($0)") })
    app.take(.answered(id, .result(["list": list])))
    guard case .menu(let menu)? = app.state.layers.last else {
      Issue.record("the result is not shown")
      return
    }
    #expect(menu.title == "ping answered")
    #expect(menu.menu.shown.count == 34)
    app.press("Enter")
    #expect(app.state.layers.isEmpty)
  }

  @Test func aRefusalIsSaidWithTheWordsOfTheServer() throws {
    run("call ping")
    let id = try #require(calls.first?.id)
    app.take(.answered(id, .refused(Refusal("not today (BadRequest)"))))
    #expect(app.toast == "ping: not today (BadRequest)")
  }

  @Test func methodsForRecordsAreNotCalled() {
    run("call remove {}")
    #expect(calls.isEmpty)
    #expect(app.toast.contains("done with the records of the list"))
  }

  @Test func elsewhereThereAreNoMethods() {
    app.take(.origin(OriginFacts(.live)))
    #expect(MethodCalls.reasonNotCalled(app.state)?.contains("a Feathers server") == true)
    app.press("x")
    if case .menu(let menu)? = app.state.layers.last {
      #expect(!menu.menu.shown.contains { $0.title.contains("archive") })
    }
  }

  @Test func offersAreRecordedAndRead() throws {
    let offers = try #require(app.state.database.profile?.methods)
    #expect(offers.map(\.name) == ["archive", "ping", "none"])
    let mark = try #require(app.state.database.profile)
    #expect(ProfileMark(mark.json) == mark)
    var facts = OriginFacts(.live)
    facts.hasServices = true
    #expect(OriginFacts(facts.json) == facts)
    #expect(MethodOffer.list([1], place: { try? Path($0) }) == nil)
    #expect(MethodOffer.list(["a": [1]], place: { try? Path($0) }) == nil)
  }
}
