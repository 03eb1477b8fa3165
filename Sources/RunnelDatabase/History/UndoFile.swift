import Glibc
import RunnelBase

/// A file beside a database with the node that an import replaced, if it is too large for the
/// history: a document that can be imported again, also by hand.
///
/// It is on disk before the import is. Undoing the import removes it. When the history forgets the
/// import, it stays, since it may be all that is left of the data, until `DatabaseCare.repair`.
struct UndoFile: Hashable {
  /// The suffix after the name of the database.
  ///
  /// A database that is renamed keeps its files if they are renamed, too.
  var suffix: String
  /// Its size in bytes.
  var byteCount: Int
  /// The checksum of its bytes, by `Checksum`.
  var checksum: UInt64

  /// The path of the file of a database.
  func path(of database: String) -> String { database + suffix }

  /// True if the file stands beside the database.
  func exists(of database: String) -> Bool { access(path(of: database), F_OK) == 0 }

  /// Removes the file, also if it is not finished.
  func remove(of database: String) {
    unlink(path(of: database))
    unlink(path(of: database) + UndoFile.unfinished)
  }

  /// The end of the name of a file whose import is under way; the tree still has the old node.
  private static let unfinished = ".part"
}

extension UndoFile {
  /// The paths of all undo files that stand beside a database, in the order of their names; also of those
  /// that killed imports left unfinished.
  static func paths(of database: String) -> [String] {
    paths(of: database, ending: ".json") + paths(of: database, ending: ".json" + unfinished)
  }

  /// Removes what killed imports left unfinished.
  ///
  /// The caller is in a transaction that writes to the database, so no other import is under way.
  static func removeUnfinished(of database: String) {
    for path in paths(of: database, ending: ".json" + unfinished) { unlink(path) }
  }

  private static func paths(of database: String, ending: String) -> [String] {
    let start = database.lastIndex(of: "/").map { database.index(after: $0) } ?? database.startIndex
    let (folder, name) = (database[..<start], database[start...])
    guard let directory = opendir(folder.isEmpty ? "." : String(folder)) else { return [] }
    defer { closedir(directory) }
    var paths: [String] = []
    while let entry = readdir(directory) {
      let found = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let found, found.hasPrefix(name + "-undo-"), found.hasSuffix(ending) else { continue }
      paths.append(folder + found)
    }
    return paths.sorted()
  }
}

// MARK: Making

extension UndoFile {
  /// The most names that are tried; files of a database that was deleted may exist.
  private static let namesMax = 1000

  /// Makes the file for a write, under another name until `finish`; `body` writes its bytes.
  ///
  /// - Throws: `DatabaseError` if it cannot be made or written, and the errors of `body`; then
  ///   there is no file.
  static func make(
    of database: String, number: Int64, _ body: (_ write: ([UInt8]) throws -> Void) throws -> Void
  ) throws -> UndoFile {
    let (suffix, descriptor) = try open(of: database, number)
    var file = UndoFile(suffix: suffix, byteCount: 0, checksum: 0)
    do {
      defer { close(descriptor) }
      var checksum = Checksum()
      try body { bytes in
        try write(bytes, to: descriptor, file.path(of: database))
        file.byteCount += bytes.count
        bytes.withUnsafeBufferPointer { checksum.append($0) }
      }
      file.checksum = checksum.value
      if fsync(descriptor) != 0 { throw failure(file.path(of: database)) }
    } catch {
      file.remove(of: database)
      throw error
    }
    return file
  }

  /// Gives the file its name, just before the transaction is committed.
  ///
  /// - Throws: `DatabaseError` if it cannot be renamed or brought to the disk.
  func finish(of database: String) throws {
    let path = path(of: database)
    if rename(path + UndoFile.unfinished, path) != 0 { throw UndoFile.failure(path) }
    try UndoFile.syncFolder(of: database)
  }

  private static func open(of database: String, _ number: Int64) throws -> (String, Int32) {
    for count in 1...namesMax {
      let suffix = "-undo-\(number)" + (count == 1 ? "" : "-\(count)") + ".json"
      if access(database + suffix, F_OK) == 0 { continue }
      let descriptor = Glibc.open(
        database + suffix + unfinished, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        // The readers of the database may also read its old content.
        var status = stat()
        if stat(database, &status) == 0 { fchmod(descriptor, status.st_mode & 0o666) }
        return (suffix, descriptor)
      }
      if errno != EEXIST { throw failure(database + suffix) }
    }
    throw DatabaseError(
      .storage, "There are \(namesMax) files like \(database)-undo-\(number).json: move them away.")
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno != EINTR { throw failure(path) }
      rest = rest.dropFirst(max(count, 0))
    }
  }

  private static func syncFolder(of database: String) throws {
    let folder = database.lastIndex(of: "/").map { String(database[...$0]) } ?? "."
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that can be written but not read cannot be synced either.
    if descriptor < 0 { return }
    defer { close(descriptor) }
    // Some file systems do not support this.
    if fsync(descriptor) != 0, errno != EINVAL { throw failure(folder) }
  }

  private static func failure(_ path: String) -> DatabaseError {
    DatabaseError(
      errno == ENOSPC || errno == EDQUOT ? .diskFull : .storage,
      "What stands there cannot be kept for its undo in \(path): "
        + "\(String(cString: strerror(errno))). Nothing was changed.")
  }
}

// MARK: Reading

extension UndoFile {
  /// Calls `body` with the bytes of the file, after checking that they are unchanged.
  ///
  /// - Throws: `DatabaseError` (`refused`) if the file is gone or has changed, and the errors of
  ///   `body`.
  func withBytes<Result>(
    of database: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) throws -> Result {
    let path = path(of: database)
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw refusal("\(path) is needed: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int(status.st_size) == byteCount, byteCount > 0,
      let address = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0),
      address != MAP_FAILED
    else { throw refusal("\(path) is not what was written there") }
    defer { munmap(address, byteCount) }
    let bytes = UnsafeRawBufferPointer(start: address, count: byteCount)
      .assumingMemoryBound(to: UInt8.self)
    var sum = Checksum()
    sum.append(bytes)
    if sum.value != checksum { throw refusal("\(path) was changed since") }
    return try body(bytes)
  }

  private func refusal(_ reason: String) -> DatabaseError {
    DatabaseError(.refused, "The write cannot be undone: \(reason). Nothing was changed.")
  }

  /// A checksum that finds accidental changes, but not deliberate ones.
  ///
  /// Source: FNV-1a of 64 bits.
  private struct Checksum {
    private static let prime: UInt64 = 0x100_0000_01B3

    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
      for byte in bytes { value = (value ^ UInt64(byte)) &* Checksum.prime }
    }
  }
}

// MARK: In the history

extension UndoFile {
  private enum Name {
    static let suffix = "suffix"
    static let byteCount = "bytes"
    static let checksum = "checksum"
  }

  /// The file as the history stores it.
  var json: JSONValue {
    [
      Name.suffix: .string(suffix), Name.byteCount: .number(JSONNumber(Int64(byteCount))),
      Name.checksum: .string(String(checksum, radix: 16)),
    ]
  }

  /// Reads what `json` made; nil for any other JSON.
  init?(_ json: JSONValue) {
    guard let suffix = json[Name.suffix]?.string, !suffix.contains("/"),
      let bytes = json[Name.byteCount]?.int, bytes >= 0,
      let sum = json[Name.checksum]?.string, let checksum = UInt64(sum, radix: 16)
    else { return nil }
    self.init(suffix: suffix, byteCount: bytes, checksum: checksum)
  }
}
