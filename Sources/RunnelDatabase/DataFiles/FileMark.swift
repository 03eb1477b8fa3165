import Glibc

/// What a file holds, by its size and a checksum, whatever its times say.
package struct FileMark: Hashable, Sendable {
  /// The size in bytes.
  package let byteCount: Int
  private let checksum: UInt64

  /// Marks these bytes.
  ///
  /// O(n) in the bytes, as quick as they can be read.
  package init(_ bytes: UnsafeRawBufferPointer) {
    byteCount = bytes.count
    checksum = Checksum.hash(bytes, seed: 0)
  }

  /// Marks what a file holds now; nil if it cannot be read.
  ///
  /// O(n) in the file, which is mapped into memory.
  package init?(of file: String) {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let count = Int(status.st_size)
    if count == 0 {
      self.init(UnsafeRawBufferPointer(start: nil, count: 0))
      return
    }
    guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else { return nil }
    defer { munmap(address, count) }
    self.init(UnsafeRawBufferPointer(start: address, count: count))
  }

  /// The mark as a text, which `init(text:)` reads.
  package var text: String { "\(byteCount) \(String(checksum, radix: 16))" }

  /// Reads what `text` made; nil for any other text.
  package init?(text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let byteCount = Int(words[0]), byteCount >= 0,
      let checksum = UInt64(words[1], radix: 16)
    else { return nil }
    (self.byteCount, self.checksum) = (byteCount, checksum)
  }
}
