import CPlatform
import Glibc

/// Locks of bytes of a file, which end with this process, in whatever way that ends.
///
/// Two of them are separate, also in one process.
package final class ByteLock: Sendable {
  private let descriptor: Int32

  /// Opens the file, which is made if it is not there; nil if it cannot be opened for writing.
  package init?(file: String) {
    descriptor = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
  }

  deinit {
    release()
    runnel_close(descriptor)
  }

  /// Takes a byte; false if another one holds it, or if the file system has no locks.
  package func take(_ byte: Int64) -> Bool { runnel_byte_lock(descriptor, byte) == 0 }

  /// Whether another one holds a byte; nil if the file system has no locks.
  package func isTakenElsewhere(_ byte: Int64) -> Bool? {
    let answer = runnel_byte_is_locked(descriptor, byte)
    return answer < 0 ? nil : answer == 1
  }

  /// Releases all bytes.
  package func release() { runnel_bytes_unlock(descriptor) }

  /// Marks a file that is being written, until its descriptor is closed or its process ends.
  ///
  /// Without locks in the file system, nothing is marked.
  package static func mark(_ descriptor: Int32) { _ = runnel_byte_lock(descriptor, 0) }

  /// Whether a process has marked a file; nil if that cannot be found out.
  package static func isMarked(file: String) -> Bool? {
    let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    if descriptor < 0 { return nil }
    defer { runnel_close(descriptor) }
    let answer = runnel_byte_is_locked(descriptor, 0)
    return answer < 0 ? nil : answer == 1
  }
}
