import GRDB
import Glibc

extension SQLiteStore {
  /// Writes the whole database, as this connection reads it, to a new file; see
  /// `DatabaseSession.saveCopy`.
  func saveCopy(to path: String, isWanted: @escaping () -> Bool) throws -> Int {
    try DatabaseFileName.check(path)
    try SQLiteStore.checkIsFree(path)
    // A small database is copied before SQLite calls the progress function.
    if !isWanted() {
      throw DatabaseError(.cancelled, "\(path) was not written: the work was stopped.")
    }
    let temporary = SQLiteStore.temporary(of: path)
    defer { unlink(temporary) }
    do {
      try onConnection { db in
        try LongStatement.run(on: db, while: isWanted) {
          try db.execute(
            sql: "VACUUM INTO ?", arguments: [DatabaseFileName.forSQLite(temporary)])
        }
      }
      try SQLiteStore.markCopy(temporary)
    } catch let error as GRDB.DatabaseError where error.resultCode != .SQLITE_CORRUPT {
      throw SQLiteStore.notCopied(path, error)
    } catch {
      throw DatabaseError(error, file: file)
    }
    return try SQLiteStore.finish(temporary, path)
  }

  /// Gives a copy a mark that fits no log: its pages differ from those of the original file.
  static func markCopy(_ path: String) throws {
    let queue = try DatabaseQueue(path: DatabaseFileName.forSQLite(path))
    try queue.writeWithoutTransaction { db in
      guard try db.tableExists("log_start") else { return }
      try db.execute(
        sql: "UPDATE log_start SET previous = randomblob(8), next = randomblob(8)")
    }
    try ClosedConnections.shared.close(queue)
  }

  /// Gives a written file its name, when it is on disk; returns its size.
  static func finish(_ temporary: String, _ path: String) throws -> Int {
    let descriptor = open(temporary, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { throw notCopied(path, errno) }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0 else {
      throw notCopied(path, errno)
    }
    try giveName(temporary, path)
    NewDatabaseFile.syncFolder(of: path)
    return Int(status.st_size)
  }

  private static func giveName(_ temporary: String, _ path: String) throws {
    // A link is made only if the name is free; renaming would replace an existing file.
    if link(temporary, path) == 0 { return }
    if errno == EEXIST { throw isThere(path) }
    // Some file systems have no links.
    guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw notCopied(path, errno) }
    if access(path, F_OK) == 0 { throw isThere(path) }
    if rename(temporary, path) != 0 { throw notCopied(path, errno) }
  }

  private static func isThere(_ path: String) -> DatabaseError {
    DatabaseError(.refused, "\(path) is there already: name another file.")
  }

  /// The name that a copy has until it is complete.
  static func temporary(of path: String) -> String { path + ".\(getpid()).part" }

  /// Throws if a file has the name that is given to a copy.
  static func checkIsFree(_ path: String) throws {
    if access(path, F_OK) == 0 { throw isThere(path) }
  }

  static func notCopied(_ path: String, _ error: GRDB.DatabaseError) -> DatabaseError {
    switch error.resultCode {
    case .SQLITE_FULL:
      DatabaseError(
        .diskFull, "The disk of \(path) is full. Nothing was saved there: name another place.")
    case .SQLITE_CANTOPEN:
      DatabaseError(
        .cannotOpen,
        "\(path) cannot be made: check that the folder exists and that you may write there.")
    default:
      DatabaseError(
        .storage, "\(path) was not written: \(error.message ?? "no reason was given").")
    }
  }

  private static func notCopied(_ path: String, _ reason: Int32) -> DatabaseError {
    DatabaseError(.storage, "\(path) was not written: \(String(cString: strerror(reason))).")
  }
}
