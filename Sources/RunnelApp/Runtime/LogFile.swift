import Glibc
import Logging
import RunnelBase
import RunnelDatabase
import RunnelWorkspace

/// The program's log, which goes to a given file or nowhere.
///
/// Standard error is the screen while the workspace is open, so the log never goes there.
public enum LogFile {
  /// Sends the log of the whole program to a file; must be called once, before anything is logged.
  ///
  /// Lines are appended to the file: the time in UTC, the level, the part of the program, and the
  /// message.
  ///
  /// - Parameter path: the file; nil to log nothing.
  /// - Throws: `ConfigurationError` if the file cannot be written.
  public static func start(_ path: String?) throws {
    guard let path else {
      LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
      return
    }
    if FileKind.otherThanFile(path) == "a pipe" {
      // It would wait for a reader.
      throw ConfigurationError(file: path, line: nil, "The log cannot be written into a pipe.")
    }
    let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      throw ConfigurationError(
        file: path, line: nil, "The log cannot be written: \(String(cString: strerror(errno))).")
    }
    LoggingSystem.bootstrap { FileLogHandler(label: $0, descriptor: descriptor) }
  }
}

/// Writes each message as one line with one system call, so that lines of threads do not mix.
struct FileLogHandler: LogHandler {
  let label: String
  let descriptor: Int32
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  init(label: String, descriptor: Int32) {
    self.label = label
    self.descriptor = descriptor
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let time = CivilTime(milliseconds: LocalTime.now())
    let seconds = time.second < 10 ? "0\(time.second)" : "\(time.second)"
    var line = "\(time.dateText)T\(time.timeText):\(seconds)Z \(event.level) \(label): "
    line += event.message.description
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
    line += "\n"
    let bytes = Array(line.utf8)
    // An error of the log cannot be reported anywhere.
    _ = write(descriptor, bytes, bytes.count)
  }
}
