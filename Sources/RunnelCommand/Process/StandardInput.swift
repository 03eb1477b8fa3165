import Glibc
import RunnelBase

/// The expected content of an input that is read to its end.
enum InputContent {
  /// A JSON document.
  case json
  /// A text, with a limit in bytes.
  case text(bytesMax: Int)
}

/// Standard input, for data.
enum StandardInput {
  private static let chunkBytes = 1 << 16

  /// True if it is a terminal.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

  /// Reads all of standard input, or of another descriptor; a signal to stop ends the wait for
  /// more.
  ///
  /// An endless input is not read forever: JSON ends with the first byte that cannot belong to it,
  /// and any other text at its limit.
  ///
  /// - Throws: `Failure` if it cannot be read, `Interruption.Stopped` if a signal arrived.
  static func readAll(
    _ content: InputContent, from descriptor: Int32 = STDIN_FILENO,
    named name: String = "standard input", interruption: Interruption? = nil
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var prefix = JSONPrefix()
    while true {
      try interruption?.wait(forInput: descriptor)
      let chunk = try readSome(descriptor, named: name)
      if chunk.isEmpty { return bytes }
      bytes += chunk
      switch content {
      // The reader of the bytes reports the mistake.
      case .json: if !prefix.accepts(chunk[...]) { return bytes }
      case .text(let bytesMax):
        if bytes.count > bytesMax {
          throw Failure("\(name) has more than \(bytesMax >> 10) KiB: make it smaller.")
        }
      }
    }
  }

  /// What a question like `Code: ` asks for.
  private static func word(in question: String) -> String {
    question.prefix { $0 != ":" }.lowercased()
  }

  /// Asks at the terminal for a secret, which is not shown while it is typed; or reads a line of what is no
  /// terminal.
  ///
  /// `option` names a file with the secret, for the failure; nil if there is none.
  ///
  /// - Throws: `Failure` if it cannot be read.
  static func secret(_ question: String, otherwise option: String? = nil) throws -> String {
    try hidden {
      let isAsked = isTerminal
      if isAsked { StandardError.write(question) }
      defer { if isAsked { StandardError.write("\n") } }
      var lines = StandardInputLines()
      guard let line = try lines.next() else {
        let advice = option.map {
          ": standard input is empty; give it there, or its file with \($0)"
        }
        throw Failure("No \(StandardInput.word(in: question)) was given\(advice ?? "").")
      }
      return String(decoding: line, as: UTF8.self)
    }
  }

  /// Asks for several secrets: what is typed is not shown from the first prompt to the last, so that what is typed
  /// ahead is hidden, too.
  ///
  /// - Throws: the errors of `ask`.
  static func hidden<Result>(_ ask: () throws -> Result) throws -> Result {
    var before = termios()
    // Within another call it is hidden already, and what was typed ahead is for the next prompt.
    guard isTerminal, tcgetattr(STDIN_FILENO, &before) == 0, before.c_lflag & tcflag_t(ECHO) != 0
    else { return try ask() }
    var hidden = before
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // It fails only for what is no terminal.
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
    return try ask()
  }

  /// Reads the available bytes, and waits for at least one; returns an empty array at the end.
  ///
  /// - Throws: `Failure` if it cannot be read.
  static func readSome(
    _ descriptor: Int32 = STDIN_FILENO, named name: String = "standard input"
  ) throws -> [UInt8] {
    while true {
      var count = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: chunkBytes) { buffer, initialized in
        count = read(descriptor, buffer.baseAddress, buffer.count)
        initialized = max(count, 0)
      }
      if count >= 0 { return chunk }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // It is a pipe, or another process made the descriptor non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, -1)
      case EBADF: throw Failure("Standard input is closed: give the data by a pipe or a file.")
      default: throw Failure.system("\(name) cannot be read")
      }
    }
  }
}

/// The lines of standard input, one by one as they arrive.
struct StandardInputLines {
  /// The greatest length of a line in bytes: more than any value in the tree needs, with escapes.
  static let lineBytesMax = 64 << 20

  /// The number of lines returned, which is the number of the last one.
  private(set) var count = 0
  private var buffer: [UInt8] = []
  /// The offset of the next line in the buffer.
  private var start = 0
  private var isAtEnd = false

  /// Returns the next line without its line feed, which is optional at the end of the last line;
  /// nil at the end.
  ///
  /// - Throws: `Failure` if standard input cannot be read, or a line is too long.
  mutating func next() throws -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        count += 1
        return buffer[start..<end]
      }
      if isAtEnd { return rest() }
      if buffer.count - start > StandardInputLines.lineBytesMax {
        throw Failure(
          "Line \(count + 1) of standard input has more than "
            + "\(StandardInputLines.lineBytesMax) bytes. Those before it were written.")
      }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      let chunk = try StandardInput.readSome()
      isAtEnd = chunk.isEmpty
      buffer += chunk
    }
  }

  private mutating func rest() -> ArraySlice<UInt8>? {
    if start == buffer.count { return nil }
    defer { start = buffer.count }
    count += 1
    return buffer[start...]
  }
}
