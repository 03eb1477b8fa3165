import Glibc
import RunnelStore
import RunnelTerminal
import RunnelWorkspace

/// Writes the actions of a session to a file in the format of `ActionLog`, one line per action.
///
/// A line is handed to the system before its action is reduced, so that a recording contains the
/// cause of a crash.
final class SessionRecorder {
  private let file: String
  private let descriptor: Int32
  /// The reason why the rest of the session is not recorded, until it is taken; nil if there is no
  /// failure.
  private var failure: String?
  private var hasFailed = false
  private var count = 0

  /// Creates a file that only the user may read; an existing file is replaced.
  ///
  /// - Throws: `ConfigurationError` if the file cannot be written.
  init(file: String) throws {
    self.file = file
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
    count += 1
    var entry = entry
    entry.number = count
    append(entry.line)
  }

  /// Returns the failure since the last call, once, or nil.
  func takeFailure() -> String? {
    defer { failure = nil }
    return failure
  }

  private func append(_ line: String) {
    if hasFailed { return }
    let bytes = Array((line + "\n").utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 {
        hasFailed = true
        failure = "\(file): \(String(cString: strerror(errno))); the session is recorded no further"
        return
      }
      written += count
    }
  }
}
