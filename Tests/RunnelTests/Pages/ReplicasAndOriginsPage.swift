// ReplicasAndOrigins.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel
import Synchronization

/// An origin in memory: it does each write that it is sent, and answers each question with nothing.
final class EchoOrigin: Sendable {
  let refusesAll = Mutex(false)

  func connect(_ database: Database) async throws {
    try await database.becomeReplica(ofOrigin: "home")  // once, for a file that is empty
    await database.sendCommands { [self] commands in
      for command in commands { answer(command) { database.receive($0) } }
    }
    database.connectOrigin()
  }

  private func answer(_ command: OriginCommand, _ say: (OriginMessage) -> Void) {
    switch command {
    case .listen(let ask, _, _, _): say(.listenComplete(ask))
    case .unlisten(let ask, _, _): say(.unlistened(ask))
    case .write(let id, _) where refusesAll.withLock({ $0 }):
      say(.rejected(id: id, TreeError(.permissionDenied, "Nobody may write.")))
    case .write(let id, _): say(.acknowledged(id: id))
    case .compareAndSet(let id, _, _, _), .onDisconnect(let id, _): say(.acknowledged(id: id))
    case .get(let id, _): say(.answer(id: id, .empty))
    }
  }
}
// example end

// example begin
func writeTwice(_ database: Database, _ origin: EchoOrigin) async throws -> [String] {
  let place = try database.reference(withPath: "notes/a")
  let receipt = try await place.setValue("mine")
  try await receipt.acknowledgement()  // the origin has done it; this may take hours offline

  origin.refusesAll.withLock { $0 = true }
  let refused = try await place.setValue("yours")
  do {
    try await refused.acknowledgement()
    return []
  } catch let error as TreeDatabaseError {
    return [error.code.rawValue, "\(try await database.pendingWrites().count)"]
  }
}
// example end
