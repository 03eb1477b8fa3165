import CStorage

/// The running checksum of a log.
///
/// Source: SQLite, "Database File Format", section 4.2.
struct LogSum: Equatable {
  private let isBigEndian: Bool
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  /// Takes a sum as it is stored: two numbers of four bytes.
  init(isBigEndian: Bool, stored: ArraySlice<UInt8>) {
    self.isBigEndian = isBigEndian
    set(stored)
  }

  /// Goes on from a sum as it is stored: two numbers of four bytes.
  mutating func set(_ stored: ArraySlice<UInt8>) {
    let start = stored.startIndex
    set(
      UInt32(truncatingIfNeeded: LogCheck.number(stored[start..<start + 4])),
      UInt32(truncatingIfNeeded: LogCheck.number(stored[(start + 4)..<start + 8])))
  }

  mutating func set(_ first: UInt32, _ second: UInt32) {
    (self.first, self.second) = (first, second)
  }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    var sums = [first, second]
    bytes.withUnsafeBytes {
      runnel_storage_log_sum($0.baseAddress, $0.count, isBigEndian ? 1 : 0, &sums)
    }
    (first, second) = (sums[0], sums[1])
  }

  /// Adds what the sum of a frame is made of: its page and size, and its content.
  mutating func add(frame: [UInt8]) {
    add(frame[..<8])
    add(frame[LogHead.frameHeadBytes...])
  }
}
