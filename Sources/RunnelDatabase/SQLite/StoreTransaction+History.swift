import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The log of writes, whose entries stand in the rows of the feed.

/// The number of writes that the history keeps, cached by a connection until another one writes.
final class HistoryLimit {
  var known: Int?
}

/// An entry of the history as it is stored.
struct HistoryText {
  /// The time of the write, in milliseconds since 1970.
  var at: Int64
  var author: String
  /// The entry that the write undid; nil if it undid none.
  var undoes: Int64?
  /// The parts that `HistoryRecorder` noted, as JSON.
  var parts: [UInt8]
}

extension HistoryText {
  /// The beginning of the member with the checksum, which is the last one of the last part.
  private static let mark = Array(#","checksum":""#.utf8)
  /// The end of the parts, with and without a checksum before it.
  private static let (sealEnd, end) = (Array(#""}]"#.utf8), Array("}]".utf8))
  private static let digitCount = 8

  /// The parts with a checksum, as they are stored.
  ///
  /// O(n) in the parts.
  var sealedParts: [UInt8] {
    guard parts.suffix(HistoryText.end.count) == HistoryText.end[...] else { return parts }
    return parts.dropLast(HistoryText.end.count) + HistoryText.mark + checksum
      + HistoryText.sealEnd
  }

  /// Returns false if the stored parts of an entry do not fit their checksum; entries of older
  /// programs have none.
  ///
  /// O(n) in the parts.
  static func isSound(_ stored: [UInt8], at: Int64, author: String, undoes: Int64?) -> Bool {
    let sealed = mark.count + digitCount + sealEnd.count
    let seal = stored.suffix(sealed)
    guard seal.count == sealed, seal.starts(with: mark) else { return true }
    let parts = Array(stored.dropLast(sealed)) + end
    let entry = HistoryText(at: at, author: author, undoes: undoes, parts: parts)
    return seal.dropFirst(mark.count).prefix(digitCount).elementsEqual(entry.checksum)
  }

  /// The checksum of the whole entry, as hexadecimal digits.
  private var checksum: [UInt8] {
    var seed = Array(author.utf8).withUnsafeBytes {
      Checksum.hash($0, seed: UInt64(bitPattern: at))
    }
    if let undoes { seed ^= UInt64(bitPattern: undoes) &+ 1 }
    let hash = parts.withUnsafeBytes { Checksum.hash($0, seed: seed) }
    let digits = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
    let zeros = HistoryText.digitCount - digits.utf8.count
    return Array(repeatElement(UInt8(ascii: "0"), count: zeros)) + digits.utf8
  }
}

/// The entry of a transaction's write, until its change is appended.
final class NotedEntry {
  /// True once the write is in the feed.
  var isAppended = false
  var entry: HistoryText?
  /// True if the write was compared with the old values, and changed nothing.
  var isUnchanged = false
}

extension StoreTransaction {
  /// The name of the value with the number of kept entries.
  private static let limitName = "history.entries"

  /// The number of kept entries; 0 if the file has no such value.
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

  /// Sets the number of kept entries, and drops the entries beyond it.
  func setHistoryLimit(_ count: Int) throws {
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: [StoreTransaction.limitName, count])
    knownHistoryLimit.known = nil
    try trimChanges(newest: feedEnd())
  }

  /// Keeps an entry until its change is appended; it is stored in the row of the change.
  func note(_ entry: HistoryText) {
    precondition(notedEntry.entry == nil, "A transaction is one write, with one entry.")
    notedEntry.entry = entry
  }

  /// The suffixes of the undo files that entries of the history name; entries beyond its limit, which
  /// are dropped later, do not count.
  ///
  /// O(n) in the entries that are kept.
  func undoFileSuffixes() throws -> Set<String> {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return [] }
    var suffixes: Set<String> = []
    try statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE sequence >= ? AND instr(parts, '"suffix"')
      """
    ).forEach([.integer(historyStart())]) { row in
      // An unreadable entry is reported elsewhere.
      let entry = try? historyEntry(row)
      suffixes.formUnion(entry?.parts.compactMap { $0.undoFile?.suffix } ?? [])
      return true
    }
    return suffixes
  }

  /// Notes that a write, compared with the old values, changed nothing.
  func noteNoChange() { notedEntry.isUnchanged = true }

  /// True if an entry is noted for the next change.
  var notesEntry: Bool { notedEntry.entry != nil }

  /// The entry that was noted since the last change; nil if there was none.
  func takeNotedEntry() -> HistoryText? {
    defer { notedEntry.entry = nil }
    return notedEntry.entry
  }

  /// The change with the oldest shown entry; a value before all changes if every entry is shown.
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
  ///
  /// - Throws: `Damage` if entries are missing, and the errors of reading.
  func history(of path: Path, before id: Int64?, count: Int) throws -> [HistoryEntry] {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return [] }
    try checkNoChangeIsMissing()
    if count <= 0 { return [] }
    var entries: [HistoryEntry] = []
    try statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE sequence < ? AND sequence >= ? AND at IS NOT NULL ORDER BY sequence DESC
      """
    ).forEach([.integer(id ?? .max), .integer(historyStart())]) { row in
      let entry = try historyEntry(row)
      if entry.concerns(path) { entries.append(entry) }
      return entries.count < count
    }
    return entries
  }

  /// The entry in a change; nil if there is none, or if it is not shown any more.
  func historyEntry(_ id: Int64) throws -> HistoryEntry? {
    guard try Schema.fileVersion(db) >= Migration.version2.version else { return nil }
    if try id < historyStart() { return nil }
    return try statement(
      """
      SELECT sequence, at, author, undoes, parts FROM change
      WHERE sequence = ? AND at IS NOT NULL
      """
    ).first(.integer(id), row: historyEntry)
  }

  /// The entry in a row of the columns `sequence`, `at`, `author`, `undoes`, `parts`.
  ///
  /// - Throws: `Damage` if it cannot be read, or does not fit its checksum.
  func historyEntry(_ row: FastStatement) throws -> HistoryEntry {
    guard let id = try row.integer(0, "sequence"), let at = try row.integer(1, "at"),
      case .array(let elements)? = try? JSONValue(parsing: row.text(4, "parts"))
    else { throw Damage("an entry of the history cannot be read") }
    let (author, undoes) = (try row.text(2, "author"), try row.integer(3, "undoes"))
    let parts = elements.compactMap { HistoryEntry.Part($0) }
    if !HistoryText.isSound(row.bytes(4) ?? [], at: at, author: author, undoes: undoes) {
      throw Damage("entry \(id) of the history does not fit its checksum")
    }
    if parts.count != elements.count { throw Damage("entry \(id) of the history cannot be read") }
    return HistoryEntry(
      id: id, at: at, author: author, undoes: undoes, parts: parts,
      operation: elements.first.flatMap(HistoryEntry.Part.operation))
  }

  /// The node at a place as JSON in the export format; nil if it has more than `maxBytes`.
  ///
  /// No more than about `maxBytes` is read.
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
