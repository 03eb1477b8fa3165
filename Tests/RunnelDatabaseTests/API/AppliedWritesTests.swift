import RunnelBase
import RunnelTree
import TestSupport
import Testing

@testable import RunnelDatabase

@Suite struct AppliedWritesTests {
  private let folder: TemporaryFolder
  private let session: DatabaseSession

  init() throws {
    folder = try TemporaryFolder()
    session = try folder.session()
  }

  private func increment(_ client: String, _ number: Int64) throws -> Bool {
    let id = try #require(WriteID(client: client, number: number))
    return try session.write(.set(Path("n"), [".sv": ["increment": 1]]), id: id).isApplied
  }

  private func count() throws -> String { try session.export("/n") }

  @Test func aWriteThatIsSentAgainIsDoneOnce() throws {
    #expect(try increment("c", 1))
    #expect(try !increment("c", 1))
    #expect(try increment("c", 2))
    #expect(try increment("d", 1))
    #expect(try count() == "3")
  }

  @Test func aRepeatedWriteTellsNobody() throws {
    _ = try session.listen(ListenerID(1), ListenRequest(query: Query(.root), events: .all))
    let id = try #require(WriteID(client: "c", number: 1))
    #expect(try session.write(.set(Path("a"), 1), id: id).deliveries.count == 2)
    #expect(try session.write(.set(Path("a"), 2), id: id).deliveries.isEmpty)
    #expect(try session.export() == #"{"a":1}"#)
  }

  @Test func namesHoldForOtherSessionsAndAfterReopening() throws {
    #expect(try increment("c", 1))
    let other = try folder.session(seed: 2)
    let id = try #require(WriteID(client: "c", number: 1))
    #expect(try !other.write(.set(Path("n"), 9), id: id).isApplied)
    try session.close()
    let again = try folder.session()
    #expect(try !again.write(.set(Path("n"), 9), id: id).isApplied)
    #expect(try again.export() == #"{"n":1}"#)
  }

  @Test func aRefusedWriteDoesNotTakeItsName() throws {
    let id = try #require(WriteID(client: "c", number: 1))
    #expect(throws: DatabaseError.self) { try session.write(.set(.root, ["a.b": 1]), id: id) }
    #expect(try session.write(.set(.root, 1), id: id).isApplied)
  }

  @Test func numbersInOrderLeaveOneRow() throws {
    for number in 1...30 { #expect(try increment("c", Int64(number))) }
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT count(*) FROM applied_write") == 0)
    #expect(try inspector.number("SELECT applied FROM write_client") == 30)
    #expect(try inspector.report().faults == [])
  }

  @Test func aGapKeepsTheNumbersBeyondItUntilItIsClosed() throws {
    for number in [2, 3, 5] { #expect(try increment("c", Int64(number))) }
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT count(*) FROM applied_write") == 3)
    #expect(try increment("c", 1))
    #expect(try inspector.number("SELECT count(*) FROM applied_write") == 1)
    for number in [1, 2, 3, 5] { #expect(try !increment("c", Int64(number))) }
    #expect(try increment("c", 4))
    #expect(try inspector.number("SELECT applied FROM write_client") == 5)
  }

  @Test func whatIsNoLongerKnownIsRefusedAndNotDone() throws {
    let beyond = AppliedWrites.countMax
    try fill(numbers: 2...Int64(beyond + 1))
    // The gap at 1 is still known, for nothing was dropped.
    let inspector = try FileInspector(folder.file())
    #expect(try inspector.number("SELECT forgotten FROM write_client") == 0)
    #expect(try increment("c", Int64(beyond + 2)))
    #expect(try inspector.number("SELECT count(*) FROM applied_write") == beyond)
    for number in [1, 2] as [Int64] {
      let error = #expect(throws: DatabaseError.self) { try increment("c", number) }
      #expect(error?.code == .forgotten)
    }
    #expect(try !increment("c", 3))
    #expect(try count() == "1")
  }

  /// Notes numbers as carried out, without the cost of a write each.
  private func fill(numbers: ClosedRange<Int64>) throws {
    try FileEditor.execute(
      "INSERT INTO write_client VALUES ('c', 0, 0);"
        + "WITH RECURSIVE n(v) AS (SELECT \(numbers.lowerBound) UNION ALL "
        + "SELECT v + 1 FROM n WHERE v < \(numbers.upperBound)) "
        + "INSERT INTO applied_write SELECT 'c', v FROM n", in: folder.file())
  }

  /// Against a set of all numbers that were ever carried out.
  @Test(arguments: Seeds.first(8)) func inAnyOrderEachIsDoneOnce(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    var done: Set<Int64> = []
    for step in 0..<60 {
      let number = Int64(random.number(1..<25))
      #expect(
        try increment("c", number) == done.insert(number).inserted, "seed \(seed), step \(step)")
    }
    #expect(try count() == "\(done.count)")
  }

  @Test func aNameHasAClientAndANumberFromOne() {
    #expect(WriteID(client: "", number: 1) == nil)
    #expect(WriteID(client: "c", number: 0) == nil)
    let longest = String(repeating: "c", count: WriteID.clientBytesMax)
    #expect(WriteID(client: longest, number: .max) != nil)
    #expect(WriteID(client: longest + "c", number: 1) == nil)
  }

  @Test func referencesWriteOnceByName() async throws {
    let database = try await folder.open()
    let place = try database.reference(withPath: "n")
    let id = try #require(WriteID(client: "phone", number: 1))
    for _ in 0..<3 { try await place.setValue(ServerValue.increment(1), id: id) }
    #expect(try await place.get().value == 1)
    let next = try #require(WriteID(client: "phone", number: 2))
    #expect(try await database.perform(.remove(place.path), id: next).isApplied)
    #expect(try await database.perform(.remove(place.path), id: next).isApplied == false)
    for (number, write) in [
      3: { try await place.setValue(["a": 1] as JSONValue, id: $0) },
      4: { try await place.updateChildValues(["a": ServerValue.increment(1).json], id: $0) },
      5: { try await place.setPriority(ServerValue.increment(1).json, id: $0) },
      6: { try await place.updateChildValues(["a": ServerValue.increment(1)], id: $0) },
    ].sorted(by: { $0.key < $1.key }) as [(key: Int64, value: (WriteID) async throws -> Void)] {
      let id = try #require(WriteID(client: "phone", number: number))
      try await write(id)
      try await write(id)
    }
    #expect(try await place.get().exportValue == ["a": 3, ".priority": 1])
    try await place.removeValue(id: next)
    #expect(try await place.get().exists)
  }
}
