import Glibc
import RunnelDatabase

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
  /// - Throws: `Failure` if it cannot be read, `Interruption.Stopped` if a signal arrived.
  init(
    _ file: FileName, _ content: InputContent = .json, interruption: Interruption? = nil
  ) throws {
    if file.isStandard {
      name = "standard input"
      contents = .bytes(try StandardInput.readAll(content, interruption: interruption))
    } else {
      name = file.shown
      contents = try InputDocument.open(file, content, interruption)
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

  private static func open(
    _ name: FileName, _ content: InputContent, _ interruption: Interruption?
  ) throws -> Contents {
    // A named pipe without a writer must not block the handling of signals.
    let descriptor = Glibc.open(name.cString, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    let file = name.shown
    if descriptor < 0 { throw Failure.system("\(file) cannot be read") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.system("\(file) cannot be read") }
    let kind = status.st_mode & S_IFMT
    if let other = FileKind.words(kind), kind != S_IFIFO, isatty(descriptor) == 0 {
      throw Failure("\(file) is \(other): name a file.")
    }
    if kind == S_IFREG, status.st_size > 0 {
      let address = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
      if let address, address != MAP_FAILED {
        madvise(address, Int(status.st_size), MADV_SEQUENTIAL)
        return .mapped(UnsafeRawBufferPointer(start: address, count: Int(status.st_size)))
      }
    }
    if kind == S_IFIFO, !hasWriter(descriptor) {
      throw Failure(
        "\(file) is a pipe that nobody writes to: begin to write first, or name a file.")
    }
    return .bytes(
      try StandardInput.readAll(
        content, from: descriptor, named: file, interruption: interruption))
  }

  /// Returns whether a pipe has data to read, or a writer.
  private static func hasWriter(_ descriptor: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, 0) > 0 { return true }
    // A read returns 0 at the end of the data, and fails if it would have to wait for a writer.
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) < 0
  }
}
