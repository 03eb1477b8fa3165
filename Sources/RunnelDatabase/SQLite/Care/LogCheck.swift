import Glibc

/// The damage of a log: SQLite reads it up to the first frame whose checksum is wrong, and takes the rest
/// for what a crash left, without a word.
///
/// A crash leaves no whole write behind such a frame. So a log with writes there is damaged, and so is a
/// long log without a header, or with one whose checksum is wrong.
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
    /// True if what was written last is missing, and all before it can be read.
    var isAtEnd = false

    /// True if a power failure may leave it: a last write of which some frames were not stored.
    var isTornEnd: Bool { lostCount == 1 && !isBehindWholeWrite }
  }

  /// The number of bytes before the first frame.
  private static let headBytes = 32
  /// The number of bytes before the page of each frame.
  private static let frameHeadBytes = 24

  /// The words for the damage of the log beside a file for which nobody opens it; nil if it has none, or
  /// there is no log.
  ///
  /// O(n) in the log.
  static func damage(ofLogBeside file: String) -> String? {
    (lossKnownToIndex(besideFile: file) ?? loss(besideFile: file, after: 0))?.words
  }

  /// The same as a fault, with the way to go on if all but the end of the log can be read.
  ///
  /// O(n) in the log.
  static func fault(ofLogBeside file: String) -> DatabaseFault? {
    guard
      let damage = lossKnownToIndex(besideFile: file) ?? loss(besideFile: file, after: 0)
    else { return nil }
    let wayOn = "; without \(file)-shm the file is opened with what was written before"
    return DatabaseFault(
      place: "\(file)-wal", what: damage.words + (damage.isAtEnd ? wayOn : ""), remedy: .none)
  }

  /// The words for a last write that is not whole, as a power failure may leave it; nil if there is none.
  ///
  /// O(n) in the log.
  static func tornEnd(ofLogBeside file: String) -> String? {
    guard let damage = find(besideFile: file), damage.isTornEnd else { return nil }
    return damage.words
  }

  /// The damage of the log beside a file that no program has open, if the index of the log knows of writes that
  /// are not in it any more; nil if it does not, or tells nothing.
  ///
  /// It has to be called before SQLite opens the file, which makes the index anew. O(n) in the log if there is
  /// an index that no program has open, otherwise some system calls.
  static func lossKnownToIndex(besideFile file: String) -> Damage? {
    let descriptor = open(file + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard let index = LogIndex(beside: file), index.frames > 0, fstat(descriptor, &status) == 0
    else { return nil }
    var (whole, reached, count) = (0, 0, 0)
    if Int(status.st_size) >= headBytes {
      // Another log tells nothing about this one.
      guard let start = LogStart(descriptor), start.salts == index.salts else { return nil }
      count = (Int(status.st_size) - headBytes) / start.frameBytes
      forEachFrame(descriptor, start, min(count, index.frames)) { frame, isWhole in
        guard isWhole, reached == frame.index else { return }
        reached += 1
        if frame.sizeAfter > 0 { whole = reached }
      }
    }
    if whole >= index.frames { return nil }
    // A log that was copied as a whole may be missing.
    if whole == 0, index.copied >= index.frames { return nil }
    if let found = find(besideFile: file), !found.isTornEnd { return found }
    let what =
      count < index.frames
      ? "it was cut off, and has \(count) of its \(index.frames) parts"
      : "its part \(reached + 1) of \(index.frames) is damaged"
    return Damage(words: "\(what), so what was written last cannot be read", isAtEnd: true)
  }

  /// Looks for damage of the log beside a file behind which acknowledged writes are lost.
  ///
  /// What a power failure may leave is no damage: a last write of which some frames were not
  /// stored, or a log without any content.
  ///
  /// O(1) if the header is sound and nothing of the present log stands behind the frames that SQLite
  /// reads, otherwise O(n) in the log.
  ///
  /// - Parameters:
  ///   - file: the database file.
  ///   - frames: the number of frames that SQLite reads.
  /// - Returns: the damage; nil if there is none.
  static func loss(besideFile file: String, after frames: Int) -> Damage? {
    let log = file + "-wal"
    if frames > 0, !isHeadAloneDamaged(log), !goesOn(log, after: frames) { return nil }
    guard let damage = find(besideFile: file) else { return nil }
    if damage.isTornEnd { return nil }
    if damage.lostCount != nil { return damage }
    return isEmpty(file + "-wal") ? nil : damage
  }

  /// Whether the header of a log is damaged, and frames stand behind it.
  private static func isHeadAloneDamaged(_ log: String) -> Bool {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    return LogStart(descriptor)?.isHeadSound == false
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

  /// Whether all of a log is zeros, as a file that was made longer before its content was stored.
  private static func isEmpty(_ log: String) -> Bool {
    let descriptor = open(log, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return true }
    defer { close(descriptor) }
    // Where only the beginning is zero, writes stand behind it.
    var place = 0
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = pread(descriptor, &piece, piece.count, off_t(place))
      if count <= 0 { return true }
      if !piece[..<count].allSatisfy({ $0 == 0 }) { return false }
      place += count
    }
  }

  private static func find(besideFile file: String) -> Damage? {
    let descriptor = open(file + "-wal", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // The log itself is never locked, so closing this descriptor releases no lock.
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    guard let start = LogStart(descriptor) else {
      return status.st_size > 32 + 24 + 512
        ? Damage(
          words: "its header is damaged, so none of its \(status.st_size) bytes can be read") : nil
    }
    let count = (Int(status.st_size) - headBytes) / start.frameBytes
    return start.isHeadSound
      ? damage(descriptor, start, count) : damageOfHead(descriptor, start, count)
  }

  /// The damage of a log whose header is damaged; nil if no write stands behind it.
  private static func damageOfHead(
    _ descriptor: Int32, _ start: LogStart, _ count: Int
  ) -> Damage? {
    var lost = 0
    forEachFrame(descriptor, start, count) { frame, isWhole in
      if isWhole, frame.sizeAfter > 0 { lost += 1 }
    }
    if lost == 0 { return nil }
    // A header is on the disk before the frames behind it are written.
    return Damage(
      words: "its header is damaged, so \(writes(lost)) behind it cannot be read",
      lostCount: lost, isBehindWholeWrite: true)
  }

  private static func writes(_ count: Int) -> String { count == 1 ? "a write" : "\(count) writes" }

  private static func damage(_ descriptor: Int32, _ start: LogStart, _ count: Int) -> Damage? {
    var wrong: Frame?
    var lost = 0
    forEachFrame(descriptor, start, count) { frame, isWhole in
      if wrong == nil {
        if !isWhole { wrong = frame }
      } else if frame.sizeAfter > 0 {
        lost += 1
      }
    }
    guard let wrong, lost > 0 else { return nil }
    return Damage(
      words: "its part \(wrong.index + 1) of \(count) is damaged, so \(writes(lost)) behind it "
        + "cannot be read",
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
    var sum = LogSum(isBigEndian: head[3] & 1 == 1)
    if frames.lowerBound == 0 {
      sum.add(head[..<24])
    } else {
      let place = headBytes + (frames.lowerBound - 1) * frameBytes
      guard let before = bytes(descriptor, frameHeadBytes, at: place) else { return frames.first }
      sum.set(before[16..<24])
    }
    for index in frames {
      guard let frame = bytes(descriptor, frameBytes, at: headBytes + index * frameBytes),
        frame[8..<16].elementsEqual(head[16..<24])
      else { return index }
      var stored = sum
      stored.set(frame[16..<24])
      sum.add(frame: frame)
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
    _ descriptor: Int32, _ start: LogStart, _ count: Int,
    _ body: (Frame, _ isWhole: Bool) -> Void
  ) {
    // The checksum of a frame goes on from the one before. If that one is damaged, either its bytes or
    // its own sum may be wrong.
    var starts = start.sums
    for index in 0..<max(count, 0) {
      let place = headBytes + index * start.frameBytes
      guard let found = bytes(descriptor, start.frameBytes, at: place) else { return }
      let stored = LogSum(isBigEndian: start.isBigEndian, stored: found[16..<24])
      let page = number(found[..<4])
      // What an earlier use of the log left has other salts, and no frame of the present use follows;
      // otherwise they are damaged.
      guard found[8..<16].elementsEqual(start.salts) else {
        body(Frame(index: index, page: page, sizeAfter: 0), false)
        starts = [stored]
        continue
      }
      let computed = starts.map { start in
        var sum = start
        sum.add(frame: found)
        return sum
      }
      let isWhole = computed.contains(stored) || index == 0 && start.isFirstUnknown
      body(Frame(index: index, page: page, sizeAfter: number(found[4..<8])), isWhole)
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
    guard let start = LogStart(log), fstat(log, &status) == 0 else { return false }
    let pageSize = start.pageSize
    // The newest frame of each page; those of the last write count when its last frame is there.
    var frames: [Int: Int] = [:]
    var pending: [Int: Int] = [:]
    var pageCount = 0
    forEachFrame(log, start, (Int(status.st_size) - headBytes) / start.frameBytes) {
      frame, isWhole in
      if isWhole { pending[frame.page] = frame.index }
      guard isWhole, frame.sizeAfter > 0 else { return }
      frames.merge(pending) { $1 }
      (pending, pageCount) = ([:], frame.sizeAfter)
    }
    let target = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { if target >= 0 { close(target) } }
    for (page, frame) in frames where (1...pageCount).contains(page) {
      let place = headBytes + frame * start.frameBytes + frameHeadBytes
      guard let content = bytes(log, pageSize, at: place) else { continue }
      let written = pwrite(target, content, pageSize, off_t((page - 1) * pageSize))
      if written < pageSize {
        // A full disk takes a part.
        throw DatabaseError.failedCopy(copy, written < 0 ? errno : ENOSPC)
      }
    }
    return !frames.isEmpty
  }

  static func bytes(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }
}
