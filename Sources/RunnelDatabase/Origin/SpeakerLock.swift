import CPlatform
import Foundation
import Glibc
import Synchronization

/// Which of the processes on a replica talks to its origin: the one that holds this lock, which is on a file
/// beside the replica's.
///
/// The lock ends with its process, in whatever way that ends. Who waits for it is woken by the system when
/// the holder closes the file.
package final class SpeakerLock: Sendable {
  private static let offset: Int64 = 0
  /// The byte that is locked once the holder has told its state.
  private static let stateOffset: Int64 = 1
  /// The first byte of the file while the holder is connected, and while it is not.
  private static let (connectedMark, apartMark) = (UInt8(ascii: "1"), UInt8(ascii: "0"))
  /// When to try again after a holder closed the file, which it does a moment before its lock ends; in
  /// milliseconds.
  private static let secondTries = [1, 10, 100]
  /// How often to try where the folder cannot be watched, in milliseconds.
  private static let blindMilliseconds = 500
  /// The beginning of the line with the write that may have been sent last.
  private static let sentMark = "sent "
  /// The most bytes that are noted in the file.
  private static let noteBytesMax = 300

  private let file: String
  private let descriptor: Int32
  private let isHeld = Mutex(false)
  /// The state that the holder has told last; nil for none.
  private let told = Mutex<String?>(nil)

  /// The name of the lock of a database file.
  package static func path(ofDatabase file: String) -> String { file + "-link" }

  /// Opens the file of the lock.
  ///
  /// - Throws: `DatabaseError` (`cannotOpen`) if it cannot be made.
  package init(database: String) throws(DatabaseError) {
    file = SpeakerLock.path(ofDatabase: database)
    descriptor = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      let reason = String(cString: strerror(errno))
      throw DatabaseError(.cannotOpen, "\(file) cannot be opened: \(reason).")
    }
  }

  deinit { runnel_close(descriptor) }

  /// True if a process is connected to the origin of a replica now.
  ///
  /// A process that holds the lock while the origin cannot be reached is not.
  package static func isConnected(database: String) -> Bool {
    let descriptor = open(path(ofDatabase: database), O_RDWR | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { runnel_close(descriptor) }
    guard runnel_byte_is_locked(descriptor, offset) == 1 else { return false }
    var mark: UInt8 = 0
    return pread(descriptor, &mark, 1, off_t(offset)) == 1 && mark == connectedMark
  }

  /// Takes the lock if nobody else has it; true if it is held now.
  package func take() -> Bool {
    isHeld.withLock { isHeld in
      if !isHeld { isHeld = runnel_byte_lock(descriptor, SpeakerLock.offset) == 0 }
      return isHeld
    }
  }

  /// Notes that the origin is connected now, or was until now, for other processes and later runs.
  ///
  /// It is no error if that cannot be noted: then the data seem older than they are.
  package func noteContact(isConnected: Bool) {
    var mark = isConnected ? SpeakerLock.connectedMark : SpeakerLock.apartMark
    _ = pwrite(descriptor, &mark, 1, off_t(SpeakerLock.offset))
  }

  /// Notes that the process that holds the lock has no connection yet; the time of the last
  /// connection stays as it was noted.
  package func noteStart() {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return }
    noteContact(isConnected: false)
    let times = [status.st_atim, status.st_mtim]
    _ = futimens(descriptor, times)
  }

  /// Notes the name of the session that has begun at the origin, for the process that connects next.
  ///
  /// It is no error if that cannot be noted: then the origin ends the session when it notices that the
  /// connection is gone.
  package func noteSession(_ name: String) {
    // The first byte is noted by `noteContact`.
    var mark = SpeakerLock.apartMark
    _ = pread(descriptor, &mark, 1, off_t(SpeakerLock.offset))
    let bytes = [mark] + Array("\n\(name)\n".utf8)
    guard bytes.count <= SpeakerLock.noteBytesMax else { return }
    // A note that is read while it is written has no end of line, and is none.
    guard ftruncate(descriptor, 1) == 0 else { return }
    _ = pwrite(descriptor, bytes, bytes.count, 0)
  }

  /// The name of the last session that a process noted; nil if none did.
  package var lastSession: String? {
    let lines = noted
    let isWhole = lines.count == 3 || SpeakerLock.sentWrite(in: lines) != nil
    return isWhole && !lines[1].isEmpty ? lines[1] : nil
  }

  /// Notes that the connection has ended, and the write that may have been sent on it last.
  ///
  /// The note of the next session replaces it. It is no error if that cannot be noted: then all writes that
  /// are pending at the next start may have been sent.
  package func noteParting(newestWrite id: Int64) {
    let lines = noted
    guard lines.count == 3 || SpeakerLock.sentWrite(in: lines) != nil else { return }
    let end = off_t(lines[0].utf8.count + lines[1].utf8.count + 2)
    let line = Array("\(SpeakerLock.sentMark)\(id)\n".utf8)
    guard ftruncate(descriptor, end) == 0 else { return }
    _ = pwrite(descriptor, line, line.count, end)
  }

  /// The write that may have been sent last; nil if that is not known.
  package var newestSentWrite: Int64? { SpeakerLock.sentWrite(in: noted) }

  private static func sentWrite(in lines: [String]) -> Int64? {
    guard lines.count == 4, lines[2].hasPrefix(sentMark) else { return nil }
    return Int64(lines[2].dropFirst(sentMark.count))
  }

  /// The lines that are noted in the file; the last one is empty unless it is being written.
  private var noted: [String] {
    var bytes = [UInt8](repeating: 0, count: SpeakerLock.noteBytesMax)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return [] }
    return String(decoding: bytes[..<count], as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The time at which a process noted a connection last, in milliseconds since 1970; nil if none did.
  package var lastContact: Int64? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0,
      let attributes = try? FileManager.default.attributesOfItem(atPath: file),
      let time = attributes[.modificationDate] as? Date
    else { return nil }
    return Int64((time.timeIntervalSince1970 * 1000).rounded(.down))
  }

  /// Lets go of the lock, and wakes those who wait for it.
  package func release() {
    isHeld.withLock { isHeld in
      guard isHeld else { return }
      runnel_bytes_unlock(descriptor)
      told.withLock { $0 = nil }
      wakeOthers()
      isHeld = false
    }
  }

  private func wakeOthers() {
    // Whoever waits is told of every writer that closes the file.
    let another = open(file, O_RDWR | O_CLOEXEC)
    if another >= 0 { runnel_close(another) }
  }

  /// Calls `tryAgain` on the executor's thread whenever the lock may be free or its holder has told another
  /// state, until the subscription is cancelled.
  package func watch(
    on executor: TreeExecutor, _ tryAgain: @escaping @Sendable () -> Void
  ) -> TreeExecutor.Subscription {
    guard let watch = FolderWatch(of: file) else {
      return executor.repeating(everyMilliseconds: SpeakerLock.blindMilliseconds, tryAgain)
    }
    return executor.watch(watch.descriptor, owner: watch) { [weak executor] in
      guard watch.drain() else { return }
      tryAgain()
      for delay in SpeakerLock.secondTries {
        executor?.submit(afterMilliseconds: delay, tryAgain)
      }
    }
  }
}

// MARK: The state of the holder

extension SpeakerLock {
  /// The most bytes of a state that are read.
  private static let stateBytesMax = 65_536

  /// The name of the file with the state.
  private var stateFile: String { file + "-state" }

  /// Tells the others the state of the holder's connection; one that does not hold the lock tells nothing.
  ///
  /// It is no error if that cannot be told: then the others do not know it.
  package func tell(state: String) {
    isHeld.withLock { isHeld in
      guard isHeld, told.withLock({ $0 != state }) else { return }
      // The file is replaced as a whole: nobody reads a half.
      let (new, bytes) = (stateFile + ".new", Array(state.utf8))
      let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      let isWritten = descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count
      if descriptor >= 0 { runnel_close(descriptor) }
      if isWritten, rename(new, stateFile) == 0 {
        told.withLock { $0 = state }
        runnel_byte_lock(self.descriptor, SpeakerLock.stateOffset)
      } else {
        // What was told before holds no more.
        unlink(stateFile)
        told.withLock { $0 = nil }
      }
      wakeOthers()
    }
  }

  /// The state that the process that holds the lock has told; nil if it told none, or nobody holds it.
  package var stateOfHolder: String? {
    let file = open(stateFile, O_RDONLY | O_CLOEXEC)
    if file < 0 { return nil }
    defer { runnel_close(file) }
    var bytes = [UInt8](repeating: 0, count: SpeakerLock.stateBytesMax)
    let count = read(file, &bytes, bytes.count)
    // What a holder that has ended told is not true of the next one, which locks the byte after its own.
    guard count > 0, runnel_byte_is_locked(descriptor, SpeakerLock.stateOffset) == 1 else {
      return nil
    }
    return String(validating: bytes[..<count], as: UTF8.self)
  }

  /// True if another process holds the lock.
  package var isHeldElsewhere: Bool {
    runnel_byte_is_locked(descriptor, SpeakerLock.offset) == 1
  }
}

/// Waits until a file is closed by somebody who wrote it.
final class FolderWatch: Sendable {
  let descriptor: Int32
  private let name: String

  init?(of file: String) {
    let slash = file.lastIndex(of: "/")
    name = slash.map { String(file[file.index(after: $0)...]) } ?? file
    descriptor = runnel_inotify_open()
    if descriptor < 0 { return nil }
    let folder = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    if runnel_inotify_add_watch(descriptor, folder) < 0 {
      runnel_close(descriptor)
      return nil
    }
  }

  /// Reads the events; true if one may have concerned the file.
  func drain() -> Bool {
    let answer = runnel_inotify_drain(descriptor, name)
    return answer < 0 || answer & Int32(RUNNEL_INOTIFY_NAMED) != 0
  }

  deinit { runnel_close(descriptor) }
}
