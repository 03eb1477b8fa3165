import GRDB
import RunnelBase
import RunnelTree

// The log of writes.

/// How many writes the history keeps, known to a connection until another one writes.
final class HistoryLimit {
  var known: Int?
}

extension StoreTransaction {
  /// The name of the value that says how many entries are kept.
  private static let limitName = "history.entries"

  /// How many entries are kept; 0 if none is written.
  ///
  /// A file of an older version keeps none.
  func historyLimit() throws -> Int {
    if let known = knownHistoryLimit.known { return known }
    let limit = try storedHistoryLimit()
    knownHistoryLimit.known = limit
    return limit
  }

  private func storedHistoryLimit() throws -> Int {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return 0 }
    let statement = try db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?")
    let row = try Row.fetchOne(statement, arguments: [StoreTransaction.limitName])
    guard let value = try row?.integerOrNil("value") else { return History.entryCountDefault }
    return Int(clamping: value)
  }

  /// Sets how many entries are kept, and drops those beyond.
  func setHistoryLimit(_ count: Int) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [StoreTransaction.limitName, count])
    try dropHistory(beyond: count)
  }

  /// Adds an entry, whose parts are given as `HistoryRecorder` writes them.
  ///
  /// The oldest are not shown any more if there are too many, and go many at once: to delete one would
  /// write a page more for every write.
  func appendHistory(parts: [UInt8], at now: Int64, author: String, undoes: Int64?) throws {
    try statement("INSERT INTO history (at, author, undoes, parts) VALUES (?, ?, ?, ?)")
      .run(
        .integer(now), .utf8(Array(author.utf8)), undoes.map { .integer($0) } ?? .null,
        .utf8(parts))
    let id = db.lastInsertedRowID
    if id.isMultiple(of: Int64(Schema.historySlack)) {
      try statement("DELETE FROM history WHERE id <= ?").run(.integer(id - Int64(historyLimit())))
    }
  }

  /// The greatest id of those that are not shown any more.
  private func oldestHistoryEnd() throws -> Int64 {
    let newest = try statement("SELECT max(id) FROM history").first { try $0.integer(0, "id") }
    return ((newest ?? nil) ?? 0) - Int64(try historyLimit())
  }

  private func dropHistory(beyond count: Int) throws {
    try db.cachedStatement(
      sql: """
        DELETE FROM history
        WHERE id <= (SELECT coalesce(max(id), 0) FROM history) - ?
        """
    ).execute(arguments: [count])
  }

  /// The entries before one, newest first: at most `count` of those that concern a place.
  ///
  /// O(n) in the entries passed over.
  func history(of path: Path, before id: Int64?, count: Int) throws -> [HistoryEntry] {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return [] }
    let cursor = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT id, at, author, undoes, parts FROM history
          WHERE id < ? AND id > ? ORDER BY id DESC
          """),
      arguments: [id ?? .max, oldestHistoryEnd()])
    var entries: [HistoryEntry] = []
    while entries.count < count, let row = try cursor.next() {
      let entry = try historyEntry(row)
      if entry.concerns(path) { entries.append(entry) }
    }
    return entries
  }

  func historyEntry(_ id: Int64) throws -> HistoryEntry? {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return nil }
    if try id <= oldestHistoryEnd() { return nil }
    let statement = try db.cachedStatement(
      sql: "SELECT id, at, author, undoes, parts FROM history WHERE id = ?")
    return try Row.fetchOne(statement, arguments: [id]).map(historyEntry)
  }

  func historyEntry(_ row: Row) throws -> HistoryEntry {
    guard let id = try row.integerOrNil("id"), let at = try row.integerOrNil("at"),
      case .array(let elements)? = try? JSONValue(parsing: row.text("parts"))
    else { throw Damage("an entry of the history cannot be read") }
    let parts = elements.compactMap { HistoryEntry.Part($0) }
    if parts.count != elements.count { throw Damage("entry \(id) of the history cannot be read") }
    return HistoryEntry(
      id: id, at: at, author: try row.text("author"), undoes: try row.integerOrNil("undoes"),
      parts: parts)
  }

  /// The node at a place as JSON in the export format; nil if it has more than `maxBytes`.
  ///
  /// No more is read than about that.
  func exportIfSmall(_ path: Path, maxBytes: Int) throws -> [UInt8]? {
    struct TooLarge: Error {}
    var bytes: [UInt8] = []
    do {
      try Exporter(store: self, layout: .compact) { chunk in
        bytes += chunk
        if bytes.count > maxBytes { throw TooLarge() }
      }.exportNode(at: path)
    } catch is TooLarge {
      return nil
    }
    return bytes.count > maxBytes ? nil : bytes
  }
}
