import Glibc
import RunnelTerminal

/// A file that a command creates, or replaces as a whole when it is complete.
struct OutputFile {
  private let name: FileName

  init(_ name: FileName) { self.name = name }

  /// Returns if the file does not exist yet, or if there is consent to replace it.
  ///
  /// - Throws: `Failure` as for `Consent.require`.
  func consent(_ consent: Consent) throws {
    guard access(name.cString, F_OK) == 0 else { return }
    try consent.require("Replace \(name.shown)?", because: "\(name.shown) is there already.")
  }

  /// The ends of the names of the files that stand beside a database.
  private static let suffixes = ["-wal", "-shm", "-notify", "-link", "-link-state", "-refused"]

  /// True if the file is a database, or one of the files that stand beside a database.
  var isOfDatabase: Bool {
    holdsDatabase
      || OutputFile.suffixes.contains { suffix in
        let bytes = Array(name.bytes.dropLast(suffix.utf8.count))
        return name.bytes == bytes + Array(suffix.utf8)
          && OutputFile(FileName(bytes: bytes)).holdsDatabase
      }
  }

  /// True if the file exists and is a database.
  private var holdsDatabase: Bool {
    let descriptor = open(name.cString, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: DatabaseOptions.mark.count)
    return read(descriptor, &head, head.count) == head.count && head == DatabaseOptions.mark
  }

  /// Writes the whole file; if that fails, the old file stays.
  ///
  /// - Throws: `Failure` if it cannot be written.
  func write(_ bytes: [UInt8]) throws {
    removeLeft()
    let part = FileName(bytes: name.bytes + Array(".part-\(getpid())".utf8))
    let descriptor = open(part.cString, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw failure }
    let isWritten = OutputFile.write(bytes[...], to: descriptor)
    let isClosed = close(descriptor) == 0
    if isWritten, isClosed, rename(part.cString, name.cString) == 0 { return }
    let failure = failure
    // The incomplete file is useless.
    unlink(part.cString)
    throw failure
  }

  /// Removes what commands that were killed have left beside the file; those that run are left alone.
  private func removeLeft() {
    let split = name.bytes.lastIndex(of: UInt8(ascii: "/"))
    let folder = split.map { $0 == 0 ? "/" : String(decoding: name.bytes[..<$0], as: UTF8.self) }
    let last = String(decoding: name.bytes[(split.map { $0 + 1 } ?? 0)...], as: UTF8.self)
    if last.isEmpty { return }
    let left = LeftFile.paths(in: folder ?? ".", prefix: "\(last).part-") { $0.isEmpty }
    // One that cannot be removed is in nobody's way.
    for path in left { unlink(path) }
  }

  private var failure: Failure { Failure.system("\(name.shown) cannot be written") }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { return false }
      rest = rest.dropFirst(max(count, 0))
    }
    return true
  }
}
