import CStorage
import GRDB
import GRDBSQLite
import Glibc

/// A mark that ties a log to the file on which it was begun.
///
/// SQLite identifies a log only by its name: if another file takes the old file's name, as when a
/// copy is moved over it, the pages of both are mixed. So the table `log_start` has one row, which
/// the first write into each log changes. Its new value (`next`) is in no other file, and its old
/// value (`previous`) is the value in the file when the log was begun. Both are in the log.
///
/// Invariants:
/// - M1. The pages of the first write into a log have a mark.
/// - M2. When a log is begun, the file without the log says `previous`, and its newest change is
///   `sequence`. While somebody reads an older state, only pages that no later write changed are copied to
///   the file: then it may still say `previous`, and its newest change may be a later one, or not be readable.
/// - M3. Each connection that may write marks the log with its first write, and again with each
///   write that is no change of the tree; each mark contains the `next` of the mark before. So if
///   two programs go on from the same file and log, as from a copy of both, neither takes the
///   other's log for its own.
///
/// Other programs that write the file make logs without marks, about which nothing is known.
struct LogMark: Hashable {
  /// The state of a file alone, without its log.
  struct FileState: Hashable {
    /// The mark in the file.
    var token: [UInt8]
    /// The newest change in the file.
    var sequence: Int64

    /// The state of a file without any mark.
    static let unmarked = FileState(token: [UInt8](repeating: 0, count: 8), sequence: 0)
  }

  /// The beginning of each mark: no text and no key contains such bytes.
  private static let signature: [UInt8] =
    [0xFE, 0xFF] + Array("runnel log".utf8) + [0xFF, 0xFE, 0x00, 0x01]
  /// The beginning of the cell of the only row: its sizes and types, and the signature.
  ///
  /// Source: SQLite, "Database File Format", sections 1.6 and 2.1.
  private static let start: [UInt8] = [46, 1, 6, 0, 44, 28, 28, 28] + signature
  /// The number of bytes read at the end of the mark's page: the cell.
  static let tailBytes = start.count + 3 * 8
  /// The number of bytes read at the beginning of the mark's page.
  static let headBytes = 5

  /// The `sequence` of a mark that was not made at the beginning of a log.
  static let anySequence: Int64 = -1

  let previous: [UInt8]
  let sequence: Int64
  let next: [UInt8]

  init(previous: [UInt8], sequence: [UInt8], next: [UInt8]) {
    (self.previous, self.next) = (previous, next)
    self.sequence = sequence.reduce(0) { $0 << 8 | Int64($1) }
  }

  /// Reads the mark on a page; nil if it has none.
  ///
  /// - Parameters:
  ///   - head: the first `headBytes` of the page.
  ///   - tail: the last `tailBytes` of it.
  init?(head: [UInt8], tail: [UInt8]) {
    // The page is a leaf of a table with one row.
    guard head[0] == 0x0D, head[3] == 0, head[4] == 1, tail.starts(with: LogMark.start) else {
      return nil
    }
    let fields = Array(tail.dropFirst(LogMark.start.count))
    self.init(
      previous: Array(fields[..<8]), sequence: Array(fields[8..<16]), next: Array(fields[16...]))
  }

  /// True if the log may belong to a file in this state.
  ///
  /// A file that is older than the beginning of the log is not one that it was begun on; a newer one may have
  /// taken in a part of the log (M2).
  func belongs(to file: FileState) -> Bool {
    if file.token == next { return true }
    guard isMade(on: file) else { return false }
    return file == .unmarked || sequence == LogMark.anySequence || file.sequence >= sequence
  }

  /// True if a file with this mark was there when this one was made.
  func isMade(on file: FileState) -> Bool { file.token == previous }

  /// A number as it is stored in a mark.
  static func bytes(of number: Int64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// The statements that make the table, without a mark.
  static let table = """
    CREATE TABLE log_start (
      id INTEGER PRIMARY KEY,
      signature BLOB NOT NULL,
      previous BLOB NOT NULL,
      sequence BLOB NOT NULL,
      next BLOB NOT NULL
    );
    INSERT INTO log_start VALUES
      (1, X'\(hex(signature))', zeroblob(8), zeroblob(8), randomblob(8));
    """

  /// True if the table has valid content.
  static func isStored(_ db: GRDB.Database) throws -> Bool {
    guard try db.tableExists("log_start") else { return false }
    let rows = try Row.fetchAll(
      db, sql: "SELECT id, signature, previous, sequence, next FROM log_start")
    guard rows.count == 1, try rows[0].integerOrNil("id") == 1 else { return false }
    return rows[0].blob("signature") == signature
      && ["previous", "sequence", "next"].allSatisfy { rows[0].blob($0)?.count == 8 }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}

/// The header of a log.
///
/// Source: SQLite, "WAL-mode File Format", section 1.
struct LogHead {
  static let byteCount = 32
  /// The number of bytes before the page of each frame.
  static let frameHeadBytes = 24

  /// The salts, which every frame of this log repeats.
  let salts: [UInt8]
  let pageSize: Int
  /// The size of the log, in bytes.
  private let size: Int

  /// Reads the header of a log; nil if there is no log, or if it has not begun.
  init?(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // The log itself is never locked, so closing this descriptor releases no lock.
    defer { Glibc.close(descriptor) }
    self.init(descriptor)
  }

  /// Reads the header of an open log, whose size may be known; nil if it has not begun.
  init?(_ descriptor: Int32, size known: Int? = nil) {
    guard let bytes = LogScan.bytes(descriptor, LogHead.byteCount, at: 0),
      bytes.starts(with: [0x37, 0x7F, 0x06]), bytes[3] & 0xFE == 0x82
    else { return nil }
    salts = Array(bytes[16..<24])
    pageSize = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
    guard (512...65_536).contains(pageSize) else { return nil }
    if let known {
      size = known
      return
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    size = Int(status.st_size)
  }

  /// True if the log is long enough for `frames` frames.
  func holds(_ frames: Int) -> Bool {
    size >= LogHead.byteCount + frames * (LogHead.frameHeadBytes + pageSize)
  }
}

/// The marks in the log beside a file, read without SQLite.
struct LogScan {
  /// The most frames that are read.
  private static let framesMax = 100_000

  /// The marks in the log, oldest first, up to one that belongs to the file.
  private(set) var marks: [LogMark] = []
  /// True if one of the marks belongs to the file.
  private(set) var isOfFile = false

  /// Reads the log beside a file; nil if there is none.
  ///
  /// O(n) in the frames up to the mark that belongs to the file, which is among the first.
  init?(beside path: String, of file: LogMark.FileState) {
    let descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { Glibc.close(descriptor) }
    guard let head = LogHead(descriptor) else { return nil }
    find(file, descriptor, head)
    if isOfFile { return }
    // A part of the pages is from the log: their newest change tells nothing.
    isOfFile =
      marks.contains { $0.isMade(on: file) } && LogScan.isCopiedInPart(descriptor, head, to: path)
  }

  /// Reads the marks up to one that belongs to the file.
  private mutating func find(_ file: LogMark.FileState, _ descriptor: Int32, _ head: LogHead) {
    for frame in 0..<LogScan.framesMax {
      let start = LogHead.byteCount + frame * (LogHead.frameHeadBytes + head.pageSize)
      guard
        let found = LogScan.bytes(
          descriptor, LogHead.frameHeadBytes + LogMark.headBytes, at: start),
        Array(found[8..<16]) == head.salts
      else { return }
      let page = Array(found[LogHead.frameHeadBytes...])
      let end = start + LogHead.frameHeadBytes + head.pageSize
      guard page[0] == 0x0D,
        let tail = LogScan.bytes(descriptor, LogMark.tailBytes, at: end - LogMark.tailBytes),
        let mark = LogMark(head: page, tail: tail)
      else { continue }
      marks.append(mark)
      isOfFile = mark.belongs(to: file)
      if isOfFile { return }
    }
  }

  /// True if the file has a page that is in the log.
  ///
  /// O(n) in the log.
  private static func isCopiedInPart(_ log: Int32, _ head: LogHead, to path: String) -> Bool {
    // SQLite closes a file that it has locked only when that releases no lock.
    guard let file = SQLiteStore.connectionAtRest(path) else { return false }
    defer { sqlite3_close_v2(file) }
    var stored = [UInt8](repeating: 0, count: head.pageSize)
    for frame in 0..<framesMax {
      let start = LogHead.byteCount + frame * (LogHead.frameHeadBytes + head.pageSize)
      guard let found = bytes(log, LogHead.frameHeadBytes + head.pageSize, at: start),
        Array(found[8..<16]) == head.salts
      else { return false }
      let page = found[..<4].reduce(0) { $0 << 8 | Int($1) }
      let offset = Int64(page - 1) * Int64(head.pageSize)
      let answer = runnel_storage_read_file(
        UnsafeMutableRawPointer(file), &stored, Int32(head.pageSize), offset)
      if answer == 0, stored.elementsEqual(found[LogHead.frameHeadBytes...]) { return true }
    }
    return false
  }

  fileprivate static func bytes(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
  }
}
