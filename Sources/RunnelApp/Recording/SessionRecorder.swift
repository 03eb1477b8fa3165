import Glibc
import RunnelDatabase
import RunnelStore
import RunnelTerminal
import RunnelWorkspace
import Synchronization

/// Writes the actions of a session to a file in the format of `ActionLog`, one line per action.
///
/// A thread of its own writes the lines, in order. A line is handed to the system before its action is
/// reduced, so that a recording contains the cause of a crash: whoever records waits for that, but not
/// long. While a disk does not take the lines in time, nobody waits, and they are queued.
///
/// Limits: the end of the machine loses what the system has not written; the end of the program loses what
/// is queued, which is nothing unless the disk is slow.
final class SessionRecorder: Sendable {
  /// The most bytes that are queued; a disk that is slower ends the recording.
  static let queuedBytesMax = 16 << 20
  /// The longest time that an action waits until it is written.
  private static let patience = Duration.milliseconds(50)

  private struct State {
    var queued: [UInt8] = []
    /// Whether the thread has something to write.
    var isWriting = false
    /// Whether an action has waited in vain since the queue was empty.
    var isBehind = false
    /// The reason why the rest of the session is not recorded, until it is taken; nil if there is no
    /// failure.
    var failure: String?
    var hasFailed = false
    var count = 0

    mutating func fail(_ reason: String) {
      if !hasFailed { failure = reason }
      hasFailed = true
    }
  }

  private let file: String
  private let descriptor: Int32
  private let executor: TreeExecutor
  private let state = Mutex(State())
  /// Tells whoever waits that the queue is empty.
  private let written: Wakeup
  private let wake: @Sendable () -> Void

  /// Creates a file that only the user may read; an existing file is replaced.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - wake: called from another thread when there is a failure to take.
  /// - Throws: `ConfigurationError` if the file cannot be written; `TerminalError` or `DatabaseError` if the
  ///   system has no room.
  init(file: String, wake: @escaping @Sendable () -> Void = {}) throws {
    (self.file, self.wake) = (file, wake)
    (executor, written) = (try TreeExecutor(label: "runnel-recorder"), try Wakeup())
    descriptor = open(file, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      throw ConfigurationError(
        file: file, line: nil,
        "The session cannot be recorded: \(String(cString: strerror(errno))).")
    }
    append(ActionLog.firstLine)
  }

  deinit { close(descriptor) }

  /// Adds the entry of an action.
  ///
  /// The numbers go on when the workspace is opened again as another account.
  func record(_ entry: LoggedAction) {
    var entry = entry
    entry.number = state.withLock { state in
      state.count += 1
      return state.count
    }
    append(entry.line)
  }

  /// Adds a line; waits for a moment until it is written.
  func append(_ line: String) {
    let (isNew, mayWait) = state.withLock { state in
      if state.hasFailed { return (false, false) }
      let bytes = line.utf8
      if state.queued.count + bytes.count >= SessionRecorder.queuedBytesMax {
        state.fail("\(file): the disk is too slow; the session is recorded no further")
        return (false, false)
      }
      state.queued += bytes
      state.queued.append(UInt8(ascii: "\n"))
      defer { state.isWriting = true }
      return (!state.isWriting, !state.isBehind)
    }
    if isNew { executor.submit { self.writeQueued() } }
    if mayWait, !isWritten(within: SessionRecorder.patience) {
      state.withLock { $0.isBehind = $0.isWriting }
    }
  }

  /// Returns the failure since the last call, once, or nil.
  func takeFailure() -> String? {
    state.withLock { state in
      defer { state.failure = nil }
      return state.failure
    }
  }

  /// Waits for what is queued, but no longer than a time; returns why something of the session is missing in
  /// the file, if that was not taken before.
  func end(within time: Duration = .seconds(2)) -> String? {
    if isWritten(within: time) { return takeFailure() }
    return takeFailure() ?? "\(file): the disk is too slow; the end of the session is not recorded"
  }

  /// Waits until the queue is empty; returns false after some time.
  private func isWritten(within time: Duration) -> Bool {
    let end = ContinuousClock.now + time
    while state.withLock({ $0.isWriting }) {
      let rest = (end - .now) / .milliseconds(1)
      if rest <= 0 { return false }
      _ = Poller.wait([written.fileDescriptor], timeoutMilliseconds: Int(rest.rounded(.up)))
      written.drain()
    }
    return true
  }
}

// MARK: The thread

extension SessionRecorder {
  private func writeQueued() {
    while let bytes = takeQueued() {
      guard let reason = write(bytes) else { continue }
      state.withLock { state in
        state.fail(
          "\(file): \(String(cString: strerror(reason))); the session is recorded no further")
        state.queued = []
      }
      wake()
    }
    written.signal()
  }

  /// Takes what is queued; returns nil, and ends the work, if that is nothing.
  private func takeQueued() -> [UInt8]? {
    state.withLock { state in
      if state.queued.isEmpty {
        (state.isWriting, state.isBehind) = (false, false)
        return nil
      }
      defer { state.queued = [] }
      return state.queued
    }
  }

  /// Hands bytes to the system; returns the `errno` of a failure, or nil.
  private func write(_ bytes: [UInt8]) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}
