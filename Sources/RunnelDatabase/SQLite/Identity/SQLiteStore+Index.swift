import CStorage
import Foundation
import GRDB
import Glibc

// Checks that the index of a log is whole. SQLite looks for a page of the log in the index alone: of one that
// was cut off it reads the older page of the file, and the next write destroys what the log holds.

extension SQLiteStore {
  /// The size of an index is a multiple of this, in bytes, but while it is made.
  private static let indexPieceBytes = 32_768

  /// Checks the size of the index before SQLite opens it, and fills up what is missing with zeros.
  ///
  /// Nothing is locked, opened or changed. It costs one system call unless the size is odd. An odd index that
  /// no program has open harms nobody: SQLite makes it anew.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - isPatient: whether there are pauses between the looks.
  /// - Throws: `DatabaseError` (`fileGone`) if programs have an index open that was cut off.
  static func checkIndex(of file: String, isPatient: Bool) throws {
    var status = stat()
    for look in 0..<looks.count {
      if look > 0, isPatient { poll(nil, 0, looks.pauseMilliseconds) }
      // Another process may be making the index.
      guard stat(file + "-shm", &status) == 0, Int(status.st_size) % indexPieceBytes != 0 else {
        return
      }
    }
    if isLocked(inode: UInt64(status.st_ino)) { throw FileLoss.indexCut.error(file: file) }
  }

  /// Whether a process holds a lock on a file, by the kernel's list.
  ///
  /// The file itself must not be opened: closing it again would give up this process's own locks on it.
  static func isLocked(inode: UInt64) -> Bool {
    guard let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else {
      return true
    }
    return locks.split(separator: "\n").contains { line in
      line.split(separator: " ").contains { $0.hasSuffix(":\(inode)") }
    }
  }

  /// Checks that the index knows every frame of the log.
  ///
  /// The connection has read something. O(n) in the frames of the log, some 10 microseconds as a rule.
  ///
  /// - Throws: `DatabaseError` (`fileGone`) if a part of the index is empty.
  func checkIndexIsWhole() throws {
    try onConnection { db in
      guard let path = db.runnelFile, !isAtRest, access(path + "-wal", F_OK) == 0,
        try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal"
      else { return }
      if !SQLiteStore.isIndexWhole(db) { throw FileLoss.indexCut.error(file: file) }
    }
  }

  /// Whether the index knows every frame of the log; true if there is none.
  static func isIndexWhole(_ db: GRDB.Database) -> Bool {
    for look in 0..<looks.count {
      if look > 0 { poll(nil, 0, looks.pauseMilliseconds) }
      let before = logPlace(db)
      if runnel_storage_index_is_whole(db.runnelConnection) != 0 { return true }
      // Of a log that began anew, the index is made anew as well.
      if logPlace(db)?.salts == before?.salts { return false }
    }
    return false
  }
}
