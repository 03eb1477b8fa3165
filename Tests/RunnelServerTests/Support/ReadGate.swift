import Glibc
import Synchronization

/// Holds the first large read of a server until it is released.
final class ReadGate: Sendable {
  private struct Pipe {
    var (input, output): (Int32, Int32)

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw Failure() }
      (input, output) = (ends[0], ends[1])
    }

    func wait() {
      var byte: UInt8 = 0
      while read(input, &byte, 1) < 0, errno == EINTR {}
    }

    func wake() {
      var byte: UInt8 = 1
      _ = write(output, &byte, 1)
    }

    func close() {
      _ = Glibc.close(input)
      _ = Glibc.close(output)
    }
  }

  private struct Failure: Error {}

  private let isOpen: Bool
  private let begun: Pipe
  private let released: Pipe
  private let isUsed = Atomic(false)

  /// Makes a gate before a store is opened for the read, or after that.
  init(isOpen: Bool) throws {
    (self.isOpen, begun, released) = (isOpen, try Pipe(), try Pipe())
  }

  deinit {
    begun.close()
    released.close()
  }

  /// Waits if this is the read to hold; called by the server.
  func notice(_ isOpen: Bool) {
    if isOpen != self.isOpen || isUsed.exchange(true, ordering: .relaxed) { return }
    begun.wake()
    released.wait()
  }

  /// Waits until the read is held.
  func awaitRead() { begun.wait() }

  /// Lets the read go on; it may be called again.
  func release() { released.wake() }
}
