import Glibc

/// A document to read as a whole: a file, mapped into memory where that is possible, or standard
/// input.
struct InputDocument: ~Copyable {
  /// The name that stands for standard input.
  static let standardInputName = "-"

  /// The name of the document in messages.
  let name: String
  private let contents: Contents

  private enum Contents {
    case mapped(UnsafeRawBufferPointer)
    case bytes([UInt8])
  }

  /// Opens a file, or reads standard input if `file` is `-`.
  ///
  /// - Throws: `Failure` if it cannot be read, `Interruption.Stopped` if a signal came.
  init(_ file: FileName, interruption: Interruption? = nil) throws {
    if file.isStandard {
      name = "standard input"
      contents = .bytes(try StandardInput.readAll(interruption: interruption))
    } else {
      name = file.shown
      contents = try InputDocument.open(file, interruption)
    }
  }

  deinit {
    if case .mapped(let buffer) = contents {
      // It fails only for an address that is not mapped.
      munmap(UnsafeMutableRawPointer(mutating: buffer.baseAddress), buffer.count)
    }
  }

  /// Calls `body` with the bytes, which stay in place until it returns.
  func withBytes<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    switch contents {
    case .mapped(let buffer): try body(buffer.assumingMemoryBound(to: UInt8.self))
    case .bytes(let bytes): try bytes.withUnsafeBufferPointer(body)
    }
  }

  private static func open(_ name: FileName, _ interruption: Interruption?) throws -> Contents {
    // A named pipe without a writer must not keep a signal waiting.
    let descriptor = Glibc.open(name.cString, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    let file = name.shown
    if descriptor < 0 { throw Failure.system("\(file) cannot be read") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.system("\(file) cannot be read") }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw Failure("\(file) is a folder: name a file with JSON in it.")
    }
    if status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
      let address = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
      if let address, address != MAP_FAILED {
        madvise(address, Int(status.st_size), MADV_SEQUENTIAL)
        return .mapped(UnsafeRawBufferPointer(start: address, count: Int(status.st_size)))
      }
    }
    return .bytes(try readAll(descriptor, file, interruption))
  }

  private static func readAll(
    _ descriptor: Int32, _ file: String, _ interruption: Interruption?
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if let interruption {
        try interruption.wait(forInput: descriptor)
      } else {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, -1)
      }
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR, errno != EAGAIN {
        throw Failure.system("\(file) cannot be read")
      }
    }
  }
}
