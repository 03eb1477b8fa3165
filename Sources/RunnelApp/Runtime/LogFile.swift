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
    if let reason = reasonNotAdded(to: path) {
      throw ConfigurationError(file: path, line: nil, reason)
    }
    let descriptor = open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 {
      throw ConfigurationError(
        file: path, line: nil, "The log cannot be written: \(String(cString: strerror(errno))).")
    }
    LoggingSystem.bootstrap { FileLogHandler(label: $0, descriptor: descriptor) }
  }

  /// The most bytes of a file that are read to know a log.
  private static let beginningBytes = 64

  /// The reason why lines are not added to a file, or nil: it has content, and its first line is none of a
  /// log.
  static func reasonNotAdded(to path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return nil
    }
    let words = "This file is there and is not a log of runnel, so nothing is added to it."
    let way = "Name another file for the log."
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    // What cannot be read cannot be known; it may be any file.
    guard descriptor >= 0 else { return "\(words) It cannot be read. \(way)" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: beginningBytes)
    let count = read(descriptor, &bytes, bytes.count)
    let start = String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
    return FileLogHandler.isLine(start) ? nil : "\(words) \(way)"
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

  /// The time of a line, with zeros for its digits.
  private static let timeForm = "0000-00-00T00:00:00Z"

  /// The beginning of a line: the time, in milliseconds since 1970, and the level.
  static func start(at milliseconds: Int64, level: String) -> String {
    let time = CivilTime(milliseconds: milliseconds)
    let seconds = time.second < 10 ? "0\(time.second)" : "\(time.second)"
    return "\(time.dateText)T\(time.timeText):\(seconds)Z \(level) "
  }

  /// Whether a text is the beginning of a line of a log.
  static func isLine(_ start: String) -> Bool {
    let form = start.prefix(timeForm.count).map { $0.isASCII && $0.isNumber ? "0" : $0 }
    guard String(form) == timeForm else { return false }
    let rest = start.dropFirst(timeForm.count)
    return Logger.Level.allCases.contains { rest.hasPrefix(" \($0) ") }
  }

  func log(event: LogEvent) {
    var line = FileLogHandler.start(at: LocalTime.now(), level: "\(event.level)") + "\(label): "
    line += event.message.description
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
    line += "\n"
    let bytes = Array(line.utf8)
    // An error of the log cannot be reported anywhere.
    _ = write(descriptor, bytes, bytes.count)
  }
}
