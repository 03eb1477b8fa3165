import Foundation
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServer
import RunnelSync
import RunnelTree
import TestSupport

/// A folder of replicas for a test.
final class ReplicaPlace: Sendable {
  let folder: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/runnel-client-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    // Remaining files are in the folder for temporary files.
    try? FileManager.default.removeItem(atPath: folder)
  }

  func file(_ name: String = "replica.db") -> String { folder + "/" + name }

  /// Options with short timeouts and pauses.
  static var options: OriginOptions {
    var options = OriginOptions(environment: [:])
    options.limits.delayMin = 20
    options.limits.delayMax = 100
    return options
  }

  /// Opens a replica of the database `test` at a port of this machine.
  func connect(
    port: Int, as access: OriginAccess = .nobody, file name: String = "replica.db",
    options: OriginOptions = ReplicaPlace.options
  ) async throws -> Database {
    try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", as: access, file: file(name), options: options)
  }
}

/// The error that a condition did not become true in time.
struct NotSeen: Error {}

extension Database {
  /// Waits until the link is in a state.
  func wait(
    until isReached: @Sendable (OriginStatus) -> Bool
  ) async throws -> OriginStatus {
    guard let link = originLink else { throw NotSeen() }
    for await status in link.statuses where isReached(status) { return status }
    throw NotSeen()
  }

  /// Waits until the link is live, and the server has answered what was asked at first.
  func waitUntilLive() async throws { _ = try await wait { $0.state == .link(.live) } }

  /// Waits until a place has a value.
  func wait(_ path: String, for value: JSONValue) async throws {
    for try await snapshot in try reference(withPath: path).values where snapshot.value == value {
      return
    }
    throw NotSeen()
  }
}

extension TestServer {
  /// Returns the value at a place of the server.
  func value(_ path: String) throws -> String { try request("GET", path + ".json").body }
}
