import Glibc

/// The beginning of a log: what its header says or, if that is damaged, what its frames tell of it.
///
/// SQLite takes a log for empty if the checksum of its header is wrong. Every frame repeats the salts of the
/// header, and the checksum of each goes on from the one before, so that the frames can be read all the same.
///
/// Source: SQLite, "Database File Format", section 4.1.
struct LogStart {
  let pageSize: Int
  /// The salts, which every frame of this log repeats.
  let salts: [UInt8]
  let isBigEndian: Bool
  /// The sums from which that of the first frame may go on.
  let sums: [LogSum]
  /// Whether SQLite takes the header for sound.
  let isHeadSound: Bool
  /// Whether the checksum of the first frame cannot be computed any more, as nothing of the header is left.
  private(set) var isFirstUnknown = false

  var frameBytes: Int { LogHead.frameHeadBytes + pageSize }

  /// The possible sizes of a page; the usual one is tried first.
  private static let pageSizes = [4096] + (9...16).map { 1 << $0 }.filter { $0 != 4096 }
  /// The header's first bytes, without the bit for the order of bytes, and the version of the format.
  private static let magic: [UInt8] = [0x37, 0x7F, 0x06, 0x82]
  private static let version: [UInt8] = [0x00, 0x2D, 0xE2, 0x18]

  /// Reads the beginning of a log; nil if neither header nor frames tell it.
  init?(_ descriptor: Int32) {
    guard let head = LogCheck.bytes(descriptor, LogHead.byteCount, at: 0) else { return nil }
    if let sound = LogStart(soundHead: head) {
      self = sound
      return
    }
    for pageSize in LogStart.pageSizes {
      for isBigEndian in [true, false] {
        if let found = LogStart(descriptor, damaged: head, pageSize, isBigEndian) {
          self = found
          return
        }
      }
    }
    return nil
  }

  /// Takes a header; nil if SQLite does not take it for one.
  init?(soundHead head: [UInt8]) {
    guard head.starts(with: LogStart.magic.dropLast()), head[3] & 0xFE == LogStart.magic[3] else {
      return nil
    }
    isBigEndian = head[3] & 1 == 1
    pageSize = LogCheck.number(head[8..<12])
    salts = Array(head[16..<24])
    var sum = LogSum(isBigEndian: isBigEndian)
    sum.add(head[..<24])
    guard LogStart.pageSizes.contains(pageSize),
      sum == LogSum(isBigEndian: isBigEndian, stored: head[24..<32])
    else { return nil }
    sums = [sum]
    isHeadSound = true
  }

  /// Takes the first frames of a log; nil if they do not follow each other so.
  private init?(
    _ descriptor: Int32, damaged head: [UInt8], _ pageSize: Int, _ isBigEndian: Bool
  ) {
    let frameBytes = LogHead.frameHeadBytes + pageSize
    func frame(_ index: Int) -> [UInt8]? {
      LogCheck.bytes(descriptor, frameBytes, at: LogHead.byteCount + index * frameBytes)
    }
    guard let first = frame(0), LogCheck.number(first[..<4]) > 0 else { return nil }
    self.pageSize = pageSize
    self.isBigEndian = isBigEndian
    salts = Array(first[8..<16])
    isHeadSound = false
    // Either the sum of the header or what it is made of is damaged.
    var mended = LogStart.magic + LogStart.version
    mended[3] |= isBigEndian ? 1 : 0
    mended += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: pageSize >> $0) }
    mended += head[12..<16] + salts
    var computed = LogSum(isBigEndian: isBigEndian)
    computed.add(mended[...])
    sums = [computed, LogSum(isBigEndian: isBigEndian, stored: head[24..<32])]
    let sum = LogSum(isBigEndian: isBigEndian, stored: first[16..<24])
    let isFirstWhole = sums.contains { start in
      var start = start
      start.add(frame: first)
      return start == sum
    }
    if isFirstWhole { return }
    guard let second = frame(1), second[8..<16].elementsEqual(salts) else { return nil }
    var next = sum
    next.add(frame: second)
    guard next == LogSum(isBigEndian: isBigEndian, stored: second[16..<24]) else { return nil }
    isFirstUnknown = true
  }
}
