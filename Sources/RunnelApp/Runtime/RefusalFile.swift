import Foundation
import Glibc
import RunnelBase
import RunnelWorkspace

/// The file beside a replica with the writes that its origin refused and the user has not dealt with.
///
/// It is written when a refusal comes or goes, before anything else happens, so that neither a hang-up nor a
/// kill loses what was typed; it is replaced as a whole. Workspaces on the same replica share it: each adds
/// and removes its own.
struct RefusalFile {
  static let suffix = "-refused"
  private static let version = 1

  let path: String
  /// What this workspace read or wrote last.
  private(set) var known: [KeptRefusal] = []

  /// Makes the file for a database.
  init(database: String) { path = database + RefusalFile.suffix }

  /// Reads the refused writes; none if there is no file.
  mutating func read() -> [KeptRefusal] {
    known = stored
    return known
  }

  private var stored: [KeptRefusal] {
    guard access(path, F_OK) == 0, let data = FileManager.default.contents(atPath: path),
      let json = try? JSONValue(parsing: [UInt8](data)),
      let version = json["version"]?.int, version <= RefusalFile.version
    else { return [] }
    return (json["refused"]?.array ?? []).compactMap { KeptRefusal($0) }
  }

  /// Writes the refused writes, if others are kept; returns a message if that fails.
  mutating func write(_ refused: [KeptRefusal]) -> String? {
    if refused == known { return nil }
    let gone = Set(known.map(\.write)).subtracting(refused.map(\.write))
    let own = Set(refused.map(\.write))
    let others = stored.filter { !gone.contains($0.write) && !own.contains($0.write) }
    let theirs = others.filter { !known.contains($0) }
    let problem = replace(theirs + refused)
    if problem == nil { known = refused }
    return problem
  }

  private func replace(_ refused: [KeptRefusal]) -> String? {
    if refused.isEmpty { return unlink(path) == 0 || errno == ENOENT ? nil : problem }
    let json = JSONValue.object([
      JSONMember("version", .int(RefusalFile.version)),
      JSONMember("refused", .array(refused.map(\.json))),
    ])
    let temporary = path + ".\(getpid())"
    let bytes = Array((json.jsonText() + "\n").utf8)
    let descriptor = open(temporary, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return problem }
    let count = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
    guard count == bytes.count, rename(temporary, path) == 0 else {
      let reason = problem
      unlink(temporary)
      return reason
    }
    return nil
  }

  private var problem: String {
    "the refused writes cannot be kept in \(path): \(String(cString: strerror(errno)))"
  }
}
