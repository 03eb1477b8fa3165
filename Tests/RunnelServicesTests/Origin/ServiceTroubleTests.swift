import RunnelBase
import RunnelServices
import RunnelTree
import Testing

@testable import RunnelServicesTree

/// Lists whose questions are answered wrongly for a while: what is known stays, and they are asked again.
@Suite struct ServiceTroubleTests {
  private let world: ServiceWorld
  private let query: Query

  private static let page = FeathersError(.generalError, "The answer with status 200 is not JSON.")

  /// A replica that knows a few records from an earlier run; the list is open, and the server is not asked yet.
  init() throws {
    world = try ServiceWorld()
    query = try Query(Path("/notes"))
    for number in 0..<4 {
      _ = world.server.handle(.create(data: ["text": .string("t\(number)")]))
    }
    try world.connect()
    try world.listen(query)
    try world.settle()
    try world.restart()
    try world.listen(query)
  }

  /// What is under way arrives; no time passes.
  private func arrive() throws {
    for _ in 0..<20 where !world.flights.isEmpty {
      world.execute(0)
      try world.answer(0)
    }
  }

  private func texts() throws -> [String] { try world.rows(query, "text") }

  private static let wrong: [Result<JSONValue, FeathersError>] = [
    .failure(page), .success([:]), .success(.null), .success("<html>"),
    .success(["message": "no route"]), .failure(FeathersError(status: 500, body: [])),
  ]

  /// The first question is for the name of the id, the second for a page.
  @Test(arguments: wrong.indices, [false, true])
  func wrongAnswerLeavesTheRowsAndIsAskedForAgain(index: Int, isPage: Bool) throws {
    try world.connect()
    if isPage {
      world.execute(0)
      try world.answer(0)
    }
    world.server.wrongAnswers = [ServiceTroubleTests.wrong[index]]
    try arrive()
    #expect(try texts() == ["t0", "t1", "t2", "t3"])
    #expect(world.trouble?.hasSuffix("; it is asked again") == true, "\(world.trouble ?? "")")
    #expect(!world.origin.isSettled)
    // The server is healthy again.
    _ = world.server.handle(.create(data: ["text": "new"]))
    try world.wait(1_999)
    #expect(world.flights.isEmpty)
    try world.wait(1)
    #expect(!world.flights.isEmpty)
    try arrive()
    #expect(try texts() == ["t0", "t1", "t2", "t3", "new"])
    #expect(world.trouble == nil && world.origin.isSettled && world.origin.deadline == nil)
  }

  @Test func pausesGrowToAMinuteAndBeginAnewAfterAnAnswer() throws {
    world.server.wrongAnswers = Array(
      repeating: .failure(ServiceTroubleTests.page), count: 7)
    try world.connect()
    var pauses: [Int64] = []
    for _ in 0..<7 {
      try arrive()
      let pause = try #require(world.origin.deadline) - world.now
      pauses.append(pause)
      try world.wait(pause)
    }
    #expect(pauses == [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    try arrive()
    #expect(world.trouble == nil && world.origin.isSettled)
  }

  @Test func reconnectionAsksAtOnce() throws {
    world.server.wrongAnswers = [
      .failure(ServiceTroubleTests.page), .failure(ServiceTroubleTests.page),
    ]
    try world.connect()
    try arrive()
    try world.wait(2_000)
    try arrive()
    #expect(world.flights.isEmpty && world.trouble != nil)
    try world.disconnect()
    try world.connect()
    try arrive()
    #expect(world.origin.isSettled)
    #expect(try texts() == ["t0", "t1", "t2", "t3"])
  }

  @Test(arguments: [
    FeathersError.Kind.badRequest, .forbidden, .notFound, .methodNotAllowed, .notImplemented,
  ])
  func refusalThatWillNotChangeIsNotRepeated(kind: FeathersError.Kind) throws {
    world.server.wrongAnswers = [.failure(FeathersError(kind, "no"))]
    try world.connect()
    try arrive()
    #expect(world.flights.isEmpty && world.origin.deadline == nil && world.trouble == nil)
  }

  /// Nobody who is signed in is told to sign in, and nobody else to be somebody else.
  @Test(arguments: [
    (FeathersError.Kind.notAuthenticated, false, ": sign in (`runnel login`," as String?),
    (.notAuthenticated, true, nil), (.forbidden, false, nil), (.methodNotAllowed, false, nil),
    (.forbidden, true, ": somebody else may be allowed to,"), (.methodNotAllowed, true, nil),
  ])
  func refusalSaysWhatTheServerSaysAndWhatHelps(
    kind: FeathersError.Kind, isSignedIn: Bool, advice: String?
  ) throws {
    world.server.wrongAnswers = [.failure(FeathersError(kind, "Nur der Kassenwart"))]
    world.isSignedIn = isSignedIn
    try world.connect()
    try arrive()
    let told = try #require(world.refusedLists.first)
    #expect(told.hasPrefix("Nur der Kassenwart (") && world.refusedLists.count == 1, "\(told)")
    if let advice { #expect(told.contains(advice), "\(told)") }
    #expect(advice != nil || told.hasSuffix(")"), "\(told)")
    #expect(told.contains("sign in (") == (advice?.contains("sign in (") == true), "\(told)")
  }

  @Test func listThatWasClosedIsNotAskedFor() throws {
    world.server.wrongAnswers = [.failure(ServiceTroubleTests.page)]
    try world.connect()
    try arrive()
    #expect(world.trouble != nil)
    try world.unlisten()
    try world.wait(2_000)
    #expect(world.flights.isEmpty && world.origin.deadline == nil && world.trouble == nil)
  }

  /// The code of a tree's error is shown before its message.
  @Test func errorThatItsCodeNamesIsNotNamedTwice() {
    let missing = FeathersError(.notFound, "Service 'x' not found").treeError
    #expect(missing.message == "Service 'x' not found" && missing.code == .notFound)
    let forbidden = FeathersError(.forbidden, "not yours").treeError
    #expect(forbidden.message == "not yours (Forbidden)")
  }
}
