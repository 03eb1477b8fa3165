// The values that a server keeps in the file: in `meta`, under `server.` and a name.

extension StoreTransaction {
  private static let serverPrefix = "server."

  /// The values whose names have this prefix, in the order of the names.
  func serverValues(_ prefix: String) throws -> [(name: String, value: String)] {
    let start = StoreTransaction.serverPrefix + prefix
    var values: [(name: String, value: String)] = []
    // SQLite orders names by their bytes, so those with one beginning follow each other.
    try statement("SELECT name, value FROM meta WHERE name >= ? ORDER BY name")
      .forEach([.text(start)]) { row in
        let name = try row.text(0, "name")
        guard name.utf8.starts(with: start.utf8) else { return false }
        let rest = name.unicodeScalars.dropFirst(StoreTransaction.serverPrefix.count)
        values.append((String(rest), try row.text(1, "value")))
        return true
      }
    return values
  }

  /// Stores a value under a name; nil removes it.
  func setServerValue(_ value: String?, _ name: String) throws {
    let name = StoreTransaction.serverPrefix + name
    if let value {
      try statement("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
        .run(.text(name), .text(value))
    } else {
      try statement("DELETE FROM meta WHERE name = ?").run(.text(name))
    }
  }
}
