import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelBase
import RunnelDevices
import RunnelStore
import Synchronization

/// A new folder for temporary files.
func temporaryFolder() throws -> String {
  let folder = FileManager.default.temporaryDirectory.path + "/runnel-devices-\(UUID().uuidString)"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  return folder
}

extension AccountClock {
  /// The clock of the machine, on which no wait ends by itself: a write to a slow disk does not count as
  /// one without an answer.
  static var patient: AccountClock {
    AccountClock(now: AccountClock.system.now) { _ in
      while true { try await Task.sleep(for: .seconds(3600)) }
    }
  }
}

/// The error that a condition did not become true.
struct NotReached: Error {}

/// Tokens that a test gives, and a permission that it can deny.
final class TestTokens: DeviceTokenProvider {
  private struct State {
    var token: String?
    var number = 0
    var isDenied = false
    var readers: [AsyncStream<String>.Continuation] = []
  }

  private let name: String
  private let state: Mutex<State>

  init(_ name: String, isDenied: Bool = false) {
    self.name = name
    state = Mutex(State(token: "\(name)-0", isDenied: isDenied))
  }

  func askPermission() async throws(DeviceFailure) {
    if state.withLock({ $0.isDenied }) {
      throw DeviceFailure(.permissionDenied, "The user does not want notices.")
    }
  }

  func tokens() async -> AsyncStream<String> {
    AsyncStream { continuation in
      state.withLock { state in
        state.readers.append(continuation)
        if let token = state.token { continuation.yield(token) }
      }
    }
  }

  func renew() async -> Bool {
    next()
    return true
  }

  /// Gives another token.
  func next() {
    state.withLock { state in
      state.number += 1
      let token = "\(name)-\(state.number)"
      state.token = token
      for reader in state.readers { reader.yield(token) }
    }
  }
}

/// A session and a store of one device, with an account service that several devices share.
struct TestDevice {
  let session: AccountSession
  let store: DeviceStore
  let tokens: TestTokens
  let storage: any DeviceStorage

  init(
    _ name: String, _ service: FakeAccounts, folder: String,
    clock: AccountClock = .system, isDenied: Bool = false,
    _ storage: (AccountSession) -> any DeviceStorage
  ) async throws {
    var accountOptions = AccountOptions()
    accountOptions.clock = clock
    session = await AccountSession(
      IdentityToolkit.server("https://accounts.test", service.transport),
      storage: AccountFolder(for: "test", below: "\(folder)/\(name)/accounts"),
      options: accountOptions)
    tokens = TestTokens(name, isDenied: isDenied)
    var options = DeviceOptions()
    (options.name, options.os, options.version) = (name, "TestOS 1", "1.2")
    options.stateFolder = "\(folder)/\(name)"
    options.clock = clock
    self.storage = storage(session)
    store = try await DeviceStore(
      session: session, storage: self.storage, tokens: tokens, options: options, environment: [:])
  }

  func signIn(_ user: String) async throws {
    try await session.signIn(email: "\(user)@x.org", password: Secret("secret-\(user)"))
  }

  func close() async {
    await store.close()
    await session.close()
  }
}

/// How far the clock of an account service goes ahead, in milliseconds.
final class Ahead: Sendable {
  private let value = Mutex<Int64>(0)

  var milliseconds: Int64 { value.withLock { $0 } }

  func add(_ milliseconds: Int64) { value.withLock { $0 += milliseconds } }
}

/// Makes an account service with two users.
func accountService(_ ahead: Ahead = Ahead()) -> FakeAccounts {
  let service = FakeAccounts { AccountClock.system.now() + ahead.milliseconds }
  for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
  return service
}

/// Signs in by another program on a device whose store is closed, as `runnel login` does.
func signInElsewhere(
  _ user: String, on device: String, _ service: FakeAccounts, folder: String
) async throws {
  let session = await AccountSession(
    IdentityToolkit.server("https://accounts.test", service.transport),
    storage: AccountFolder(for: "test", below: "\(folder)/\(device)/accounts"))
  try await session.signIn(email: "\(user)@x.org", password: Secret("secret-\(user)"))
  await session.close()
}
