import Foundation
import RunnelBase

@testable import RunnelDatabase
@testable import RunnelTree

/// Something that happens to a replica.
enum ReplicaInput {
  case listen(ListenerID, ListenRequest)
  case unlisten(ListenerID)
  case extend(ListenerID, Int)
  /// Look at what others did to the same file.
  case catchUp
  case write(Write)
  case transaction(TransactionRequest)
  case message(OriginMessage)
  case connect
  case disconnect
  case ask(DisconnectRequest)
}

/// What it came to: events, ends of requests, and what the origin is to be sent.
struct ReplicaOutput: Equatable {
  var deliveries: [Delivery] = []
  var completions: [ReplicaCompletion] = []
  var commands: [OriginCommand] = []
  /// The id of the write or transaction that was made.
  var id: Int64?
}

/// A replica that a simulation drives.
protocol SimulatedReplica {
  mutating func carryOut(_ input: ReplicaInput, now: Int64) throws -> ReplicaOutput

  /// Loses all that is not in storage.
  mutating func crash() throws

  /// What is shown.
  func shown() throws -> Node

  /// The ids of the pending writes.
  func pendingIDs() -> [Int64]
}

/// A replica in memory.
struct MemoryReplica: SimulatedReplica {
  // After a restart every answer is dormant, other than in a file.
  private var storage = MemoryReplicaStorage(awakeKeysMax: 0)
  private let hashing: RangeHashing
  private var engine: ReplicaEngine

  init(hashing: RangeHashing = RangeHashing()) {
    self.hashing = hashing
    engine = ReplicaEngine(hashing: hashing)
  }

  mutating func carryOut(_ input: ReplicaInput, now: Int64) throws -> ReplicaOutput {
    var output = ReplicaOutput()
    var outcome: ReplicaOutcome
    switch input {
    case .listen(let listener, let request):
      outcome = try engine.listen(listener, request, now: now, &storage)
    case .unlisten(let listener): outcome = try engine.unlisten(listener, now: now, &storage)
    case .extend(let listener, let count):
      outcome = try engine.extend(listener, by: count, now: now, &storage)
    case .catchUp: return output
    case .write(let write):
      let written = try engine.write(write, now: now, &storage)
      (output.id, outcome) = (written.id, written.outcome)
    case .transaction(let request):
      let started = try engine.run(request, now: now, &storage)
      (output.id, outcome) = (started.id, started.outcome)
    case .message(let message):
      outcome = try engine.receive(message, now: now, &storage)
      outcome.append(try engine.watchLess(now: now, &storage))
    case .connect: outcome = try engine.connectWatching(now: now, &storage)
    case .disconnect:
      outcome = try engine.disconnect(now: now, &storage)
      outcome.append(try engine.watchLess(now: now, &storage))
    case .ask(let request):
      let asked = try engine.ask(request, &storage)
      (output.id, outcome) = (asked.id, asked.outcome)
    }
    checkInvariants()
    output.deliveries = outcome.deliveries
    output.completions = outcome.completions
    output.commands = outcome.commands
    return output
  }

  private func checkInvariants() {
    let book = engine.replica.book
    book.checkInvariants()
    let layered = book.layered(onto: storage.server.root, at: .root)
    precondition(storage.shown.root == layered, "I1: the shown tree is the layered one.")
  }

  mutating func crash() throws {
    engine = ReplicaEngine(book: storage.savedBook, hashing: hashing)
    _ = try engine.takeBackLost(now: 0, &storage)
    checkInvariants()
    precondition(engine.replica.book.pending.allSatisfy(\.isDurable))
  }

  func shown() throws -> Node { storage.shown.root }

  func pendingIDs() -> [Int64] { engine.replica.book.pending.map(\.id) }
}

/// A replica in a database file.
final class FileReplica: SimulatedReplica {
  private let clock = Clock()
  private let folder: Folder
  /// Nil only while it crashes.
  private var opened: DatabaseSession?

  private final class Clock {
    var now: Int64 = 0
  }

  private final class Folder {
    let path = NSTemporaryDirectory() + "runnel-simulation-" + UUID().uuidString

    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    // A folder that cannot be removed is the system's to clean.
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  convenience init() throws {
    try self.init(folder: Folder())
    try session.becomeReplica(ofOrigin: "simulation")
  }

  private init(folder: Folder) throws {
    self.folder = folder
    try open()
  }

  /// Another session on the same file.
  func sibling() throws -> FileReplica { try FileReplica(folder: folder) }

  private func open() throws {
    opened = try DatabaseSession(
      file: folder.path + "/replica.db",
      environment: DatabaseEnvironment(
        now: { [clock] in clock.now }, random: SeededRandom(seed: 1)))
  }

  private var session: DatabaseSession {
    guard let opened else { preconditionFailure("A replica that crashed was opened again.") }
    return opened
  }

  func carryOut(_ input: ReplicaInput, now: Int64) throws -> ReplicaOutput {
    clock.now = now
    var output = ReplicaOutput()
    switch input {
    case .listen(let listener, let request):
      output.deliveries = try session.listen(listener, request)
    case .unlisten(let listener):
      session.unlisten(listener)
      // What it changed for others is told with what is told next.
      output.deliveries = try session.catchUp()
    case .extend(let listener, let count):
      output.deliveries = try session.extend(listener, by: count)
    case .catchUp: output.deliveries = try session.catchUp()
    case .write(let write): output.deliveries = try session.write(write)
    case .transaction(let request):
      (output.id, output.deliveries) = try session.startTransaction(request)
    case .message(let message): output.deliveries = try session.receive(message)
    case .connect: output.deliveries = try session.connectOrigin()
    case .disconnect: output.deliveries = try session.disconnectOrigin()
    case .ask(let request): (output.id, output.deliveries) = try session.ask(request)
    }
    if case .write = input { output.id = session.pendingWrites.last?.id }
    let told = session.takeOriginOutput()
    output.completions = told.completions
    output.commands = told.commands
    return output
  }

  /// The session is dropped as it is: what was committed is in the file.
  func crash() throws {
    opened = nil
    try open()
  }

  func shown() throws -> Node { try session.node(at: .root) }

  func pendingIDs() -> [Int64] {
    session.pendingWrites.filter { write in
      // The transactions of a sibling are its own.
      guard case .transaction(let maker) = write.maker else { return true }
      return maker == session.replica?.session
    }.map(\.id)
  }
}
