import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelBase
import RunnelDatabase
import RunnelDevices
import RunnelStore
import RunnelTree
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelWorkspace

/// What the workspace asks of the user's devices is done in the list, and answered.
@Suite(.timeLimit(.minutes(2))) struct DeviceWorkTests {
  private let service = FakeAccounts { 1_750_000_000_000 }
  private let folder: String
  private let database: Database
  private let place: Path
  private let work: DeviceWork
  private let session: AccountSession
  private let wakes: AsyncStream<Void>
  private let seen = Seen()

  /// The newest facts that a test has taken.
  private final class Seen {
    var facts: DeviceFacts?
  }

  init() async throws {
    folder = NSTemporaryDirectory() + "runnel-devices-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    database = try await Database.open(file: folder + "/tree.db")
    place = try Path("lists/devices")
    service.add("ana", "ana@x.org", "secret-ana")
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    wakes = stream
    session = try await DeviceWorkTests.session(service)
    work = DeviceWork(
      database, at: place, of: "ana", options: DeviceWorkTests.options("desk", folder),
      environment: [:]
    ) { continuation.yield() }
  }

  private static func session(_ service: FakeAccounts) async throws -> AccountSession {
    let session = await AccountSession(
      IdentityToolkit.emulator("http://localhost:1", service.transport), storage: AccountMemory())
    try await session.perform(.signIn(email: "ana@x.org", password: Secret("secret-ana")))
    return session
  }

  private static func options(_ name: String, _ folder: String) -> DeviceOptions {
    var options = DeviceOptions()
    (options.name, options.os, options.type) = (name, "TestOS", "Linux")
    options.version = "1.2"
    options.stateFolder = "\(folder)/\(name)"
    return options
  }

  /// Waits for news until one of them is the wanted value.
  private func wait<Value>(_ find: (DeviceWork.News) -> Value?) async throws -> Value {
    for await _ in wakes {
      let news = work.takeNews()
      if let facts = news.facts { seen.facts = facts }
      if let value = find(news) { return value }
    }
    throw CancellationError()
  }

  /// Waits until the newest facts are the wanted ones.
  @discardableResult
  private func facts(_ isWanted: (DeviceFacts) -> Bool) async throws -> DeviceFacts {
    if let facts = seen.facts, isWanted(facts) { return facts }
    return try await wait { news in news.facts.flatMap { isWanted($0) ? $0 : nil } }
  }

  private func ask(_ number: Int, _ request: DeviceRequest) async throws -> Answer {
    let id = AppRequestID(number)
    work.start(id, request)
    return try await wait { news in news.answers.first { $0.id == id }?.answer }
  }

  /// Another device of the user.
  private func other() async throws -> DeviceStore {
    let database = database
    let store = try await DeviceStore(
      session: DeviceWorkTests.session(service),
      storage: TreeDeviceStorage(collectionPath: place.description) { _ in database },
      options: DeviceWorkTests.options("phone", folder), environment: [:])
    try await store.subscribe()
    return store
  }

  @Test func deviceStandsInTheListAndOthersAreShownRenamedAndRevoked() async throws {
    work.use(session)
    let first = try await facts { $0.devices.count == 1 && $0.devices[0].isOnline }
    #expect(first.devices[0].id == first.here && first.devices[0].name == "desk")
    #expect(first.devices[0].version == "1.2" && first.devices[0].created != nil)
    let phone = try await other()
    try await facts { $0.devices.map(\.name).sorted() == ["desk", "phone"] }
    guard case .devices(let outcome) = try await ask(1, .rename(phone.deviceID, to: "Ana's phone"))
    else {
      Issue.record("The device was not renamed.")
      return
    }
    #expect(outcome == DeviceOutcome())
    guard case .refused = try await ask(2, .rename("unknown", to: "x")) else {
      Issue.record("An unknown device was renamed.")
      return
    }
    guard case .devices = try await ask(3, .revoke(phone.deviceID)) else {
      Issue.record("The device was not revoked.")
      return
    }
    try await facts { $0.devices.map(\.name) == ["desk"] }
    for await state in phone.session.states {
      if case .ended(_, let failure) = state {
        #expect(failure.code == .revoked)
        break
      }
    }
    work.end()
  }

  @Test func requestBeforeThereIsASessionIsRefused() async throws {
    guard case .refused(let refusal) = try await ask(1, .prune(days: 1)) else {
      Issue.record("Devices were removed without a session.")
      return
    }
    #expect(refusal.message.contains("not ready"))
  }

  @Test func newSessionOfTheSameUserTakesOver() async throws {
    work.use(session)
    try await facts { $0.devices.count == 1 }
    let next = try await DeviceWorkTests.session(service)
    work.use(next)
    try await facts { $0.devices.count == 1 && $0.devices[0].isOnline }
    // The store of the new session does what is asked, once it is open.
    var number = 0
    try await yieldUntil(stepsMax: 1_000_000) {
      number += 1
      if case .refused = try await ask(number, .prune(days: 9)) { return false }
      return true
    }
    work.end()
  }
}
