import RunnelBase
import RunnelTerminal
import RunnelTree
import Testing

@testable import RunnelApp
@testable import RunnelDatabase
@testable import RunnelWorkspace

/// A server of services refused the first of three records of an edit, which another has changed: the other two are
/// neither lost nor out of sight, whatever becomes of the first.
@Suite struct RefusedRestTests {
  private let app: AppDriver
  private static let all = "update /messages  4/n, 5/n, 6/n"

  init() throws {
    let views = try ViewFile(
      yaml: """
        views:
          - name: Messages
            path: /messages
            columns: [{ field: n, width: 8 }]
        """, name: "messages.views.yaml"
    ).views
    let numbers = (1...8).map { JSONMember("\($0)", ["n": .number(JSONNumber(Int64($0)))]) }
    app = try AppDriver(views, json: ["messages": .object(numbers)], origin: "home")
    var facts = OriginFacts(.live)
    facts.hasServices = true
    app.take(.origin(facts))
    try app.elsewhere { other in
      _ = try other.connectOrigin()
      _ = try other.receive(.acknowledged(id: 0))
      _ = try other.write(
        .update(
          Path("/messages"),
          ["4/n", "5/n", "6/n"].map { JSONMember($0, 66) }))
    }
    try app.reject(1, "Another has changed the same field meanwhile: n is 904 now.")
    // Another's value is written as one of this file: it is what stands there.
    try app.set("/messages/4/n", 904)
    app.press("S gg j")
    try #require(app.state.writes.queue.refused.count == 1)
  }

  /// The places that are written by what waits for the server.
  private var sent: [String] {
    app.state.writes.queue.pending.flatMap { $0.parts.map(\.path.description) }
  }

  /// The refused edit was typed again and sent, or only opened and sent again: it is a conflict then.
  @Test(arguments: ["e C-s", "e Enter", "e Esc S gg j r"])
  func otherRecordsAreSentWhenTheFirstStaysAsOthersWroteIt(keys: String) throws {
    for key in keys.split(separator: " ") where comparison == nil { app.press(String(key)) }
    try #require(comparison != nil, "\(app.toast), \(app.body)")
    app.press("t C-s")
    #expect(sent.filter { !$0.hasPrefix("/messages/4") } == ["/messages/5/n", "/messages/6/n"])
    #expect(try app.stored("/messages/4/n") == 904)
    #expect(try app.stored("/messages/6/n") == 66)
    #expect(app.state.writes.queue.refused.isEmpty)
    #expect(try app.keptRefusals().isEmpty)
  }

  private var comparison: CompareScreen? {
    if case .compare(let screen)? = app.state.layers.last { screen } else { nil }
  }

  @Test func rowAndQuestionNameAllThatIsDropped() throws {
    #expect(app.line(of: RefusedRestTests.all) != nil, "\(app.body)")
    app.press("e Esc")
    if case .queue? = app.state.layers.last {} else { app.press("S") }
    app.press("gg j")
    #expect(app.line(of: RefusedRestTests.all) != nil, "\(app.body)")
    app.press("Enter")
    #expect(app.line(of: "/messages/6/n") != nil, "\(app.body)")
    app.press("d")
    #expect(app.body.filter { $0.contains(RefusedRestTests.all) }.count >= 1, "\(app.body)")
    guard case .question(let question)? = app.state.layers.last else {
      Issue.record("there is no question: \(app.toast)")
      return
    }
    #expect(question.dialog.message.contains { $0.text == RefusedRestTests.all })
  }
}
