import RunnelBase
import RunnelDatabase
import RunnelTree

/// Writes as another program does that has the same file open.
enum OtherProcess {
  /// Writes values below the root.
  static func write(_ values: [String: JSONValue?], to file: String) throws {
    let session = try DatabaseSession(file: file, environment: .system)
    let members = values.map { JSONMember($0.key, $0.value ?? .null) }
    _ = try session.write(.update(.root, members))
    try session.close()
  }
}
