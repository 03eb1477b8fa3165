public import RunnelBase
public import RunnelTree

/// What a session takes from the world around it.
public struct DatabaseEnvironment {
  /// Milliseconds since 1970.
  public var now: () -> Int64
  /// Where push ids come from.
  public var random: any RandomNumberGenerator
  /// How long another process may hold the file before a call gives up.
  public var busyTimeout: Duration
  /// Who writes, as the history is to name them.
  public var author = ""
  /// What becomes of writes made offline where others wrote meanwhile.
  public var conflictPolicy = ConflictPolicy.fieldWise
  /// How many bytes of its origin's tree a replica keeps that nobody listens to; looked at now and then.
  ///
  /// Source: tree semantics, section 15.1.
  public var cacheBytesMax = Replica.cacheBytesMax

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

/// One open database: the tree in a file, who listens to it, and what other processes do to it.
///
/// Responsibilities:
/// - It carries out writes: storage first, then the events they cause. A write that returned is on
///   disk; one that throws changed nothing and nobody heard of it.
/// - It tells listeners of this session what any process on the file wrote, in the same way.
///
/// Isolation: synchronous, and used by one thread at a time. `Database` puts it on a thread of its
/// own; a command that does one thing may use it directly.
public final class DatabaseSession {
  let store: Store
  var beacon: ChangeBeacon?
  var environment: DatabaseEnvironment
  private var engine = TreeEngine()
  /// Who listens to `/.info`, unless the tree is a replica.
  private var info = InfoEngine(.ownTree)
  private var pushIDs = PushIDGenerator()
  /// The place in the feed up to which listeners were told.
  var sequence: Int64 = 0
  /// Who listens and what is pending, if the tree is a replica; `engine` is then unused.
  var replica: ReplicaEngine?
  /// The id of the newest write on a replica; nil if there was none in this session.
  var newestWriteID: Int64?
  /// The history's entry of the newest write; nil if it noted none.
  var newestEntryID: Int64?
  /// Why the replica is to stay away from its origin; empty if it is not.
  var offlineReasons: Set<String> = []
  /// How many messages of the origin came since the cache was looked at.
  var messageCount = 0
  /// What the replica has for its origin and for those who wait, until it is taken.
  var originOutput = OriginOutput()
  /// The pending writes as they were told last.
  var toldPending: [PendingWrite] = []
  /// What listeners of a replica are to be told, and could not be when it was found.
  var undelivered: [Delivery] = []
  /// Whether it was told that the file is gone.
  var isLossTold = false
  /// The state of the file that this was in; while it is the same, nobody else has written.
  private var stateNumber: Int64?

  /// The file of the database.
  public var file: String { store.file }

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - file: the path of the file; it is made if it does not exist and may be written.
  ///   - isReadOnly: whether writes are refused; the file must then exist.
  ///   - environment: the clock and the random numbers.
  /// - Throws: `DatabaseError` that says what is wrong with the file, which is left as it is.
  public init(file: String, isReadOnly: Bool = false, environment: DatabaseEnvironment) throws {
    self.environment = environment
    store = try Store(
      file: file, isReadOnly: isReadOnly, busyTimeout: environment.busyTimeout)
    beacon = isReadOnly ? nil : ChangeBeacon(database: file)
    // One transaction, so that nobody writes in between.
    try store.read { transaction in
      sequence = try transaction.feedEnd()
      try openReplica(transaction)
    }
    if !isReadOnly { try tidyUpAfterOthers() }
  }

  deinit { beacon?.close() }

  /// Closes the file.
  ///
  /// The session is not used afterwards. On a replica, what its transactions show is taken back.
  ///
  /// - Throws: `DatabaseError` if it could not be closed properly; nothing is lost even then.
  public func close() throws {
    // What is left is taken back by the next session.
    try? leaveReplica()
    beacon?.close()
    beacon = nil
    try store.close()
  }
}

// MARK: Writing

extension DatabaseSession {
  /// Carries out a write.
  ///
  /// Returns what listeners of this session are to be told, in order: first what other processes
  /// wrote before it, then what it changed.
  ///
  /// - Throws: `DatabaseError`; then nothing was written.
  public func write(_ write: Write) throws -> [Delivery] {
    try self.write(write, undoes: nil)
  }

  /// Carries out a write that undoes an earlier one, or is one of its own.
  func write(_ write: Write, undoes entry: HistoryEntry?) throws -> [Delivery] {
    if replica != nil { return try writeOnReplica(write, undoes: entry).deliveries }
    return try perform { transaction, now in
      if let entry { try checkUnchanged(entry, transaction) }
      let parts = try write.assignments(now: now, reader: transaction)
      try carryOut(parts, transaction, now: now, undoes: entry?.id)
      return parts.map(\.path)
    }
  }

  /// Adds a child under a new key that sorts after those made before, by this session or another one.
  ///
  /// - Throws: `DatabaseError`; then nothing was written.
  public func push(_ json: JSONValue, to path: Path) throws -> (key: Key, deliveries: [Delivery]) {
    var key = newKey()
    do {
      let deliveries = try write { reader, _ in
        key = try reader.pushID(key, in: path)
        return .set(try path.child(key), json)
      }
      return (key, deliveries)
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Makes a key that sorts after those made before.
  func newKey() -> Key {
    let now = environment.now() + (connectionInfo.serverTimeOffset ?? 0)
    return pushIDs.next(now: now, random: &environment.random)
  }

  /// Replaces what stands at a place by a JSON document, read piece by piece.
  ///
  /// O(n) in the document; memory is that of one record besides the document's own.
  ///
  /// - Parameters:
  ///   - document: the text of the document.
  ///   - path: the place.
  ///   - progress: called now and then with the bytes read so far; false stops the import.
  /// - Returns: what listeners of this session are to be told, in order.
  /// - Throws: `DatabaseError` (`malformedJSON` with line and column, `refused`, `cancelled`, or a
  ///   failure of the storage); then nothing was written.
  public func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path,
    progress: @escaping (_ bytes: Int) -> Bool = { _ in true }
  ) throws -> [Delivery] {
    if replica != nil { throw DatabaseSession.noImport(file) }
    return try perform { transaction, _ in
      try path.checkIsWritable(by: "import")
      var importer = Importer(store: transaction, progress: progress)
      do {
        try importer.importDocument(document, at: path)
      } catch let error as JSONError {
        throw DatabaseError(.malformedJSON, "The document is not JSON: \(error)")
      }
      return [path]
    }
  }

  /// Storage, then events: the one way by which this session changes the tree.
  func perform(
    _ body: (StoreTransaction, _ now: Int64) throws -> [Path]
  ) throws -> [Delivery] {
    let now = environment.now()
    newestEntryID = nil
    let (state, written, deliveries) = try engine.atomically { engine in
      try store.write { transaction in
        let foreign = try foreignChanges(transaction)
        var deliveries = try engine.apply(touched: foreign.touched, reader: transaction)
        let touched = try body(transaction, now)
        let isNoted = transaction.notesEntry
        let end = try transaction.appendChange(touched)
        deliveries += try engine.apply(touched: touched, reader: transaction)
        return (transaction.stateNumber, (end: end, isNoted: isNoted), deliveries)
      }
    }
    (stateNumber, sequence) = (state, written.end)
    newestEntryID = written.isNoted ? written.end : nil
    beacon?.signal()
    return deliveries
  }

  /// What others wrote since listeners were told.
  private func foreignChanges(
    _ transaction: StoreTransaction
  ) throws -> StoreTransaction.ForeignChanges {
    if transaction.stateNumber == stateNumber {
      return StoreTransaction.ForeignChanges(touched: [], sequence: sequence)
    }
    return try transaction.foreignChanges(after: sequence)
  }
}

// MARK: Listening

extension DatabaseSession {
  /// Registers a listener; returns its initial events, after those that others are to be told.
  ///
  /// - Throws: `DatabaseError` if the rows cannot be read; then nothing is registered.
  public func listen(_ listener: ListenerID, _ request: ListenRequest) throws -> [Delivery] {
    if replica != nil { return try listenOnReplica(listener, request) }
    if request.query.path.isInfo { return try info.listen(listener, request) }
    return try update { try $0.listen(listener, request, reader: $1) }
  }

  /// Removes a listener; one that is not registered is ignored.
  public func unlisten(_ listener: ListenerID) {
    if replica != nil { return unlistenOnReplica(listener) }
    info.unlisten(listener)
    engine.unlisten(listener)
  }

  /// Extends the window of a paged listener by up to `count` rows.
  ///
  /// - Throws: `DatabaseError` (`refused` if there is no such listener); the window is then as before.
  public func extend(_ listener: ListenerID, by count: Int) throws -> [Delivery] {
    if replica != nil { return try extendOnReplica(listener, by: count) }
    if info.contains(listener) { return try info.extend(listener, by: count) }
    return try update { try $0.extend(listener, by: count, reader: $1) }
  }

  /// Learns what other processes wrote; returns what listeners are to be told.
  ///
  /// - Throws: `DatabaseError` if the file cannot be read; call it again then, unless it is `fileGone`.
  public func catchUp() throws -> [Delivery] {
    try checkFile()
    if replica != nil { return try catchUpReplica() }
    return try update { _, _ in [] }
  }

  private func update(
    _ body: (inout TreeEngine, StoreTransaction) throws -> [Delivery]
  ) throws -> [Delivery] {
    let (state, end, deliveries) = try engine.atomically { engine in
      try store.read { transaction in
        let foreign = try foreignChanges(transaction)
        var deliveries = try engine.apply(touched: foreign.touched, reader: transaction)
        deliveries += try body(&engine, transaction)
        return (transaction.stateNumber, foreign.sequence, deliveries)
      }
    }
    (stateNumber, sequence) = (state, end)
    return deliveries
  }
}

// MARK: Reading

extension DatabaseSession {
  /// What is known of the talk with the origin, as it stands at `/.info`.
  ///
  /// A tree of its own counts as connected: what it did is done.
  public var connectionInfo: ConnectionInfo { replica?.connectionInfo ?? info.info }

  /// What tells this database from every other, whatever its file is called: 32 hexadecimal digits.
  ///
  /// It is made with the file and copied with it. Nil if the file is of a format before 3, which has
  /// none until it is opened for writing.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  public func databaseID() throws -> String? { try store.read { try $0.databaseID() } }

  /// Runs `body` on one unchanging state.
  func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    try store.read(body)
  }

  /// The whole subtree at a place.
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  public func node(at path: Path) throws -> Node {
    if path.isInfo { return try connectionInfo.node(at: path) }
    return try store.read { try $0.storedNode(at: path) }
  }

  /// The kind and size of the node at a place.
  ///
  /// O(depth log n).
  ///
  /// - Throws: `DatabaseError` if it cannot be read.
  public func summary(at path: Path) throws -> NodeSummary {
    if path.isInfo { return try connectionInfo.summary(at: path) }
    return try store.read { try $0.summary(at: path) }
  }

  /// The rows that a query asks for, in its order.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  public func rows(_ query: Query, detail: TreeRow.Detail = .full) throws -> [TreeRow] {
    if query.path.isInfo {
      return try connectionInfo.rows(of: query.path, in: RowSlice(query), detail: detail)
    }
    return try store.read { try $0.rows(of: query.path, in: RowSlice(query), detail: detail) }
  }

  /// The rows that a query asks for, in its order, and what finding them cost.
  ///
  /// - Throws: `DatabaseError` if they cannot be read.
  public func scan(
    _ query: Query, detail: TreeRow.Detail = .full
  ) throws -> (rows: [TreeRow], report: ScanReport) {
    try store.read { try tree($0).scan(query, detail: detail) }
  }

  /// What is stored, and `/.info` beside it.
  private func tree(_ transaction: StoreTransaction) -> SessionTree {
    SessionTree(stored: transaction, info: connectionInfo)
  }

  /// Runs `body` on the tree as it is now, whatever others write meanwhile.
  ///
  /// The reader serves `/.info`, too. It is not used afterwards.
  ///
  /// - Throws: `DatabaseError` if the tree cannot be read, and what `body` throws.
  public func read<Result>(_ body: (any TreeReader) throws -> Result) throws -> Result {
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
  /// - Throws: `DatabaseError` if it cannot be read, and what `write` throws.
  public func exportJSON(
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
          try Exporter(store: transaction, layout: layout, write: taking).exportNode(at: path)
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
  package var hasListeners: Bool {
    engine.hasListeners || info.hasListeners || replica?.hasListeners == true
  }

  /// What the file's connection does for durability; 2 is FULL.
  package func synchronousMode() throws -> Int? { try store.synchronousMode() }

  /// Lets the file grow no further than so many pages, as a full disk would.
  package func limitPages(to count: Int) throws { try store.limitPages(to: count) }
}
