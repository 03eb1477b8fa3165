public import RunnelBase
public import RunnelStreams
public import RunnelTree

// Functions for the file as a whole. Each runs on the tree's thread: until it returns, other
// requests wait. Long work is stopped by cancelling the task that waits for it.

// MARK: History

extension Database {
  /// The writes that concern a place, the places above it or those below it, the newest first.
  ///
  /// O(n) in the entries that are kept.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - id: the entry before which to begin, which need not exist; nil for the newest.
  ///   - count: the most entries.
  /// - Returns: the entries, and whether there are older ones.
  /// - Throws: `DatabaseError` if they cannot be read.
  public func history(
    of path: Path = .root, before id: Int64? = nil, count: Int = 100
  ) throws -> HistoryPage {
    try checkIsOpen()
    return try session.historyPage(of: path, before: id, count: max(count, 0))
  }

  /// Sets the number of writes that the file remembers; 0 or less turns the history off.
  ///
  /// - Throws: `DatabaseError` if it cannot be written.
  public func setHistoryLimit(_ count: Int) throws {
    try checkIsOpen()
    try session.setHistoryLimit(count)
  }

  /// Undoes a write, if its result still stands.
  ///
  /// The undoing is a write like any other, so it can be undone as well. What an operation on a
  /// resource wrote is undone by operations, in one write: its records become what they were, and
  /// counters, copies and the action log follow, whatever was counted and copied since. That needs the
  /// registry; `ResourceBase.undo` has its own.
  ///
  /// - Parameters:
  ///   - id: the entry of the write.
  ///   - registry: the registered resources; nil if the database has none.
  ///   - progress: called on the tree's thread whenever the work has gone on, if an import is undone.
  /// - Returns: the receipt, which on a replica tells the origin's answer.
  /// - Throws: `DatabaseError` (`refused` if the entry does not exist any more, did not keep its
  ///   values, or was made by an operation and there is no registry; `changed` if another value stands at
  ///   one of its places, or if it was undone already, where a replica looks at the values alone, since its
  ///   origin may have refused that; `cancelled`), and `ResourceError` (`cannotUndo` if a field that it changed
  ///   has another value, and others) if an operation is undone; then nothing was written.
  @discardableResult
  public func undo(
    _ id: Int64, in registry: ResourceRegistry? = nil,
    progress: @escaping @Sendable (ImportStep) -> Void = { _ in }
  ) async throws -> WriteReceipt {
    try await write { session in
      var told: ImportStep?
      let deliveries = try session.undo(id, in: registry) { step in
        if step != told { progress(step) }
        told = step
        return !Task.isCancelled
      }
      return (true, deliveries)
    }
  }
}

// MARK: Documents

extension Database {
  /// Writes a JSON document to a place, so that it can be undone.
  ///
  /// O(n) in the document and in the old node; memory is that of one record besides the document.
  ///
  /// - Parameters:
  ///   - document: the text of the document, in UTF-8.
  ///   - path: the place.
  ///   - mode: what to do with the old node.
  ///   - progress: called on the tree's thread whenever the work has gone on.
  /// - Returns: the receipt, which on a replica tells the origin's answer.
  /// - Throws: `DatabaseError` (`malformedJSON` with line and column, `refused`, `cancelled` if the
  ///   task is cancelled, or a failure of the storage); then nothing was written.
  @discardableResult
  public func importJSON(
    _ document: [UInt8], at path: Path = .root, mode: ImportMode = .add,
    progress: @escaping @Sendable (ImportStep) -> Void = { _ in }
  ) async throws -> WriteReceipt {
    try await write { session in
      var told: ImportStep?
      let outcome = try document.withUnsafeBufferPointer { bytes in
        try session.importJSON(bytes, at: path, mode: mode) { step in
          if step != told { progress(step) }
          told = step
          return !Task.isCancelled
        }
      }
      return (true, outcome.deliveries)
    }
  }

  /// Writes the subtree at a place as JSON in the export format, piece by piece.
  ///
  /// O(n) in the subtree; memory is that of one record. All of it is from one state. If the file is gone
  /// (`fileGone`), it is what the database still has open.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - layout: compact or indented.
  ///   - write: takes the next bytes of the document, on the tree's thread.
  /// - Throws: `DatabaseError` if it cannot be read, or (`cancelled`) if the task is cancelled; and
  ///   the errors of `write`.
  public func exportJSON(
    _ path: Path = .root, layout: JSONWriter.Layout = .compact,
    write: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    try checkIsOpen()
    try session.exportJSON(path, layout: layout) { bytes in
      try Database.checkExport(of: path)
      try write(bytes)
    }
  }

  /// Throws if the task of an export was cancelled.
  private static func checkExport(of path: Path) throws {
    if Task.isCancelled {
      throw DatabaseError(.cancelled, "The export of \(path) was stopped.")
    }
  }

  /// The subtree at a place as JSON in the export format.
  ///
  /// O(n) in the subtree, which is in memory as a whole; all of it is from one state. If the file is gone
  /// (`fileGone`), it is what the database still has open.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - layout: compact or indented.
  /// - Returns: the document in UTF-8.
  /// - Throws: `DatabaseError` if it cannot be read, or (`cancelled`) if the task is cancelled.
  public func exportJSON(
    _ path: Path = .root, layout: JSONWriter.Layout = .compact
  ) async throws -> [UInt8] {
    try checkIsOpen()
    var document: [UInt8] = []
    try session.exportJSON(path, layout: layout) { bytes in
      try Database.checkExport(of: path)
      document += bytes
    }
    return document
  }
}

// MARK: Indexes

extension Database {
  /// The indexes of the file, in the order in which they were declared.
  ///
  /// - Throws: `DatabaseError` (`closed`).
  public func declaredIndexes() throws -> [IndexDefinition] {
    try checkIsOpen()
    return session.declaredIndexes
  }

  /// Declares those indexes that are not declared yet, and fills them.
  ///
  /// O(n) in the children in the new indexes; nothing is done if all are declared.
  ///
  /// - Parameters:
  ///   - definitions: the indexes.
  ///   - progress: called now and then, on the tree's thread, with the rows entered so far.
  /// - Throws: `DatabaseError` (`cancelled` if the task is cancelled, or a failure of the storage);
  ///   then none was declared.
  public func declareIndexes(
    _ definitions: [IndexDefinition],
    progress: @escaping @Sendable (_ rows: Int) -> Void = { _ in }
  ) async throws {
    try checkIsOpen()
    try session.declareIndexes(definitions) { rows in
      progress(rows)
      return !Task.isCancelled
    }
  }

  /// Removes declared indexes; returns those that existed.
  ///
  /// O(n) in the entries of all indexes. Queries in such an order read all children from then on.
  ///
  /// - Throws: `DatabaseError`; then nothing was changed.
  @discardableResult
  public func removeIndexes(_ definitions: Set<IndexDefinition>) throws -> [IndexDefinition] {
    try checkIsOpen()
    return try session.removeIndexes(definitions)
  }

  /// The indexes that reads and observations could have used since the last call, in the order in
  /// which they were needed; at most 64.
  ///
  /// A database with an inbox posts the advice of its listeners there instead.
  ///
  /// - Throws: `DatabaseError` (`closed`).
  public func takeIndexAdvice() throws -> [IndexAdvice] {
    try checkIsOpen()
    return session.takeIndexAdvice()
  }
}

// MARK: Replicas

extension Database {
  /// The name of the origin that the tree is a replica of; nil if it is a tree of its own.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read.
  public func originName() throws -> String? {
    try checkIsOpen()
    return try session.originName()
  }

  /// Makes an empty database the replica of an origin, for good.
  ///
  /// Call it before anything is observed.
  ///
  /// - Parameter name: the name of the origin; it must be the same every time the database is
  ///   opened.
  /// - Throws: `DatabaseError` (`refused`) if the database holds data or is observed, or is a
  ///   replica of another origin.
  public func becomeReplica(ofOrigin name: String) throws {
    try checkIsOpen()
    if try session.originName() == nil, session.hasListeners {
      throw DatabaseError(
        .refused, "\(file) is observed: make it a replica first, and observe it afterwards.")
    }
    try session.becomeReplica(ofOrigin: name)
  }

  /// The writes that wait for the origin's answer, in their order; none on a tree of its own.
  ///
  /// - Throws: `DatabaseError` (`closed`).
  public func pendingWrites() throws -> [PendingWrite] {
    try checkIsOpen()
    return session.pendingWrites
  }

  /// Gives up every pending write, and every transaction of this database that has not ended; the
  /// origin's data show again.
  ///
  /// The receipts of these writes fail, and so do the calls of `runTransaction`, with the code
  /// `WRITE_CANCELED`. What was sent already may be done by the origin nevertheless. Transactions
  /// that other programs run on the same file go on. It returns after the observers were told.
  ///
  /// - Throws: `DatabaseError` (`refused` on a tree of its own); then nothing changed.
  public func purgePendingWrites() async throws {
    try checkIsOpen()
    post(try session.purgePendingWrites())
    postOriginOutput()
    await dispatcher.whenDelivered()
  }

  /// Removes the least recently used answers from the replica's cache of its origin's data.
  ///
  /// A replica does this automatically from time to time, down to `cacheBytesMax` of its
  /// environment. Pending writes, and data that are observed or kept synced, are never removed.
  ///
  /// - Parameter bytes: the most bytes that are kept; nil for the environment's.
  /// - Throws: `DatabaseError` (`refused` on a tree of its own); then nothing changed.
  public func pruneCache(toBytes bytes: Int? = nil) async throws {
    try checkIsOpen()
    post(try session.pruneCache(toBytes: bytes))
    postOriginOutput()
    await dispatcher.whenDelivered()
  }
}
