import Glibc
import RunnelBase
import RunnelTree
import Synchronization

/// The body of a request that is too large for memory: a file beside the database, which is removed
/// when this object is released.
///
/// One thread at a time writes it.
final class SpooledBody: Sendable {
  fileprivate static let serverValue = Array("\".sv\"".utf8)

  private let file: String
  private let descriptor: Int32
  private let size = Mutex<Int>(0)
  private let search = Mutex(Search())

  /// What was found in the bytes.
  private struct Search {
    /// The last bytes, with which the next ones may be sought.
    var end: [UInt8] = []
    var holdsServerValue = false
  }

  /// Makes the file, which has no name.
  ///
  /// - Throws: `TreeError` (`unavailable`) if it cannot be made.
  init(beside file: String) throws(TreeError) {
    self.file = file
    var name = Array((file + "-put-XXXXXX").utf8CString)
    descriptor = mkstemp(&name)
    if descriptor < 0 { throw SpooledBody.failure }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// Adds a piece.
  ///
  /// - Throws: `TreeError` (`unavailable`) if the disk is full.
  func append(_ piece: [UInt8]) throws(TreeError) {
    var rest = piece[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { throw SpooledBody.failure }
      rest = rest.dropFirst(count)
    }
    size.withLock { $0 += piece.count }
    search.withLock { search in
      if search.holdsServerValue { return }
      let rest = SpooledBody.serverValue.count - 1
      search.holdsServerValue =
        (search.end + piece.prefix(rest)).holdsServerValue || piece.holdsServerValue
      search.end = Array((search.end + piece.suffix(rest)).suffix(rest))
    }
  }

  /// The document with its server values resolved: this one if it has none, or is no JSON.
  ///
  /// - Throws: `TreeError` (`invalidValue` with the place) for a server value that is not known, `TreeError`
  ///   (`unavailable`) if the disk is full, and the errors of the reader.
  func resolved(
    at path: Path, now: Int64, _ reader: some TreeReader
  ) throws -> SpooledBody {
    guard search.withLock({ $0.holdsServerValue }) else { return self }
    let result = try SpooledBody(beside: file)
    do {
      try withBytes { bytes, wasRead in
        try ServerValueText.resolve(bytes, at: path, now: now, reader: reader) { piece, readBytes in
          try result.append(piece)
          wasRead(readBytes)
        }
      }
    } catch is JSONError {
      // The import tells what is wrong.
      return self
    }
    return result
  }

  /// Calls `body` with all bytes, and a function to call with the number of bytes that were read: those
  /// take no memory any more.
  ///
  /// - Throws: `TreeError` (`unavailable`) if they cannot be read, and the errors of `body`.
  func withBytes<Result>(
    _ body: (UnsafeBufferPointer<UInt8>, _ wasRead: @escaping (Int) -> Void) throws -> Result
  ) throws -> Result {
    let size = size.withLock { $0 }
    guard size > 0 else { return try body(UnsafeBufferPointer(start: nil, count: 0), { _ in }) }
    guard let address = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else { throw SpooledBody.failure }
    let mapping = Mapping(address)
    defer {
      mapping.end()
      // This fails only for an address that is not mapped.
      munmap(address, size)
    }
    madvise(address, size, MADV_SEQUENTIAL)
    return try body(
      UnsafeBufferPointer(start: address.assumingMemoryBound(to: UInt8.self), count: size)
    ) { mapping.release(upTo: $0) }
  }

  /// The pages of the file in memory.
  private final class Mapping {
    private static let releasedBytesMin = 8 << 20

    private var address: UnsafeMutableRawPointer?
    private var released = 0

    init(_ address: UnsafeMutableRawPointer) { self.address = address }

    /// Gives back the pages of the first bytes; they are read from the file if they are needed again.
    func release(upTo count: Int) {
      guard let address, count - released >= Mapping.releasedBytesMin else { return }
      let end = count & ~(Mapping.releasedBytesMin - 1)
      madvise(address + released, end - released, MADV_DONTNEED)
      released = end
    }

    func end() { address = nil }
  }

  private static let failure = TreeError(
    .unavailable, "The server cannot keep so much for a while: its disk may be full.")
}

extension [UInt8] {
  /// True if the name of a server value is in the bytes, with its quotes.
  fileprivate var holdsServerValue: Bool {
    let name = SpooledBody.serverValue
    return withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      var place = 0
      // The point is rarer than the quote before it.
      while place + name.count <= bytes.count,
        let point = memchr(start + place + 1, 0x2E, bytes.count - place - 1)
      {
        place = UnsafeRawPointer(point) - start - 1
        if bytes[place...].starts(with: name) { return true }
        place += 1
      }
      return false
    }
  }
}
