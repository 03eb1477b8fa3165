import CStorage
import Glibc

/// What the index of a log says of it, as it lies there after its programs were killed.
///
/// A writer counts its frames there once they are in the log. So the index knows of writes at the end of the
/// log, of which nothing else tells that they were there. The next one who opens the file makes it anew.
///
/// Source: SQLite, "WAL-mode File Format", section 2.
struct LogIndex {
  /// The number of frames of the log, up to the end of its last write.
  let frames: Int
  /// The number of them that were copied to the file.
  let copied: Int
  /// The salts of the log.
  let salts: [UInt8]

  /// The size of the header, of which there are two copies, and of the number behind them.
  private static let (headBytes, copiedBytes) = (48, 4)

  /// Reads the index beside a file; nil if there is none, a program has it open, or it tells nothing.
  ///
  /// What was written just before the machine ended may be there though its frames are not: an index of before
  /// that tells nothing.
  init?(beside file: String) {
    var status = stat()
    let path = file + "-shm"
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Int(status.st_size) >= 2 * LogIndex.headBytes + LogIndex.copiedBytes,
      LogIndex.seconds(status) >= Int(runnel_storage_machine_start()),
      !SQLiteStore.isLocked(inode: UInt64(status.st_ino))
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: 2 * LogIndex.headBytes + LogIndex.copiedBytes)
    guard runnel_storage_read_apart(path, &bytes, bytes.count) == bytes.count else { return nil }
    self.init(bytes)
  }

  /// Takes the bytes of an index; nil if a program was writing it.
  private init?(_ bytes: [UInt8]) {
    let head = bytes[..<LogIndex.headBytes]
    // An index has the byte order of its machine.
    var sum = LogSum(isBigEndian: 1.bigEndian == 1)
    sum.add(head[..<40])
    var stored = LogSum(isBigEndian: 1.bigEndian == 1)
    stored.set(LogIndex.number(bytes, 40), LogIndex.number(bytes, 44))
    guard head.elementsEqual(bytes[LogIndex.headBytes..<2 * LogIndex.headBytes]), sum == stored,
      bytes[12] != 0
    else { return nil }
    frames = Int(LogIndex.number(bytes, 16))
    copied = Int(LogIndex.number(bytes, 2 * LogIndex.headBytes))
    salts = Array(bytes[32..<40])
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  }

  private static func seconds(_ status: stat) -> Int {
    // Which module owns the members of `timespec` depends on what is imported first.
    withUnsafeBytes(of: status.st_mtim) { $0.load(as: Int.self) }
  }
}
