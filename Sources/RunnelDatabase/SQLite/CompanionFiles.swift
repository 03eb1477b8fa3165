import Glibc

/// The files that SQLite keeps beside a database: the log (`-wal`) and its index (`-shm`).
enum CompanionFiles {
  private static let suffixes = ["-wal", "-shm"]

  /// Checks that what stands at the names of a database and its companion files are files: to open a pipe
  /// would wait for its other end without an end.
  ///
  /// - Throws: `DatabaseError` (`cannotOpen`) that names what is none.
  static func checkKinds(of file: String) throws {
    if let kind = FileKind.otherThanFile(file) {
      throw DatabaseError(.cannotOpen, "\(file) is \(kind), and no file: name another one.")
    }
    for name in (suffixes + ["-journal"]).map({ file + $0 }) {
      guard let kind = FileKind.otherThanFile(name) else { continue }
      throw DatabaseError(
        .cannotOpen,
        "\(name) is \(kind), and no file: a file of \(file) has this name. Nothing was changed: remove "
          + "\(name), or give it another name.")
    }
  }

  /// Makes the companion files writable if the database is.
  ///
  /// SQLite gives them the permissions of the database when it makes them, and a reader leaves them
  /// behind. If the database was not writable then, they would block every later writer.
  ///
  /// - Throws: `DatabaseError` (`readOnly`) if a file is not writable, and cannot be made writable.
  static func unlock(beside file: String) throws {
    var database = stat()
    guard stat(file, &database) == 0 else { return }
    for name in suffixes.map({ file + $0 }) {
      var status = stat()
      guard lstat(name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      let rights = database.st_mode & 0o666
      if status.st_mode & rights == rights { continue }
      // Only the owner may change the mode; the check below shows whether it helped.
      chmod(name, status.st_mode & 0o777 | rights)
      guard faccessat(AT_FDCWD, name, R_OK | W_OK, AT_EACCESS) == 0 else {
        throw DatabaseError(
          .readOnly,
          "\(name) may not be written, though \(file) may. Nothing was changed: give it the "
            + "permissions of the database, or remove it when no program has the database open.")
      }
    }
  }

  /// Checks that the file has one name.
  ///
  /// SQLite names the log after the name by which the file was opened. Programs that use different
  /// names of one file would write different logs, and lose each other's writes. Names that are
  /// symbolic links lead to one log.
  ///
  /// Limit: only an opening checks it. A link that is made while the file is open stops no write.
  ///
  /// - Throws: `DatabaseError` (`cannotOpen`) if hard links give the file other names.
  static func checkNames(of file: String) throws {
    var status = stat()
    guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1 else {
      return
    }
    throw DatabaseError(
      .cannotOpen,
      "\(file) has \(status.st_nlink) names (hard links), and each would have a log of its own: writes by "
        + "one name would be lost for the other. Nothing was changed: use a copy, as by `cp \(file) NEW`, "
        + "or remove the other names; `find . -samefile \(file)` lists them.")
  }
}
