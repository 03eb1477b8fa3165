import RunnelBase
import Testing

@testable import RunnelDatabase
@testable import RunnelTree

/// The disconnect writes of sessions on a tree of its own.
///
/// Several databases on one file take the place of processes, because a session's lock belongs to
/// the open file, not to the process. `SampleTests` has a process that is killed.
@Suite(.timeLimit(.minutes(5)), .fewAtOnce) struct PresenceTests {
  private let folder: TemporaryFolder
  private let here: Database

  init() async throws {
    folder = try TemporaryFolder()
    here = try await folder.open()
  }

  private func place(_ database: Database, _ path: String = "online/ana") throws -> Reference {
    try database.reference(withPath: path)
  }

  /// Runs `work` with a database that is released without being closed, as in a process that is
  /// killed.
  private func leave(_ work: (Database) async throws -> Void) async throws {
    let there = try await folder.open()
    try await work(there)
  }

  @Test func aClosedDatabaseIsOfflineAtOnce() async throws {
    let there = try await folder.open()
    let receipt = try await place(there).onDisconnectRemoveValue()
    #expect(!receipt.isPending)
    try await place(there).setValue(true)
    #expect(try await place(here).get().value == true)
    there.close()
    #expect(try await !place(here).get().exists)
  }

  @Test func otherSessionsNoticeADatabaseThatWasNotClosed() async throws {
    var values = try place(here).values.makeAsyncIterator()
    #expect(try await values.next()?.exists == false)
    try await leave { there in
      try await place(there).onDisconnectSetValue(["was": "here"])
      try await place(there).setValue(true)
    }
    var seen: [JSONValue] = []
    while seen.last != ["was": "here"] {
      seen.append(try #require(try await values.next()).value)
    }
    #expect(seen.suffix(2) == [true, ["was": "here"]] || seen == [["was": "here"]])
  }

  @Test func nothingIsDoneWhileTheSessionRuns() async throws {
    let there = try await folder.open()
    try await place(there).onDisconnectRemoveValue()
    try await place(there).setValue(true)
    // Other sessions open the file, write and close it.
    for number in 0..<5 {
      let other = try await folder.open()
      try await place(other, "n").setValue(number)
      other.close()
    }
    #expect(try await place(here).get().value == true)
    there.close()
    #expect(try await !place(here).get().exists)
  }

  @Test func theNextSessionDoesWritesThatWereNotDone() async throws {
    here.close()
    try await leave { there in
      try await place(there).setValue(["on": true, "name": "Ana"])
      try await place(there).onDisconnectUpdateChildValues(["on": false, "last": ["at": 1]])
    }
    let next = try await folder.open()
    #expect(
      try await place(next).get().value == ["last": ["at": 1], "name": "Ana", "on": false])
    // The write is done once.
    try await place(next, "online/ana/on").setValue(true)
    next.close()
    let last = try await folder.open()
    #expect(try await place(last, "online/ana/on").get().value == true)
    last.close()
  }

  @Test func cancelledDisconnectWritesAreNotDone() async throws {
    let there = try await folder.open()
    try await place(there, "a").setValue(1)
    try await place(there, "b").setValue(1)
    try await place(there, "a").onDisconnectRemoveValue()
    try await place(there, "b").onDisconnectRemoveValue()
    try await place(there, "a").cancelDisconnectOperations()
    there.close()
    #expect(try await here.reference().get().value == ["a": 1])
  }

  @Test func serverValuesAreComputedAtTheDisconnection() async throws {
    let there = try await folder.open()
    try await place(there, "count").setValue(1)
    try await place(there, "count").onDisconnectSetValue(ServerValue.increment(10))
    try await place(here, "count").setValue(5)
    there.close()
    #expect(try await place(here, "count").get().value == 15)
  }

  @Test func disconnectWritesAreOneEntryOfTheHistoryByTheSessionsAuthor() async throws {
    let there = try await Database.open(
      file: folder.file(),
      environment: {
        var environment = DatabaseEnvironment.system
        environment.author = "ana"
        return environment
      })
    try await place(there, "a").onDisconnectSetValue(1)
    try await place(there, "b/c").onDisconnectSetValue(2)
    there.close()
    let entry = try #require(try await here.history().entries.first)
    #expect(entry.author == "ana")
    #expect(Set(entry.parts.map(\.path.description)) == ["/a", "/b/c"])
    try await here.undo(entry.id)
    #expect(try await !here.reference().get().exists)
  }

  @Test func aDisconnectWriteThatTheTreeRefusesIsRefusedAtOnce() async throws {
    let error = await #expect(throws: DatabaseError.self) {
      try await place(here, "a").onDisconnectSetValue(["b/c": 1])
    }
    #expect(error?.code == .refused)
    let long = JSONValue.string(String(repeating: "x", count: DisconnectWrites.bytesMax))
    let other = await #expect(throws: DatabaseError.self) {
      try await place(here, "a").onDisconnectSetValue(long)
    }
    #expect(other?.code == .refused)
    here.close()
    let next = try await folder.open()
    #expect(try await !next.reference().get().exists)
    next.close()
  }

  @Test func aReadOnlySessionCannotRegisterDisconnectWrites() async throws {
    try await place(here, "a").setValue(1)
    let reader = try await Database.open(file: folder.file(), isReadOnly: true)
    let error = await #expect(throws: DatabaseError.self) {
      try await place(reader, "a").onDisconnectRemoveValue()
    }
    #expect(error?.code == .refused)
    reader.close()
  }

  @Test func manySimultaneousEndsAreEachHandledOnce() async throws {
    try await place(here, "left").setValue(0)
    for number in 0..<6 {
      try await leave { there in
        try await place(there, "online/\(number)").onDisconnectRemoveValue()
        try await place(there, "left").onDisconnectSetValue(ServerValue.increment(1))
        try await place(there, "online/\(number)").setValue(true)
      }
    }
    for try await snapshot in try place(here, "left").values where snapshot.value == 6 { break }
    #expect(try await !place(here, "online").get().exists)
  }
}
