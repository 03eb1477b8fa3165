// ReplicasAndOrigins.md shows what stands between the marks; a test holds the two equal.

// example begin
import Runnel
import Synchronization

func openReplica(file: String) async throws -> Database {
  let database = try await Database.open(file: file)
  try await database.becomeReplica(ofOrigin: "home")  // the first time while the file is empty
  return database
}

/// An origin that keeps its data in a database of its own, and serves one replica.
final class HomeOrigin: Sendable {
  let home: Database
  let refusesAll = Mutex(false)

  init(_ home: Database) { self.home = home }

  /// Answers the commands of a replica, one after the other, until the task is cancelled.
  func serve(_ replica: Database) async throws {
    let (commands, queue) = AsyncStream.makeStream(of: OriginCommand.self)
    await replica.sendCommands { for command in $0 { queue.yield(command) } }
    replica.connectOrigin()
    for await command in commands {
      for message in try await answer(command) { replica.receive(message) }
    }
    replica.disconnectOrigin()
  }

  private func answer(_ command: OriginCommand) async throws -> [OriginMessage] {
    switch command {
    case .listen(let ask, let query, tag: nil, known: _):
      let node = try await home.reference(at: query.path).get().node
      return [.push(.set(node), query.path, tag: nil), .listenComplete(ask)]
    case .listen(let ask, _, tag: _, known: _):
      return [.listenRefused(ask, TreeError(.unavailable, "Only whole places are served."))]
    case .unlisten(let ask, _, tag: _): return [.unlistened(ask)]
    case .get(let id, let query):
      let found = try await DatabaseQuery(database: home, query: query).get()
      return [.answer(id: id, found.node)]
    case .write(let id, _) where refusesAll.withLock({ $0 }),
      .writeIf(let id, _, hashes: _) where refusesAll.withLock({ $0 }),
      .compareAndSet(let id, _, _, hash: _) where refusesAll.withLock({ $0 }):
      return [.rejected(id: id, TreeError(.permissionDenied, "Nobody may write."))]
    case .write(let id, let write):
      return try await done(id, write, if: [])
    case .writeIf(let id, let write, let hashes):
      var conditions: [WriteCondition] = []
      for expected in hashes {
        let present = try await home.reference(at: expected.path).get()
        if present.node.contentHash != expected.hash {
          return [.push(.set(present.node), expected.path, tag: nil), .stale(id: id)]
        }
        conditions.append(WriteCondition(expected.path, present.value))
      }
      do {
        return try await done(id, write, if: conditions)
      } catch let error as TreeDatabaseError where error.code == .changed {
        return try await answer(command)
      }
    case .compareAndSet(let id, let path, let json, let hash):
      let present = try await home.reference(at: path).get()
      guard present.node.contentHash == hash else {
        return [.push(.set(present.node), path, tag: nil), .stale(id: id)]
      }
      do {
        return try await done(id, .set(path, json), if: [WriteCondition(path, present.value)])
      } catch let error as TreeDatabaseError where error.code == .changed {
        return try await answer(command)  // somebody wrote in between
      }
    case .onDisconnect(let id, _):
      return [.rejected(id: id, TreeError(.unavailable, "Only reads and writes are served."))]
    }
  }

  /// First everything that the write changed (here: the whole tree), then that it was done.
  private func done(
    _ id: Int64, _ write: Write, if conditions: [WriteCondition]
  ) async throws -> [OriginMessage] {
    try await home.perform(write, if: conditions)
    let tree = try await home.reference().get().node
    return [.push(.set(tree), .root, tag: nil), .acknowledged(id: id)]
  }
}
// example end

// example begin
func writeTwice(_ database: Database, _ origin: HomeOrigin) async throws -> [String] {
  let place = try database.reference(withPath: "notes/a")
  let receipt = try await place.setValue("mine")
  try await receipt.acknowledgement()  // the origin has done it; this may take hours offline

  origin.refusesAll.withLock { $0 = true }
  let refused = try await place.setValue("yours")
  do {
    try await refused.acknowledgement()
    return []
  } catch let error as TreeDatabaseError {
    let shown = try await place.get().value.string ?? "nothing"
    return [error.code.rawValue, "\(try await database.pendingWrites().count)", shown]
  }
}
// example end

// example begin
func edit(_ form: Reference) async throws -> String {
  let seen = try await form.get()
  let receipt = try await form.setValue(["text": "mine"], ifUnchangedSince: seen)
  do {
    try await receipt.acknowledgement()
    return "saved"
  } catch let error as TreeDatabaseError where error.code == .changed {
    return try await form.child("text").get(from: .cache).value.string ?? ""  // what others wrote
  }
}
// example end

// example begin
func writeOffline(_ database: Database) async throws -> JSONValue {
  let place = try database.reference(withPath: "notes/b")
  try await place.setValue("later")
  return try await place.get(from: .cache).value
}
// example end

// example begin
func writeOnThePlane(_ database: Database) async throws {
  try await database.goOffline(because: "plane")
  let receipt = try await database.reference(withPath: "notes/c").setValue("above the clouds")
  if try await database.goOnline(because: "plane") { database.connectOrigin() }
  try await receipt.acknowledgement()
}
// example end
