import RunnelBase
import RunnelDatabase
import RunnelPostgres
import RunnelSync
import RunnelTree

/// A namespace of a store, as a server uses it.
final class StoreStorage: ServedStorage {
  private let session: PostgresSession

  init(_ session: PostgresSession) { self.session = session }

  func perform<Result>(
    isWriting: Bool, expecting expected: [Query], _ body: (any ServedTransaction) throws -> Result
  ) throws -> Result {
    try session.perform(isWriting: isWriting, expecting: expected) {
      try body(StoreTransactionView($0))
    }
  }

  func declareIndexes(_ definitions: [IndexDefinition]) throws {
    try session.declareIndexes(definitions)
  }

  /// Returns true: who asks for a look was told that there is news, and a transaction finds it in the one
  /// round trip that asking again would take.
  func hasNews(checksFiles: Bool) throws -> Bool { true }

  /// Does nothing: the keeper of the store wakes the other servers.
  func announce() {}

  var head: Int64? { session.head }

  func isWorthRetrying(_ error: any Error) -> Bool {
    (error as? PostgresError)?.isWorthRetrying ?? false
  }

  func isWritten(_ error: any Error) -> Bool { false }

  func leavesDoubt(_ error: any Error) -> Bool {
    (error as? PostgresError)?.kind == .inDoubt
  }

  func isFrozen(_ error: any Error) -> Bool { (error as? PostgresError)?.kind == .frozen }

  func isMoved(_ error: any Error) -> Bool { (error as? PostgresError)?.kind == .moved }

  func diskTrouble(_ error: any Error) -> DiskTrouble? {
    (error as? PostgresError)?.isOfDisk == true ? .passing : nil
  }

  func hasNoSpace(_ error: any Error) -> Bool {
    (error as? PostgresError)?.isOfFullDisk == true
  }

  func takeAlarms() -> [String] {
    defer { session.alarms = [] }
    return session.alarms
  }

  func takeDoubtCount() -> Int {
    defer { session.doubtCount = 0 }
    return session.doubtCount
  }

  /// A store may come back at any time.
  var loss: DatabaseError? { nil }

  var mayReturn: Bool { false }

  func regain() -> Bool { false }

  func close() throws { session.close() }
}

/// A snapshot of a namespace.
final class StoreSnapshot: ServedSnapshot {
  private let snapshot: PostgresSnapshot

  init(_ snapshot: PostgresSnapshot) { self.snapshot = snapshot }

  var head: Int64? { snapshot.head }

  func read<Result>(_ body: (any ServedTransaction) throws -> Result) throws -> Result {
    try snapshot.read { try body(StoreTransactionView($0)) }
  }

  func close() throws { snapshot.close() }
}

/// A transaction on a namespace, with the errors that the server knows.
struct StoreTransactionView: ServedTransaction, DelegatingReader {
  private let transaction: PostgresTransaction

  init(_ transaction: PostgresTransaction) { self.transaction = transaction }

  var foreignPaths: [Path] { transaction.foreignPaths }
  var hasForeignSettings: Bool { transaction.hasForeignSettings }
  var earliestTime: Int64 { transaction.earliestTime }
  var hasWritten: Bool { transaction.hasWritten }
  /// The database compresses what it stores, so its size says nothing.
  var storedBytes: Int { .max }
  var exportReading: ExportReading { .remote }

  func carryOut(_ parts: [Assignment], author: String, now: Int64, isKept: Bool) throws {
    try transaction.carryOut(parts, now: now)
  }

  func importJSON(
    _ document: UnsafeBufferPointer<UInt8>, at path: Path, author: String, now: Int64,
    wasRead: @escaping (Int) -> Void
  ) throws {
    do {
      try transaction.importJSON(document, at: path, now: now, wasRead: wasRead)
    } catch let error as JSONError {
      throw DatabaseError(.malformedJSON, "The document is not JSON: \(error).")
    } catch let error as TreeError where error.code != .storage {
      throw DatabaseError(.refused, error.message)
    }
  }

  func prefetch(_ paths: [Path]) throws { try transaction.prefetch(paths) }

  func isNameTaken(_ name: WriteID) throws -> Bool {
    if let isTaken = try transaction.isNameTaken(name) { return isTaken }
    throw DatabaseError(.forgotten, "Whether this write was carried out is not known any more.")
  }

  func noteName(_ name: WriteID) throws { try transaction.noteName(name) }

  func hasIndex(_ order: QueryIndex, at path: Path) -> Bool {
    transaction.hasIndex(order, at: path)
  }

  func keptValue(_ name: String) throws -> String? { try transaction.keptValue(name) }

  func keep(_ value: String?, _ name: String) throws { transaction.keep(value, name) }

  var leaseName: String { transaction.leaseName }

  func keepDisconnect(_ text: String?, of connection: Int64) throws {
    transaction.keepDisconnect(text, of: connection)
  }

  func keepsDisconnect(of connection: Int64) throws -> Bool {
    try transaction.keepsDisconnect(of: connection)
  }

  func takeLeftDisconnects() throws -> [String] { try transaction.takeOrphans() }

  func rulesText() throws -> String? { try transaction.rulesText() }

  func writeRules(_ text: String, now: Int64) throws { transaction.writeRules(text, now: now) }

  // MARK: Reading

  var reader: some TreeReader { transaction }

  func smallNode(at path: Path) throws(TreeError) -> Node? {
    try transaction.smallNode(at: path)
  }
}
