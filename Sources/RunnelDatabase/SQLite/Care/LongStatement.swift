import GRDB
import GRDBSQLite

/// Makes long statements of SQLite stoppable.
enum LongStatement {
  /// The number of instructions of SQLite's machine between two checks.
  private static let instructionsBetweenQuestions: Int32 = 1000

  private final class Question {
    private let isWanted: () -> Bool
    private(set) var wasStopped = false

    init(_ isWanted: @escaping () -> Bool) { self.isWanted = isWanted }

    /// Whether to go on.
    func ask() -> Bool {
      if !wasStopped, !isWanted() { wasStopped = true }
      return !wasStopped
    }
  }

  /// Runs `body`, whose statements are interrupted once `isWanted` returns false.
  ///
  /// - Throws: `DatabaseError` (`cancelled`) if a statement was interrupted, and the errors of
  ///   `body`.
  static func run<Result>(
    on db: GRDB.Database, while isWanted: @escaping () -> Bool, _ body: () throws -> Result
  ) throws -> Result {
    let question = Question(isWanted)
    sqlite3_progress_handler(
      db.sqliteConnection, instructionsBetweenQuestions,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Question>.fromOpaque(context).takeUnretainedValue().ask() ? 0 : 1
      }, Unmanaged.passUnretained(question).toOpaque())
    defer {
      sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
      withExtendedLifetime(question) {}
    }
    do {
      return try body()
    } catch {
      guard question.wasStopped else { throw error }
      // The statement's error may have become another one on its way.
      throw DatabaseError(.cancelled, "The work was stopped. Nothing was changed.")
    }
  }
}
