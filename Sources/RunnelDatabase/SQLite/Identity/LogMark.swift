import GRDB
import Glibc

/// What ties a log to the file that it was begun on.
///
/// SQLite knows a log by its name alone: beside another file of the old one's name, as after a copy was moved
/// over it, the pages of both are mixed. So the table `log_start` has one row, which the first write into each
/// log changes: what it says afterwards (`next`) no other file knows, and what it said before (`previous`) the
/// file says as the log found it. Both stand in the log.
///
/// Invariants:
/// - M1. The pages of the first write into a log have a mark.
/// - M2. When a log is begun, the file alone says `previous`, and the newest change in it is `sequence`.
/// - M3. Whoever has the file open to write gives the log a mark of its own with its first write, and one more
///   with each write that is no change of the tree; each knows the `next` of the one before. So of two that went on from the same file and log, as
///   from a copy of both, neither takes the other's log for its own.
///
/// Another program that writes the file makes logs without marks: of these nothing is known.
struct LogMark: Hashable {
  /// What is known of a file alone, whatever is in a log.
  struct FileState: Hashable {
    /// What it says of logs.
    var token: [UInt8]
    /// Its newest change.
    var sequence: Int64

    /// A file in which nothing was marked.
    static let unmarked = FileState(token: [UInt8](repeating: 0, count: 8), sequence: 0)
  }

  /// How each mark begins: no text and no key has such bytes.
  private static let signature: [UInt8] =
    [0xFE, 0xFF] + Array("runnel log".utf8) + [0xFF, 0xFE, 0x00, 0x01]
  /// How the cell of the only row begins: its sizes and types, and the signature.
  ///
  /// Source: SQLite, "Database File Format", sections 1.6 and 2.1.
  private static let start: [UInt8] = [46, 1, 6, 0, 44, 28, 28, 28] + signature
  /// How many bytes at the end of its page are looked at: the cell.
  static let tailBytes = start.count + 3 * 8
  /// How many bytes at the beginning of its page are looked at.
  static let headBytes = 5

  /// What a mark says that was not made at the beginning of a log.
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
    // A leaf of a table with one row.
    guard head[0] == 0x0D, head[3] == 0, head[4] == 1, tail.starts(with: LogMark.start) else {
      return nil
    }
    let fields = Array(tail.dropFirst(LogMark.start.count))
    self.init(
      previous: Array(fields[..<8]), sequence: Array(fields[8..<16]), next: Array(fields[16...]))
  }

  /// True if a file in this state may have the log.
  func belongs(to file: FileState) -> Bool {
    if file.token == next { return true }
    guard file.token == previous else { return false }
    return file == .unmarked || sequence == LogMark.anySequence || file.sequence == sequence
  }

  /// A number as it is stored in a mark.
  static func bytes(of number: Int64) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// Makes the table, with nothing marked.
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

  /// True if the table holds what it should.
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

/// The beginning of a log.
///
/// Source: SQLite, "WAL-mode File Format", section 1.
struct LogHead {
  static let byteCount = 32
  /// How many bytes stand before the page of each frame.
  static let frameHeadBytes = 24

  /// The numbers that every frame of this log has.
  let salts: [UInt8]
  let pageSize: Int
  /// How long the log is, in bytes.
  private let size: Int

  /// Reads the first bytes of a log; nil if there is none, or it has not begun.
  init?(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // Nobody locks the log itself, so no lock goes with this descriptor.
    defer { Glibc.close(descriptor) }
    self.init(descriptor)
  }

  fileprivate init?(_ descriptor: Int32) {
    guard let bytes = LogScan.bytes(descriptor, LogHead.byteCount, at: 0),
      bytes.starts(with: [0x37, 0x7F, 0x06]), bytes[3] & 0xFE == 0x82
    else { return nil }
    salts = Array(bytes[16..<24])
    pageSize = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
    var status = stat()
    guard (512...65_536).contains(pageSize), fstat(descriptor, &status) == 0 else { return nil }
    size = Int(status.st_size)
  }

  /// True if the log is long enough for so many frames.
  func holds(_ frames: Int) -> Bool {
    size >= LogHead.byteCount + frames * (LogHead.frameHeadBytes + pageSize)
  }
}

/// The marks in the log beside a file, read without SQLite.
struct LogScan {
  /// More frames than this are not looked at.
  private static let framesMax = 100_000

  /// The marks in the log, oldest first, up to one that belongs to the file.
  private(set) var marks: [LogMark] = []
  /// True if one does.
  private(set) var isOfFile = false

  /// Reads a log; nil if there is none.
  ///
  /// O(n) in the frames up to the mark that belongs to the file, which is among the first.
  init?(_ path: String, of file: LogMark.FileState) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { Glibc.close(descriptor) }
    guard let head = LogHead(descriptor) else { return nil }
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

  fileprivate static func bytes(_ descriptor: Int32, _ count: Int, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
  }
}
