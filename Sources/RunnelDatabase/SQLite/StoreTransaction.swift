import GRDB
import RunnelStorage
import RunnelTree

/// A transaction on the file: the stored tree, and the data beside it in other tables.
///
/// Writes to the tree are held back until `flush`, which `SQLiteStore` calls before the commit;
/// other statements that read the tables of the tree must call it first.
struct StoreTransaction {
  let db: GRDB.Database
  /// The tree that is read and written.
  let tree: StoredTree
  /// The data of the origin, if the tree is a replica.
  let server: StoredTree
  /// A number that changes when another connection has committed, so that the state is another one.
  var stateNumber: Int64 = 0
  /// The number of writes that the history keeps, if it is known; see `historyLimit()`.
  var knownHistoryLimit = HistoryLimit()
  /// The beacon that tells which sessions run; nil if that is not needed.
  var beacon: ChangeBeacon?
  /// The time of refusals, in milliseconds since 1970, if the writes that the origin refuses are kept.
  var keepsRefusalsAt: Int64?
  /// The history entry of this transaction's write.
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

  /// The statement with a text, compiled once for the connection.
  func statement(_ sql: StaticString) throws -> FastStatement { try statements.statement(sql, db) }

  // MARK: Writing

  /// Carries out one part of a write.
  func carryOut(_ assignment: Assignment) throws { try tree.carryOut(assignment) }

  /// Runs `body`; if it throws, its writes to the tree are undone.
  func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try overlay.attempt(body)
    } catch {
      tree.forgetRows()
      server.forgetRows()
      throw error
    }
  }

  /// Writes the held-back rows to the tables.
  func flush() throws { try overlay.flush() }

  /// The tree without held-back writes, for a document that must not be held in memory.
  func directTree() throws -> StoredTree {
    try flush()
    tree.forgetRows()
    return tree.stored(in: rows)
  }

  /// Makes an importer of documents; `progress` is called now and then, and false stops the work.
  func importer(_ progress: @escaping (_ bytes: Int) -> Bool) throws -> Importer {
    Importer(try directTree()) { bytes in
      if progress(bytes) { return }
      throw DatabaseError(.cancelled, "The import was stopped. Nothing was changed.")
    }
  }
}

extension StoreTransaction: DelegatingReader {
  var reader: some TreeReader { tree }
}
