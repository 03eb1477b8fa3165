import GRDB

/// The tables of a database file, and what marks a file as one.
///
/// Terms. A *record* is a subtree small enough to be one row, as JSON. A node too large for that is
/// *split*: its children are rows of their own, found by its split id and their key.
///
/// - `node`: a stored child. `parent` is the split id of the node it is a child of (0 holds the root
///   alone, under an empty key), `key` its name in tree order (`OrderedBytes`). A record has its JSON in
///   `json`, in the export format; a split node has `json` null and its id in `split`.
/// - `split`: a split node: how many children it has, and its priority as JSON.
/// - `priority_entry`, `index_entry`: the children of split nodes in another order than that of keys.
///   The first holds children that have a priority; the second every child, for each declared index.
/// - `index_definition`: the declared indexes; `child` is a path, or an order of another kind
///   (`IndexDefinition.storedOrder`).
/// - `change`: the feed by which processes on one file learn of each other's writes.
///
/// Invariants:
/// - I1. Every row of `split` has exactly one row of `node` that names it, and `children` of them.
/// - I2. No split node has 0 children; nothing empty is stored.
/// - I3. Index entries are exactly those that the stored children give.
/// - I4. A write and its row in `change` are in one transaction.
enum Schema {
  /// "RNNL": what `PRAGMA application_id` says of a file of ours.
  static let applicationID = 0x524E_4E4C
  /// What `PRAGMA user_version` says: the version of these tables.
  static let version = 1

  /// The most bytes of JSON in one row, unless it is a single leaf.
  static let recordBytesMax = 4096
  /// How many changes the feed keeps.
  static let feedCountMax = 1000
  /// How many places one change names; one that wrote more names the place above them all.
  static let feedPathsMax = 1000

  static let statements = """
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
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// What a file is, found out without changing it.
  enum Kind {
    case empty
    case ours(version: Int)
    case foreign
  }

  static func kind(_ db: GRDB.Database) throws -> Kind {
    let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
    let application = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    if application == applicationID { return .ours(version: version) }
    return tables == 0 && application == 0 && version == 0 ? .empty : .foreign
  }
}
