import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelNetwork
import RunnelStore
import Synchronization

/// A session with a service, a clock and a memory of a test.
struct TestSession {
  let clock: ManualClock
  let service: FakeAccounts
  let storage: any AccountStorage
  let session: AccountSession
  let notices: Notices

  /// Makes a session; the service has the users `ana` and `bo`.
  init(
    _ earlier: TestSession? = nil, storage: (any AccountStorage)? = nil,
    _ provider: ((FakeAccounts) -> any AccountProvider)? = nil
  ) async {
    let clock = earlier?.clock ?? ManualClock()
    let service = earlier?.service ?? FakeAccounts { clock.now }
    if earlier == nil {
      for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
    }
    let notices = Notices()
    var options = AccountOptions()
    options.clock = clock.clock
    options.seed = 1
    options.notice = { notices.add($0) }
    self.clock = clock
    self.service = service
    self.notices = notices
    let storage = storage ?? earlier?.storage ?? AccountMemory()
    self.storage = storage
    session = await AccountSession(
      provider?(service) ?? IdentityToolkit.server("https://accounts.test", service.transport),
      storage: storage, options: options)
  }

  func signIn(_ name: String = "ana") async throws {
    try await session.signIn(email: "\(name)@x.org", password: Secret("secret-\(name)"))
  }

  /// Waits until the state is as wanted.
  @discardableResult
  func wait(_ isReached: (AccountState) -> Bool) async throws -> AccountState {
    for await state in session.states where isReached(state) { return state }
    throw NotReached()
  }
}

/// The error that a condition did not become true.
struct NotReached: Error {}

/// What a session reported.
final class Notices: Sendable {
  private let told = Mutex<[AccountFailure]>([])
  var all: [AccountFailure] { told.withLock { $0 } }
  func add(_ failure: AccountFailure) { told.withLock { $0.append(failure) } }
}

/// A new folder for temporary files.
func temporaryFolder() throws -> String {
  let folder = FileManager.default.temporaryDirectory.path + "/runnel-accounts-\(UUID().uuidString)"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  return folder
}
