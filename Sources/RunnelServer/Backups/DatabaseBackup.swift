import Glibc
import RunnelDatabase

/// The maker of backups of a database that may be in use.
public struct DatabaseBackup: Sendable {
  /// The endings of files beside `NAME.db` that belong to the database.
  static let besides = [
    ".rules.json", ".secrets.json", ".service-accounts.json", ".resources.yaml", ".views.yaml",
  ]

  /// The file of the database.
  public var file: String
  /// The rules file, if it is not the one beside the database.
  public var rulesFile: String?

  /// Makes a value for backups of a file.
  public init(_ file: String, rulesFile: String? = nil) {
    (self.file, self.rulesFile) = (file, rulesFile)
  }

  /// The files in a folder of databases, in order.
  ///
  /// - Throws: `ServerError` if it cannot be read.
  public static func files(in folder: String) throws(ServerError) -> [String] {
    try ServerFile.names(in: folder).filter { $0.hasSuffix(DatabaseNames.suffix) }
      .map { (folder.hasSuffix("/") ? folder : folder + "/") + $0 }
  }

  /// The name of the database in backups.
  var name: String {
    let stem = DatabaseNames.stem(of: file)
    return String(
      stem[(stem.lastIndex(of: "/").map { stem.index(after: $0) } ?? stem.startIndex)...])
  }

  /// What tells the database from others with the same file name.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read.
  func source() throws -> BackupManifest.Source {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    do {
      let source = try source(session)
      try session.close()
      return source
    } catch {
      // The first error matters; an error of closing is dropped.
      try? session.close()
      throw error
    }
  }

  private func source(_ session: DatabaseSession) throws -> BackupManifest.Source {
    let path = realpath(file, nil)
    defer { free(path) }
    return BackupManifest.Source(
      id: try session.databaseID(), path: path.map { String(cString: $0) } ?? file)
  }

  /// Makes a backup of one state of the database, and checks the written files.
  ///
  /// O(n) in the database. The backup gets its name when it is complete and on disk.
  ///
  /// - Parameters:
  ///   - folder: the folder of the backups; it is made if it does not exist.
  ///   - keep: the number of backups of this database to keep, with the new one; nil for all.
  ///   - now: milliseconds since 1970.
  ///   - isWanted: called now and then; false stops the work, and removes the backup.
  /// - Returns: the path of the backup, and its manifest.
  /// - Throws: `ServerError` or `DatabaseError` with the reason why there is no backup.
  public func make(
    in folder: String, keep: Int? = nil, now: Int64, isWanted: @escaping () -> Bool = { true }
  ) throws -> (path: String, manifest: BackupManifest) {
    let backups = BackupFolder(folder)
    return try backups.locked {
      let (part, whole) = try backups.begin(name, now: now)
      let manifest: BackupManifest
      do {
        manifest = try write(to: part, now, isWanted)
        ServerFile.sync(folder: part)
        if rename(part, whole) != 0 { throw ServerError.system("\(whole) cannot be made") }
      } catch {
        // The next backup removes the remains.
        try? backups.remove(part)
        throw error
      }
      ServerFile.sync(folder: backups.path)
      if let keep, let source = manifest.source { try backups.keep(max(1, keep), of: source) }
      return (whole, manifest)
    }
  }

  private func write(
    to part: String, _ now: Int64, _ isWanted: @escaping () -> Bool
  ) throws -> BackupManifest {
    var manifest = BackupManifest(database: name, source: nil, time: now, files: [])
    let copy = part + "/" + manifest.databaseFile
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    do {
      manifest.source = try source(session)
      try session.saveCopy(to: copy, isWanted: isWanted)
    } catch {
      // The first error matters; an error of closing is dropped.
      try? session.close()
      throw error
    }
    try session.close()
    chmod(copy, 0o600)
    let report = try DatabaseCare.check(file: copy) { _, _ in isWanted() }
    if let fault = report.faults.first {
      throw ServerError(
        "\(file) is damaged at \(fault.place): \(fault.what). No backup was made: run `runnel doctor`."
      )
    }
    manifest.files = [try BackupManifest.measure(copy, name: manifest.databaseFile)]
    for (path, name) in try companions() {
      let new = part + "/" + name
      // A file may have been removed a moment ago.
      guard try ServerFile.copy(path, to: new, mode: 0o600) else { continue }
      manifest.files.append(try BackupManifest.measure(new, name: name))
    }
    try manifest.write(to: part)
    return manifest
  }

  /// The files that belong to the database, with their names in the backup.
  private func companions() throws(ServerError) -> [(path: String, name: String)] {
    let stem = DatabaseNames.stem(of: file)
    var found = DatabaseBackup.besides.map { (path: stem + $0, name: name + $0) }
    if let rulesFile { found[0].path = rulesFile }
    // The undo files of imports.
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
    let start = String(
      file[(file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex)...])
    for other in try ServerFile.names(in: folder) where other.hasPrefix(start + "-undo-") {
      found.append(
        (folder + other, name + DatabaseNames.suffix + other.dropFirst(start.count)))
    }
    return found
  }
}
