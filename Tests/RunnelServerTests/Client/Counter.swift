import Synchronization

/// The received values, in order.
final class Counter: Sendable {
  private let told = Mutex<[Bool]>([])

  var all: [Bool] { told.withLock { $0 } }

  func add(_ value: Bool) { told.withLock { $0.append(value) } }
}
