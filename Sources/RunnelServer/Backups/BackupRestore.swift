import Glibc
import RunnelDatabase

/// A restore of a database from a backup.
public struct BackupRestore {
  /// The range in which SQLite locks an open file, in bytes from its start.
  ///
  /// Source: SQLite, "File Locking And Concurrency In SQLite Version 3".
  private static let lockStart: off_t = 0x4000_0000
  private static let lockCount: off_t = 512

  private let backup: String
  /// The manifest of the backup.
  public let manifest: BackupManifest

  /// Reads the manifest of a backup, and checks all its files.
  ///
  /// - Throws: `ServerError` if it is no backup, or if a file has changed.
  public init(_ backup: String) throws(ServerError) {
    let folder = BackupFolder(backup)
    guard let manifest = try BackupManifest(folder: folder.path) else {
      let newest = try folder.backups().last?.path
      let advice = newest.map { " Its newest one is \($0)." } ?? ""
      throw ServerError("\(backup) is not a backup: it has no \(BackupManifest.fileName).\(advice)")
    }
    for file in manifest.files {
      let path = folder.path + "/" + file.name
      guard try BackupManifest.measure(path, name: file.name) == file else {
        throw ServerError("\(path) has changed since the backup was made: use another backup.")
      }
    }
    (self.backup, self.manifest) = (folder.path, manifest)
  }

  /// The files to copy, with their targets.
  private func places(for file: String) -> [(source: String, target: String)] {
    manifest.files.map { entry in
      let rest = entry.name.dropFirst(manifest.database.count)
      let target =
        rest.hasPrefix(DatabaseNames.suffix)
        ? file + rest.dropFirst(DatabaseNames.suffix.count) : DatabaseNames.stem(of: file) + rest
      return (backup + "/" + entry.name, target)
    }
  }

  /// The existing files that a restore would replace or set aside.
  public func standing(for file: String) -> [String] {
    BackupRestore.existing(places(for: file).map(\.target) + ["-wal"].map { file + $0 })
      + strays(for: file)
  }

  /// The existing files beside the database of which the backup has none: they are not of the state that it
  /// brings back, and a restore sets them aside.
  public func strays(for file: String) -> [String] {
    let targets = Set(places(for: file).map(\.target))
    let stem = DatabaseNames.stem(of: file)
    return BackupRestore.existing(
      DatabaseBackup.besides.map { stem + $0 }.filter { !targets.contains($0) })
  }

  private static func existing(_ files: [String]) -> [String] {
    files.filter { access($0, F_OK) == 0 || errno != ENOENT }
  }

  /// Writes the database and the files that belong to it.
  ///
  /// Replaced files are kept under other names, and the new ones have their owner, group and mode. Files that root
  /// adds belong to the owner of the database, or of the folder. Before any file is touched, the new files are
  /// complete and on disk, and the database is checked.
  ///
  /// - Parameters:
  ///   - file: the path of the database.
  ///   - replaces: true if existing files may be replaced.
  /// - Returns: the names under which the old files are kept.
  /// - Throws: `ServerError` or `DatabaseError` with the reason; an existing file is then either
  ///   unchanged, or kept.
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
      throw ServerError("The database in \(backup) is damaged: use another backup.")
    }
    let isPrivate = try BackupRestore.hasAccounts(file + ".restored")
    if isPrivate { chmod(file + ".restored", 0o600) }
    for (_, target) in places {
      try RestoredOwner(of: target, database: file, isPrivate: isPrivate && target == file)
        .take(target + ".restored", for: target)
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

  /// True if a database has the accounts of users, which only its owner may read.
  private static func hasAccounts(_ file: String) throws -> Bool {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    let hasAccounts = try session.read { try AccountStore.isAccountsFile($0) }
    try session.close()
    return hasAccounts
  }

  /// Renames files: the database first, so that its log is never beside another file.
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

  /// The name under which a file is kept; a log is renamed like its database.
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
