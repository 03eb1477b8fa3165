import Glibc
import Testing

@testable import RunnelDatabase

/// Pipes that have the names of a database's files: nobody waits for their other ends.
@Suite struct PipeNameTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func aPipeForTheBeaconWakesNobody() throws {
    #expect(mkfifo(folder.file("test.db-notify"), 0o600) == 0)
    #expect(ChangeBeacon(database: folder.file()) == nil)
    let session = try folder.session()
    try session.set("/a", "1")
    #expect(try session.export("/a") == "1")
    try session.close()
    #expect(ChangeBeacon(existingFor: folder.file()) == nil)
  }

  @Test(arguments: ["-wal", "-shm", "-journal"]) func aPipeForALogIsRefused(suffix: String) throws {
    try folder.session().close()
    let pipe = folder.file("test.db\(suffix)")
    #expect(mkfifo(pipe, 0o600) == 0)
    for isReadOnly in [true, false] {
      let error = #expect(throws: DatabaseError.self) {
        _ = try folder.session(isReadOnly: isReadOnly)
      }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains("\(pipe) is a pipe") == true, "\(error?.message ?? "")")
    }
    #expect(throws: DatabaseError.self) { _ = try DatabaseCare.check(file: folder.file()) }
    #expect(throws: DatabaseError.self) { _ = try DatabaseCare.repair(file: folder.file()) }
    #expect(throws: DatabaseError.self) {
      _ = try DatabaseCare.salvage(file: folder.file(), to: folder.file("new.db"))
    }
  }
}
