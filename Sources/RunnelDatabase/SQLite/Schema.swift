import GRDB

/// The tables of a database file, and the marks that identify one.
///
/// `FORMAT.md` describes the tables, the coding of keys and values, and the invariants, which code
/// and tests cite as I1 to I14. A new version appends a step to `migrations`; a released step never
/// changes.
enum Schema {
  /// The value of `PRAGMA application_id` in a Runnel file: "RNNL".
  static let applicationID = 0x524E_4E4C
  /// The steps from version 1 to this program's, in order.
  static let migrations: [Migration] = [.version2, .version3]
  /// The value of `PRAGMA user_version` in a file that has taken every step.
  static var version: Int { migrations.last?.version ?? 1 }

  /// The least number of changes that the feed keeps.
  static let feedCountMin = 1000
  /// The number of excess changes, or entries of the history, at which they are dropped.
  ///
  /// It is proportional to the number of kept entries, so that finding the oldest one costs each
  /// write the same.
  static func changeSlack(historyLimit: Int) -> Int { max(100, historyLimit / 10) }
  /// The most places that one change names; a larger change names the place above them all.
  static let feedPathsMax = 1000

  /// The tables of version 1.
  private static let firstTables = """
    CREATE TABLE node (
      parent INTEGER NOT NULL,
      key BLOB NOT NULL,
      json BLOB,
      split INTEGER,
      PRIMARY KEY (parent, key)
    ) WITHOUT ROWID;
    CREATE TABLE split (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      children INTEGER NOT NULL,
      priority BLOB
    );
    CREATE TABLE priority_entry (
      parent INTEGER NOT NULL,
      value BLOB NOT NULL,
      key BLOB NOT NULL,
      PRIMARY KEY (parent, value, key)
    ) WITHOUT ROWID;
    CREATE TABLE index_definition (
      id INTEGER PRIMARY KEY,
      pattern TEXT NOT NULL,
      child TEXT NOT NULL,
      UNIQUE (pattern, child)
    );
    CREATE TABLE index_entry (
      parent INTEGER NOT NULL,
      definition INTEGER NOT NULL,
      value BLOB NOT NULL,
      key BLOB NOT NULL,
      PRIMARY KEY (parent, definition, value, key)
    ) WITHOUT ROWID;
    CREATE TABLE change (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      paths TEXT NOT NULL
    );
    """

  /// Makes the tables of a new file: those of version 1, then every step up to a version.
  static func makeTables(_ db: GRDB.Database, version: Int = version) throws {
    try db.execute(sql: firstTables)
    for step in migrations where step.version <= version { try step.perform(db) }
    try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    try mark(db, version: version)
  }

  /// Takes the steps that a file lacks, each in a transaction of its own.
  ///
  /// A step that fails leaves the file at the version before it.
  ///
  /// - Parameters:
  ///   - queue: the connection.
  ///   - steps: all steps.
  ///   - verify: checks the file before the first missing step, in that step's transaction; if it
  ///     throws, no step is taken.
  /// - Throws: the errors of `verify`, and SQLite's error if a step fails.
  static func migrate(
    _ queue: DatabaseQueue, by steps: [Migration] = migrations,
    verifying verify: (GRDB.Database) throws -> Void = { _ in }
  ) throws {
    var isVerified = false
    for step in steps {
      try queue.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          // Another process may have taken the step meanwhile.
          guard try fileVersion(db) == step.version - 1 else { return .rollback }
          if !isVerified { try verify(db) }
          isVerified = true
          try step.perform(db)
          try mark(db, version: step.version)
          return .commit
        }
      }
    }
  }

  private static func mark(_ db: GRDB.Database, version: Int) throws {
    try db.execute(sql: "PRAGMA user_version = \(version)")
  }

  /// Runs `body` with the columns that a file of an older version lacks, without values.
  ///
  /// SQLite looks in the temporary schema before the file; the file is not changed.
  static func withAllColumns<Result>(
    _ db: GRDB.Database, _ body: () throws -> Result
  ) throws -> Result {
    guard try fileVersion(db) < Migration.version3.version else { return try body() }
    try addColumns(db)
    defer {
      // If this fails, the views end with the connection.
      try? removeColumns(db)
    }
    return try body()
  }

  /// Adds temporary views with the columns that a file before version 3 lacks, and with the table
  /// that one before version 2 lacks.
  static func addColumns(_ db: GRDB.Database) throws {
    try db.execute(
      sql: """
        CREATE TEMP VIEW node AS SELECT parent, key, json, split, NULL AS checksum FROM main.node;
        CREATE TEMP VIEW split AS SELECT id, children, priority, NULL AS checksum FROM main.split;
        """)
    guard try fileVersion(db) < Migration.version2.version else { return }
    try db.execute(
      sql: "CREATE TEMP VIEW meta AS SELECT NULL AS name, NULL AS value WHERE 0")
  }

  /// Removes the views of `addColumns`.
  static func removeColumns(_ db: GRDB.Database) throws {
    for name in ["node", "split", "meta"] {
      try db.execute(sql: "DROP VIEW IF EXISTS temp.\(name)")
    }
  }

  /// The version of the file's tables; 0 if it has none.
  static func fileVersion(_ db: GRDB.Database) throws -> Int {
    try number("PRAGMA user_version", db)
  }

  private static func number(_ sql: String, _ db: GRDB.Database) throws -> Int {
    let number = try FastStatement(db, sql).first { try $0.integer(0, sql) } ?? nil
    return Int(number ?? 0)
  }

  /// The kind of a file, found without changing it.
  enum Kind {
    case empty
    case ours(version: Int)
    case foreign
  }

  static func kind(_ db: GRDB.Database) throws -> Kind {
    let application = try number("PRAGMA application_id", db)
    let version = try fileVersion(db)
    if application == applicationID { return .ours(version: version) }
    let tables = try number("SELECT count(*) FROM sqlite_master", db)
    return tables == 0 && application == 0 && version == 0 ? .empty : .foreign
  }
}
