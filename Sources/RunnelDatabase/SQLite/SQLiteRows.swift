import GRDB
import RunnelStorage
import RunnelTree

/// The rows of stored trees in the tables of a file: `node`, `split`, `priority_entry` and
/// `index_entry` (`FORMAT.md`).
///
/// Rows are checked against their checksums when they are read, and get them when they are written.
final class SQLiteRows: RowStore {
  private let db: GRDB.Database
  private let statements: StatementCache
  /// The number of the newest split node; nil until one is made.
  private var newestSplit: Int64?
  /// The last place without a row that was checked: rows that are added one after the other are in it.
  private var soundGap: RowPlaces.Gap?

  init(_ db: GRDB.Database, _ statements: StatementCache) {
    self.db = db
    self.statements = statements
  }

  private func statement(_ sql: StaticString) throws -> FastStatement {
    try statements.statement(sql, db)
  }

  private func builtStatement(_ sql: String) throws -> FastStatement {
    try statements.builtStatement(sql, db)
  }
}

// MARK: Rows

extension SQLiteRows {
  func row(_ id: RowID) throws -> StoredRow? {
    try statement("SELECT json, split, checksum FROM node WHERE parent = ? AND key = ?")
      .first(.integer(id.parent), .bytes(id.key)) { row in
        try Damage.locating(.row(id)) {
          try id.key.withUnsafeBytes { try row.content(id.parent, $0, from: 0) }.stored
        }
      }
  }

  func forEachRow(
    of split: Int64, in range: KeyRange, isDescending: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ content: RowContent) throws -> Bool
  ) throws {
    var sql = "SELECT key, json, split, checksum FROM node WHERE parent = ?"
    var arguments: [FastStatement.Value] = [.integer(split)]
    for (bound, side) in [(range.lower, ">"), (range.upper, "<")] {
      guard let bound else { continue }
      sql += " AND key \(side)\(bound.isInclusive ? "=" : "") ?"
      arguments.append(.bytes(bound.key))
    }
    sql += isDescending ? " ORDER BY key DESC" : " ORDER BY key"
    var (first, stop): ([UInt8]?, [UInt8]?) = (nil, nil)
    try builtStatement(sql).forEach(arguments) { row in
      let key = row.rawBytes(0)
      if first == nil { first = Array(key) }
      let content = try Damage.locating(.row(RowID(parent: split, key: Array(key)))) {
        try row.content(split, key, from: 1)
      }
      if try body(key, content) { return true }
      stop = Array(key)
      return false
    }
    try Damage.locating(.split(split)) {
      try places(.rows).checkEnds(
        of: range, of: split, isDescending: isDescending, first: first, stop: stop)
    }
  }

  func splitRows(of split: Int64) throws -> [RowID] {
    var rows: [RowID] = []
    try statement("SELECT key FROM node WHERE parent = ? AND split IS NOT NULL ORDER BY key")
      .forEach([.integer(split)]) { row in
        rows.append(RowID(parent: split, key: row.bytes(0) ?? []))
        return true
      }
    return rows
  }

  func rowCount(of split: Int64) throws -> Int {
    let count = try statement("SELECT count(*) FROM node WHERE parent = ?")
      .first(.integer(split)) { try $0.integer(0, "a count") ?? 0 }
    return Int(count ?? 0)
  }

  func put(_ stored: StoredRow, in row: RowID) throws {
    if row == .root {
      try statement("INSERT OR IGNORE INTO meta (name, value) VALUES ('tree.root', 1)").run()
    }
    switch stored {
    case .record(let bytes):
      try statement(
        "INSERT OR REPLACE INTO node (parent, key, json, split, checksum) VALUES (?, ?, ?, NULL, ?)"
      ).run(
        .integer(row.parent), .bytes(row.key), .bytes(bytes),
        .integer(row.checksum(record: bytes)))
    case .split(let split):
      try statement(
        "INSERT OR REPLACE INTO node (parent, key, json, split, checksum) VALUES (?, ?, NULL, ?, ?)"
      ).run(
        .integer(row.parent), .bytes(row.key), .integer(split),
        .integer(row.checksum(split: split)))
    }
  }

  func deleteRow(_ id: RowID) throws {
    if id == .root { try statement("DELETE FROM meta WHERE name = 'tree.root'").run() }
    try statement("DELETE FROM node WHERE parent = ? AND key = ?")
      .run(.integer(id.parent), .bytes(id.key))
  }
}

// MARK: Split nodes

extension SQLiteRows {
  func head(of split: Int64) throws -> SplitHead? {
    try statement("SELECT children, priority, checksum FROM split WHERE id = ?")
      .first(.integer(split)) { row in
        try Damage.locating(.split(split)) { try row.splitHead(split) }
      }
  }

  func newSplit() throws -> Int64 {
    // Numbers are never reused, as with AUTOINCREMENT.
    let newest =
      try newestSplit
      ?? statement(
        """
        SELECT max(
          coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'split'), 0),
          coalesce((SELECT max(id) FROM split), 0))
        """
      ).first { try $0.integer(0, "the number of the newest split node") ?? 0 } ?? 0
    newestSplit = newest + 1
    return newest + 1
  }

  func put(_ head: SplitHead, of split: Int64) throws {
    let priority = RecordCoding.bytes(head.priority)
    let checksum = Checksum.head(split, children: Int64(head.children), priority: priority)
    try statement(
      """
      INSERT INTO split (id, children, priority, checksum) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
      children = excluded.children, priority = excluded.priority, checksum = excluded.checksum
      """
    ).run(
      .integer(split), .integer(Int64(head.children)), priority.map { .bytes($0) } ?? .null,
      .integer(checksum))
  }

  /// The checksum changes with the count: if it did not match before, it does not match afterwards.
  func addChildren(_ difference: Int, to split: Int64) throws {
    try statement("UPDATE split SET children = children + ?, checksum = checksum + ? WHERE id = ?")
      .run(
        .integer(Int64(difference)), .integer(Int64(difference) * Checksum.ofChild),
        .integer(split))
  }

  func deleteSplit(_ split: Int64) throws {
    for sql: StaticString in [
      "DELETE FROM node WHERE parent = ?", "DELETE FROM priority_entry WHERE parent = ?",
      "DELETE FROM index_entry WHERE parent = ?", "DELETE FROM split WHERE id = ?",
    ] {
      try statement(sql).run(.integer(split))
    }
  }
}

// MARK: Entries

extension SQLiteRows {
  func hasEntries(of split: Int64, in order: EntryOrder) throws -> Bool {
    let found: Bool? =
      switch order {
      case .priority:
        try statement("SELECT 1 FROM priority_entry WHERE parent = ? LIMIT 1")
          .first(.integer(split)) { _ in true }
      case .index(let id):
        try statement("SELECT 1 FROM index_entry WHERE parent = ? AND definition = ? LIMIT 1")
          .first(.integer(split), .integer(id)) { _ in true }
      }
    return found ?? false
  }

  func entryCount(of split: Int64, in order: EntryOrder) throws -> Int {
    let count: Int64? =
      switch order {
      case .priority:
        try statement("SELECT count(*) FROM priority_entry WHERE parent = ?")
          .first(.integer(split)) { try $0.integer(0, "a count") ?? 0 }
      case .index(let id):
        try statement("SELECT count(*) FROM index_entry WHERE parent = ? AND definition = ?")
          .first(.integer(split), .integer(id)) { try $0.integer(0, "a count") ?? 0 }
      }
    return Int(count ?? 0)
  }

  func insertEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    switch order {
    case .priority:
      try statement("INSERT OR REPLACE INTO priority_entry (parent, value, key) VALUES (?, ?, ?)")
        .run(.integer(split), .bytes(entry.value), .bytes(entry.key))
    case .index(let id):
      try statement(
        "INSERT OR REPLACE INTO index_entry (parent, definition, value, key) VALUES (?, ?, ?, ?)"
      ).run(.integer(split), .integer(id), .bytes(entry.value), .bytes(entry.key))
    }
  }

  func deleteEntry(_ entry: RowEntry, of split: Int64, in order: EntryOrder) throws {
    switch order {
    case .priority:
      try statement("DELETE FROM priority_entry WHERE parent = ? AND value = ? AND key = ?")
        .run(.integer(split), .bytes(entry.value), .bytes(entry.key))
    case .index(let id):
      try statement(
        "DELETE FROM index_entry WHERE parent = ? AND definition = ? AND value = ? AND key = ?"
      ).run(.integer(split), .integer(id), .bytes(entry.value), .bytes(entry.key))
    }
  }

  func forEachEntry(
    of split: Int64, in order: EntryOrder, range: EntryRange, isDescending: Bool,
    _ body: (_ entry: EntryBytes, _ content: RowContent?) throws -> Bool
  ) throws {
    var arguments: [FastStatement.Value] = [.integer(split)]
    var (table, condition) = ("priority_entry", "")
    if case .index(let id) = order {
      (table, condition) = ("index_entry", " AND entry.definition = ?")
      arguments.append(.integer(id))
    }
    let ends = [
      range.lower?.condition(side: ">", &arguments), range.upper?.condition(side: "<", &arguments),
    ]
    condition += ends.compactMap { $0 }.joined()
    let direction = isDescending ? " DESC" : ""
    let sql = """
      SELECT entry.value, entry.key, node.json, node.split, node.checksum, node.key IS NULL
      FROM \(table) AS entry
      LEFT JOIN node ON node.parent = entry.parent AND node.key = entry.key
      WHERE entry.parent = ?\(condition)
      ORDER BY entry.value\(direction), entry.key\(direction)
      """
    var (first, stop): (RowEntry?, RowEntry?) = (nil, nil)
    try builtStatement(sql).forEach(arguments) { row in
      let entry = EntryBytes(value: row.rawBytes(0), key: row.rawBytes(1))
      if first == nil { first = RowEntry(entry) }
      var content: RowContent?
      if try row.integer(5, "whether a row is missing") != 1 {
        content = try Damage.locating(.row(RowID(parent: split, key: Array(entry.key)))) {
          try row.content(split, entry.key, from: 2)
        }
      }
      if try body(entry, content) { return true }
      stop = RowEntry(entry)
      return false
    }
    try Damage.locating(.split(split)) {
      try places(RowPlaces.Table(order)).checkEnds(
        of: range, of: split, in: order, isDescending: isDescending, first: first, stop: stop)
    }
  }
}

extension EntryRange.Bound {
  /// The condition that an entry lies on one side of the bound, and its arguments.
  fileprivate func condition(side: String, _ arguments: inout [FastStatement.Value]) -> String {
    switch self {
    case .value(let value, let isIncluded):
      arguments.append(.bytes(value))
      return " AND entry.value \(side)\(isIncluded ? "=" : "") ?"
    case .entry(let entry, let isIncluded):
      arguments += [.bytes(entry.value), .bytes(entry.key)]
      return " AND (entry.value, entry.key) \(side)\(isIncluded ? "=" : "") (?, ?)"
    }
  }
}

// MARK: Checks

extension SQLiteRows {
  func checkNeighbors(of id: RowID) throws {
    let after: StaticString = """
      SELECT parent, key, json, split, checksum FROM node
      WHERE (parent, key) > (?, ?) ORDER BY parent, key LIMIT 1
      """
    let before: StaticString = """
      SELECT parent, key, json, split, checksum FROM node
      WHERE (parent, key) < (?, ?) ORDER BY parent DESC, key DESC LIMIT 1
      """
    for sql in [after, before] {
      _ = try statement(sql).first(.integer(id.parent), .bytes(id.key)) { row in
        let key = row.rawBytes(1)
        let parent = try row.integer(0, "the parent of a row") ?? 0
        try Damage.locating(.row(RowID(parent: parent, key: Array(key)))) {
          _ = try row.content(parent, key, from: 2)
        }
      }
    }
    try checkPlace(of: id)
  }

  func checkPlace(of id: RowID) throws {
    try Damage.locating(.row(id)) {
      if let soundGap, soundGap.contains(id) { return }
      soundGap = try places(.rows).checkGap(at: RowPlaces.position(of: id))
    }
  }

  private func places(_ table: RowPlaces.Table) -> RowPlaces {
    RowPlaces(table: table) { try self.statement($0) }
  }

  func hasTraces(ofTree root: RowID) throws -> Bool {
    if root == .root, try isRootNoted() { return true }
    return try statement("SELECT 1 FROM node WHERE parent > 0 LIMIT 1").first { _ in true } ?? false
  }

  /// True if the file says that the row of the whole tree is stored.
  func isRootNoted() throws -> Bool {
    try statement("SELECT 1 FROM meta WHERE name = 'tree.root'").first { _ in true } ?? false
  }

  /// Makes the file say whether the row of the whole tree is stored.
  func noteRoot() throws {
    try statement("DELETE FROM meta WHERE name = 'tree.root'").run()
    try statement(
      """
      INSERT INTO meta (name, value) SELECT 'tree.root', 1
      WHERE EXISTS (SELECT 1 FROM node WHERE parent = 0 AND key = x'')
      """
    ).run()
  }

  func name(of split: Int64) throws -> RowID? {
    try statement("SELECT parent, key FROM node WHERE split = ? LIMIT 1")
      .first(.integer(split)) { row in
        RowID(parent: try row.integer(0, "a parent") ?? -1, key: row.bytes(1) ?? [])
      }
  }
}

// MARK: Checksums

extension FastStatement {
  /// The content of a row with the columns `json`, `split` and `checksum`, from `first` on.
  ///
  /// - Throws: `Damage` if it is not the content that was written.
  fileprivate func content(
    _ parent: Int64, _ key: UnsafeRawBufferPointer, from first: Int32
  ) throws -> RowContent {
    let content: RowContent
    if let split = try integer(first + 1, "split") {
      content = .split(split)
    } else {
      if isNull(first) { throw Damage("nothing is stored where something should be") }
      content = .record(rawBytes(first).assumingMemoryBound(to: UInt8.self))
    }
    // A row of an older file has no checksum until it is next written.
    if let checksum = try integer(first + 2, "its checksum"),
      checksum != content.checksum(parent, key)
    {
      throw Damage.checksum
    }
    return content
  }

  /// The head in a row of `split` with the columns `children`, `priority` and `checksum`.
  fileprivate func splitHead(_ split: Int64) throws -> SplitHead {
    let count = try integer(0, "the number of its children") ?? -1
    let priority = bytes(1)
    if let checksum = try integer(2, "its checksum"),
      checksum != Checksum.head(split, children: count, priority: priority)
    {
      throw Damage("the checksum of its number of children and its priority does not match")
    }
    if count < 0 { throw Damage("it does not say how many children it has") }
    return SplitHead(children: Int(count), priority: try RecordCoding.priority(priority))
  }
}

extension RowContent {
  /// The checksum of a row with this content.
  fileprivate func checksum(_ parent: Int64, _ key: UnsafeRawBufferPointer) -> Int64 {
    switch self {
    case .record(let json):
      Checksum.record(UnsafeRawBufferPointer(json), parent: parent, key: key)
    case .split(let split): Checksum.name(split, parent: parent, key: key)
    }
  }
}

extension RowID {
  /// The checksum of the row with a record in it.
  func checksum(record: [UInt8]) -> Int64 {
    key.withUnsafeBytes { key in
      record.withUnsafeBytes { Checksum.record($0, parent: parent, key: key) }
    }
  }

  /// The checksum of the row with a split node in it.
  func checksum(split: Int64) -> Int64 {
    key.withUnsafeBytes { Checksum.name(split, parent: parent, key: $0) }
  }
}
