import Glibc
import RunnelBase

/// Standard output; each write is passed to the system before it returns.
///
/// Text leaves the program only here and in `StandardError`. A key or a file may contain characters
/// that a terminal obeys instead of showing. So messages are printed with control characters
/// escaped, and so is data if the output is a terminal. Data for anything else is exact.
enum StandardOutput {
  /// The reader of the output is gone.
  struct Closed: Error {}

  /// True if the output goes to a terminal.
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// True if the output is a pipe, whose reader may go away.
  static var isPipe: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Prints a message for people, always with control characters escaped.
  ///
  /// - Throws: `Closed` if the output's reader is gone, `Failure` if it cannot be written.
  static func say(_ text: String) throws {
    try writeAll(Array(CommandLineText.escaped(text).utf8))
  }

  /// Writes data in whole UTF-8 characters; control characters are escaped if the output is a
  /// terminal.
  ///
  /// - Throws: `Closed` if the output's reader is gone, `Failure` if it cannot be written.
  static func write(_ bytes: some Collection<UInt8>) throws { try writeAll(prepared(bytes)) }

  /// Writes a text as data, in UTF-8.
  ///
  /// - Throws: `Closed` if the output's reader is gone, `Failure` if it cannot be written.
  static func write(_ text: String) throws { try write(text.utf8) }

  /// Returns data in the form that `writeSome` needs.
  static func prepared(_ bytes: some Collection<UInt8>) -> [UInt8] {
    isTerminal ? ControlCharacters.escaped(bytes) : Array(bytes)
  }

  private static func writeAll(_ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
      written += try writeSome(bytes[written...])
    }
  }

  /// Writes as many prepared bytes as the system accepts at once; returns their number.
  ///
  /// - Throws: `Closed` if the output's reader is gone, `Failure` if they cannot be written.
  static func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    switch errno {
    case EINTR: return 0
    case EAGAIN:
      // Another process made the descriptor non-blocking.
      var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
      _ = poll(&waiting, 1, -1)
      return 0
    case EPIPE: throw Closed()
    case EBADF: throw Failure("Standard output is closed: give it somewhere to go.")
    default: throw Failure.system("Standard output cannot be written")
    }
  }
}

/// Standard error, for messages to people.
enum StandardError {
  /// True if it is a terminal.
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Prints a message on a line of its own, after the program's name.
  static func say(_ message: String) { write("runnel: \(message)\n") }

  /// Writes text with control characters escaped; if that fails, the text is lost, because the
  /// failure cannot be reported either.
  static func write(_ text: String) { writeAll(CommandLineText.escaped(text)) }

  /// Returns to the start of the line, and clears it.
  static func clearLine() { writeAll("\r\u{1B}[K") }

  /// Writes text that a terminal cuts at its edge: the rest of it would not be cleared.
  static func writeOnOneLine(_ text: String) {
    writeAll("\u{1B}[?7l")
    write(text)
    writeAll("\u{1B}[?7h")
  }

  private static func writeAll(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count < 0, errno != EINTR { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(count, 0)))
      }
    }
  }
}

/// Text for people, which may repeat parts of arguments and files.
enum CommandLineText {
  /// The text with control characters escaped.
  ///
  /// Only the program ends lines: a line feed in a command-line argument, which messages repeat, is
  /// escaped, so that the name of a file cannot look like a message.
  static func escaped(_ text: String) -> String {
    var text = text
    for word in words where text.contains(word) {
      text = text.replacing(word, with: ControlCharacters.escapedLine(word))
    }
    return ControlCharacters.escaped(text)
  }

  /// The arguments that contain line feeds, and their values, the longest first.
  private static let words: [String] = GivenArguments.current.texts
    .flatMap { word in
      [word] + (word.firstIndex(of: "=").map { [String(word[word.index(after: $0)...])] } ?? [])
    }
    .filter { $0.contains { $0.isNewline } && !$0.allSatisfy(\.isWhitespace) }
    .sorted { $0.utf8.count > $1.utf8.count }
}
