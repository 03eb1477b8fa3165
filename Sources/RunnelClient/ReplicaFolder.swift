import Glibc
public import RunnelDatabase
public import RunnelSync

/// The folder of the replicas, with one file for each origin and user.
public enum ReplicaFolder {
  static let nameBytesMax = 200

  /// Returns the file of a replica; creates its folder, for the user only, if it does not exist.
  ///
  /// Source: XDG Base Directory Specification.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - user: the user that the access names.
  ///   - environment: the environment variables of the process.
  /// - Returns: the path of the file, which need not exist.
  /// - Throws: `DatabaseError` (`cannotOpen`) if the folder does not exist and cannot be made.
  public static func file(
    for address: OriginAddress, user: String, environment: [String: String]
  ) throws(DatabaseError) -> String {
    let folder = try self.folder(environment)
    try make(folder)
    return folder + "/" + fileName(for: address, user: user)
  }

  /// Returns the folder of the replicas, which need not exist.
  ///
  /// - Throws: `DatabaseError` (`cannotOpen`) if the user has no home.
  public static func folder(_ environment: [String: String]) throws(DatabaseError) -> String {
    // The specification says that a relative path is ignored.
    if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
      return folder + "/runnel/replicas"
    }
    guard let home = environment["HOME"], !home.isEmpty else {
      throw DatabaseError(
        .cannotOpen, "HOME is not set, so there is no folder for replicas.")
    }
    return home + "/.local/share/runnel/replicas"
  }

  /// A replica of an earlier version, whose writes may be those of several users.
  package struct SharedFile: Sendable {
    /// The path of the file.
    package let file: String
    /// The number of its pending writes.
    package let pendingCount: Int

    /// The notice about it, for the user.
    package var notice: String {
      let writes = pendingCount == 1 ? "1 pending write" : "\(pendingCount) pending writes"
      return "\(file) has \(writes) of an earlier version, which did not note whose they are. They "
        + "are kept there and not sent."
    }
  }

  /// Returns the replica that all users of tokens without a known user once shared, if it has
  /// pending writes.
  ///
  /// It is not sent as anybody. It is opened for reading only.
  ///
  /// - Parameters:
  ///   - address: the origin.
  ///   - environment: the environment variables of the process.
  /// - Returns: nil if there is no such file, if it has no pending writes, or if it cannot be read.
  package static func sharedFile(
    for address: OriginAddress, environment: [String: String]
  ) -> SharedFile? {
    guard let folder = try? self.folder(environment) else { return nil }
    let file = folder + "/" + fileName(for: address, user: OriginAccess.unknownUser)
    guard access(file, F_OK) == 0,
      let session = try? DatabaseSession(file: file, isReadOnly: true, environment: .system)
    else { return nil }
    let count = session.pendingWrites.count
    // Nothing was written that closing could lose.
    try? session.close()
    return count > 0 ? SharedFile(file: file, pendingCount: count) : nil
  }

  /// Returns the file name of a replica: readable, and different for each origin and user.
  static func fileName(for address: OriginAddress, user: String) -> String {
    let scheme = (address.hasServices ? "feathers:" : "") + (address.isSecure ? "" : "http:")
    let name = scheme + address.host + (address.namespace.map { "/" + $0 } ?? "") + "@" + user
    var encoded = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "@"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "_" + String(byte, radix: 16)
      }
    }
    if encoded.utf8.count > nameBytesMax {
      // The checksum of the whole name distinguishes long names that are cut.
      encoded = String(encoded.prefix(nameBytesMax - 17)) + "_" + checksum(of: name)
    }
    return encoded + ".db"
  }

  /// Returns the checksum of a text, in 16 hexadecimal digits.
  ///
  /// Source: FNV-1a, 64 bits.
  static func checksum(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func make(_ folder: String) throws(DatabaseError) {
    if access(folder, F_OK) == 0 { return }
    if let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
      try make(String(folder[..<slash]))
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST {
      let reason = String(cString: strerror(errno))
      throw DatabaseError(.cannotOpen, "\(folder) cannot be made: \(reason).")
    }
  }
}
