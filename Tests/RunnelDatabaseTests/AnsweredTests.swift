import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// A listener is told when its rows are those that the origin has.
@Suite struct AnsweredTests {
  private let folder: TemporaryFolder
  private let list: Path

  init() throws {
    folder = try TemporaryFolder()
    list = try Path("/list")
  }

  /// Listens in a session; returns whether the rows are the origin's at once.
  private func listen(_ session: DatabaseSession, page: Int? = nil) throws -> Bool {
    let request = ListenRequest(
      query: Query(list), paging: page.map { Paging(anchor: .last, count: $0) },
      events: [.children, .answered])
    return try isAnswer(session.listen(ListenerID(1), request))
  }

  private func isAnswer(_ deliveries: [Delivery]) -> Bool {
    deliveries.contains { $0.event == .answered }
  }

  @Test(arguments: [nil, 5]) func aTreeOfItsOwnTellsItAtOnce(page: Int?) throws {
    let session = try folder.session()
    #expect(try listen(session, page: page))
    #expect(try !isAnswer(session.set("/list", #"{"a":1}"#)))
    try session.close()
  }

  @Test(arguments: [#"{"a":1,"b":2}"#, "null"])
  func aReplicaTellsItWhenItsOriginHasAnswered(json: String) throws {
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    #expect(try !listen(session))
    #expect(try !isAnswer(session.set("/list/own", "1")))
    #expect(try !isAnswer(session.connectOrigin()))
    let node = try Node(json: JSONValue(parsing: json))
    let pushed = try session.receive(.push(.set(node), list, tag: nil))
    let answered = try session.receive(.listenComplete(AskID(1)))
    #expect(isAnswer(pushed + answered))
    #expect(try !isAnswer(session.receive(.push(.set(node), list, tag: nil))))
    try session.close()
    // The answer is kept with the rows.
    let again = try folder.session(seed: 2)
    #expect(try listen(again))
    try again.close()
  }
}
