import Glibc
import RunnelDatabase

/// Brings a database back from a backup.
public struct BackupRestore {
  /// Where SQLite locks a file that is open, in bytes from its start.
  ///
  /// Source: SQLite, "File Locking And Concurrency In SQLite Version 3".
  private static let lockStart: off_t = 0x4000_0000
  private static let lockCount: off_t = 512

  private let backup: String
  /// What is in the backup.
  public let manifest: BackupManifest

  /// Reads what a backup holds, and checks all of it.
  ///
  /// - Throws: `ServerError` if it is none, or not as it was when it was made.
  public init(_ backup: String) throws(ServerError) {
    let folder = BackupFolder(backup)
    guard let manifest = try BackupManifest(folder: folder.path) else {
      let newest = try folder.backups().last?.path
      let advice = newest.map { " Its newest one is \($0)." } ?? ""
      throw ServerError("\(backup) is no backup: it has no \(BackupManifest.fileName).\(advice)")
    }
    for file in manifest.files {
      let path = folder.path + "/" + file.name
      guard try BackupManifest.measure(path, name: file.name) == file else {
        throw ServerError("\(path) is not as it was when the backup was made: take another backup.")
      }
    }
    (self.backup, self.manifest) = (folder.path, manifest)
  }

  /// What is to be written: from where, and to where.
  private func places(for file: String) -> [(source: String, target: String)] {
    manifest.files.map { entry in
      let rest = entry.name.dropFirst(manifest.database.count)
      let target =
        rest.hasPrefix(DatabaseNames.suffix)
        ? file + rest.dropFirst(DatabaseNames.suffix.count) : DatabaseNames.stem(of: file) + rest
      return (backup + "/" + entry.name, target)
    }
  }

  /// The files that would be replaced by those of the backup.
  public func standing(for file: String) -> [String] {
    (places(for: file).map(\.target) + ["-wal"].map { file + $0 })
      .filter { access($0, F_OK) == 0 || errno != ENOENT }
  }

  /// Writes the database and what belongs to it.
  ///
  /// What stands there is kept under other names. The new files are complete and on disk, and the
  /// database was checked, before anything is touched.
  ///
  /// - Parameters:
  ///   - file: the path of the database.
  ///   - replaces: true if files that are there may be replaced.
  /// - Returns: under which names the old files are kept.
  /// - Throws: `ServerError` or `DatabaseError` that says why not; a file that is replaced is either as it
  ///   was, or kept.
  public func restore(to file: String, replaces: Bool) throws -> [String] {
    let standing = standing(for: file)
    if !replaces, let first = standing.first {
      throw ServerError(
        "\(first) is there already: name another file, or replace it with --replace.",
        isUsage: true)
    }
    if BackupRestore.isOpen(file) {
      throw ServerError(
        "\(file) is open in another program: end it first. Nothing was changed.")
    }
    let places = places(for: file)
    defer { for place in places { unlink(place.target + ".restored") } }
    for (source, target) in places {
      let new = target + ".restored"
      unlink(new)
      let mode: mode_t = target == file || target.hasSuffix(".yaml") ? 0o644 : 0o600
      _ = try ServerFile.copy(source, to: new, mode: mode)
    }
    let report = try DatabaseCare.check(file: file + ".restored")
    guard report.isSound else {
      throw ServerError("The database in \(backup) is damaged: take another backup.")
    }
    let kept = try setAside(standing, of: file)
    for (_, target) in places {
      if rename(target + ".restored", target) != 0 {
        throw ServerError.system("\(target) cannot be made")
      }
    }
    unlink(file + "-shm")
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    ServerFile.sync(folder: folder)
    return kept
  }

  /// Gives files other names: the database first, so that its log is never beside another file.
  private func setAside(_ standing: [String], of file: String) throws(ServerError) -> [String] {
    var suffix = ".replaced"
    var number = 1
    while standing.contains(where: { access(aside($0, suffix, file), F_OK) == 0 }) {
      number += 1
      suffix = ".replaced-\(number)"
    }
    var kept: [String] = []
    for old in standing {
      let new = aside(old, suffix, file)
      if rename(old, new) != 0 { throw .system("\(old) cannot be set aside") }
      kept.append(new)
    }
    return kept
  }

  /// The name under which a file is kept; a log goes with its database.
  private func aside(_ path: String, _ suffix: String, _ file: String) -> String {
    path.hasPrefix(file) ? file + suffix + path.dropFirst(file.count) : path + suffix
  }

  /// True if another process has a database open.
  static func isOpen(_ file: String) -> Bool {
    let descriptor = open(file, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    (lock.l_start, lock.l_len) = (lockStart, lockCount)
    return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }
}
