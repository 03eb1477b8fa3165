import GRDB
import RunnelTree

@testable import RunnelDatabase

extension DatabaseSession {
  /// Copies the log to the file.
  func checkpoint(_ mode: String = "TRUNCATE") throws {
    try store.onConnection { try $0.execute(sql: "PRAGMA wal_checkpoint(\(mode))") }
  }

  /// Has something done while the next write is committed, for as long as the answer lives.
  func whileCommitting(_ body: @escaping () -> Void) throws -> AnyObject {
    let observer = CommitObserver(body)
    try store.onConnection {
      $0.add(transactionObserver: observer, extent: .observerLifetime)
    }
    return observer
  }
}

private final class CommitObserver: TransactionObserver {
  private let body: () -> Void

  init(_ body: @escaping () -> Void) { self.body = body }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
  func databaseDidChange(with event: DatabaseEvent) {}
  func databaseWillCommit() { body() }
  func databaseDidCommit(_ db: GRDB.Database) {}
  func databaseDidRollback(_ db: GRDB.Database) {}
}

/// One who reads a file and does not end: the log cannot begin anew meanwhile.
final class IdleReader {
  private let queue: DatabaseQueue

  init(_ file: String) throws {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    queue = try DatabaseQueue(path: file, configuration: configuration)
    try queue.writeWithoutTransaction {
      try $0.execute(sql: "BEGIN")
      _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM node")
    }
  }

  func end() throws {
    try queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    try queue.close()
  }
}

/// A file of an older version, open, with one record in its log.
final class OldFile {
  private let queue: DatabaseQueue

  init(_ file: String, version: Int) throws {
    queue = try DatabaseQueue(path: file)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.inTransaction {
        try Schema.makeTables(db, version: version)
        return .commit
      }
      try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      try db.execute(
        sql: #"INSERT INTO node (parent, key, json) VALUES (0, X'', CAST('{"a":1}' AS BLOB))"#)
    }
  }

  func close() throws { try queue.close() }
}
