import GRDB
import RunnelBase
import RunnelStorage
import RunnelTree

// The data of a replica. The origin's tree is a second tree in the same tables.

extension StoreTransaction: ReplicaStorage {
  func serverNode(at path: Path) throws(TreeError) -> Node { try server.node(at: path) }

  func serverSummary(at path: Path) throws(TreeError) -> NodeSummary {
    try server.summary(at: path)
  }

  func perform(_ assignment: Assignment) throws(TreeError) {
    try tree.reading { try carryOut(assignment) }
  }

  func performOnServer(_ assignment: Assignment) throws(TreeError) {
    try tree.reading { try server.carryOut(assignment) }
  }

  /// Ids are counted in the file, so that no two processes use the same id, and none is used twice.
  func takeWriteID() throws(TreeError) -> Int64 {
    try tree.reading {
      let statement = try db.cachedStatement(
        sql: """
          INSERT INTO meta (name, value) VALUES ('origin.write_ids', 1)
          ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value
          """)
      guard let id = try Row.fetchOne(statement)?.integerOrNil("value") else {
        throw Damage("the count of writes is no number")
      }
      return id - 1
    }
  }

  func save(_ write: PendingWrite) throws(TreeError) {
    try tree.reading {
      try statement("INSERT OR REPLACE INTO pending_write (id, json) VALUES (?, ?)")
        .run(.integer(write.id), .utf8(write.json.jsonBytes()))
    }
  }

  func end(_ write: PendingWrite, _ ending: PendingWrite.Ending) throws(TreeError) {
    try tree.reading {
      try statement("DELETE FROM pending_write WHERE id = ?").run(.integer(write.id))
      switch ending {
      case .done: if let name = write.name { try noteName(name) }
      case .refused(let error):
        try note(RefusedWrite(write: write.id, error: error))
        if let now = keepsRefusalsAt { try keep(write, error, at: now) }
      case .takenBack: break
      }
    }
  }

  func refusal(of id: Int64) throws(TreeError) -> TreeError? {
    try tree.reading { try refusals().last { $0.write == id }?.error }
  }

  func queriesHeldElsewhere() throws(TreeError) -> Set<Int64> {
    try tree.reading {
      try sessionsWithQueries().filter { $0 != beacon?.session && isRunning(session: $0) }
        .reduce(into: Set<Int64>()) { $0.formUnion(try queries(heldBy: $1)) }
    }
  }

  func queriesSpokenFor() throws(TreeError) -> Set<Int64> {
    try tree.reading { try queriesOfOtherSpeaker() }
  }

  func isSpokenFor() throws(TreeError) -> Bool {
    try tree.reading { try otherSpeaker() != nil }
  }

  func noteSpeaking(_ isSpeaking: Bool) throws(TreeError) {
    try tree.reading { try noteSpeaker(isSpeaking) }
  }

  func noteRefusal(ofQuery id: Int64, _ error: TreeError?) throws(TreeError) {
    try tree.reading { try note(refusalOfQuery: id, error) }
  }

  func refusedQueries() throws(TreeError) -> [Int64: TreeError] {
    try tree.reading {
      Dictionary(try queryRefusals().map { ($0.write, $0.error) }) { _, newer in newer }
    }
  }

  func isRunning(session: Int64) -> Bool { beacon?.isMarked(session: session) == true }

  func save(_ record: TrackedQuery) throws(TreeError) {
    try tree.reading {
      try statement(
        """
        INSERT OR REPLACE INTO tracked_query (id, path, query, is_active, is_complete, last_use)
        VALUES (?, ?, ?, ?, ?, ?)
        """
      ).run(
        .integer(record.id), .text(record.query.path.description),
        .utf8(record.query.storedJSON().jsonBytes()), .integer(record.isActive ? 1 : 0),
        .integer(record.isComplete ? 1 : 0), .integer(record.lastUse))
      // A default query has no keys.
      if !record.isDormant, !record.isDefault { try saveKeys(of: record) }
      try noteHolding(record.id, record.isActive)
    }
  }

  func save(_ record: TrackedQuery, changing key: Key) throws(TreeError) {
    // Another process may have removed the record.
    let isStored = try tree.reading {
      try Row.fetchOne(
        db.cachedStatement(sql: "SELECT 1 FROM tracked_query WHERE id = ?"),
        arguments: [record.id]) != nil
    }
    guard isStored else { return try save(record) }
    try tree.reading {
      let sql =
        record.keys.contains(key)
        ? "INSERT OR IGNORE INTO tracked_key (query, key) VALUES (?, ?)"
        : "DELETE FROM tracked_key WHERE query = ? AND key = ?"
      try db.cachedStatement(sql: sql).execute(arguments: [record.id, key.text])
    }
  }

  /// Writes the added keys, and deletes the removed ones.
  private func saveKeys(of record: TrackedQuery) throws {
    let stored = try keyTexts(ofQuery: record.id)
    let wanted = Set(record.keys.map(\.text))
    for key in stored.subtracting(wanted) {
      try db.cachedStatement(sql: "DELETE FROM tracked_key WHERE query = ? AND key = ?")
        .execute(arguments: [record.id, key])
    }
    for key in wanted.subtracting(stored) {
      try db.cachedStatement(sql: "INSERT INTO tracked_key (query, key) VALUES (?, ?)")
        .execute(arguments: [record.id, key])
    }
  }

  private func keyTexts(ofQuery id: Int64) throws -> Set<String> {
    var keys: Set<String> = []
    try statement("SELECT key FROM tracked_key WHERE query = ?").forEach([.integer(id)]) { row in
      keys.insert(try row.text(0, "a key of a query"))
      return true
    }
    return keys
  }

  func keys(ofQuery id: Int64) throws(TreeError) -> Set<Key> {
    try tree.reading { try Set(keyTexts(ofQuery: id).map { try Key($0) }) }
  }

  func hasKey(_ key: Key, ofQuery id: Int64) throws(TreeError) -> Bool {
    try tree.reading {
      try statement("SELECT 1 FROM tracked_key WHERE query = ? AND key = ?")
        .first(.integer(id), .text(key.text)) { _ in true } ?? false
    }
  }

  /// True if the answer of a query has more keys than are read with its record.
  private func hasManyKeys(_ id: Int64) throws -> Bool {
    let limit = Int64(TrackedQuery.awakeKeysMax)
    return try statement("SELECT 1 FROM tracked_key WHERE query = ? LIMIT 1 OFFSET ?")
      .first(.integer(id), .integer(limit)) { _ in true } ?? false
  }

  func deleteTrackedQuery(_ id: Int64) throws(TreeError) {
    try tree.reading {
      try statement("DELETE FROM tracked_key WHERE query = ?").run(.integer(id))
      try statement("DELETE FROM tracked_query WHERE id = ?").run(.integer(id))
      try noteHolding(id, false)
    }
  }

  /// O(1) while the whole file is smaller; else the bytes of all records are added up.
  func isServer(largerThan bytes: Int) throws(TreeError) -> Bool {
    try tree.reading {
      try flush()
      let pages = try statement("PRAGMA page_count").first { try $0.integer(0, "pages") ?? 0 }
      let pageSize = try statement("PRAGMA page_size").first { try $0.integer(0, "bytes") ?? 0 }
      if let pages, let pageSize, pages * pageSize <= bytes { return false }
      let sql = """
        WITH RECURSIVE below (json, split) AS (
          SELECT json, split FROM node WHERE parent = ? AND key = ?
          UNION ALL
          SELECT node.json, node.split FROM below JOIN node ON node.parent = below.split
        )
        SELECT coalesce(sum(length(json)), 0) AS bytes FROM below
        """
      let root = RowID.server
      let row = try Row.fetchOne(
        db.cachedStatement(sql: sql), arguments: [root.parent, root.key.databaseBlob])
      return try row.flatMap { try $0.integerOrNil("bytes") } ?? 0 > bytes
    }
  }

  /// The stored state of the replica.
  ///
  /// - Throws: `Damage` if it cannot be read.
  func replicaBook() throws -> ReplicaBook {
    let writes = try Row.fetchAll(
      db.cachedStatement(sql: "SELECT id, json FROM pending_write ORDER BY id")
    ).map(StoreTransaction.pendingWrite)
    let records = try Row.fetchAll(
      db.cachedStatement(sql: "SELECT * FROM tracked_query ORDER BY id")
    ).compactMap { try trackedQuery($0) }
    return ReplicaBook(pending: writes, tracked: records)
  }

  static func pendingWrite(_ row: Row) throws -> PendingWrite {
    let id = try row.integerOrNil("id") ?? -1
    let json = try? JSONValue(parsing: row.text("json"))
    guard let write = json.flatMap({ PendingWrite(id: id, json: $0) }) else {
      throw Damage("the pending write \(id) cannot be read")
    }
    return write
  }

  /// The record in a row; nil if its query cannot be read, so that its answer is not trusted.
  ///
  /// A whole answer of many keys is dormant, so that opening a replica does not read all of them.
  func trackedQuery(_ row: Row) throws -> TrackedQuery? {
    guard let id = try row.integerOrNil("id"), let path = try? Path(row.text("path")),
      let json = try? JSONValue(parsing: row.text("query")),
      let query = try? Query(stored: json, at: path)
    else { return nil }
    var record = TrackedQuery(id: id, query: query, lastUse: try row.integerOrNil("last_use") ?? 0)
    record.isActive = try row.integerOrNil("is_active") == 1
    record.isComplete = try row.integerOrNil("is_complete") == 1
    record.isDormant = try record.isComplete && hasManyKeys(id)
    if !record.isDormant { record.keys = try keys(ofQuery: id) }
    return record
  }
}

// MARK: Single values

extension StoreTransaction {
  /// The name of the value with the id of the database.
  static let databaseIDName = "database.id"

  /// The id that distinguishes this database from every other, whatever its file is called: 32
  /// hexadecimal digits.
  ///
  /// Nil in a file of a version before 3, which has none.
  ///
  /// - Throws: `Damage` if the file should have an id and has none.
  func databaseID() throws -> String? {
    guard try Schema.fileVersion(db) >= Migration.version3.version else { return nil }
    let id = try statement("SELECT value FROM meta WHERE name = 'database.id'")
      .first { try $0.text(0, "the id of the database") }
    guard let id, StoreTransaction.isDatabaseID(id) else {
      throw Damage("the id of the database is missing or is none")
    }
    return id
  }

  /// True if a text has the form of a database's id.
  static func isDatabaseID(_ text: String) -> Bool {
    text.utf8.count == 32
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Begins a new name for the writes from the next one on; see `WriterNames`.
  ///
  /// - Throws: `DatabaseError` (`olderVersion`) if the file has no id; `Damage`.
  func beginWriter() throws -> WriterNames {
    guard let id = try databaseID() else {
      throw DatabaseError(.olderVersion, "The file has no id: open it for writing first.")
    }
    let stored = try statement("SELECT value FROM meta WHERE name = 'origin.writers'")
      .first { try $0.text(0, "value") }
    var names = WriterNames(id)
    if let stored {
      guard let read = (try? JSONValue(parsing: stored)).flatMap(WriterNames.init) else {
        throw Damage("the names of the replica's writes cannot be read")
      }
      names = read
    }
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT lower(hex(randomblob(16))) AS client, (SELECT min(id) FROM pending_write) AS oldest,
          (SELECT value FROM meta WHERE name = 'origin.write_ids') AS next
        """)
    names.begin(
      try row?.text("client") ?? id, at: try row?.integerOrNil("next") ?? 0,
      oldest: try row?.integerOrNil("oldest"))
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")
      .execute(arguments: ["origin.writers", names.json.jsonText()])
    return names
  }

  /// The origin that the tree is a replica of; nil if it is a tree of its own.
  func originName() throws -> String? {
    try statement("SELECT value FROM meta WHERE name = 'origin.name'")
      .first { try $0.text(0, "value") }
  }

  /// True if the file says that its tree is a replica; one of an older version cannot be.
  func hasReplica() throws -> Bool {
    try Schema.fileVersion(db) >= Migration.version2.version && originName() != nil
  }

  func setOriginName(_ name: String) throws {
    try statement("INSERT OR REPLACE INTO meta (name, value) VALUES ('origin.name', ?)")
      .run(.text(name))
  }
}
