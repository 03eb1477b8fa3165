import RunnelBase
import Testing

@testable import RunnelStore

private struct Sent: Action {
  var thread: Int
  var number: Int
}

@Suite struct StoreInboxTests {
  private func store() -> Store<[[Int]]> {
    Store(state: [[], [], [], []]) { state, action in
      if let sent = action as? Sent { state[sent.thread].append(sent.number) }
    }
  }

  @Test func actionsOfEachThreadKeepTheirOrderAndNoneIsLost() async {
    let inbox = Inbox<any Action>(limit: 10_000) {}
    await withTaskGroup(of: Bool.self) { group in
      for thread in 0..<4 {
        group.addTask {
          (0..<1000).allSatisfy { inbox.post(Sent(thread: thread, number: $0)) }
        }
      }
      for await isTaken in group { #expect(isTaken) }
    }
    let store = store()
    store.dispatch(from: inbox)
    #expect(store.state == Array(repeating: Array(0..<1000), count: 4))
  }

  @Test func actionsAreDispatchedOnce() {
    let inbox = Inbox<any Action>(limit: 10) {}
    let store = store()
    #expect(inbox.post(Sent(thread: 0, number: 1)))
    store.dispatch(from: inbox)
    store.dispatch(from: inbox)
    #expect(store.state[0] == [1])
  }

  @Test func fullInboxRefusesAndTheStoreGetsWhatWasTaken() {
    let inbox = Inbox<any Action>(limit: 2) {}
    let taken = (0..<3).map { inbox.post(Sent(thread: 0, number: $0)) }
    let store = store()
    store.dispatch(from: inbox)
    #expect(taken == [true, true, false])
    #expect(store.state[0] == [0, 1])
  }
}
