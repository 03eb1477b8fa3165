import RunnelBase
import RunnelDatabase
import RunnelTree

/// Reads and writes like another program that has the same file open.
enum OtherProcess {
  /// Writes values below the root.
  static func write(_ values: [String: JSONValue?], to file: String) throws {
    let session = try DatabaseSession(file: file, environment: .system)
    let members = values.map { JSONMember($0.key, $0.value ?? .null) }
    _ = try session.write(.update(.root, members))
    try session.close()
  }

  /// Returns the value at a place below the root.
  static func read(_ key: String, in file: String) throws -> JSONValue {
    let session = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    let json = try session.node(at: Path("/" + key)).json
    try session.close()
    return json
  }
}
