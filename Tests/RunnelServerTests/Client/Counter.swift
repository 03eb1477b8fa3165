import Synchronization

/// A condition that becomes true.
final class Flag: Sendable {
  private let state = Atomic(false)

  var isSet: Bool { state.load(ordering: .acquiring) }

  func set() { state.store(true, ordering: .releasing) }
}

/// The received values, in order.
final class Counter: Sendable {
  private let told = Mutex<[Bool]>([])

  var all: [Bool] { told.withLock { $0 } }

  func add(_ value: Bool) { told.withLock { $0.append(value) } }
}
