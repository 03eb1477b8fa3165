import CStorage
import Glibc

/// The damage of a log: SQLite reads it up to the first frame whose checksum is wrong, and takes the rest
/// for what a crash left, without a word.
///
/// A crash leaves no whole write behind such a frame. So a log with writes there is damaged, and so is a
/// long log without a header.
///
/// Source: SQLite, "Database File Format", sections 4.1 and 4.2.
enum LogCheck {
  /// The damage of a log.
  struct Damage {
    /// The damage in words: `its part 46 of 183 is damaged, …`.
    var words: String
    /// The number of writes that SQLite does not read because of it; nil if that is not known.
    var lostCount: Int?
    /// True if the damaged frame ends a write: then that one was stored before the next one began.
    var isBehindWholeWrite = false
  }

  /// The number of bytes before the first frame.
  private static let headBytes = 32
  /// The number of bytes before the page of each frame.
  private static let frameHeadBytes = 24

  /// The words for the damage of the log beside a file; nil if it has none, or there is no log.
  ///
  /// O(n) in the log.
  static func damage(ofLogBeside file: String) -> String? { find(besideFile: file)?.words }

  /// Looks for damage of the log beside a file behind which acknowledged writes are lost.
  ///
  /// What a power failure may leave is no damage: a last write of which some frames were not
  /// stored, or a log without any content.
  ///
  /// O(1) if nothing of the present log stands behind the frames that SQLite reads, otherwise O(n)
  /// in the log.
  ///
  /// - Parameters:
  ///   - file: the database file.
  ///   - frames: the number of frames that SQLite reads.
  /// - Returns: the damage; nil if there is none.
  static func loss(besideFile file: String, after frames: Int) -> Damage? {
    if frames > 0, !goesOn(file + "-wal", after: frames) { return nil }
    guard let damage = find(besideFile: file) else { return nil }
    if damage.lostCount == 1, !damage.isBehindWholeWrite { return nil }
    if damage.lostCount != nil { return damage }
    return isEmpty(file + "-wal") ? nil : damage
  }

  /// Whether a frame of the present log stands close behind a number of frames.
  private static func goesOn(_ log: String, after frames: Int) -> Bool {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    guard let head = bytes(descriptor, headBytes, at: 0) else { return false }
    // The salts of the first one may be what is damaged.
    return (frames..<frames + 4).contains { index in
      let place = headBytes + index * (frameHeadBytes + number(head[8..<12]))
      return bytes(descriptor, frameHeadBytes, at: place)?[8..<16]
        .elementsEqual(head[16..<24]) ?? false
    }
  }

  /// Whether the header of a log and its first frame are zeros, as a file that was made longer before
  /// its content was stored.
  private static func isEmpty(_ log: String) -> Bool {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return true }
    defer { close(descriptor) }
    return bytes(descriptor, headBytes + frameHeadBytes, at: 0)?.allSatisfy { $0 == 0 } ?? true
  }

  private static func find(besideFile file: String) -> Damage? {
    let descriptor = open(file + "-wal", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // The log itself is never locked, so closing this descriptor releases no lock.
    defer { close(descriptor) }
    guard let head = bytes(descriptor, headBytes, at: 0) else { return nil }
    let pageSize = number(head[8..<12])
    let isHead = head.starts(with: [0x37, 0x7F, 0x06]) && head[3] & 0xFE == 0x82
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    guard isHead, (512...65_536).contains(pageSize) else {
      return status.st_size > 32 + 24 + 512
        ? Damage(
          words: "its header is damaged, so none of its \(status.st_size) bytes can be read") : nil
    }
    return damage(descriptor, head, pageSize, size: Int(status.st_size))
  }

  private static func damage(
    _ descriptor: Int32, _ head: [UInt8], _ pageSize: Int, size: Int
  ) -> Damage? {
    let count = (size - 32) / (24 + pageSize)
    var wrong: Frame?
    var lost = 0
    forEachFrame(descriptor, head, pageSize, count) { frame, isWhole in
      if wrong == nil {
        if !isWhole { wrong = frame }
      } else if frame.sizeAfter > 0 {
        lost += 1
      }
    }
    guard let wrong, lost > 0 else { return nil }
    let writes = lost == 1 ? "a write" : "\(lost) writes"
    return Damage(
      words:
        "its part \(wrong.index + 1) of \(count) is damaged, so \(writes) behind it cannot be read",
      lostCount: lost, isBehindWholeWrite: wrong.sizeAfter > 0)
  }

  /// Looks for the first damaged frame of those that SQLite would copy to the file.
  ///
  /// O(n) in their number.
  ///
  /// - Parameters:
  ///   - frames: the numbers of the frames, beginning with 0. The one before them counts as sound.
  ///   - log: the path of the log.
  /// - Returns: the number of the frame; nil if none is damaged.
  static func firstDamaged(of frames: Range<Int>, in log: String) -> Int? {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return frames.first }
    defer { close(descriptor) }
    guard let head = bytes(descriptor, headBytes, at: 0) else { return frames.first }
    let frameBytes = frameHeadBytes + number(head[8..<12])
    var sum = Sum(isBigEndian: head[3] & 1 == 1)
    if frames.lowerBound == 0 {
      sum.add(head[..<24])
    } else {
      let place = headBytes + (frames.lowerBound - 1) * frameBytes
      guard let before = bytes(descriptor, frameHeadBytes, at: place) else { return frames.first }
      sum.set(number(before[16..<20]), number(before[20..<24]))
    }
    for index in frames {
      guard let frame = bytes(descriptor, frameBytes, at: headBytes + index * frameBytes),
        frame[8..<16].elementsEqual(head[16..<24])
      else { return index }
      var stored = sum
      stored.set(number(frame[16..<20]), number(frame[20..<24]))
      sum.add(frame[..<8])
      sum.add(frame[24...])
      if sum != stored { return index }
    }
    return nil
  }

  /// A page in a log.
  private struct Frame {
    var index: Int
    /// The number of the page, beginning with 1.
    var page: Int
    /// The number of pages of the file after the write that ends with this frame; zero for the others.
    var sizeAfter: Int
  }

  /// Calls `body` with each frame of a log, and whether it is one of the present use whose bytes are
  /// unchanged.
  private static func forEachFrame(
    _ descriptor: Int32, _ head: [UInt8], _ pageSize: Int, _ count: Int,
    _ body: (Frame, _ isWhole: Bool) -> Void
  ) {
    var sum = Sum(isBigEndian: head[3] & 1 == 1)
    sum.add(head[..<24])
    // The checksum of a frame goes on from the one before. If that one is damaged, either its bytes or
    // its own sum may be wrong.
    var starts = [sum]
    for index in 0..<max(count, 0) {
      guard let found = bytes(descriptor, 24 + pageSize, at: 32 + index * (24 + pageSize)) else {
        return
      }
      var stored = sum
      stored.set(number(found[16..<20]), number(found[20..<24]))
      // What an earlier use of the log left has other salts, and no frame of the present use follows;
      // otherwise they are damaged.
      guard found[8..<16].elementsEqual(head[16..<24]) else {
        body(Frame(index: index, page: number(found[..<4]), sizeAfter: 0), false)
        starts = [stored]
        continue
      }
      let computed = starts.map { start in
        var sum = start
        sum.add(found[..<8])
        sum.add(found[24...])
        return sum
      }
      let isWhole = computed.contains(stored)
      body(
        Frame(index: index, page: number(found[..<4]), sizeAfter: number(found[4..<8])), isWhole)
      starts = isWhole ? [stored] : [stored] + computed
    }
  }

  /// Writes the pages of the log beside a file, as far as they are whole, into a copy of the file; also
  /// those behind a damaged frame, which SQLite does not read.
  ///
  /// O(n) in the log.
  ///
  /// - Parameters:
  ///   - file: the file, which is only read.
  ///   - copy: the copy; it may be empty.
  /// - Returns: false if the log has no page that is whole.
  /// - Throws: `DatabaseError` (`cannotOpen`) if the copy cannot be written.
  static func copyPages(ofLogBeside file: String, to copy: String) throws -> Bool {
    let log = open(file + "-wal", O_RDONLY | O_CLOEXEC)
    if log < 0 { return false }
    defer { close(log) }
    var status = stat()
    guard let head = bytes(log, 32, at: 0), fstat(log, &status) == 0 else { return false }
    let pageSize = number(head[8..<12])
    guard (512...65_536).contains(pageSize) else { return false }
    // The newest frame of each page; those of the last write count when its last frame is there.
    var frames: [Int: Int] = [:]
    var pending: [Int: Int] = [:]
    var pageCount = 0
    forEachFrame(log, head, pageSize, (Int(status.st_size) - 32) / (24 + pageSize)) {
      frame, isWhole in
      if isWhole { pending[frame.page] = frame.index }
      guard isWhole, frame.sizeAfter > 0 else { return }
      frames.merge(pending) { $1 }
      (pending, pageCount) = ([:], frame.sizeAfter)
    }
    let target = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { if target >= 0 { close(target) } }
    for (page, frame) in frames where (1...pageCount).contains(page) {
      let place = 32 + frame * (24 + pageSize) + 24
      guard let content = bytes(log, pageSize, at: place) else { continue }
      let written = pwrite(target, content, pageSize, off_t((page - 1) * pageSize))
      if written < pageSize {
        // A full disk takes a part.
        throw DatabaseError.failedCopy(copy, written < 0 ? errno : ENOSPC)
      }
    }
    return !frames.isEmpty
  }

  private static func bytes(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The running checksum of a log.
  private struct Sum: Equatable {
    private let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func set(_ first: Int, _ second: Int) {
      self.first = UInt32(truncatingIfNeeded: first)
      self.second = UInt32(truncatingIfNeeded: second)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      var sums = [first, second]
      bytes.withUnsafeBytes {
        runnel_storage_log_sum($0.baseAddress, $0.count, isBigEndian ? 1 : 0, &sums)
      }
      (first, second) = (sums[0], sums[1])
    }
  }
}
