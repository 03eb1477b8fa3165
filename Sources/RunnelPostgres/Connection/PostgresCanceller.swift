import CPostgres

/// Stops the statement that a connection runs.
final class PostgresCanceller: Sendable {
  private let address: UnsafeAddress

  init(_ connection: OpaquePointer, _ pq: UnsafePointer<runnel_pq>) {
    address = UnsafeAddress(pq.pointee.PQgetCancel(connection))
  }

  /// Asks the server to stop what the connection does now; nothing if it is closed.
  ///
  /// Blocks while the request is delivered, on a connection of its own. Any thread may call it.
  func cancel() {
    guard let pq = runnel_pq_load() else { return }
    address.withPointer { pointer in
      var message = [CChar](repeating: 0, count: 256)
      // Without success the connection's own patience ends it.
      _ = pq.pointee.PQcancel(pointer, &message, Int32(message.count))
    }
  }

  /// Makes `cancel` do nothing from now on.
  func end() {
    guard let pq = runnel_pq_load() else { return }
    address.take { pq.pointee.PQfreeCancel($0) }
  }
}
