import Glibc
import RunnelBase

/// Standard output; each write is handed to the system before it returns.
///
/// Here and in `StandardError` text leaves the program, and nowhere else. What a terminal would obey
/// instead of showing, a key or a file may hold: so what is said to people has it written out, and so has
/// data if the output is a terminal. Data that goes elsewhere is exact.
enum StandardOutput {
  /// Nobody reads the output any more.
  struct Closed: Error {}

  /// True if the output goes to a terminal.
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// True if the output goes to a pipe, whose reader may go away.
  static var isPipe: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Says something to people, without control characters wherever it goes.
  ///
  /// - Throws: `Closed` if nobody reads it, `Failure` if it cannot be written.
  static func say(_ text: String) throws {
    try writeAll(Array(CommandLineText.escaped(text).utf8))
  }

  /// Writes data, in whole letters of UTF-8; to a terminal without control characters.
  ///
  /// - Throws: `Closed` if nobody reads them, `Failure` if they cannot be written.
  static func write(_ bytes: some Collection<UInt8>) throws { try writeAll(prepared(bytes)) }

  /// Writes data that is a text, in UTF-8.
  ///
  /// - Throws: `Closed` if nobody reads it, `Failure` if it cannot be written.
  static func write(_ text: String) throws { try write(text.utf8) }

  /// Data as `writeSome` is to be given it.
  static func prepared(_ bytes: some Collection<UInt8>) -> [UInt8] {
    isTerminal ? ControlCharacters.escaped(bytes) : Array(bytes)
  }

  private static func writeAll(_ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
      written += try writeSome(bytes[written...])
    }
  }

  /// Writes as many of prepared bytes as the system takes at once; returns how many.
  ///
  /// - Throws: `Closed` if nobody reads them, `Failure` if they cannot be written.
  static func writeSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    switch errno {
    case EINTR: return 0
    case EAGAIN:
      // Someone else made the descriptor non-blocking.
      var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
      _ = poll(&waiting, 1, -1)
      return 0
    case EPIPE: throw Closed()
    case EBADF: throw Failure("Standard output is closed: give it somewhere to go.")
    default: throw Failure.system("Standard output cannot be written")
    }
  }
}

/// Standard error, for what is said to people.
enum StandardError {
  /// True if it is a terminal.
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Says something in a line of its own, with the program's name.
  static func say(_ message: String) { write("runnel: \(message)\n") }

  /// Writes text without control characters; what cannot be written is lost, for there is nobody to tell.
  static func write(_ text: String) { writeAll(CommandLineText.escaped(text)) }

  /// Goes back to the start of the line, and empties it.
  static func clearLine() { writeAll("\r\u{1B}[K") }

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

/// Text for people, in which anything may stand that was given or stored.
enum CommandLineText {
  /// The text without control characters.
  ///
  /// The lines are the program's own: a line feed in a word of the command line, which messages repeat, is
  /// written out, so that no file is called what looks like a message.
  static func escaped(_ text: String) -> String {
    var text = text
    for word in words where text.contains(word) {
      text = text.replacing(word, with: ControlCharacters.escapedLine(word))
    }
    return ControlCharacters.escaped(text)
  }

  /// The words of the command line that have line feeds, and the values in them, the longest first.
  private static let words: [String] = CommandLine.arguments.dropFirst()
    .flatMap { word in
      [word] + (word.firstIndex(of: "=").map { [String(word[word.index(after: $0)...])] } ?? [])
    }
    .filter { $0.contains { $0.isNewline } && !$0.allSatisfy(\.isWhitespace) }
    .sorted { $0.utf8.count > $1.utf8.count }
}
