import Glibc
import RunnelAccounts
import RunnelBase

/// The files in which a device remembers who it is: its id, in whose lists it may stand, and the names that
/// users gave it.
///
/// ```
///   device                  the id, made once for each user of the machine
///   devices/SERVICE         the ids of the users, one a line
///   device-names/SERVICE    the ids of users and the names that they gave, with a tab between them, one a line
/// ```
/// They are in the user's state folder, and only the user may read them.
struct DeviceIdentity {
  private static let idBytes = 20
  private static let fileBytesMax = 65_536
  private static let alphabet = Array("0123456789abcdefghijkmnpqrstuvwxyz".utf8)

  let folder: String

  /// Returns the id, which is made if there is none.
  ///
  /// - Throws: `DeviceFailure` (`files`) if it cannot be read or written.
  func id() throws(DeviceFailure) -> String {
    let path = folder + "/device"
    if let id = try read(path) { return try DeviceIdentity.checked(id, path) }
    var random = SystemRandomNumberGenerator()
    let id = String(
      decoding: (0..<DeviceIdentity.idBytes).map { _ in
        DeviceIdentity.alphabet.randomElement(using: &random) ?? UInt8(ascii: "0")
      }, as: UTF8.self)
    let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    try write(id + "\n", to: temporary)
    defer { unlink(temporary) }
    // Of two processes, one makes the file.
    if link(temporary, path) == 0 { return id }
    if errno == EEXIST, let other = try read(path) {
      return try DeviceIdentity.checked(other, path)
    }
    throw failure(path, "cannot be made")
  }

  private static func checked(_ text: String, _ path: String) throws(DeviceFailure) -> String {
    let id = text.prefix { $0 != "\n" }
    guard id.utf8.count == idBytes, id.utf8.allSatisfy(alphabet.contains) else {
      throw DeviceFailure(
        .files, "\(path) holds no id of a device: remove it, and a new one is made.")
    }
    return String(id)
  }

  /// Returns the users in whose lists the device may stand; none if the file cannot be read.
  func holders(_ service: String) -> [String] {
    // A missing memory costs a new token at most.
    guard let text = try? read(file(service)) else { return [] }
    return text.split(separator: "\n").map(String.init)
  }

  /// Remembers in whose lists the device may stand.
  ///
  /// - Throws: `DeviceFailure` (`files`) if that cannot be written.
  func remember(_ users: [String], _ service: String) throws(DeviceFailure) {
    let path = file(service)
    if users.isEmpty {
      unlink(path)
      return
    }
    try replace(path, users.map { $0 + "\n" }.joined())
  }

  private func replace(_ path: String, _ text: String) throws(DeviceFailure) {
    let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    try write(text, to: temporary)
    if rename(temporary, path) != 0 {
      let reason = failure(path, "cannot be written")
      unlink(temporary)
      throw reason
    }
  }

  private func file(_ service: String) -> String {
    folder + "/devices/" + AccountFolder.fileName(service)
  }

  /// Returns the names that users gave the device; none if the file cannot be read.
  func names(_ service: String) -> [String: String] {
    guard let text = try? read(namesFile(service)) else { return [:] }
    var names: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      if parts.count == 2 { names[String(parts[0])] = String(parts[1]) }
    }
    return names
  }

  /// Remembers the name that a user gave the device.
  ///
  /// - Throws: `DeviceFailure` (`files`) if that cannot be written.
  func remember(name: String, of user: String, _ service: String) throws(DeviceFailure) {
    let isLine = (user + name).unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control
    }
    if user.isEmpty || name.isEmpty || !isLine { return }
    // Another program may have added one.
    var names = names(service)
    names[user] = name
    let lines = names.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)\n" }
    try replace(namesFile(service), lines.joined())
  }

  private func namesFile(_ service: String) -> String {
    folder + "/device-names/" + AccountFolder.fileName(service)
  }

  // MARK: Files

  private func read(_ path: String) throws(DeviceFailure) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0 {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, "cannot be read")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: DeviceIdentity.fileBytesMax)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    if count < 0 { throw failure(path, "cannot be read") }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  private func write(_ text: String, to path: String) throws(DeviceFailure) {
    try make(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    unlink(path)
    let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw failure(path, "cannot be written") }
    let bytes = Array(text.utf8)
    let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    let reason = failure(path, "cannot be written")
    close(descriptor)
    if !isWritten {
      unlink(path)
      throw reason
    }
  }

  private func make(_ folder: String) throws(DeviceFailure) {
    if folder.isEmpty || access(folder, F_OK) == 0 { return }
    if let slash = folder.lastIndex(of: "/") { try make(String(folder[..<slash])) }
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw failure(folder, "cannot be made") }
  }

  private func failure(_ path: String, _ what: String) -> DeviceFailure {
    DeviceFailure(.files, "\(path) \(what): \(String(cString: strerror(errno))).")
  }
}
