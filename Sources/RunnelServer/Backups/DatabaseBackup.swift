import Glibc
import RunnelDatabase

/// Makes backups of a database that others may go on using.
public struct DatabaseBackup: Sendable {
  /// What may stand beside `NAME.db` and belongs to it, after the name.
  static let besides = [
    ".rules.json", ".secrets.json", ".service-accounts.json", ".resources.yaml", ".views.yaml",
  ]

  /// The file of the database.
  public var file: String
  /// The file of its rules, if it is not the one beside it.
  public var rulesFile: String?

  /// Makes a backup of a file.
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

  /// Makes a backup of one state of the database, and checks what was written.
  ///
  /// O(n) in the database. The backup gets its name when it is complete and on disk.
  ///
  /// - Parameters:
  ///   - folder: where it is made, as a folder of its own; it is made if it is not there.
  ///   - keep: how many backups of this database stay, with the new one; nil for all.
  ///   - now: milliseconds since 1970.
  ///   - isWanted: is asked now and then; false stops the work, and nothing stays of it.
  /// - Returns: the path of the backup, and what is in it.
  /// - Throws: `ServerError` or `DatabaseError` that says why there is none.
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
        // The next backup removes what stays.
        try? backups.remove(part)
        throw error
      }
      ServerFile.sync(folder: backups.path)
      if let keep { try backups.keep(max(1, keep), of: name) }
      return (whole, manifest)
    }
  }

  private func write(
    to part: String, _ now: Int64, _ isWanted: @escaping () -> Bool
  ) throws -> BackupManifest {
    var manifest = BackupManifest(database: name, time: now, files: [])
    let copy = part + "/" + manifest.databaseFile
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    do {
      try session.saveCopy(to: copy, isWanted: isWanted)
    } catch {
      // The first error is the one that matters.
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
      // What was there a moment ago may be gone.
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
    // What imports replaced, so that they can be undone.
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
