import Foundation
import GRDB

/// Changes a database file behind the back of the sessions on it.
enum FileEditor {
  /// Runs SQL on a file, which is made if it does not exist.
  static func execute(_ sql: String, in file: String) throws {
    let queue = try DatabaseQueue(path: file)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// Runs `body` while another connection holds the right to write.
  static func whileLocked<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    let queue = try DatabaseQueue(path: file)
    let result = try queue.writeWithoutTransaction { db in
      var result: Result?
      try db.inTransaction(.immediate) {
        result = try body()
        return .rollback
      }
      return result
    }
    try queue.close()
    guard let result else { preconditionFailure("The transaction ran to its end.") }
    return result
  }
}

extension FileEditor {
  /// Runs SQL that some rows may refuse.
  static func executeIgnoringConflicts(_ sql: String, in file: String) throws {
    try execute(sql.replacingOccurrences(of: "UPDATE ", with: "UPDATE OR IGNORE "), in: file)
  }

  /// Runs SQL, and then `body` while the file is still open.
  static func whileOpen(_ file: String, _ sql: String, _ body: () throws -> Void) throws {
    let queue = try DatabaseQueue(path: file)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try body()
    try queue.close()
  }

  /// Makes a file the copy of another one, as the command `.restore` of SQLite's program does.
  static func restore(_ source: String, into file: String) throws {
    let (from, to) = (try DatabaseQueue(path: source), try DatabaseQueue(path: file))
    try from.backup(to: to)
    try from.close()
    try to.close()
  }
}
