import Glibc

/// Standard output, for data; each write is handed to the system before it returns.
enum StandardOutput {
  /// Nobody reads the output any more.
  struct Closed: Error {}

  /// True if the output goes to a terminal.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// True if the output goes to a pipe, whose reader may go away.
  static var isPipe: Bool {
    var status = stat()
    return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Writes bytes.
  ///
  /// - Throws: `Closed` if nobody reads them, `Failure` if they cannot be written.
  static func write(_ bytes: some Sequence<UInt8>) throws {
    let bytes = Array(bytes)
    var written = 0
    while written < bytes.count {
      written += try writeSome(bytes[written...])
    }
  }

  /// Writes a text in UTF-8.
  ///
  /// - Throws: `Closed` if nobody reads it, `Failure` if it cannot be written.
  static func write(_ text: String) throws { try write(text.utf8) }

  /// Writes as many of the bytes as the system takes at once; returns how many.
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
    default: throw Failure.system("Standard output cannot be written")
    }
  }
}

/// Standard error, for what is said to people.
enum StandardError {
  /// True if it is a terminal.
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Says something in a line of its own, with the program's name.
  static func say(_ message: String) { write("runnel: \(message)\n") }

  /// Writes text as it is; what cannot be written is lost, for there is nobody to tell.
  static func write(_ text: String) {
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
