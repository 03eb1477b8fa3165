import Glibc
import RunnelBase
import RunnelStorage
package import RunnelTree

/// The file of a database as a server uses it: many writes of many clients in one transaction.
///
/// Responsibilities:
/// - It runs a transaction in which the caller reads, decides and writes as often as needed; all of
///   it is on disk when `perform` returns, and none of it if that throws.
/// - It tells, at the beginning of each transaction, the places that others wrote since the last
///   one.
///
/// It has no listeners: the caller decides who is told of changes.
///
/// Isolation: synchronous, and used by one thread at a time.
package final class ServingSession {
  /// The number with which a server is marked as running; no session on a replica has it, because a
  /// replica is not served.
  private static let mark: Int64 = 1

  private let context: SessionContext
  /// The state of the file that this session last knew; while it is the same, no other connection
  /// has written.
  private var stateNumber: Int64?
  /// What became of a file that was moved away, as far as it was looked for.
  private var finding = SQLiteStore.Return.absent
  /// True if other processes were not woken since the last write.
  private var hasUnannounced = false
  /// Called before a transaction writes something; if it throws, the transaction must not be committed.
  package var willWrite: () throws -> Void = {}

  /// The path of the file.
  package var file: String { context.file }

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist.
  ///   - environment: the clock and the random numbers.
  /// - Throws: `DatabaseError` that names the problem with the file, `refused` if it is a replica,
  ///   and `locked` if another process serves it.
  package init(file: String, environment: DatabaseEnvironment) throws {
    let store = try SQLiteStore(file: file, isReadOnly: false, busyTimeout: environment.busyTimeout)
    let context = SessionContext(
      store: store, beacon: ChangeBeacon(database: file), environment: environment)
    self.context = context
    try store.read { transaction in
      if try transaction.hasReplica() {
        throw DatabaseError(
          .refused, "\(file) is a replica: serve the database that it is a replica of.")
      }
      context.sequence = try transaction.feedEnd()
    }
    // The disconnect requests of another server's clients must not be done before those clients
    // end.
    if context.beacon?.mark(session: ServingSession.mark) == false {
      throw DatabaseError(.locked, "\(file) is served by another process: stop that first.")
    }
  }

  /// True if a server has the file open for its clients now.
  package static func isServed(file: String) -> Bool {
    guard let beacon = ChangeBeacon(existingFor: file) else { return false }
    defer { beacon.close() }
    return beacon.isMarked(session: mark)
  }

  /// Runs `body` in one transaction.
  ///
  /// - Parameters:
  ///   - isWriting: whether `body` may write.
  ///   - body: reads and writes.
  /// - Returns: the result of `body`, when all its writes are on disk.
  /// - Throws: `DatabaseError`, and the errors of `body`, converted to one; then nothing was written, unless
  ///   the error `isWritten`, or `mayBeWritten`.
  package func perform<Result>(
    isWriting: Bool, _ body: (ServingTransaction) throws -> Result
  ) throws -> Result {
    var begun: ServingTransaction?
    let run = { (stored: StoreTransaction) throws -> (ServingTransaction, Result) in
      let transaction = ServingTransaction(
        stored, self.context, foreign: try self.foreignChanges(stored), willWrite: self.willWrite)
      begun = transaction
      return (transaction, try body(transaction))
    }
    let (transaction, result): (ServingTransaction, Result)
    do {
      (transaction, result) =
        isWriting ? try context.store.write(run) : try context.store.read(run)
    } catch let error as DatabaseError where error.isWritten {
      // What was told of the tree is that of before: the next transaction finds these writes as if others had
      // made them.
      (stateNumber, hasUnannounced) = (nil, true)
      throw error
    } catch {
      begun?.failed()
      throw error
    }
    (stateNumber, context.sequence) = (transaction.stateNumber, transaction.sequence)
    if transaction.hasWritten { hasUnannounced = true }
    return result
  }

  /// Wakes other processes that have the file open, if something was written since the last call.
  ///
  /// Call it after `perform`; those who wait for an answer are answered first.
  package func announce() {
    if hasUnannounced { context.beacon?.signal() }
    hasUnannounced = false
  }

  /// True if another connection may have committed since the last transaction.
  ///
  /// With `checksFiles` false the file is not looked for: nothing says that it is not at its place.
  ///
  /// - Throws: `DatabaseError` if the file is gone, or cannot be read.
  package func hasNews(checksFiles: Bool = true) throws -> Bool {
    if checksFiles { try context.store.checkFiles() }
    return try context.store.stateNumber() != stateNumber
  }

  private func foreignChanges(
    _ stored: StoreTransaction
  ) throws -> StoreTransaction.ForeignChanges {
    if stored.stateNumber == stateNumber {
      return StoreTransaction.ForeignChanges(touched: [], sequence: context.sequence)
    }
    return try stored.foreignChanges(after: context.sequence)
  }

  /// Declares those indexes that are not declared yet, and fills them.
  ///
  /// - Throws: `DatabaseError`; then none was declared.
  package func declareIndexes(_ definitions: [IndexDefinition]) throws {
    try context.store.declare(definitions) { _ in true }
  }

  /// The error that the file is gone, as is known by now; nil while it is there.
  package var loss: DatabaseError? {
    guard let loss = context.store.presentLoss else { return nil }
    switch finding {
    case .partial(let names): return .isBack(file, without: names)
    case .uncertain:
      return DatabaseError(
        .fileGone,
        "\(file) is at its place again, but may have been written meanwhile. Nothing is written there any more."
      )
    case .absent, .whole: return DatabaseError(loss, file: file)
    }
  }

  /// True if the file was moved away, and may come back as it was.
  package var mayReturn: Bool {
    guard case .moved? = context.store.loss else { return false }
    if case .uncertain = finding { return false }
    switch context.store.presentLoss {
    case .deleted, .replaced(isAt: nil): return false
    default: return true
    }
  }

  /// Looks for a file that was moved away; true if it is at its place again, certainly as it was, and is used
  /// again.
  package func regain() -> Bool {
    guard context.store.loss != nil else { return false }
    // After an error, the next look tries it again.
    finding = (try? context.store.endLossIfBack()) ?? .absent
    if case .whole = finding { return true }
    return false
  }

  /// Closes the file; the session must not be used afterwards.
  ///
  /// - Throws: `DatabaseError` if it could not be closed properly; nothing is lost even then.
  package func close() throws {
    announce()
    try context.close()
  }
}

/// A transaction of a server.
///
/// It must not be used after `ServingSession.perform` has returned.
package final class ServingTransaction {
  /// The places that others wrote since the last transaction; only the root if there are too many
  /// places to tell.
  package let foreignPaths: [Path]
  let stored: StoreTransaction
  private let context: SessionContext
  private(set) var sequence: Int64
  /// True if a write of the tree was carried out.
  package private(set) var hasWritten = false
  /// The imports of documents in this transaction.
  private var importings: [DocumentImport] = []
  private let willWrite: () throws -> Void

  init(
    _ stored: StoreTransaction, _ context: SessionContext,
    foreign: StoreTransaction.ForeignChanges, willWrite: @escaping () throws -> Void = {}
  ) {
    self.stored = stored
    (self.context, self.willWrite) = (context, willWrite)
    (foreignPaths, sequence) = (foreign.touched, foreign.sequence)
  }

  var stateNumber: Int64 { stored.stateNumber }

  /// Removes the undo files after the transaction was rolled back.
  func failed() { for importing in importings { importing.removeUndoFile() } }

  /// Carries out the parts of a write, and keeps it in the history if `isKept` is true.
  ///
  /// - Throws: `DatabaseError`; the transaction must not be committed then.
  package func carryOut(
    _ parts: [Assignment], author: String, now: Int64, isKept: Bool = true
  ) throws {
    try willWrite()
    context.environment.author = author
    try context.carryOut(parts, stored, now: now, isKept: isKept)
    sequence = try stored.appendChange(parts.map(\.path))
    hasWritten = true
  }

  /// Replaces the node at a place by a JSON document, which is read piece by piece, so that it can be
  /// undone.
  ///
  /// The old node is kept in the history, or in a file beside the database if it is too large for that; it
  /// is not kept if the history is off. O(n) in the document and in the old node; memory is that of one
  /// record besides the document's own. `wasRead` is called now and then with the number of bytes that
  /// were read.
  ///
  /// - Throws: `DatabaseError` (`malformedJSON` with line and column, `refused`, or a failure of the
  ///   storage); the transaction must not be committed then.
  package func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, author: String, now: Int64,
    wasRead: @escaping (Int) -> Void
  ) throws {
    try path.checkIsWritable(by: "import")
    try willWrite()
    let importing = DocumentImport(file: context.file, author: author) { step in
      if case .reading(let bytes) = step { wasRead(bytes) }
      return true
    }
    importings.append(importing)
    try importing.run(on: stored) {
      try DatabaseSession.reading(document) {
        _ = try importing.write(document, at: path, .replace, stored, now: now)
      }
    }
    sequence = try stored.appendChange([path])
    hasWritten = true
  }

  /// True if a write of this name was carried out.
  ///
  /// - Throws: `DatabaseError` (`forgotten`) if this is no longer known.
  package func isNameTaken(_ name: WriteID) throws -> Bool { try stored.isNameTaken(name) }

  /// Notes that the write of a name was carried out.
  package func noteName(_ name: WriteID) throws {
    try willWrite()
    try stored.noteName(name)
  }

  /// True if an index for the children of a place in an order is declared.
  package func hasIndex(_ order: QueryIndex, at path: Path) -> Bool {
    stored.indexes.contains { $0.covers(path.keys) && $0.order == order.forward }
  }

  /// The subtree at a place if it is one record; nil if it is larger.
  ///
  /// - Throws: `TreeError` (`storage`) if it cannot be read.
  package func smallNode(at path: Path) throws(TreeError) -> Node? {
    try stored.tree.reading {
      switch try stored.tree.location(of: path) {
      case .row(.record(let bytes)): try RecordCoding.node(bytes)
      case .inside(let record, let rest): try RecordCoding.node(record)[rest]
      case .row(.split): nil
      case .missing: .empty
      }
    }
  }

  /// The size of the file and of the log beside it, in bytes, read once in a transaction.
  package private(set) lazy var storedBytes: Int = {
    var bytes = 0
    for file in [context.file, context.file + "-wal"] {
      var status = stat()
      // A missing log has no bytes.
      if stat(file, &status) == 0 { bytes += Int(status.st_size) }
    }
    return bytes
  }()

  // MARK: What the server keeps in the file

  /// The stored values whose names have this prefix, in the order of the names.
  package func keptValues(_ prefix: String) throws -> [(name: String, value: String)] {
    try stored.serverValues(prefix)
  }

  /// Stores a value under a name; nil removes it.
  package func keep(_ value: String?, _ name: String) throws {
    try willWrite()
    try stored.setServerValue(value, name)
  }
}

extension ServingTransaction: DelegatingReader {
  package var reader: some TreeReader { stored }
}
