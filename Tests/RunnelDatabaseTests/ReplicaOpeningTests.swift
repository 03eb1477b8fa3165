import RunnelBase
import RunnelTree
import Testing

@testable import RunnelDatabase

/// What opening a replica, and listening to it, costs.
@Suite struct ReplicaOpeningTests {
  private let folder: TemporaryFolder
  private let disk: FaultyFile

  init() throws {
    folder = try TemporaryFolder()
    disk = try FaultyFile(folder.file())
  }

  private func listen(_ session: DatabaseSession, _ listener: Int) throws {
    let query = Query(try Path("list\(listener)"))
    _ = try session.listen(ListenerID(listener), ListenRequest(query: query))
  }

  @Test func theFirstRowsWaitForTheDiskOnlyToBeginTheLog() throws {
    let first = try folder.session()
    try first.becomeReplica(ofOrigin: "home")
    try first.close()
    disk.countWaits()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    #expect(disk.waitCount == 0)
    try listen(session, 1)
    let begun = disk.waitCount
    #expect(begun <= 1)
    try listen(session, 2)
    session.unlisten(ListenerID(1))
    #expect(disk.waitCount == begun)
    #expect(try session.synchronousMode() == 2)
    // A write is kept, and what was noted before it.
    _ = try session.write(.set(Path("list2/a"), 1))
    #expect(disk.waitCount == begun + 1)
    try session.close()
  }
}
