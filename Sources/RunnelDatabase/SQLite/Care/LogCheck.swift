import Glibc

/// The damage of a log: SQLite reads it up to the first frame whose checksum is wrong, and takes the rest
/// for what a crash left, without a word.
///
/// A crash leaves no whole write behind such a frame. So a log with writes there is damaged, and so is a
/// long log without a header.
///
/// Source: SQLite, "Database File Format", sections 4.1 and 4.2.
enum LogCheck {
  /// The words for the damage of the log beside a file; nil if it has none, or there is no log.
  ///
  /// O(n) in the log.
  static func damage(ofLogBeside file: String) -> String? {
    let descriptor = open(file + "-wal", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // The log itself is never locked, so closing this descriptor releases no lock.
    defer { close(descriptor) }
    guard let head = bytes(descriptor, 32, at: 0) else { return nil }
    let pageSize = number(head[8..<12])
    let isHead = head.starts(with: [0x37, 0x7F, 0x06]) && head[3] & 0xFE == 0x82
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    guard isHead, (512...65_536).contains(pageSize) else {
      return status.st_size > 32 + 24 + 512
        ? "its header is damaged, so none of its \(status.st_size) bytes can be read" : nil
    }
    return damage(descriptor, head, pageSize, size: Int(status.st_size))
  }

  private static func damage(
    _ descriptor: Int32, _ head: [UInt8], _ pageSize: Int, size: Int
  ) -> String? {
    let isBigEndian = head[3] & 1 == 1
    var sum = Sum(isBigEndian: isBigEndian)
    sum.add(head[..<24])
    let count = (size - 32) / (24 + pageSize)
    var wrong: Int?
    var lost = 0
    for frame in 0..<max(count, 0) {
      guard let found = bytes(descriptor, 24 + pageSize, at: 32 + frame * (24 + pageSize)),
        // What an earlier use of the log left has other salts.
        found[8..<16].elementsEqual(head[16..<24])
      else { break }
      if wrong == nil {
        sum.add(found[..<8])
        sum.add(found[24...])
        if sum.first == number(found[16..<20]), sum.second == number(found[20..<24]) { continue }
        wrong = frame
      } else if number(found[4..<8]) > 0 {
        // The last frame of a write says how large the file is after it.
        lost += 1
      }
    }
    guard let wrong, lost > 0 else { return nil }
    return
      "its part \(wrong + 1) of \(count) is damaged, so \(lost) writes behind it cannot be read"
  }

  private static func bytes(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The running checksum of a log.
  private struct Sum {
    let isBigEndian: Bool
    private var sums: (UInt32, UInt32) = (0, 0)

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    var first: Int { Int(sums.0) }
    var second: Int { Int(sums.1) }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      bytes.withUnsafeBytes { raw in
        for offset in stride(from: 0, to: raw.count, by: 8) {
          sums.0 &+= word(raw, offset) &+ sums.1
          sums.1 &+= word(raw, offset + 4) &+ sums.0
        }
      }
    }

    private func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
      let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
  }
}
