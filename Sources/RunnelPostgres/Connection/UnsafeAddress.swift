import Synchronization

/// An address in libpq's memory that several threads use, one after the other.
final class UnsafeAddress: Sendable {
  private let bits: Mutex<UInt>

  init(_ pointer: OpaquePointer?) { bits = Mutex(UInt(bitPattern: pointer)) }

  /// Runs `body` with the pointer, once.
  func take(_ body: (OpaquePointer) -> Void) {
    bits.withLock { bits in
      if let pointer = OpaquePointer(bitPattern: bits) { body(pointer) }
      bits = 0
    }
  }
}
