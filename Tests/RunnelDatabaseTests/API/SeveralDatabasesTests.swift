import RunnelBase
import RunnelDatabase
import RunnelStreams
import RunnelTree
import Testing

/// Streams of two databases in one program: none is taken for the other.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct SeveralDatabasesTests {
  /// A row with an id of its own.
  private struct Named: StreamItem {
    var id: String
    var text: String
  }

  private let folder: TemporaryFolder
  private let here: Database
  private let other: Database

  init() async throws {
    folder = try TemporaryFolder()
    here = try await folder.open("here.db")
    other = try await folder.open("other.db")
    try await place(in: here).setValue(["one": "of here", "own": "of here"])
    try await place(in: other).setValue(["one": "of other", "else": "of other"])
  }

  private func place(in database: Database) throws -> Reference {
    try database.reference(withPath: "l")
  }

  // MARK: A query of another database

  @Test func aStreamOfAnotherDatabaseFails() async throws {
    let session = StreamSession(here)
    let list = try place(in: other)
    let around = try session.stream(of: list.queryOrderedByKey(), around: "one", count: 2)
    let streams: [any SectionedStream] = [
      session.stream(of: list), session.stream(of: list, as: String.self), around,
      session.stream(of: list, construct: { Named(id: $0.key.text, text: "") }),
      session.stream(of: list, batching: .standard),
    ]
    for stream in streams {
      let error = await #expect(throws: DatabaseError.self) {
        try await session.waitUntil { stream.loadState == .loaded }
      }
      #expect(error?.code == .refused)
      #expect(error?.message.contains(here.file) == true)
      #expect(error?.message.contains(other.file) == true)
    }
    #expect(streams.allSatisfy { $0.count == 0 })
  }

  @Test func changesOfAnotherDatabaseThrow() async throws {
    let list = try place(in: other)
    var changes = here.changes(of: { session -> any SectionedStream<Record> in
      session.stream(of: list)
    }).makeAsyncIterator()
    let error = await #expect(throws: DatabaseError.self) { _ = try await changes.next() }
    #expect(error?.code == .refused)
  }

  @Test func writesOfAnArrayOfAnotherDatabaseAreRefused() async throws {
    let session = StreamSession(here)
    let array = session.syncedArray(of: try place(in: other))
    array.startSync()
    var outcomes: [WriteOutcome] = []
    array.append("new") { outcomes.append($0) }
    while outcomes.isEmpty { try await session.receive() }
    let source = session.dataSource(of: try place(in: other))
    source.append("new", to: try Path("l")) { outcomes.append($0) }
    while outcomes.count < 2 { try await session.receive() }
    for outcome in outcomes {
      guard case .refused(let failure) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(failure.code == DatabaseError.Code.refused.rawValue)
    }
    #expect(try await place(in: here).get().childrenCount == 2)
    #expect(try await place(in: other).get().childrenCount == 2)
  }

  @Test func anotherOpeningOfTheSameFileIsTheSameDatabase() async throws {
    let again = try await folder.open("here.db")
    let session = StreamSession(here)
    let stream = session.stream(of: try place(in: again))
    try await session.waitUntil { stream.count == 2 }
    again.close()
  }

  // MARK: A snapshot of another database

  @Test func aWriteThatDependsOnASnapshotOfAnotherDatabaseIsRefused() async throws {
    let list = try place(in: here)
    // It would hold here by chance: both places are empty.
    let seen = try await place(in: other).child("missing").get()
    let writes: [() async throws -> Void] = [
      { try await list.setValue(1, ifUnchangedSince: seen) },
      { try await list.setValue(["one": "encoded"] as [String: String], ifUnchangedSince: seen) },
      { try await list.updateChildValues(["one": 1], ifUnchangedSince: seen) },
      { try await list.removeValue(ifUnchangedSince: seen) },
    ]
    for write in writes {
      let error = await #expect(throws: DatabaseError.self) { try await write() }
      #expect(error?.code == .refused)
      #expect(error?.message.contains(here.file) == true)
      #expect(error?.message.contains(other.file) == true)
    }
    #expect(try await list.get().value == ["one": "of here", "own": "of here"])
    // Another opening of the file is the same database.
    let again = try await folder.open("here.db")
    let own = try await place(in: again).child("one").get()
    try await list.child("one").setValue("new", ifUnchangedSince: own)
    #expect(try await list.child("one").get().value == "new")
    again.close()
  }

  // MARK: Unions

  @Test func aUnionOfTwoDatabasesWithTheSameIDsFails() async throws {
    let (first, second) = (StreamSession(here), StreamSession(other))
    let left = first.stream(of: try place(in: here))
    let right = second.stream(of: try place(in: other))
    let union = UnionStream([left, right]) { $0.key < $1.key }
    let parts = UnionStream(concatenating: [left, right], sectionIDs: ["a", "b"])
    try await first.waitUntil { left.loadState == .loaded }
    while right.loadState != .loaded { try await second.receive() }
    for each in [union, parts] {
      guard case .failed(let failure) = each.loadState else {
        Issue.record("\(each.loadState)")
        continue
      }
      #expect(failure.code == "refused" && failure.message.contains("/l/one"))
    }
    // Nobody waits for ever for a union that has failed.
    for session in [first, second] {
      let error = await #expect(throws: DatabaseError.self) {
        try await session.waitUntil { union.loadState == .loaded }
      }
      #expect(error?.code == .refused)
    }
    // It is loaded once no two rows have the same id.
    try await place(in: other).child("one").removeValue()
    while right.count > 1 { try await second.receive() }
    #expect(union.loadState == .loaded && parts.loadState == .loaded)
    #expect(union.items.map(\.key) == ["else", "one", "own"])
    try await first.waitUntil { union.loadState == .loaded }
  }

  @Test func rowsOfTwoDatabasesWithIDsOfTheirOwnAreUnited() async throws {
    let (first, second) = (StreamSession(here), StreamSession(other))
    let left = first.stream(of: try place(in: here)) { row in
      Named(id: "here \(row.key.text)", text: row.node?.json.string ?? "")
    }
    let right = second.stream(of: try place(in: other)) { row in
      Named(id: "other \(row.key.text)", text: row.node?.json.string ?? "")
    }
    let union = UnionStream([left, right]) { $0.id < $1.id }
    try await first.waitUntil { left.loadState == .loaded }
    try await second.waitUntil { union.loadState == .loaded }
    #expect(union.items.map(\.id) == ["here one", "here own", "other else", "other one"])
  }

  @Test func queriesOfOneDatabaseInTwoSessionsShowARowOnce() async throws {
    let (first, second) = (StreamSession(here), StreamSession(here))
    let left = first.stream(of: try place(in: here))
    let right = second.stream(of: try place(in: here).queryLimited(toFirst: 1))
    let union = UnionStream([left, right]) { $0.key < $1.key }
    try await first.waitUntil { left.loadState == .loaded }
    try await second.waitUntil { union.loadState == .loaded }
    #expect(union.items.map(\.key) == ["one", "own"])
  }
}
