import CPostgres

/// Stops the statement that a connection runs.
final class PostgresCanceller: Sendable {
  /// How long it is waited until the server has taken the request: one that hangs never does.
  private static let milliseconds: Int32 = 500

  private let address: UnsafeAddress

  init(_ connection: OpaquePointer, _ pq: UnsafePointer<runnel_pq>) {
    address = UnsafeAddress(pq.pointee.PQgetCancel(connection))
  }

  /// Asks the server, once, to stop what the connection does now; nothing if it is closed.
  ///
  /// Waits half a second at most while the request is delivered, on a connection of its own. Any thread may
  /// call it.
  func cancel() {
    guard runnel_pq_load() != nil else { return }
    address.take { runnel_pq_cancel($0, PostgresCanceller.milliseconds) }
  }

  /// Makes `cancel` do nothing from now on.
  func end() {
    guard let pq = runnel_pq_load() else { return }
    address.take { pq.pointee.PQfreeCancel($0) }
  }
}
