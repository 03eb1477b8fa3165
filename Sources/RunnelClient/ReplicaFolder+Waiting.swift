import Glibc
import RunnelDatabase
package import RunnelSync

extension ReplicaFolder {
  private static let filesMax = 1000

  /// A replica with pending writes.
  package struct WaitingFile: Hashable, Sendable {
    /// The path of the file.
    package let file: String
    /// The user that the access named; nil if the name of the file does not tell it.
    package let user: String?
    /// The number of the user's pending writes.
    package let pendingCount: Int
  }

  /// Returns the replicas of an origin that have pending writes, sorted by their names; they are opened for
  /// reading only.
  ///
  /// The one that all users of tokens once shared is not among them, and none that cannot be read.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - environment: the environment variables of the process.
  /// - Returns: the replicas.
  package static func waitingFiles(
    for address: OriginAddress, environment: [String: String]
  ) -> [WaitingFile] {
    replicas(of: address, environment).compactMap { file, user in
      let count = pendingCount(file)
      return count == 0 ? nil : WaitingFile(file: file, user: user, pendingCount: count)
    }
  }

  /// Returns the users who have a replica of an origin, and may have an account or are nobody, as far as the names of
  /// the files tell them; no file is opened.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - environment: the environment variables of the process.
  /// - Returns: the ids, as accesses name the users.
  package static func users(
    of address: OriginAddress, environment: [String: String]
  ) -> [String] {
    replicas(of: address, environment).compactMap(\.user).filter(OriginAccess.mayBeAccount)
  }

  /// Drops the pending writes of the user of a replica.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - user: the user that the access names.
  ///   - environment: the environment variables of the process.
  /// - Throws: `DatabaseError` if it cannot be opened or written.
  package static func dropWaiting(
    of address: OriginAddress, user: String, environment: [String: String]
  ) throws {
    let file = "\(try folder(environment))/\(fileName(for: address, user: user))"
    guard access(file, F_OK) == 0 else { return }
    let session = try DatabaseSession(file: file, environment: .system)
    // What was dropped is on disk.
    defer { try? session.close() }
    for write in try session.pendingWritesOfUser() { _ = try session.dropPendingWrite(write.id) }
  }

  /// The files of an origin's replicas, and their users if their names tell them, sorted by the names.
  private static func replicas(
    of address: OriginAddress, _ environment: [String: String]
  ) -> [(file: String, user: String?)] {
    guard let folder = try? self.folder(environment) else { return [] }
    let shared = fileName(for: address, user: OriginAccess.unknownUser)
    let start = fileName(for: address, user: "").dropLast(ending.count)
    return names(in: folder)
      .filter { $0.hasPrefix(start) && $0.hasSuffix(ending) && $0 != shared }
      .map { name in
        let user = decoded(name.dropFirst(start.count).dropLast(ending.count))
        let isWhole = user.map { fileName(for: address, user: $0) == name } ?? false
        return ("\(folder)/\(name)", isWhole ? user : nil)
      }
  }

  /// Returns the replica of a user if it has pending writes; nil if not, or if it cannot be read.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - user: the user that the access names.
  ///   - environment: the environment variables of the process.
  /// - Returns: the replica.
  package static func waitingFile(
    for address: OriginAddress, user: String, environment: [String: String]
  ) -> WaitingFile? {
    guard let folder = try? self.folder(environment) else { return nil }
    let file = "\(folder)/\(fileName(for: address, user: user))"
    let count = access(file, F_OK) == 0 ? pendingCount(file) : 0
    return count == 0 ? nil : WaitingFile(file: file, user: user, pendingCount: count)
  }

  /// Returns the numbers of the writes in a user's replica that wait, and of those that the origin refused and that
  /// were neither sent again nor dropped; 0 if there is no replica, or if it cannot be read.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - user: the user that the access names.
  ///   - environment: the environment variables of the process.
  /// - Returns: the numbers.
  package static func counts(
    of address: OriginAddress, user: String, environment: [String: String]
  ) -> (pending: Int, refused: Int) {
    guard let folder = try? self.folder(environment) else { return (0, 0) }
    let file = "\(folder)/\(fileName(for: address, user: user))"
    // What cannot be read is told when it is opened.
    guard access(file, F_OK) == 0,
      let session = try? DatabaseSession(file: file, isReadOnly: true, environment: .system)
    else { return (0, 0) }
    // Nothing was written that closing could lose.
    defer { try? session.close() }
    let pending = (try? session.pendingWritesOfUser())?.count ?? 0
    return (pending, (try? session.refusedWrites())?.count ?? 0)
  }

  /// Returns the user whose replica a file is, as the access named the user; nil if its name does not tell it.
  ///
  /// - Parameter file: the path.
  /// - Returns: the id.
  package static func user(ofFile file: String) -> String? {
    let name = file.split(separator: "/").last ?? ""
    // Neither a host nor a namespace has an @.
    guard name.hasSuffix(ending), name.utf8.count - ending.utf8.count < nameBytesMax,
      let at = name.firstIndex(of: "@")
    else { return nil }
    return decoded(name[at...].dropFirst().dropLast(ending.count))
  }

  /// The number of the user's pending writes in a replica; 0 if it cannot be read.
  private static func pendingCount(_ file: String) -> Int {
    // What cannot be read is told when it is opened.
    guard let session = try? DatabaseSession(file: file, isReadOnly: true, environment: .system)
    else { return 0 }
    // Nothing was written that closing could lose.
    defer { try? session.close() }
    return (try? session.pendingWritesOfUser())?.count ?? 0
  }

  private static let ending = ".db"

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < filesMax, let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return names.sorted()
  }

  /// Returns the text of a part of a file name; nil if it is not one that `fileName` makes.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        bytes.append(byte)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
