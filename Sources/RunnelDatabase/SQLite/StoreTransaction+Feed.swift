import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The change feed and the declared indexes.

extension StoreTransaction {
  /// The changes by other sessions since a position in the feed.
  struct ForeignChanges {
    /// The places written; only the root if there are too many places to tell.
    var touched: [Path]
    /// The position in the feed up to which this reaches.
    var sequence: Int64
  }

  /// The newest position in the feed.
  func feedEnd() throws -> Int64 {
    let end = try statement("SELECT max(sequence) FROM change").first { row in
      try row.integer(0, "sequence")
    }
    return (end ?? nil) ?? 0
  }

  /// Adds the changes of a session to the feed, with the noted history entry; returns their
  /// position.
  ///
  /// A write of very many places is recorded as one of the place above them all, and a write that
  /// changed nothing as one of no place.
  func appendChange(_ touched: [Path]) throws -> Int64 {
    let isLong = touched.count > Schema.feedPathsMax
    let told = notedEntry.isUnchanged ? [] : isLong ? [touched.commonAncestor] : touched
    notedEntry.isUnchanged = false
    var json = JSONWriter()
    json.beginArray()
    for path in told { json.writeString(path.description) }
    json.endArray()
    if let entry = takeNotedEntry() {
      try statement("INSERT INTO change (at, author, undoes, paths, parts) VALUES (?, ?, ?, ?, ?)")
        .run(
          .integer(entry.at), .utf8(Array(entry.author.utf8)),
          entry.undoes.map { .integer($0) } ?? .null, .utf8(json.bytes), .utf8(entry.sealedParts))
    } else {
      try statement("INSERT INTO change (paths) VALUES (?)").run(.utf8(json.bytes))
    }
    let sequence = db.lastInsertedRowID
    notedEntry.isAppended = true
    // Changes are dropped many at once: deleting a single one would write an extra page for every
    // write.
    if try sequence.isMultiple(of: changeSlack()) { try trimChanges(newest: sequence) }
    return sequence
  }

  /// The number of excess changes at which they are dropped.
  func changeSlack() throws -> Int64 {
    Int64(Schema.changeSlack(historyLimit: try historyLimit()))
  }

  /// Drops the changes that neither the feed nor the history keeps, and the entries beyond the
  /// limit.
  ///
  /// O(n) in the changes that are kept.
  func trimChanges(newest: Int64) throws {
    let feedStart = newest - Int64(Schema.feedCountMin)
    let historyStart = try historyStart()
    try statement("DELETE FROM change WHERE sequence <= ? AND (at IS NULL OR sequence < ?)")
      .run(.integer(feedStart), .integer(historyStart))
    try statement(
      """
      UPDATE change SET at = NULL, author = NULL, undoes = NULL, parts = NULL
      WHERE sequence < ? AND at IS NOT NULL
      """
    ).run(.integer(historyStart))
  }

  /// The changes after `sequence`, which is after the last write of the calling session.
  func foreignChanges(after sequence: Int64) throws -> ForeignChanges {
    let end = try feedEnd()
    // The history may keep older changes, but many, and with gaps.
    if end - sequence > Int64(Schema.feedCountMin) {
      return ForeignChanges(touched: [.root], sequence: end)
    }
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: "SELECT sequence, paths FROM change WHERE sequence > ? ORDER BY sequence"),
      arguments: [sequence])
    var changes = ForeignChanges(touched: [], sequence: sequence)
    for row in rows {
      let next = try row.integerOrNil("sequence") ?? changes.sequence
      // If a number is missing, older entries were dropped from the feed unread.
      if next != changes.sequence + 1 { changes.touched.append(.root) }
      changes.sequence = next
      changes.touched += StoreTransaction.paths(try row.text("paths"))
    }
    return changes
  }

  /// The places of one entry; the root if it cannot be read, so that no change is missed.
  private static func paths(_ json: String) -> [Path] { writtenPaths(json) ?? [.root] }

  /// The places of one entry; nil if it cannot be read.
  static func writtenPaths(_ json: String) -> [Path]? {
    guard case .array(let elements)? = try? JSONValue(parsing: json) else { return nil }
    let paths = elements.compactMap { element in
      if case .string(let text) = element { try? Path(text) } else { nil as Path? }
    }
    return paths.count == elements.count ? paths : nil
  }
}

// MARK: What is missing

extension StoreTransaction {
  /// Checks that none of the newest changes is missing, so that the history tells all that it should.
  ///
  /// Older changes that are no entries of the history are dropped, so a gap among them means nothing.
  /// O(n) in the changes of the feed, of which only the numbers are read if none is missing.
  ///
  /// - Throws: `Damage` that names the missing changes.
  func checkNoChangeIsMissing() throws {
    if let gap = try missingChanges() {
      let numbers = gap.count == 1 ? "\(gap.lowerBound)" : "\(gap.lowerBound) to \(gap.upperBound)"
      throw Damage(
        "of the writes that it remembers, \(numbers) is missing", at: .words("its history"))
    }
  }

  /// The first changes that are missing of those that the feed keeps; nil if none is.
  ///
  /// After a repair, what is missing is followed by a change of the whole tree.
  func missingChanges() throws -> ClosedRange<Int64>? {
    let newest = try feedEnd()
    let noted = try sequenceAtLogStart()
    if noted > newest { return (newest + 1)...noted }
    let start = max(newest - Int64(Schema.feedCountMin), 0)
    let count = try statement("SELECT count(*) FROM change WHERE sequence > ?")
      .first(.integer(start)) { try $0.integer(0, "a count") ?? 0 }
    if count ?? 0 == newest - start { return nil }
    var last = start
    var gap: ClosedRange<Int64>?
    try statement("SELECT sequence, paths FROM change WHERE sequence > ? ORDER BY sequence")
      .forEach([.integer(start)]) { row in
        let sequence = try row.integer(0, "sequence") ?? 0
        if sequence != last + 1,
          try StoreTransaction.writtenPaths(row.text(1, "paths")) != [.root]
        {
          gap = (last + 1)...(sequence - 1)
        }
        last = sequence
        return gap == nil
      }
    return gap
  }

  /// The newest change when the newest log was begun; 0 if that is not known.
  func sequenceAtLogStart() throws -> Int64 {
    guard try Schema.fileVersion(db) >= Migration.version3.version else { return 0 }
    let bytes = try statement("SELECT sequence FROM log_start WHERE id = 1").first { $0.bytes(0) }
    guard let bytes = bytes ?? nil, bytes.count == 8 else { return 0 }
    let sequence = bytes.reduce(0) { $0 << 8 | Int64($1) }
    // A number that no file reaches is damaged itself.
    return sequence < 1 << 48 ? sequence : 0
  }
}

extension [Path] {
  /// The deepest place that contains all of these.
  fileprivate var commonAncestor: Path {
    guard var keys = first?.keys[...] else { return .root }
    for path in self {
      let same = zip(keys, path.keys).prefix { $0 == $1 }.count
      keys = keys.prefix(same)
    }
    return Path(unchecked: keys.map { $0 })
  }
}

extension StoreTransaction {
  /// Declares an index that is not declared yet, and fills it.
  ///
  /// O(n) in the children that it keeps.
  func declare(_ definition: IndexDefinition, progress: @escaping (_ rows: Int) -> Bool) throws {
    try db.execute(
      sql: "INSERT INTO index_definition (pattern, child) VALUES (?, ?)",
      arguments: [definition.pattern, definition.storedOrder])
    let index = StoredIndex(id: db.lastInsertedRowID, definition: definition)
    var filler = IndexFiller(try directTree()) { rows in
      if progress(rows) { return }
      throw DatabaseError(.cancelled, "Indexing was stopped. Nothing was changed.")
    }
    try filler.fill(index)
  }

  static let indexDefinitions = "SELECT id, pattern, child FROM index_definition ORDER BY id"

  static func storedIndexes(_ db: GRDB.Database) throws -> [StoredIndex] {
    var indexes: [StoredIndex] = []
    try FastStatement(db, indexDefinitions).forEach([]) { row in
      let (pattern, order) = (try row.text(1, "pattern"), try row.text(2, "child"))
      indexes.append(try storedIndex(row.integer(0, "id"), pattern, order))
      return true
    }
    return indexes
  }

  static func storedIndex(_ row: Row) throws -> StoredIndex {
    try storedIndex(row.integerOrNil("id"), row.text("pattern"), row.text("child"))
  }

  private static func storedIndex(
    _ id: Int64?, _ pattern: String, _ order: String
  ) throws -> StoredIndex {
    guard let id, let definition = try? IndexDefinition(pattern: pattern, storedOrder: order)
    else { throw Damage("the definition of an index cannot be read") }
    return StoredIndex(id: id, definition: definition)
  }
}
