import Glibc
import GRDB

extension DatabaseError {
  /// Makes the error for a failure of SQLite, for the user of the file at `file`, with SQLite's
  /// code last.
  ///
  /// - Parameters:
  ///   - error: the failure.
  ///   - file: the path of the file.
  ///   - cause: the `errno` with which the system refuses to open a file now, if it does; SQLite
  ///     does not tell it.
  init(sqlite error: GRDB.DatabaseError, file: String, cause: Int32? = nil) {
    let reason = error.message ?? "no reason was given"
    let code = "(SQLite \(error.extendedResultCode.rawValue))"
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        .locked,
        "\(file) is locked by another process. Nothing was changed: close the other one, or try again."
      )
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
      self.init(
        .readOnly,
        "\(file) or its folder may not be written. Nothing was changed: "
          + "change the permissions, copy the file, or open it only to read. "
          + code)
      remedy = .readOnly(file: file)
    case .SQLITE_FULL:
      self.init(
        .diskFull,
        "The disk of \(file) is full. The write was undone: free some space and repeat it.")
    case .SQLITE_NOTADB where TextFile.isText(file):
      self.init(
        .corrupt,
        "\(file) holds text and is no database: name another file, and import this one into it.")
      remedy = .text(file: file)
    case .SQLITE_NOTADB, .SQLITE_CORRUPT:
      self.init(
        .corrupt,
        "\(file) is damaged or no database (\(reason)). It was not changed: restore a backup or a copy, or "
          + "name another file.")
      remedy = .repair(file: file)
    case .SQLITE_CANTOPEN:
      let cause = cause ?? DatabaseError.openingFailure(of: file)
      self.init(.cannotOpen, "\(file) cannot be opened: \(DatabaseError.words(cause)) \(code)")
    case .SQLITE_IOERR:
      self.init(ioFailure: error, file: file, cause: cause, code)
    case .SQLITE_NOMEM:
      self.init(
        .storage,
        "There is not enough memory to read or write \(file). The write was undone: end other "
          + "programs, or raise the limit. \(code)")
    default: self.init(.storage, "\(file): \(reason) \(code)")
    }
  }

  /// Makes the error for a failed system call on an open file.
  private init(ioFailure error: GRDB.DatabaseError, file: String, cause: Int32?, _ code: String) {
    if FileSizeLimit.isReached(by: ["", "-wal", "-shm", "-journal"].map { file + $0 }) {
      self.init(
        .diskFull,
        "\(file) cannot be written: \(FileSizeLimit.words) Nothing was changed. \(code)")
      return
    }
    let cause = cause ?? DatabaseError.openingFailure(of: file)
    if let cause, DatabaseError.isLimit(cause) {
      self.init(.storage, "\(file) cannot be used: \(DatabaseError.words(cause)) \(code)")
      return
    }
    self.init(
      .storage,
      "\(file): the system failed to \(DatabaseError.work(error.extendedResultCode)). What was "
        + "written before stays, and this was undone: look for errors of the disk in the system's "
        + "log, and for free space; copy the file if it can be read. \(code)")
  }

  /// The error of a system call that failed to write a copy of a file for some work.
  ///
  /// - Parameters:
  ///   - path: the path of the copy.
  ///   - cause: the `errno` of the call; that of the last one by default.
  /// - Returns: the error.
  static func failedCopy(_ path: String, _ cause: Int32 = errno) -> DatabaseError {
    let reason = String(cString: strerror(cause))
    guard [ENOSPC, EDQUOT, EFBIG].contains(cause) else {
      return DatabaseError(.cannotOpen, "\(path) cannot be written: \(reason)")
    }
    return DatabaseError(
      .diskFull,
      "\(path), a copy that is needed for the work, cannot be written: \(reason). Free some space, or "
        + "name a new file on another disk.")
  }

  /// The failed work, to follow "failed to".
  private static func work(_ code: ResultCode) -> String {
    switch code {
    case .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ: "read it"
    case .SQLITE_IOERR_WRITE: "write it"
    case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: "bring it to the disk"
    case .SQLITE_IOERR_TRUNCATE: "change its size"
    case .SQLITE_IOERR_LOCK, .SQLITE_IOERR_UNLOCK, .SQLITE_IOERR_RDLOCK,
      .SQLITE_IOERR_CHECKRESERVEDLOCK:
      "lock it"
    case .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_SHMLOCK:
      "share its log (the file that ends in -shm)"
    case .SQLITE_IOERR_DELETE, .SQLITE_IOERR_DELETE_NOENT: "delete a file beside it"
    default: "read or write it"
    }
  }

  /// The `errno` with which the system refuses to open the file or its companions; nil if it does
  /// not.
  private static func openingFailure(of file: String) -> Int32? {
    for name in [file, file + "-wal", file + "-shm"] {
      let descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      if descriptor >= 0 {
        close(descriptor)
        continue
      }
      // The companion files need not exist.
      if name == file || errno != ENOENT { return errno }
    }
    return OpenFiles.shortage()
  }

  /// True if the cause is a limit of the process or of the system.
  private static func isLimit(_ cause: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(cause) }

  /// The reason why a file cannot be opened, and advice, as sentences to follow a colon.
  private static func words(_ cause: Int32?) -> String {
    switch cause {
    case .some(let number) where [EMFILE, ENFILE].contains(number): OpenFiles.words(number)
    case ENOMEM: "there is not enough memory. End other programs, or raise the limit."
    case EACCES, EPERM: "it, or its folder, may not be read or written. Change the permissions."
    case ENOENT, ENOTDIR, nil:
      "check that the folder exists and that you may write there."
    case .some(let number): "\(String(cString: strerror(number))) (error \(number))."
    }
  }
}
