import Synchronization
import Testing

@testable import RunnelServer

/// What a keeper tells, four times a second for as long as a server runs.
@Suite struct StoreNewsTests {
  /// A lock of a function wraps it anew whenever it is read: after a day, a call would go through 300,000 wrappers.
  @Test func newsAreToldAfterManyOthers() {
    let inbox = StoreNewsInbox()
    let count = Mutex(0)
    inbox.take { _ in count.withLock { $0 += 1 } }
    for _ in 0..<300_000 { inbox.tell(.orphans) }
    #expect(count.withLock { $0 } == 300_000)
  }
}
