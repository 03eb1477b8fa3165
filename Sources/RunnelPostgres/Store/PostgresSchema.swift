/// The tables of a store.
///
/// Source: several servers, section 2. The bytes of keys and values are those of a file
/// (`RunnelDatabase/FORMAT.md`), and PostgreSQL compares them as bytes.
enum PostgresSchema {
  /// A table or an index.
  struct Part {
    var name: String
    /// Makes it, unless it is there.
    ///
    /// Even then it waits for the locks of others, and lets others wait.
    var statement: String
  }

  /// The version of the tables that are made here.
  static let madeVersion = 2
  /// The version of the tables that this program uses.
  static let version = madeVersion + NewerTables.count
  /// The name in `meta` of the version, in namespace 0, which is no database's.
  static let versionName = "schema.version"
  /// The tables, in the order in which they are made.
  static let tables = columns.map(\.table)
  /// Makes that records stay beside their keys.
  static let recordStorage = "ALTER TABLE node ALTER COLUMN json SET STORAGE MAIN"

  /// The tables and indexes, in the order in which they are made.
  ///
  /// Databases that only speak PostgreSQL's protocol refuse its storage parameters.
  static func parts(isPostgreSQL: Bool) -> [Part] {
    let parameters =
      " WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200)"
    let tables = columns.map { table, columns in
      let hasParameters = table == "namespace" && isPostgreSQL
      return Part(
        name: table,
        statement: "CREATE TABLE IF NOT EXISTS \(table) (\(columns))"
          + (hasParameters ? parameters : ""))
    }
    let index = Part(
      name: "write_client_seen",
      statement: "CREATE INDEX IF NOT EXISTS write_client_seen ON write_client (ns, seen)")
    return tables + [index]
  }

  private static let columns: [(table: String, columns: String)] = [
    (
      "namespace",
      """
      ns int PRIMARY KEY, name text NOT NULL UNIQUE,
      head bigint NOT NULL DEFAULT 0,
      floor bigint NOT NULL DEFAULT 0,
      last_at bigint NOT NULL DEFAULT 0,
      next_split bigint NOT NULL DEFAULT 1,
      state smallint NOT NULL DEFAULT 0
      """
    ),
    (
      "node",
      """
      ns int NOT NULL, parent bigint NOT NULL, key bytea NOT NULL, json bytea, split bigint,
      PRIMARY KEY (ns, parent, key), CHECK ((json IS NULL) <> (split IS NULL))
      """
    ),
    (
      "split",
      """
      ns int NOT NULL, id bigint NOT NULL, children bigint NOT NULL, priority bytea,
      PRIMARY KEY (ns, id)
      """
    ),
    (
      "index_definition",
      """
      ns int NOT NULL, id int NOT NULL, pattern text NOT NULL, child text NOT NULL,
      PRIMARY KEY (ns, id), UNIQUE (ns, pattern, child)
      """
    ),
    (
      "index_entry",
      """
      ns int NOT NULL, parent bigint NOT NULL, definition int NOT NULL, value bytea NOT NULL,
      key bytea NOT NULL, PRIMARY KEY (ns, parent, definition, value, key)
      """
    ),
    (
      "feed",
      """
      ns int NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, server uuid NOT NULL,
      batch bigint NOT NULL, paths text NOT NULL, parts bytea, PRIMARY KEY (ns, seq)
      """
    ),
    (
      "write_client",
      """
      ns int NOT NULL, client text NOT NULL, applied bigint NOT NULL, forgotten bigint NOT NULL,
      seen bigint NOT NULL DEFAULT 0, PRIMARY KEY (ns, client)
      """
    ),
    (
      "applied_write",
      """
      ns int NOT NULL, client text NOT NULL, number bigint NOT NULL, seq bigint NOT NULL,
      PRIMARY KEY (ns, client, number)
      """
    ),
    ("server", "id uuid PRIMARY KEY, address text NOT NULL, seen_at timestamptz NOT NULL"),
    (
      "disconnect_write",
      """
      ns int NOT NULL, server uuid NOT NULL, session bigint NOT NULL, number int NOT NULL,
      path text NOT NULL, write text NOT NULL, PRIMARY KEY (ns, server, session, number)
      """
    ),
    ("meta", "ns int NOT NULL, name text NOT NULL, value text NOT NULL, PRIMARY KEY (ns, name)"),
  ]
}
