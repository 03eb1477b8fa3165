import Foundation
import Glibc
import RunnelBase
import RunnelDatabase
import RunnelTree

/// The file beside a replica in which earlier versions kept the writes that its origin refused.
///
/// The replica keeps them itself now; see `DatabaseSession.refusedWrites()`.
package struct RefusalFile {
  private static let suffix = "-refused"
  private static let version = 1

  let path: String

  /// Makes the file for a database.
  package init(database: String) { path = database + RefusalFile.suffix }

  /// The number of refused writes in the file; 0 if there is none.
  package var count: Int { stored?.count ?? 0 }

  /// The refused writes; nil if there is no file that can be read.
  private var stored: [KeptRefusal]? {
    guard access(path, F_OK) == 0, let data = FileManager.default.contents(atPath: path),
      let json = try? JSONValue(parsing: [UInt8](data)),
      let version = json["version"]?.int, version <= RefusalFile.version
    else { return nil }
    return (json["refused"]?.array ?? []).compactMap { KeptRefusal($0) }
  }

  /// Hands the writes over to the replica, and removes the file.
  ///
  /// The file goes after the replica has them; a program that is killed in between leaves both, and what is in both
  /// is taken once.
  ///
  /// - Throws: `DatabaseError` if the replica cannot be written; then the file stays.
  func handOver(to session: DatabaseSession) throws {
    if stored == nil { return }
    _ = try session.adoptRefusedWrites { stored ?? [] }
    unlink(path)
  }
}
