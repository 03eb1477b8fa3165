import CFaults
import Foundation
import RunnelBase
import RunnelServer
import TestSupport
import Testing

/// A disk that does not respond: only writes wait for it.
@Suite struct SlowDiskTests {
  /// A folder whose disk can be blocked.
  private final class Disk {
    let folder: String
    private let number: Int32

    init() throws {
      folder = FileManager.default.temporaryDirectory.path + "/runnel-disk-\(UUID().uuidString)"
      guard faults_install() == 0 else { throw RawClient.Failure(what: "no faults") }
      number = faults_watch(folder)
      guard number >= 0 else { throw RawClient.Failure(what: "too many watched files") }
    }

    deinit {
      faults_release(number)
      faults_unwatch(number)
      // Remaining files are in the folder for temporary files.
      try? FileManager.default.removeItem(atPath: folder)
    }

    func hold() { faults_hold(number) }
    func release() { faults_release(number) }
    /// The number of waits for the disk since it was blocked.
    var syncCount: Int { faults_syncs(number) }
  }

  @Test func onlyWritesWaitAndAreCommittedTogether() async throws {
    let disk = try Disk()
    let server = try await TestServer(in: disk.folder)
    let writers = try (0..<64).map { _ in try server.socket() }
    let other = try server.socket()
    disk.hold()
    try writers[0].ask(1, "p", "{\"p\":\"/n/0\",\"d\":0}")
    // Each ping gives the server time to reach the disk.
    for _ in 0..<100_000 where disk.syncCount == 0 { try ping(other) }
    #expect(disk.syncCount == 1)
    for (index, writer) in writers.enumerated().dropFirst() {
      try writer.ask(1, "p", "{\"p\":\"/n/\(index)\",\"d\":\(index)}")
      // The messages before the ping have been handled.
      try ping(writer)
    }
    #expect(try server.administrator().request("GET", "/healthz").status == 200)
    #expect(try server.administrator().request("GET", "/connections").status == 200)
    try ping(server.socket())
    #expect(writers.allSatisfy { !$0.client.hasUnread })
    disk.release()
    for writer in writers { #expect(try writer.next()["b"]?["s"] == "ok") }
    #expect(disk.syncCount <= 5, "64 writes share the waits for the disk")
    #expect(try server.request("GET", "/n.json?shallow=true").body.contains("\"63\":true"))
    await server.stop()
  }

  private func ping(_ socket: Socket) throws {
    try socket.send("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    #expect(try socket.next() == json("{\"t\":\"o\",\"d\":{}}"))
  }
}
