import Glibc

/// Asks the terminal how many columns it gives to some texts, and compares them with this package's
/// rules.
///
/// Each sample is drawn at the beginning of a line, the terminal is asked for the position of its
/// cursor, and the line is cleared again. A screen draws only text on whose width all terminals
/// agree, so a difference explains what other programs show, but seldom what this one does.
package struct WidthProbe: Hashable, Sendable {
  /// A text and the columns it took.
  package struct Answer: Hashable, Sendable {
    /// The name of the sample.
    package var name: String
    /// The columns that this package counts.
    package var expected: Int
    /// The columns that the terminal used.
    package var measured: Int
  }

  private static let samples = [
    ("a Chinese sign", "漢"), ("a letter with an accent", "e\u{301}"), ("an emoji", "😀"),
    ("a box", "─"),
  ]
  private static let patienceMilliseconds: Int32 = 200
  private static let clearing = "\r\u{1B}[K"

  /// The terminal's answers; nil if there is no terminal, or it does not answer.
  package static func run() -> [Answer]? {
    let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var saved = termios()
    guard tcgetattr(descriptor, &saved) == 0 else { return nil }
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard tcsetattr(descriptor, TCSAFLUSH, &raw) == 0 else { return nil }
    defer {
      send(clearing, to: descriptor)
      // This discards an answer that came too late, so that the shell does not read it.
      tcsetattr(descriptor, TCSAFLUSH, &saved)
    }
    var answers: [Answer] = []
    for (name, text) in samples {
      send("\r\(text)\u{1B}[6n", to: descriptor)
      guard let column = column(in: read(from: descriptor)) else { return nil }
      answers.append(
        Answer(name: name, expected: CellWidth.width(of: text), measured: column - 1))
    }
    return answers
  }

  private static func send(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    // If the write fails there is no answer, which is reported.
    _ = write(descriptor, bytes, bytes.count)
  }

  /// Reads until the end of an answer, or until no more input comes.
  private static func read(from descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64)
    while bytes.last != UInt8(ascii: "R") {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, patienceMilliseconds) > 0 else { break }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// The column of a cursor report, `ESC [ row ; column R`; nil if it is not one.
  static func column(in bytes: [UInt8]) -> Int? {
    guard bytes.last == UInt8(ascii: "R"),
      let start = bytes.lastIndex(of: UInt8(ascii: "[")),
      start > 0, bytes[start - 1] == 0x1B
    else { return nil }
    let parts = bytes[(start + 1)...].dropLast().split(separator: UInt8(ascii: ";"))
    guard parts.count == 2 else { return nil }
    return Int(String(decoding: parts[1], as: UTF8.self))
  }
}
