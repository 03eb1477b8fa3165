import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct TransactionTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let place: Reference
  private let log = EventLog()

  private struct Refusal: Error, Equatable { var reason: String }

  init() async throws {
    folder = try TemporaryFolder()
    database = try await folder.open()
    place = try database.reference(withPath: "a/b")
  }

  @Test func aTransactionSeesWhatIsThereAndReplacesIt() async throws {
    try await place.setValue(["n": 1])
    let result = try await place.runTransaction { current in
      #expect(current.reference.description == "/a/b")
      return .success(["n": 2, "old": current.value])
    }
    #expect(result.committed)
    #expect(result.snapshot.value == ["n": 2, "old": ["n": 1]])
    #expect(try await place.get() == result.snapshot)
  }

  @Test func nothingIsSeenWhereNothingIsAndNullRemoves() async throws {
    let log = log
    try await place.runTransaction { current in
      log.note("\(current.exists)")
      return .success(1)
    }
    let removed = try await place.runTransaction { _ in .success(nil) }
    #expect(removed.committed && !removed.snapshot.exists)
    #expect(log.taken() == ["false"])
    #expect(try await database.reference().get().exists == false)
  }

  @Test func anAbortWritesNothingAndTellsNobody() async throws {
    try await place.setValue(1)
    place.observe(.value, log.handler())
    try await place.setValue(2)
    _ = log.taken()
    let result = try await place.runTransaction { _ in .abort }
    #expect(!result.committed && result.snapshot.value == 2)
    try await place.setValue(3)
    #expect(log.taken() == ["value=3"])
  }

  @Test func thePriorityStaysUnlessOneIsGiven() async throws {
    let cases: [(TransactionResult, JSONValue?)] = [
      (.success(2), 5),
      (.success(Node(.bool(true))), 5),
      (.success(["k": 1] as JSONValue), 5),
      (.success([".value": 2, ".priority": 7] as JSONValue), 7),
      (.success(Node(.bool(true), priority: .string("p"))), "p"),
      (.success([".value": 2, ".priority": nil] as JSONValue), nil),
      (.success(["k": 1, ".priority": nil] as JSONValue), nil),
      (.success(nil as JSONValue), nil),
    ]
    for (index, (result, priority)) in cases.enumerated() {
      try await place.setValue(1, priority: 5)
      let outcome = try await place.runTransaction { _ in result }
      #expect(outcome.snapshot.priority == priority, "case \(index)")
    }
  }

  @Test func prioritiesBelowAreClearedAsBySet() async throws {
    try await place.setValue(["k": [".value": 1, ".priority": 2]] as JSONValue)
    let outcome = try await place.runTransaction { .success($0.value) }
    #expect(outcome.snapshot.exportValue == ["k": 1])
    try await place.setValue(["k": [".value": 1, ".priority": 2]] as JSONValue)
    #expect(
      try await place.runTransaction { .success($0.node) }.snapshot.exportValue
        == ["k": [".value": 1, ".priority": 2]])
  }

  @Test func serverValuesAreResolvedInTheResult() async throws {
    try await place.setValue(["n": 1])
    let outcome = try await place.runTransaction { _ in
      .success(["n": ServerValue.increment(4), "at": ServerValue.timestamp])
    }
    #expect(outcome.snapshot.value == ["at": 1_700_000_000_000, "n": 5])
  }

  @Test func whatTheBodyThrowsIsThrownAndNothingIsWritten() async throws {
    try await place.setValue(1)
    await #expect(throws: Refusal(reason: "no")) {
      try await place.runTransaction { _ in throw Refusal(reason: "no") }
    }
    await #expect(throws: CancellationError.self) {
      try await place.runTransaction { _ in throw CancellationError() }
    }
    let decoding = await #expect(throws: DataCodingError.self) {
      try await place.runTransaction { .success(try $0.decode(String.self)) }
    }
    #expect(decoding?.path == "/a/b")
    #expect(try await place.get().value == 1)
  }

  @Test func aResultThatCannotBeWrittenIsAnErrorWithItsPlaceFromTheRootAsOfSet() async throws {
    struct Account: Codable { var balance: Double }
    let set = await #expect(throws: DataCodingError.self) {
      try await place.setValue(Account(balance: .nan))
    }
    let transaction = await #expect(throws: DataCodingError.self) {
      try await place.runTransaction { _ in .success(Account(balance: .nan)) }
    }
    #expect(transaction == set)
    #expect(transaction?.path == "/a/b/balance")
    let whole = await #expect(throws: DataCodingError.self) {
      try await place.runTransaction { _ in .success(Double.nan) }
    }
    #expect(whole?.path == "/a/b")
  }

  @Test func theWordsOfSwiftsCodingAreAClauseAfterThePlace() async throws {
    enum Voice: String, Codable { case alto }
    try await place.setValue("tenor")
    let error = await #expect(throws: DataCodingError.self) {
      try await place.get().decode(Voice.self)
    }
    let text = try #require(error?.description)
    #expect(text.hasPrefix("/a/b: expected Voice, but cannot initialize Voice "), "\(text)")
    #expect(text.hasSuffix(".") && !text.hasSuffix(".."), "\(text)")
  }

  @Test func aResultThatIsRefusedIsAnErrorAsOfSet() async throws {
    try await place.setValue(1)
    let refused = await #expect(throws: DatabaseError.self) {
      try await place.runTransaction { _ in .success(["x.y": 1] as JSONValue) }
    }
    #expect(refused?.code == .refused)
    await #expect(throws: DataCodingError.self) {
      try await place.runTransaction { _ in .success([Double.nan]) }
    }
    #expect(try await place.get().value == 1)
  }

  @Test func handlersAreToldBeforeItReturns() async throws {
    place.observe(.value, log.handler())
    try await place.runTransaction { _ in .success(1) }
    #expect(log.taken() == ["value=null", "value=1"])
  }

  @Test func aSessionToldOfOthersWritesWithinATransactionSeesThem() throws {
    let session = try folder.session()
    let other = try folder.session(seed: 2)
    let path = try Path("l")
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(path), events: .added))
    try other.set("/l/a", "1")
    let outcome = try session.transaction(at: path) { node in
      .success(node.replacing(Path(unchecked: [Key(unchecked: "b")]), with: Node(.bool(true))))
    }
    #expect(outcome.deliveries.map(\.event.text) == ["added a(null)=1", "added b(a)=true"])
    try other.set("/l/c", "1")
    let aborted = try session.transaction(at: path) { _ in .abort }
    #expect(!aborted.isCommitted && aborted.deliveries.isEmpty && aborted.node.children.count == 3)
    #expect(try session.catchUp().map(\.event.text) == ["added c(b)=1"])
    #expect(try other.catchUp().isEmpty)
  }
}
