import Glibc
import GRDB

extension DatabaseCare {
  /// Rewrites a file without the space that removed data left, and shortens its log.
  ///
  /// The file is checked first, as by `check`, and left as it is if it has any fault. Rows of an
  /// older program get their checksums. The data does not change, and other processes may go on
  /// reading. O(n) in the file.
  ///
  /// - Parameters:
  ///   - file: the path of the file.
  ///   - busyTimeout: the longest time that another process may hold the file.
  ///   - isWanted: called now and then; false stops the work, and nothing was changed.
  /// - Returns: the sizes before and after.
  /// - Throws: `DatabaseError` (`corrupt` if the file is damaged; `diskFull` before anything is
  ///   written, if there is not enough space for the work; `locked`, `cancelled`), and if the file
  ///   cannot be opened.
  package static func compact(
    file: String, busyTimeout: Duration = .seconds(5), isWanted: @escaping () -> Bool = { true }
  ) throws -> DatabaseCompaction {
    try compact(file: file, busyTimeout, disk: .system, isWanted: isWanted)
  }

  /// Compacts a file with the caller's view of the disks.
  static func compact(
    file: String, _ busyTimeout: Duration, disk: Disk, isWanted: @escaping () -> Bool
  ) throws -> DatabaseCompaction {
    let store = try SQLiteStore(
      file: file, isReadOnly: false, busyTimeout: busyTimeout)
    let before = size(of: file)
    var isFinished = false
    try store.withConnection(stoppable: isWanted) { db in
      try prepare(db, file, disk, isWanted)
      let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
      let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
      try disk.require(bytes: (count - free) * page, toRewrite: file)
      try db.execute(sql: "VACUUM")
    }
    // The pages have changed: this marks the log, and checks that the file is still there.
    try store.write { _ in }
    // The new pages are in the log; a stop now would only leave them there.
    try store.withDatabase { db in
      let busy = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")?.integerOrNil("busy")
      isFinished = busy == 0
    }
    try store.close()
    return DatabaseCompaction(
      bytesBefore: before, bytesAfter: size(of: file), isFinished: isFinished)
  }

  /// Checks the file, and adds missing checksums of rows.
  private static func prepare(
    _ db: GRDB.Database, _ file: String, _ disk: Disk, _ isWanted: @escaping () -> Bool
  ) throws {
    var isFilled = false
    try db.inTransaction(.immediate) {
      try Doctor.requireSound(db, file: file, for: "made compact", isWanted: isWanted)
      if try ChecksumFunctions.isComplete(db) { return .rollback }
      let page = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
      let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      try disk.require(bytes: page * count, toRewrite: file)
      try ChecksumFunctions.fill(db)
      isFilled = true
      return .commit
    }
    // The log begins anew, so that both steps together need no more space than one of them.
    if isFilled { _ = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  private static func size(of file: String) -> Int {
    ["", "-wal"].reduce(0) { sum, suffix in
      var status = stat()
      return stat(file + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }
}

/// The facts about disks that a rewriting needs.
struct Disk {
  /// The free bytes on the disk of a folder, and a number for that disk; nil if they are unknown.
  var space: (_ folder: String) -> (bytes: Int, disk: UInt)?

  /// The disks of the machine.
  static var system: Disk {
    Disk { folder in
      var status = statvfs()
      guard statvfs(folder, &status) == 0 else { return nil }
      return (Int(status.f_bavail) * Int(status.f_frsize), status.f_fsid)
    }
  }

  /// Throws if a file of `bytes` bytes cannot be rewritten: the copy is made in the folder for
  /// temporary files, and then written to the log beside the file.
  ///
  /// - Throws: `DatabaseError` (`diskFull`) with both numbers.
  func require(bytes: Int, toRewrite file: String) throws {
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    // Pages in the log have headers, and the index of the log grows too.
    let log = bytes + bytes / 50 + 1_048_576
    guard let beside = space(folder) else { return }
    let temporary = space(Disk.temporaryFolder())
    let isShared = temporary.map { $0.disk == beside.disk } ?? true
    try require(isShared ? log + bytes : log, of: beside.bytes, in: folder, file)
    if let temporary, !isShared {
      try require(bytes, of: temporary.bytes, in: Disk.temporaryFolder(), file)
    }
  }

  private func require(
    _ wanted: Int, of free: Int, in folder: String, _ file: String
  ) throws {
    if free >= wanted { return }
    throw DatabaseError(
      .diskFull,
      "\(file) was not changed: \(Disk.megabytes(wanted)) MB are needed in \(folder) for the time of "
        + "the work, and \(Disk.megabytes(free)) MB are free. Free some, or set TMPDIR to another "
        + "disk.")
  }

  private static func megabytes(_ bytes: Int) -> Int { (bytes + 999_999) / 1_000_000 }

  /// The folder in which SQLite makes temporary files.
  private static func temporaryFolder() -> String {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].compactMap { (name: String) -> String? in
      getenv(name).map { String(cString: $0) }
    }
    return (named + ["/var/tmp", "/usr/tmp", "/tmp"]).first { access($0, W_OK | X_OK) == 0 } ?? "."
  }
}
