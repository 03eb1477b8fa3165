import GRDB
import Testing

@testable import RunnelDatabase

@Suite struct ClosedConnectionsTests {
  @Test func firstConnectionsAreClosedAndKept() throws {
    let folder = try TemporaryFolder()
    let connections = ClosedConnections(max: 2)
    var last: DatabaseQueue? = try DatabaseQueue(path: folder.file("last.db"))
    for name in ["a.db", "b.db"] {
      let queue = try DatabaseQueue(path: folder.file(name))
      try connections.close(queue)
      // To close it again is nothing.
      try connections.close(queue)
    }
    weak let left = last
    try last.map { try connections.close($0) }
    #expect(connections.count == 2)
    last = nil
    #expect(left == nil)
  }

  @Test func whatAFileIsAndItsSessionLeaveNoQueueToTidyUp() throws {
    let folder = try TemporaryFolder()
    try folder.session().close()
    // It looks through a connection of its own first.
    try folder.session().close()
    #expect(ClosedConnections.shared.count > 0)
  }
}
