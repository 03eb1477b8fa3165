import Glibc

/// A folder with backups: each is a folder in it, `NAME-2026-11-23T12-30-00Z`.
///
/// A folder that is incomplete or being removed ends with `.part`; the holder of the folder's lock
/// removes its remains.
struct BackupFolder {
  private static let partSuffix = ".part"

  let path: String

  init(_ path: String) {
    self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// Runs `body` while no other process makes or removes backups here; makes the folder if needed.
  ///
  /// - Throws: `ServerError` if another process does, and the errors of `body`.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      throw ServerError.system("\(path) cannot be made")
    }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw ServerError.system("\(path) cannot be opened") }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK {
        throw ServerError(
          "A backup to \(path) is already in progress: try again when it is finished.")
      }
      throw ServerError.system("\(path) cannot be locked")
    }
    return try body()
  }

  /// Checks that backups can be made here; makes the folder if needed.
  ///
  /// - Throws: `ServerError` that says why they cannot.
  func check() throws(ServerError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("\(path) cannot be made") }
    var status = stat()
    if stat(path, &status) != 0 { throw .system("\(path) cannot be read") }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw ServerError("\(path) is no folder, so that no backups can be made in it.")
    }
    if access(path, W_OK | X_OK) != 0 { throw .system("No backups can be made in \(path)") }
  }

  /// The complete backups, oldest first.
  ///
  /// - Throws: `ServerError` if the folder cannot be read. Damaged backups are left out.
  func backups() throws(ServerError) -> [(path: String, BackupManifest)] {
    var found: [(path: String, BackupManifest)] = []
    for name in try ServerFile.names(in: path) where !name.hasSuffix(BackupFolder.partSuffix) {
      // An unreadable backup is neither counted nor removed.
      guard let manifest = (try? BackupManifest(folder: path + "/" + name)) ?? nil else { continue }
      found.append((path + "/" + name, manifest))
    }
    return found.sorted { ($0.1.time, $0.path) < ($1.1.time, $1.path) }
  }

  /// The complete backups of a database, oldest first.
  ///
  /// A backup that does not say of which database it is, as those of older versions, is of none: it may be of
  /// another one with the same file name.
  func backups(
    of source: BackupManifest.Source
  ) throws(ServerError) -> [(path: String, BackupManifest)] {
    try backups().filter { $0.1.source == source }
  }

  /// Makes the folder of a backup; requires the lock.
  ///
  /// - Returns: the present path of the folder, and its path when it is complete.
  func begin(_ database: String, now: Int64) throws(ServerError) -> (part: String, whole: String) {
    try removeParts(of: database)
    // The name has no colons, which some systems do not allow in names.
    let time = ServerLog.timeText(now).prefix { $0 != "." }.replacing(":", with: "-")
    var whole = "\(path)/\(database)-\(time)Z"
    var number = 1
    while access(whole, F_OK) == 0 {
      number += 1
      whole = "\(path)/\(database)-\(time)Z-\(number)"
    }
    let part = whole + BackupFolder.partSuffix
    if mkdir(part, 0o700) != 0 { throw .system("\(part) cannot be made") }
    return (part, whole)
  }

  /// Removes all but the newest `count` backups of a database; requires the lock.
  func keep(_ count: Int, of source: BackupManifest.Source) throws(ServerError) {
    let all = try backups(of: source)
    for (whole, _) in all.dropLast(count) {
      let part = whole + BackupFolder.partSuffix
      if rename(whole, part) != 0 { throw .system("\(whole) cannot be removed") }
      try remove(part)
    }
  }

  private func removeParts(of database: String) throws(ServerError) {
    for name in try ServerFile.names(in: path)
    where name.hasPrefix(database + "-") && name.hasSuffix(BackupFolder.partSuffix) {
      try remove(path + "/" + name)
    }
  }

  /// Removes the folder of a backup with its files; a foreign folder in it stays.
  func remove(_ part: String) throws(ServerError) {
    for name in try ServerFile.names(in: part) { unlink(part + "/" + name) }
    if rmdir(part) != 0 { throw .system("\(part) cannot be removed") }
  }
}

extension ServerFile {
  /// The names of the entries of a folder, in order.
  static func names(in folder: String) throws(ServerError) -> [String] {
    guard let directory = opendir(folder) else { throw .system("\(folder) cannot be read") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Copies a file to a new one, which is on disk when this returns; false if the file does not
  /// exist.
  ///
  /// - Throws: `ServerError` if it cannot be copied; then there is no new file.
  static func copy(_ path: String, to new: String, mode: mode_t) throws(ServerError) -> Bool {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    if source < 0 {
      if errno == ENOENT { return false }
      throw .system("\(path) cannot be read")
    }
    defer { close(source) }
    let target = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if target < 0 { throw .system("\(new) cannot be made") }
    defer { close(target) }
    do throws(ServerError) {
      try copy(source, target, new)
    } catch {
      unlink(new)
      throw error
    }
    return true
  }

  private static func copy(
    _ source: Int32, _ target: Int32, _ name: String
  ) throws(ServerError) {
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(source, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw .system("\(name) cannot be written") }
      if count == 0 { break }
      var rest = chunk[..<count]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Glibc.write(target, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        if written <= 0 { throw .system("\(name) cannot be written") }
        rest = rest.dropFirst(written)
      }
    }
    if fsync(target) != 0 { throw .system("\(name) cannot be written") }
  }

  /// Brings the names in a folder to the disk.
  static func sync(folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return }
    // A file system that does not support this does not need it.
    _ = fsync(descriptor)
    close(descriptor)
  }
}
