import CPlatform
import Glibc

/// The processes on one replica that show who is here: each has a seat, a byte that it locks in a file
/// beside the replica's.
///
/// A seat is free again when its process ends, in whatever way that ends.
package final class PresenceRoom: Sendable {
  /// The greatest number of processes that are shown.
  package static let seatCount = 64
  /// When to look again after a process closed the file, which it does a moment before its lock ends; in
  /// milliseconds.
  private static let secondTries = [1, 10, 100]
  private static let bootFile = "/proc/sys/kernel/random/boot_id"
  private static let bootBytesMax = 64

  /// A text that no other replica has, of this machine or another one.
  package let tag: String
  /// The seat of this process.
  package let seat: Int
  private let file: String
  private let descriptor: Int32

  /// Takes a seat; nil if none is free, or the file cannot be made.
  ///
  /// - Parameter database: the file of the replica.
  package init?(database: String) {
    file = database + "-here"
    descriptor = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0 { return nil }
    var status = stat()
    let free = (0..<PresenceRoom.seatCount).first { [descriptor] in
      runnel_byte_lock(descriptor, Int64($0)) == 0
    }
    guard let free, fstat(descriptor, &status) == 0 else {
      runnel_close(descriptor)
      return nil
    }
    (seat, tag) = (free, PresenceRoom.tag(status))
  }

  deinit { runnel_close(descriptor) }

  /// Returns the tag of a file: made of its identity, and of what this start of the machine has alone.
  private static func tag(_ status: stat) -> String {
    var bytes = Array("\(status.st_dev) \(status.st_ino) ".utf8)
    let boot = open(bootFile, O_RDONLY | O_CLOEXEC)
    if boot >= 0 {
      var read = [UInt8](repeating: 0, count: bootBytesMax)
      bytes += read.prefix(max(0, Glibc.read(boot, &read, read.count)))
      runnel_close(boot)
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Returns whether a process has a seat.
  package func isTaken(_ seat: Int) -> Bool {
    seat == self.seat || runnel_byte_is_locked(descriptor, Int64(seat)) == 1
  }

  /// Calls `look` on the executor's thread whenever a process may have left its seat, until the
  /// subscription is cancelled; nil if the folder cannot be watched.
  package func watch(
    on executor: TreeExecutor, _ look: @escaping @Sendable () -> Void
  ) -> TreeExecutor.Subscription? {
    guard let watch = FolderWatch(of: file) else { return nil }
    return executor.watch(watch.descriptor, owner: watch) { [weak executor] in
      guard watch.drain() else { return }
      for delay in PresenceRoom.secondTries {
        executor?.submit(afterMilliseconds: delay, look)
      }
    }
  }
}
