import Foundation
import GRDB
import RunnelTree

/// The connection to one database file: it opens the file safely and runs transactions on it.
///
/// Durability: the journal is a write-ahead log with `synchronous = FULL`, so a transaction that
/// returned is on disk: it survives the end of the process at any moment, and of the machine.
///
/// It is used by one thread at a time (the tree's).
final class Store {
  /// How long another process may hold the file before a call gives up.
  private static let busySeconds = 5.0

  let file: String
  private let queue: DatabaseQueue
  private(set) var indexes: [StoredIndex] = []

  /// Opens a file; an absent or empty one becomes a database, unless `isReadOnly`.
  ///
  /// What is no database of Runnel's, or of a newer version, is left exactly as it is.
  ///
  /// - Throws: `DatabaseError` that says what is wrong with the file.
  init(file: String, isReadOnly: Bool) throws {
    self.file = file
    do {
      queue = try Store.connect(file, isReadOnly: isReadOnly)
      let kind = try queue.read(Schema.kind)
      switch kind {
      case .foreign:
        throw DatabaseError(
          .notRunnel,
          "\(file) is an SQLite database, but not one of Runnel's. It was not changed: "
            + "name another file with --database.")
      case .ours(let version) where version > Schema.version:
        throw DatabaseError(
          .newerVersion,
          "\(file) has format \(version) and was written by a newer Runnel; this one reads up to "
            + "format \(Schema.version). It was not changed: use the newer program.")
      case .empty where isReadOnly:
        throw DatabaseError(
          .cannotOpen, "\(file) is empty: fill it with `runnel import` or `runnel set`.")
      case .ours, .empty: try prepare(isReadOnly: isReadOnly)
      }
      indexes = try queue.read(StoreTransaction.storedIndexes)
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  private static func connect(_ file: String, isReadOnly: Bool) throws -> DatabaseQueue {
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory)
    if exists, isDirectory.boolValue {
      throw DatabaseError(.cannotOpen, "\(file) is a folder: name a file in it.")
    }
    if !exists, isReadOnly {
      throw DatabaseError(
        .cannotOpen, "\(file) does not exist: make it with `runnel import` or `runnel set`.")
    }
    if exists, !isReadOnly, !FileManager.default.isWritableFile(atPath: file) {
      throw DatabaseError(
        .readOnly,
        "\(file) may not be written. Nothing was changed: change its permissions, or copy it.")
    }
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(busySeconds)
    configuration.label = "runnel.store"
    return try DatabaseQueue(path: file, configuration: configuration)
  }

  private func prepare(isReadOnly: Bool) throws {
    if isReadOnly { return }
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = FULL")
    }
    try queue.write { db in
      // Another process may have made the tables since they were looked for.
      if case .empty = try Schema.kind(db) { try db.execute(sql: Schema.statements) }
    }
  }

  /// Runs `body` on one unchanging state.
  func read<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    do {
      return try queue.read { try body(StoreTransaction(db: $0, indexes: indexes)) }
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// Runs `body`; all it writes is on disk when this returns, and none of it if it throws.
  func write<Result>(_ body: (StoreTransaction) throws -> Result) throws -> Result {
    do {
      var result: Result?
      try queue.writeWithoutTransaction { db in
        try db.inTransaction(.immediate) {
          // Another process may have declared an index.
          indexes = try StoreTransaction.storedIndexes(db)
          result = try body(StoreTransaction(db: db, indexes: indexes))
          return .commit
        }
      }
      guard let result else { preconditionFailure("The transaction ran to its end.") }
      return result
    } catch {
      throw DatabaseError(error, file: file)
    }
  }

  /// What `PRAGMA synchronous` says; 2 is FULL.
  func synchronousMode() throws -> Int? {
    try queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
  }

  /// Closes the file; the store is not used afterwards.
  func close() throws {
    do {
      try queue.close()
    } catch {
      throw DatabaseError(error, file: file)
    }
  }
}
