import GRDB

// The values that a server keeps in the file: in `meta`, under `server.` and a name.

extension StoreTransaction {
  private static let serverPrefix = "server."

  /// The values whose names have this prefix, in the order of the names.
  func serverValues(_ prefix: String) throws -> [(name: String, value: String)] {
    let statement = try db.cachedStatement(
      sql: "SELECT name, value FROM meta WHERE substr(name, 1, ?) = ? ORDER BY name")
    let start = StoreTransaction.serverPrefix + prefix
    return try Row.fetchAll(statement, arguments: [start.count, start]).map { row in
      let name = try row.text("name").dropFirst(StoreTransaction.serverPrefix.count)
      return (String(name), try row.text("value"))
    }
  }

  /// Stores a value under a name; nil removes it.
  func setServerValue(_ value: String?, _ name: String) throws {
    let name = StoreTransaction.serverPrefix + name
    if let value {
      try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
        .execute(arguments: [name, value])
    } else {
      try db.cachedStatement(sql: "DELETE FROM meta WHERE name = ?").execute(arguments: [name])
    }
  }
}
