import GRDB

/// What a connection has seen of the content last: a later content of the same database has it, too.
///
/// A file, its log and the index of that may be written over together, as by `cp` or by SQLite's `.restore`. They
/// fit each other then, and only the content tells that it is another one, or an older one.
struct ContentAnchor {
  /// The id of the database; nil if it has none.
  private var databaseID: [UInt8]?
  /// The newest change, when it was made if that is known, and its places.
  private var sequence: Int64 = 0
  private var at: Int64?
  private var paths: [UInt8]?

  /// The places of a change that a repair has made one of the whole tree.
  private static let everywhere = Array(#"["/"]"#.utf8)

  /// Reads the newest of the present state; the file has the present format.
  init(_ db: GRDB.Database, _ statements: StatementCache) throws {
    let found = try statements.statement(
      """
      SELECT sequence, CASE typeof(at) WHEN 'integer' THEN at END, paths
      FROM change ORDER BY sequence DESC LIMIT 1
      """, db
    ).first { try ($0.integer(0, "sequence"), $0.integer(1, "at"), $0.bytes(2)) }
    if let found { (sequence, at, paths) = (found.0 ?? 0, found.1, found.2) }
    databaseID = try ContentAnchor.databaseID(db, statements)
  }

  /// Reads the newest of another state, in a format, after a check that it came after what was seen last.
  ///
  /// - Returns: what is seen; nil in an older format, and of what is damaged.
  /// - Throws: `FileLoss` if the state is none that came after it.
  static func following(
    _ anchor: ContentAnchor?, _ db: GRDB.Database, _ statements: StatementCache, version: Int
  ) throws -> ContentAnchor? {
    if let anchor {
      // No program brings a file to an older format. What is damaged tells nothing.
      let isLater = version >= Schema.version && (try? anchor.holds(db, statements)) != false
      if !isLater { throw FileLoss.contentReplaced }
    }
    return version == Schema.version ? try? ContentAnchor(db, statements) : nil
  }

  /// Whether the present state is one that came after this.
  func holds(_ db: GRDB.Database, _ statements: StatementCache) throws -> Bool {
    // A repair gives an id to a file whose id is damaged.
    if let databaseID, let present = try ContentAnchor.databaseID(db, statements),
      StoreTransaction.isDatabaseID(String(decoding: databaseID, as: UTF8.self)),
      present != databaseID
    {
      return false
    }
    if sequence == 0 { return true }
    let newest =
      try statements.statement("SELECT max(sequence) FROM change", db)
      .first { try $0.integer(0, "sequence") } ?? nil
    if newest ?? 0 < sequence { return false }
    let change = try statements.statement(
      "SELECT CASE typeof(at) WHEN 'integer' THEN at END, paths FROM change WHERE sequence = ?", db
    ).first(.integer(sequence)) { try ($0.integer(0, "at"), $0.bytes(1)) }
    // Old changes are dropped, and lose what the history keeps of them.
    guard let change else { return true }
    if let at, let present = change.0 { return at == present }
    return change.1 == paths || change.1 == ContentAnchor.everywhere
  }

  private static func databaseID(
    _ db: GRDB.Database, _ statements: StatementCache
  ) throws -> [UInt8]? {
    try statements.statement("SELECT value FROM meta WHERE name = 'database.id'", db)
      .first { $0.bytes(0) } ?? nil
  }
}
