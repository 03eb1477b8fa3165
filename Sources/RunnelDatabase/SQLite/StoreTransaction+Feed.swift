import GRDB
import RunnelBase
import RunnelTree

// The change feed and the declared indexes.

extension StoreTransaction {
  /// What other processes wrote since a place in the feed.
  struct ForeignChanges {
    /// The places written; the root alone if too much was written to tell.
    var touched: [Path]
    /// The place in the feed up to which this reaches.
    var sequence: Int64
  }

  /// The newest place in the feed.
  func feedEnd() throws -> Int64 {
    try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(sequence) FROM change")) ?? 0
  }

  /// Adds what this session wrote to the feed; returns its place there.
  func appendChange(_ touched: [Path], session: Int64) throws -> Int64 {
    let json = JSONValue.array(touched.map { .string($0.description) })
    try db.cachedStatement(sql: "INSERT INTO change (session, paths) VALUES (?, ?)")
      .execute(arguments: [session, json.jsonText()])
    let sequence = db.lastInsertedRowID
    try db.cachedStatement(sql: "DELETE FROM change WHERE sequence <= ?")
      .execute(arguments: [sequence - Int64(Schema.feedCountMax)])
    return sequence
  }

  /// What other sessions wrote after `sequence`.
  func foreignChanges(after sequence: Int64, session: Int64) throws -> ForeignChanges {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: "SELECT sequence, session, paths FROM change WHERE sequence > ? ORDER BY sequence"),
      arguments: [sequence])
    var changes = ForeignChanges(touched: [], sequence: sequence)
    guard let first = rows.first else { return changes }
    if (first["sequence"] as Int64) > sequence + 1 {
      // Older entries were dropped from the feed unread.
      changes.touched = [.root]
    }
    for row in rows {
      changes.sequence = row["sequence"]
      if (row["session"] as Int64) == session { continue }
      changes.touched += try StoreTransaction.paths(row["paths"])
    }
    return changes
  }

  private static func paths(_ json: String) throws -> [Path] {
    guard case .array(let elements) = try JSONValue(parsing: json) else { return [.root] }
    return try elements.map { element in
      guard case .string(let text) = element else { return .root }
      return try Path(text)
    }
  }
}

extension StoreTransaction {
  static func storedIndexes(_ db: GRDB.Database) throws -> [StoredIndex] {
    try Row.fetchAll(db, sql: "SELECT id, pattern, child FROM index_definition ORDER BY id").map {
      StoredIndex(
        id: $0["id"],
        definition: IndexDefinition(pattern: $0["pattern"], child: try Path($0["child"] as String)))
    }
  }

  /// Declares an index and enters what is stored already.
  ///
  /// O(n) in the children it keeps.
  func declare(_ definition: IndexDefinition) throws -> StoredIndex {
    try db.execute(
      sql: "INSERT INTO index_definition (pattern, child) VALUES (?, ?)",
      arguments: [definition.pattern, definition.child.description])
    let index = StoredIndex(id: db.lastInsertedRowID, definition: definition)
    try fill(index, at: [], row: .root)
    return index
  }

  private func fill(_ index: StoredIndex, at place: [Key], row id: RowID) throws {
    guard index.reaches(below: place), case .split(let split)? = try row(id) else { return }
    if index.covers(place) {
      let cursor = try Row.fetchCursor(
        db, sql: "SELECT key, json, split FROM node WHERE parent = ?", arguments: [split])
      while let row = try cursor.next() {
        let value = try indexValue(of: storedRow(row), index.order)
        try insertEntry(RowID(parent: split, key: row.bytes("key")), index, value)
      }
      return
    }
    let below = try Row.fetchAll(
      db, sql: "SELECT key, json, split FROM node WHERE parent = ? AND split IS NOT NULL",
      arguments: [split])
    for row in below {
      let key = try row.key()
      try fill(index, at: place + [key], row: RowID(parent: split, key))
    }
  }
}
