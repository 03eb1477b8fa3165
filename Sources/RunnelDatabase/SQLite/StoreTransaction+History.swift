import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The log of writes, whose entries stand in the rows of the feed.

/// How many writes the history keeps, known to a connection until another one writes.
final class HistoryLimit {
  var known: Int?
}

/// An entry of the history as it is stored.
struct HistoryText {
  /// When the write was done, in milliseconds since 1970.
  var at: Int64
  var author: String
  /// The entry that it undid; nil if it is no undoing.
  var undoes: Int64?
  /// What `HistoryRecorder` noted, as JSON.
  var parts: [UInt8]
}

/// The entry of the write that a transaction does, until its change is appended.
final class NotedEntry {
  /// Whether the feed has the write.
  var isAppended = false
  var entry: HistoryText?
  /// True if the write was compared with what stood there, and changed nothing.
  var isUnchanged = false
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
    return max(0, Int(clamping: value))
  }

  /// Sets how many entries are kept, and drops those beyond.
  func setHistoryLimit(_ count: Int) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [StoreTransaction.limitName, count])
    knownHistoryLimit.known = nil
    try trimChanges(newest: feedEnd())
  }

  /// Keeps an entry until the change is appended in whose row it stands.
  func note(_ entry: HistoryText) {
    precondition(notedEntry.entry == nil, "A transaction is one write, with one entry.")
    notedEntry.entry = entry
  }

  /// The ends of the names of the undo files that entries of the history name.
  ///
  /// O(n) in the entries that are kept.
  func undoFileSuffixes() throws -> Set<String> {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return [] }
    let cursor = try Row.fetchCursor(
      db,
      sql: """
        SELECT sequence, at, author, undoes, parts FROM change WHERE instr(parts, '"suffix"')
        """)
    var suffixes: Set<String> = []
    while let row = try cursor.next() {
      // One that cannot be read is told elsewhere.
      let entry = try? historyEntry(row)
      suffixes.formUnion(entry?.parts.compactMap { $0.undoFile?.suffix } ?? [])
    }
    return suffixes
  }

  /// Notes that a write, which was compared with what stood there, changed nothing.
  func noteNoChange() { notedEntry.isUnchanged = true }

  /// True if an entry was noted that the next change takes along.
  var notesEntry: Bool { notedEntry.entry != nil }

  /// The entry that was noted since the last change; nil if there was none.
  func takeNotedEntry() -> HistoryText? {
    defer { notedEntry.entry = nil }
    return notedEntry.entry
  }

  /// The change that is the oldest entry to be shown; what is before all if every one is.
  ///
  /// O(n) in the entries that are kept.
  func historyStart() throws -> Int64 {
    let limit = try historyLimit()
    if limit == 0 { return .max }
    let start = try statement(
      "SELECT sequence FROM change WHERE at IS NOT NULL ORDER BY sequence DESC LIMIT 1 OFFSET ?"
    ).first(.integer(Int64(limit - 1))) { try $0.integer(0, "sequence") }
    return (start ?? nil) ?? .min
  }

  /// The entries before one, newest first: at most `count` of those that concern a place.
  ///
  /// O(n) in the entries that are kept.
  func history(of path: Path, before id: Int64?, count: Int) throws -> [HistoryEntry] {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return [] }
    let cursor = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT sequence, at, author, undoes, parts FROM change
          WHERE sequence < ? AND sequence >= ? AND at IS NOT NULL ORDER BY sequence DESC
          """),
      arguments: [id ?? .max, historyStart()])
    var entries: [HistoryEntry] = []
    while entries.count < count, let row = try cursor.next() {
      let entry = try historyEntry(row)
      if entry.concerns(path) { entries.append(entry) }
    }
    return entries
  }

  /// The entry that stands in a change; nil if none does, or it is not shown any more.
  func historyEntry(_ id: Int64) throws -> HistoryEntry? {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return nil }
    if try id < historyStart() { return nil }
    let statement = try db.cachedStatement(
      sql: """
        SELECT sequence, at, author, undoes, parts FROM change
        WHERE sequence = ? AND at IS NOT NULL
        """)
    return try Row.fetchOne(statement, arguments: [id]).map(historyEntry)
  }

  func historyEntry(_ row: Row) throws -> HistoryEntry {
    guard let id = try row.integerOrNil("sequence"), let at = try row.integerOrNil("at"),
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
      try Exporter(tree: tree, layout: .compact) { chunk in
        bytes += chunk
        if bytes.count > maxBytes { throw TooLarge() }
      }.exportNode(at: path)
    } catch is TooLarge {
      return nil
    }
    return bytes.count > maxBytes ? nil : bytes
  }
}
