import RunnelBase
import RunnelStreams
import RunnelTree
import Testing

@testable import RunnelDatabase

/// Which streams of a session get the events of a listener.
@Suite struct SessionListenersTests {
  /// A stream that counts how often it is asked for its listeners.
  private final class Owner: ListenerOwner {
    var listener: ListenerID?
    var askedCount = 0
    init(_ listener: Int) { self.listener = ListenerID(listener) }
    func listens(as listener: ListenerID) -> Bool {
      askedCount += 1
      return self.listener == listener
    }
    func receive(_ events: [TreeEvent], from listener: ListenerID) {}
    func receive(failure: StreamFailure, from listener: ListenerID) {}
  }

  /// A stream that does not tell its listeners.
  private final class Other: TreeListener {
    func receive(_ events: [TreeEvent], from listener: ListenerID) {}
    func receive(failure: StreamFailure, from listener: ListenerID) {}
  }

  private func takers(_ listeners: inout SessionListeners, _ id: Int) -> [ObjectIdentifier] {
    listeners.takers(of: ListenerID(id)).map { ObjectIdentifier($0) }
  }

  @Test func eventsGoToTheStreamThatListensAndToThoseThatDoNotTell() {
    var listeners = SessionListeners()
    let (first, second, other) = (Owner(1), Owner(2), Other())
    listeners.append(first)
    listeners.append(other)
    listeners.append(second)
    for _ in 0..<2 {
      #expect(takers(&listeners, 1) == [ObjectIdentifier(other), ObjectIdentifier(first)])
      #expect(takers(&listeners, 2) == [ObjectIdentifier(other), ObjectIdentifier(second)])
      #expect(takers(&listeners, 3) == [ObjectIdentifier(other)])
    }
  }

  @Test func aStreamThatListensAnewGetsOnlyItsNewEvents() {
    var listeners = SessionListeners()
    let (first, second) = (Owner(1), Owner(2))
    listeners.append(first)
    listeners.append(second)
    #expect(takers(&listeners, 1) == [ObjectIdentifier(first)])
    first.listener = ListenerID(3)
    #expect(takers(&listeners, 1) == [])
    #expect(takers(&listeners, 3) == [ObjectIdentifier(first)])
    first.listener = nil
    #expect(takers(&listeners, 3) == [])
    #expect(takers(&listeners, 2) == [ObjectIdentifier(second)])
  }

  @Test func aWriteThatAThousandStreamsShowAsksEachOnce() {
    var listeners = SessionListeners()
    let owners = (0..<1000).map { Owner($0) }
    for owner in owners { listeners.append(owner) }
    for id in 0..<1000 { #expect(takers(&listeners, id) == [ObjectIdentifier(owners[id])]) }
    for owner in owners { owner.askedCount = 0 }
    for id in 0..<1000 { #expect(takers(&listeners, id) == [ObjectIdentifier(owners[id])]) }
    #expect(owners.allSatisfy { $0.askedCount == 1 })
  }

  @Test func streamsThatAreGoneAreForgotten() {
    var listeners = SessionListeners()
    for id in 0..<500 {
      let owner = Owner(id)
      listeners.append(owner)
      #expect(takers(&listeners, id) == [ObjectIdentifier(owner)])
    }
    #expect(takers(&listeners, 499) == [])
    #expect(listeners.entryCount == 0)
    let last = Owner(1000)
    listeners.append(last)
    #expect(takers(&listeners, 1000) == [ObjectIdentifier(last)])
  }
}
