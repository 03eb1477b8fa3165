import RunnelBase
import RunnelDatabase
import RunnelTree
import Synchronization
import Testing

/// References on a replica, whose origin is played by the test.
@Suite struct OriginTests {
  private let folder: TemporaryFolder
  private let database: Database
  private let sent = SentCommands()

  init() async throws {
    folder = try TemporaryFolder()
    let session = try folder.session()
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    database = try await Database.open(file: folder.file())
    await database.sendCommands { [sent] in sent.add($0) }
  }

  private func say(_ messages: OriginMessage...) {
    for message in messages { database.submit(.receive(message)) }
  }

  private static let refusal = TreeError(.permissionDenied, "Permission denied")

  @Test func aWriteReturnsBeforeTheOriginAnswers() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "a")
    let receipt = try await place.setValue(1)
    #expect(receipt.isPending)
    #expect(try await place.get().value == 1)
    #expect(sent.all == [.write(id: 0, .set(place.path, 1))])
    say(.acknowledged(id: 0))
    try await receipt.acknowledgement()
    #expect(!receipt.isPending)
    try await receipt.acknowledgement()
  }

  @Test func aRefusedWriteIsToldAfterItsEvents() async throws {
    database.submit(.connectOrigin())
    let place = try database.reference(withPath: "a")
    let log = Mutex<[JSONValue]>([])
    let token = place.observe(.value) { event in log.withLock { $0.append(event.snapshot.value) } }
    defer { token.cancel() }
    let receipt = try await place.setValue(1)
    say(.listenComplete(place.path, tag: nil), .rejected(id: 0, OriginTests.refusal))
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code.rawValue == "PERMISSION_DENIED")
    #expect(error?.message == "PERMISSION_DENIED: Permission denied")
    #expect(log.withLock { $0 } == [1, .null])
  }

  @Test func aTreeOfItsOwnAcknowledgesAtOnce() async throws {
    let own = try await Database.open(file: folder.file("own.db"))
    let receipt = try await own.reference(withPath: "a").setValue(1)
    #expect(!receipt.isPending && receipt.isApplied)
    try await receipt.acknowledgement()
    await #expect(throws: DatabaseError.self) {
      try await own.reference(withPath: "a").onDisconnectRemoveValue()
    }
  }

  @Test func aWaitEndsWithItsTaskAndWithTheDatabase() async throws {
    let receipt = try await database.reference(withPath: "a").setValue(1)
    let task = Task { try await receipt.acknowledgement() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    database.close()
    let error = await #expect(throws: DatabaseError.self) { try await receipt.acknowledgement() }
    #expect(error?.code == .closed)
  }

  @Test func whatIsDoneLaterIsAskedForAndRegistered() async throws {
    database.submit(.connectOrigin())
    let here = try database.reference(withPath: "here")
    let set = try await here.onDisconnectSetValue("away", priority: 2)
    try await here.onDisconnectUpdateChildValues(["a": 1])
    try await here.onDisconnectRemoveValue()
    let cancel = try await here.cancelDisconnectOperations()
    #expect(
      sent.all == [
        .onDisconnect(id: 0, .set(here.path, [".value": "away", ".priority": 2])),
        .onDisconnect(id: 1, .update(here.path, [JSONMember("a", 1)])),
        .onDisconnect(id: 2, .set(here.path, .null)),
        .onDisconnect(id: 3, .cancel(here.path)),
      ])
    say(.acknowledged(id: 0), .rejected(id: 3, OriginTests.refusal))
    try await set.acknowledgement()
    await #expect(throws: DatabaseError.self) { try await cancel.acknowledgement() }
  }
}

/// The commands that a database sends.
final class SentCommands: Sendable {
  private let commands = Mutex<[OriginCommand]>([])

  var all: [OriginCommand] { commands.withLock { $0 } }

  func add(_ more: [OriginCommand]) { commands.withLock { $0 += more } }
}
