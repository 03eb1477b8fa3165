import RunnelBase
import Synchronization
import Testing

@Suite struct InboxTests {
  private final class Counter: Sendable {
    let count = Atomic<Int>(0)
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
  }

  @Test func messagesAreDrainedInOrder() {
    let inbox = Inbox<Int>(limit: 10) {}
    for message in 0..<5 { #expect(inbox.post(message)) }
    #expect(inbox.drain() == [0, 1, 2, 3, 4])
    #expect(inbox.drain().isEmpty)
  }

  @Test func consumerIsWokenOncePerFilling() {
    let wakes = Counter()
    let inbox = Inbox<Int>(limit: 10) { wakes.add() }
    #expect(inbox.drain().isEmpty)
    #expect(wakes.value == 0)
    for round in 1...3 {
      for message in 0..<4 { #expect(inbox.post(message)) }
      #expect(wakes.value == round)
      #expect(inbox.drain().count == 4)
    }
    #expect(wakes.value == 3)
  }

  @Test func fullInboxRefusesUntilItIsDrained() {
    let wakes = Counter()
    let inbox = Inbox<Int>(limit: 2) { wakes.add() }
    #expect(inbox.post(1))
    #expect(inbox.post(2))
    #expect(!inbox.post(3))
    #expect(!inbox.post(4))
    #expect(inbox.drain() == [1, 2])
    #expect(inbox.post(5))
    #expect(inbox.drain() == [5])
    #expect(wakes.value == 2)
  }

  @Test func messagesPostedTogetherAreDrainedTogetherAsFarAsThereIsRoom() {
    let wakes = Counter()
    let inbox = Inbox<Int>(limit: 3) { wakes.add() }
    #expect(inbox.post(contentsOf: []) == 0)
    #expect(wakes.value == 0)
    #expect(inbox.post(contentsOf: [1, 2]) == 2)
    #expect(inbox.post(contentsOf: [3, 4, 5]) == 1)
    #expect(inbox.post(contentsOf: [6]) == 0)
    #expect(wakes.value == 1)
    #expect(inbox.drain() == [1, 2, 3])
  }

  /// A consumer that is woken by the first message takes the others, too.
  @Test func consumerThatIsWokenByMessagesPostedTogetherFindsAllOfThem() {
    let found = Mutex<[[Int]]>([])
    let reference = Mutex<Inbox<Int>?>(nil)
    let inbox = Inbox<Int>(limit: 10) {
      let messages = reference.withLock { $0 }?.drain() ?? []
      found.withLock { $0.append(messages) }
    }
    reference.withLock { $0 = inbox }
    #expect(inbox.post(contentsOf: [1, 2, 3]) == 3)
    #expect(found.withLock { $0 } == [[1, 2, 3]])
    reference.withLock { $0 = nil }
  }

  @Test func wakeMayPost() throws {
    let reference = Mutex<Inbox<Int>?>(nil)
    let inbox = Inbox<Int>(limit: 10) { _ = reference.withLock { $0 }?.post(2) }
    reference.withLock { $0 = inbox }
    #expect(inbox.post(1))
    #expect(inbox.drain() == [1, 2])
    reference.withLock { $0 = nil }
  }

  @Test func eachProducersOrderIsKeptAndNothingIsLost() async {
    let perProducer = 2_000
    let inbox = Inbox<[Int]>(limit: 8 * perProducer) {}
    await withTaskGroup(of: Void.self) { group in
      for producer in 0..<8 {
        group.addTask {
          for number in 0..<perProducer { #expect(inbox.post([producer, number])) }
        }
      }
    }
    let messages = inbox.drain()
    #expect(messages.count == 8 * perProducer)
    for producer in 0..<8 {
      #expect(messages.filter { $0[0] == producer }.map { $0[1] } == Array(0..<perProducer))
    }
  }
}
