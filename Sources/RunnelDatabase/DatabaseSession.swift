package import RunnelBase
import RunnelStorage
public import RunnelTree

/// The environment of a session: clock, random numbers and settings.
public struct DatabaseEnvironment {
  /// Returns milliseconds since 1970.
  public var now: () -> Int64
  /// The random numbers for push ids.
  public var random: any RandomNumberGenerator
  /// The longest time that a call waits for another process that holds the file.
  public var busyTimeout: Duration
  /// The author of writes, for the history.
  public var author = ""
  /// The rule for conflicts between writes made offline and those of others.
  public var conflictPolicy = ConflictPolicy.fieldWise
  /// The bytes of its origin's tree that a replica keeps for queries without listeners; checked
  /// from time to time.
  ///
  /// Source: tree semantics, section 15.1.
  public var cacheBytesMax = Replica.cacheBytesMax
  /// Whether a replica keeps the writes that its origin refuses, for somebody who sends them again or drops
  /// them.
  package var keepsRefusals = false

  /// Makes an environment.
  public init(
    now: @escaping () -> Int64, random: any RandomNumberGenerator,
    busyTimeout: Duration = .seconds(5)
  ) {
    self.now = now
    self.random = random
    self.busyTimeout = busyTimeout
  }
}

/// An open database: the tree in a file, its listeners, and the writes of other processes.
///
/// Responsibilities:
/// - It carries out writes: storage first, then the resulting events. When a write has returned, it
///   is on disk; if it throws, nothing was changed and nobody was told.
/// - It tells listeners of this session the writes of every process on the file, in the same way.
///
/// Isolation: synchronous, and used by one thread at a time. `Database` puts it on a thread of its
/// own; a command that does one thing may use it directly.
package final class DatabaseSession {
  let context: SessionContext
  /// The part of the session that depends on the kind of tree: a tree of its own, or a replica.
  private(set) var core: any SessionCore
  private var pushIDs = PushIDGenerator()
  /// The records that have got another key at the origin: what is undone follows them.
  package var moves = RecordMoves()
  /// True once the loss of the file was reported.
  var isLossTold = false
  /// The files beside a lost file of which it was told last that they are to be put back, too.
  var missingTold: [String] = []
  /// Whether it was told that a lost file is at its place again, and has to be opened again.
  var isReturnTold = false

  var store: SQLiteStore { context.store }

  var environment: DatabaseEnvironment {
    get { context.environment }
    _modify { yield &context.environment }
  }

  /// The id of the newest write on a replica; nil if there was none since it was set to nil.
  var newestWriteID: Int64? {
    get { context.newestWriteID }
    set { context.newestWriteID = newValue }
  }

  /// The file of the database.
  package var file: String { context.file }

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist and may be written.
  ///   - isReadOnly: whether writes are refused; the file must then exist.
  ///   - environment: the clock and the random numbers.
  /// - Throws: `DatabaseError` that names the problem with the file, which is left unchanged.
  package init(file: String, isReadOnly: Bool = false, environment: DatabaseEnvironment) throws {
    let store = try SQLiteStore(
      file: file, isReadOnly: isReadOnly, busyTimeout: environment.busyTimeout)
    let context = SessionContext(
      store: store, beacon: isReadOnly ? nil : ChangeBeacon(database: file),
      environment: environment)
    self.context = context
    // A single transaction, so that no process can write in between.
    core = try store.read { transaction in
      context.sequence = try transaction.feedEnd()
      return try openCore(context, transaction)
    }
    if !isReadOnly { try core.tidyUpAfterOthers() }
  }

  /// Closes the file.
  ///
  /// The session must not be used afterwards. On a replica, the effects of its transactions are
  /// taken back.
  ///
  /// - Throws: `DatabaseError` if it could not be closed properly; nothing is lost even then.
  package func close() throws {
    // If this fails, the next session does it.
    try? core.leave()
    try context.close()
  }

  /// Continues as the session of a replica, which the file has become.
  func becomeReplica() throws {
    core = try store.read { try openCore(context, $0) }
  }
}

// MARK: Writing

extension DatabaseSession {
  /// Carries out a write.
  ///
  /// Returns the deliveries for listeners of this session, in order: first for earlier writes of
  /// other processes, then for this write.
  ///
  /// - Throws: `DatabaseError`; then nothing was written.
  package func write(_ write: Write) throws -> [Delivery] {
    try core.write { reader, _ in try moves.followed(write, reader).write }
  }

  /// Carries out a write that undoes an earlier one.
  func write(_ write: Write, undoes entry: HistoryEntry) throws -> [Delivery] {
    try core.write(name: nil, cause: WriteCause(undoes: entry)) { _, _ in write }.deliveries
  }

  /// Adds a child under a new key, which sorts after those made before by this session or another
  /// one.
  ///
  /// - Throws: `DatabaseError`; then nothing was written.
  package func push(_ json: JSONValue, to path: Path) throws -> (key: Key, deliveries: [Delivery]) {
    var key = newKey()
    do {
      let deliveries = try core.write { reader, _ in
        key = try reader.pushID(key, in: path)
        return .set(try path.child(key), json)
      }
      return (key, deliveries)
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Adds children under new keys, in one write; the keys sort in the order of the values, after
  /// those made before.
  ///
  /// O(n) in the values.
  ///
  /// - Throws: `DatabaseError`; then nothing was written.
  func push(all values: [JSONValue], to path: Path) throws -> [Delivery] {
    do {
      return try core.write { reader, _ in
        var members: [JSONMember] = []
        var last: Key?
        for value in values {
          var key = newKey()
          if let last {
            if !(last < key) { key = PushIDGenerator.following(last) }
          } else {
            key = try reader.pushID(key, in: path)
          }
          last = key
          members.append(JSONMember(key.text, value))
        }
        return .update(path, members)
      }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Makes a key that sorts after those made before.
  func newKey() -> Key {
    let now = environment.now() + (connectionInfo.serverTimeOffset ?? 0)
    return pushIDs.next(now: now, random: &environment.random)
  }

  /// Replaces the node at a place by a JSON document, which is read piece by piece.
  ///
  /// O(n) in the document; memory is that of one record besides the document's own.
  ///
  /// - Parameters:
  ///   - document: the text of the document.
  ///   - path: the place.
  ///   - progress: called now and then with the bytes read so far; false stops the import.
  /// - Returns: the deliveries for listeners of this session, in order.
  /// - Throws: `DatabaseError` (`malformedJSON` with line and column, `refused`, `cancelled`, or a
  ///   failure of the storage); then nothing was written.
  package func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path,
    progress: @escaping (_ bytes: Int) -> Bool = { _ in true }
  ) throws -> [Delivery] {
    try core.perform(.importing) { transaction, _ in
      try path.checkIsWritable(by: "import")
      var importer = try transaction.importer(progress)
      do {
        try importer.importDocument(document, at: path)
      } catch let error as JSONError {
        throw DatabaseError(.malformedJSON, "The document is not JSON: \(error).")
      }
      return [path]
    }
  }
}

// MARK: Listening

extension DatabaseSession {
  /// Registers a listener; returns its initial events, after the events of other listeners.
  ///
  /// - Throws: `DatabaseError` if the rows cannot be read; then nothing is registered.
  package func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery] {
    try request.check()
    return try core.listen(listener, request)
  }

  /// Removes a listener; one that is not registered is ignored.
  package func unlisten(_ listener: ListenerID) { core.unlisten(listener) }

  /// Extends the window of a paged listener by up to `count` rows.
  ///
  /// - Throws: `DatabaseError` (`refused` if there is no such listener); the window is then as before.
  package func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery] {
    try core.extend(listener, by: count)
  }

  /// Reads the writes of other processes; returns the deliveries for listeners.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read; call it again then, unless it is
  ///   `fileGone`.
  package func catchUp() throws -> [Delivery] {
    try checkFile()
    return try core.catchUp()
  }
}

// MARK: Reading

extension DatabaseSession {
  /// The state of the connection to the origin, as it stands at `/.info`.
  ///
  /// A tree of its own counts as connected, since its writes are final.
  package var connectionInfo: ConnectionInfo { core.connectionInfo }

  /// The id of the database, whatever its file is called: 32 hexadecimal digits.
  ///
  /// It is made with the file and copied with it. Nil for a file in a format before 3, until it is
  /// opened for writing.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func databaseID() throws -> String? { try store.read { try $0.databaseID() } }

  /// Runs `body` on one unchanging state.
  func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    try store.read(body)
  }

  /// The whole subtree at a place.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func node(at path: Path) throws -> Node {
    if path.isInfo { return try connectionInfo.node(at: path) }
    return try store.read { try $0.tree.storedNode(at: path) }
  }

  /// The kind and size of the node at a place.
  ///
  /// O(depth log n).
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  package func summary(at path: Path) throws -> NodeSummary {
    if path.isInfo { return try connectionInfo.summary(at: path) }
    return try store.read { try $0.summary(at: path) }
  }

  /// The rows that a query asks for, in its order.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  package func rows(_ query: Query, detail: TreeRow.Detail = .full) throws -> [TreeRow] {
    if query.path.isInfo {
      return try connectionInfo.rows(of: query.path, in: RowSlice(query), detail: detail)
    }
    return try store.read { try $0.rows(of: query.path, in: RowSlice(query), detail: detail) }
  }

  /// The content of a query: the whole place, or the children that the query selects.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  func content(of query: Query) throws -> Node {
    try store.read { try tree($0).content(of: query) }
  }

  /// The rows of a query, in its order, and the cost of finding them.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  package func scan(
    _ query: Query, detail: TreeRow.Detail = .full
  ) throws -> (rows: [TreeRow], report: ScanReport) {
    try store.read { try tree($0).scan(query, detail: detail) }
  }

  /// The stored tree, with `/.info`.
  private func tree(_ transaction: StoreTransaction) -> SessionTree {
    SessionTree(stored: transaction, info: connectionInfo)
  }

  /// Runs `body` on the present state of the tree, independent of concurrent writes.
  ///
  /// The reader also serves `/.info`. It must not be used afterwards.
  ///
  /// - Throws: `DatabaseError` if the tree cannot be read, and the errors of `body`.
  package func read<Result>(_ body: (any TreeReader) throws -> Result) throws -> Result {
    let result: Swift.Result<Result, any Error> = try store.read { transaction in
      do {
        return .success(try body(tree(transaction)))
      } catch let error as TreeError {
        throw error
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Writes the subtree at a place as JSON in the export format, piece by piece.
  ///
  /// O(n) in the subtree; memory is that of one record.
  ///
  /// - Parameters:
  ///   - path: the place.
  ///   - layout: compact or indented.
  ///   - write: takes the next bytes of the document.
  /// - Throws: `DatabaseError` if it cannot be read, and the errors of `write`.
  package func exportJSON(
    _ path: Path, layout: JSONWriter.Layout = .compact, write: ([UInt8]) throws -> Void
  ) throws {
    if path.isInfo {
      var writer = JSONWriter(layout: layout)
      try connectionInfo.node(at: path).writeExport(to: &writer)
      return try write(writer.takeBytes())
    }
    var failure: (any Error)?
    do {
      try withoutActuallyEscaping(write) { write in
        let taking: ([UInt8]) throws -> Void = { bytes in
          do {
            try write(bytes)
          } catch {
            failure = error
            throw error
          }
        }
        try store.read { transaction in
          try Exporter(tree: transaction.tree, layout: layout, write: taking).exportNode(at: path)
        }
      }
    } catch {
      throw failure ?? error
    }
  }
}

// MARK: For tests

extension DatabaseSession {
  /// True if anyone listens.
  package var hasListeners: Bool { core.hasListeners }

  /// SQLite's `synchronous` setting of the connection; 2 is FULL.
  package func synchronousMode() throws -> Int? { try store.synchronousMode() }

  /// Limits the number of pages of the file, to simulate a full disk.
  package func limitPages(to count: Int) throws { try store.limitPages(to: count) }
}
