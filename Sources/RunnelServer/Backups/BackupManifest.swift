import Crypto
import Glibc
import RunnelBase

/// The manifest of a backup: its file `backup.json`, which is written last.
///
/// A backup is a folder. The database is in `NAME.db`, and the files beside it keep their names:
/// `NAME.rules.json` and so on.
public struct BackupManifest: Hashable, Sendable {
  /// A file of a backup.
  public struct File: Hashable, Sendable {
    /// Its name in the backup.
    public var name: String
    /// Its size in bytes.
    public var byteCount: Int
    /// The SHA-256 of its bytes, in hexadecimal digits.
    public var hash: String
  }

  /// What tells the databases apart of which a folder has backups.
  ///
  /// A file keeps its id when it is copied, so the id alone does not say which of two copies it is; nor does
  /// the place alone, where another database may be now.
  struct Source: Hashable, Sendable {
    /// The id of the database; nil for a file of an old version, which has none.
    var id: String?
    /// The path of its file, without symbolic links.
    var path: String
  }

  static let fileName = "backup.json"
  private static let format = 1
  private static let fileBytesMax = 1 << 20
  private static let chunkBytes = 1 << 20

  private enum Field {
    static let format = "format"
    static let database = "database"
    static let id = "id"
    static let path = "from"
    static let time = "made"
    static let files = "files"
    static let name = "name"
    static let byteCount = "bytes"
    static let hash = "sha256"
  }

  /// The name of the database: its file name without folder and extension.
  public var database: String
  /// The database; nil in a backup by an older version, which names only the file.
  var source: Source?
  /// When the backup was made, in milliseconds since 1970.
  public var time: Int64
  /// The files, the database first.
  public var files: [File]

  init(database: String, source: Source?, time: Int64, files: [File]) {
    (self.database, self.source) = (database, source)
    (self.time, self.files) = (time, files)
  }

  /// Reads the manifest of a backup; nil if the folder has none.
  ///
  /// - Throws: `ServerError` if it cannot be read, or is not valid.
  init?(folder: String) throws(ServerError) {
    let path = folder + "/" + BackupManifest.fileName
    guard let bytes = try ServerFile.bytes(of: path, max: BackupManifest.fileBytesMax) else {
      return nil
    }
    // Text that is no JSON is no manifest either.
    guard let json = try? JSONValue(parsing: bytes), let format = json[Field.format]?.int else {
      throw ServerError("\(path) is damaged, so this backup cannot be used: use another one.")
    }
    if format > BackupManifest.format {
      throw ServerError("\(path) was written by a newer Runnel: restore it with that version.")
    }
    guard let database = json[Field.database]?.string, let time = json[Field.time]?.int,
      case .array(let elements)? = json[Field.files]
    else {
      throw ServerError("\(path) is damaged, so this backup cannot be used: use another one.")
    }
    self.database = database
    source = json[Field.path]?.string.map { Source(id: json[Field.id]?.string, path: $0) }
    self.time = Int64(time)
    files = elements.compactMap { element in
      guard let name = element[Field.name]?.string, let count = element[Field.byteCount]?.int,
        let hash = element[Field.hash]?.string, !name.contains("/"), name.hasPrefix(database + ".")
      else { return nil }
      return File(name: name, byteCount: count, hash: hash)
    }
    guard files.count == elements.count, files.contains(where: { $0.name == databaseFile }) else {
      throw ServerError("\(path) is damaged, so this backup cannot be used: use another one.")
    }
  }

  /// The name of the database's file.
  var databaseFile: String { database + DatabaseNames.suffix }

  func write(to folder: String) throws(ServerError) {
    var json: JSONValue = [
      Field.format: .number(JSONNumber(Int64(BackupManifest.format))),
      Field.database: .string(database), Field.time: .number(JSONNumber(time)),
      Field.files: .array(
        files.map { file in
          [
            Field.name: .string(file.name),
            Field.byteCount: .number(JSONNumber(Int64(file.byteCount))),
            Field.hash: .string(file.hash),
          ]
        }),
    ]
    if let source {
      json[Field.path] = .string(source.path)
      json[Field.id] = source.id.map { .string($0) }
    }
    try ServerFile.replace(
      folder + "/" + BackupManifest.fileName, with: json.jsonBytes(pretty: true) + [10],
      mode: 0o600)
  }

  /// Size and hash of a file, read from the disk.
  static func measure(_ path: String, name: String) throws(ServerError) -> File {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw .system("\(path) cannot be read") }
    defer { close(descriptor) }
    var hash = SHA256()
    var chunk = [UInt8](repeating: 0, count: chunkBytes)
    var total = 0
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw .system("\(path) cannot be read") }
      if count == 0 { break }
      chunk.withUnsafeBytes {
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count]))
      }
      total += count
    }
    let digits = Array("0123456789abcdef")
    let text = hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return File(name: name, byteCount: total, hash: String(text))
  }
}
