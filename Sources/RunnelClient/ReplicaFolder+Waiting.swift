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
    guard let folder = try? self.folder(environment) else { return [] }
    let shared = fileName(for: address, user: OriginAccess.unknownUser)
    let start = fileName(for: address, user: "").dropLast(ending.count)
    return names(in: folder)
      .filter { $0.hasPrefix(start) && $0.hasSuffix(ending) && $0 != shared }
      .compactMap { name in
        let file = "\(folder)/\(name)"
        // What cannot be read is told when it is opened.
        guard let session = try? DatabaseSession(file: file, isReadOnly: true, environment: .system)
        else { return nil }
        let count = (try? session.pendingWritesOfUser())?.count ?? 0
        // Nothing was written that closing could lose.
        try? session.close()
        if count == 0 { return nil }
        let user = decoded(name.dropFirst(start.count).dropLast(ending.count))
        let isWhole = user.map { fileName(for: address, user: $0) == name } ?? false
        return WaitingFile(file: file, user: isWhole ? user : nil, pendingCount: count)
      }
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
