import Glibc
import RunnelStore
import RunnelTerminal
import RunnelWorkspace

/// Writes the actions of a session to a file, line by line as they are reduced, in the format of
/// `ActionLog`.
///
/// Each line is with the system before its action is reduced, so that what led to a crash is there.
final class SessionRecorder {
  private let file: String
  private let descriptor: Int32
  /// Why the rest of the session is not recorded, until it is taken; nil if all is well.
  private var failure: String?
  private var hasFailed = false

  /// Begins a file; one that is there is replaced, and only the user may read it.
  ///
  /// - Throws: `ConfigurationError` if it cannot be written.
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
  func record(_ entry: LoggedAction) { append(entry.line) }

  /// What went wrong since this was asked last; told once.
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
