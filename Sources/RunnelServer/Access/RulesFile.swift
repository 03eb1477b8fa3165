import Glibc
import RunnelSync

/// The file of a database's rules.
struct RulesFile: Hashable {
  /// The rules that apply without a file, in the form for clients.
  static let openRules = Array("{\"rules\": {\".read\": true, \".write\": true}}".utf8)

  /// The path; the file need not exist.
  let path: String
  /// True if the file must exist, because the user named it.
  let isNamed: Bool

  /// Loads the rules; nil if the file does not exist and need not.
  ///
  /// - Throws: `ServerError` with all mistakes.
  func load() throws(ServerError) -> RulesEngine? {
    guard let bytes = try bytes() else {
      if isNamed { throw ServerError("\(path) does not exist: name the file of the rules.") }
      return nil
    }
    do throws(RulesError) {
      return try RulesEngine(parsing: bytes)
    } catch {
      throw ServerError("\(path) cannot be loaded.\n\(error.text(file: path))", isUsage: true)
    }
  }

  /// The text of the file; nil if there is none.
  ///
  /// - Throws: `ServerError` if it cannot be read.
  func bytes() throws(ServerError) -> [UInt8]? {
    try ServerFile.bytes(of: path, max: RulesLimits.fileBytesMax + 1)
  }

  /// Writes the file completely or not at all.
  ///
  /// - Throws: `ServerError` if it cannot be written.
  func write(_ text: [UInt8]) throws(ServerError) { try ServerFile.replace(path, with: text) }

  /// The text of the rules, or of the open rules if there are none.
  static func text(of rules: RulesEngine?) -> [UInt8] { rules?.source ?? openRules }
}

/// Files that the server reads and replaces.
enum ServerFile {
  /// The bytes of a file; nil if there is none.
  ///
  /// - Throws: `ServerError` if it cannot be read, or is larger.
  static func bytes(of path: String, max: Int) throws(ServerError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw .system("\(path) cannot be read")
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw .system("\(path) cannot be read") }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      if bytes.count > max { throw ServerError("\(path) is larger than \(max) bytes.") }
    }
  }

  /// True if two paths lead to the same file.
  static func isSame(_ path: String, _ other: String?) -> Bool {
    guard let other else { return false }
    if path == other { return true }
    var (one, two) = (stat(), stat())
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev
      && one.st_ino == two.st_ino
  }

  /// Replaces the content of a file; even after a failure, the content is either the old or the new
  /// one.
  ///
  /// - Throws: `ServerError` if it cannot be written.
  static func replace(
    _ path: String, with bytes: [UInt8], mode: mode_t = 0o644
  ) throws(ServerError) {
    let new = path + ".new"
    unlink(new)
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    if descriptor < 0 { throw .system("\(new) cannot be made") }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      rest = rest.dropFirst(count)
    }
    let isSynced = rest.isEmpty && fsync(descriptor) == 0
    let code = errno
    close(descriptor)
    if !isSynced { errno = code }
    guard isSynced, rename(new, path) == 0 else {
      let error = ServerError.system("\(path) cannot be written")
      unlink(new)
      throw error
    }
  }
}
