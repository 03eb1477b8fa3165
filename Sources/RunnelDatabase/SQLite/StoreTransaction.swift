import GRDB
import RunnelStorage
import RunnelTree

/// One transaction on the file: the stored tree, and what stands beside it in other tables.
///
/// What is written to the tree is held back until `flush`, which `SQLiteStore` calls before the transaction is
/// committed; statements of one's own that read the tables of the tree must call it first.
struct StoreTransaction {
  let db: GRDB.Database
  /// The tree that is read and written.
  let tree: StoredTree
  /// What the origin told, where the tree is a replica.
  let server: StoredTree
  /// Changes when another connection has committed: the state is then not that of the time before.
  var stateNumber: Int64 = 0
  /// How many writes the history keeps, if it was looked up before; see `historyLimit()`.
  var knownHistoryLimit = HistoryLimit()
  /// Tells which sessions run; nil if nobody needs to know.
  var beacon: ChangeBeacon?
  /// What the history will say of this transaction's write.
  let notedEntry = NotedEntry()
  private let statements: StatementCache
  private let overlay: RowOverlay
  private let rows: SQLiteRows

  init(
    db: GRDB.Database, indexes: [StoredIndex], adviceLog: AdviceLog = AdviceLog(),
    statements: StatementCache = StatementCache()
  ) {
    self.db = db
    self.statements = statements
    rows = SQLiteRows(db, statements)
    overlay = RowOverlay(rows)
    tree = StoredTree(overlay, indexes: indexes, adviceLog: adviceLog)
    server = tree.server
  }

  /// The declared indexes, in order of their numbers.
  var indexes: [StoredIndex] { tree.indexes }

  /// The statement of a text, compiled once for the connection.
  func statement(_ sql: StaticString) throws -> FastStatement { try statements.statement(sql, db) }

  // MARK: Writing

  /// Carries out one part of a write.
  func carryOut(_ assignment: Assignment) throws { try tree.carryOut(assignment) }

  /// Runs `body`; if it throws, nothing that it wrote to the tree stays.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try overlay.attempt(body)
    } catch {
      tree.forgetRows()
      server.forgetRows()
      throw error
    }
  }

  /// Writes to the tables what was held back.
  func flush() throws { try overlay.flush() }

  /// The tree without holding back what is written: for a document that must not stand in memory.
  func directTree() throws -> StoredTree {
    try flush()
    tree.forgetRows()
    return tree.stored(in: rows)
  }

  /// Reads documents into the tree; `progress` is called now and then, and false stops the work.
  func importer(_ progress: @escaping (_ bytes: Int) -> Bool) throws -> Importer {
    Importer(try directTree()) { bytes in
      if progress(bytes) { return }
      throw DatabaseError(.cancelled, "The import was stopped. Nothing was changed.")
    }
  }
}

extension StoreTransaction: TreeReader {
  func node(at path: Path) throws(TreeError) -> Node { try tree.node(at: path) }

  func summary(at path: Path) throws(TreeError) -> NodeSummary { try tree.summary(at: path) }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    try tree.row(key, of: path, in: slice, detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try tree.rows(of: path, in: slice, detail: detail)
  }
}
