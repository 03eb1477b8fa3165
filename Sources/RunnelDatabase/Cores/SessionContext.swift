import RunnelStorage
import RunnelTree

/// The open file of a session and the session's clock, shared with its core.
///
/// Isolation: as the session's.
final class SessionContext {
  let store: SQLiteStore
  /// The beacon that wakes other processes after a commit; nil if the file is only read, or the
  /// session was closed.
  var beacon: ChangeBeacon?
  var environment: DatabaseEnvironment
  /// The position in the change feed up to which listeners were told.
  var sequence: Int64 = 0
  /// The id of the newest write on a replica; nil if there was none in this session.
  var newestWriteID: Int64?
  /// The history's entry of the newest write; nil if the write made no entry.
  var newestEntryID: Int64?
  /// The refused writes that the next write stands for; nil for none.
  var taking: RefusedTaking?

  init(store: SQLiteStore, beacon: ChangeBeacon?, environment: DatabaseEnvironment) {
    self.store = store
    self.beacon = beacon
    self.environment = environment
  }

  deinit { beacon?.close() }

  /// The path of the file.
  var file: String { store.file }

  /// Closes the file.
  func close() throws {
    beacon?.close()
    beacon = nil
    try store.close()
  }
}

// MARK: Recording

extension SessionContext {
  /// Carries out the parts of a write, and records the old values in the history if `isKept` is true.
  func carryOut(
    _ parts: [Assignment], _ transaction: StoreTransaction, now: Int64,
    cause: WriteCause = WriteCause(), isKept: Bool = true
  ) throws {
    try recording(parts, transaction, now: now, cause: cause, isKept: isKept) {
      for part in parts { try transaction.carryOut(part) }
    }
  }

  /// Runs `body`, which carries out a write, and records the write in the history if `isKept` is true; not what
  /// stood at the places that a replica knows only in part.
  func recording(
    _ parts: [Assignment], _ transaction: StoreTransaction, now: Int64, cause: WriteCause,
    isKept: Bool = true, partlyKnown: Set<Path> = [], _ body: () throws -> Void
  ) throws {
    if try !isKept || transaction.historyLimit() == 0 { return try body() }
    let recorder = try HistoryRecorder(parts, transaction, partlyKnown: partlyKnown)
    try body()
    guard let written = try recorder.parts(after: transaction, operation: cause.operation()) else {
      return transaction.noteNoChange()
    }
    transaction.note(
      HistoryText(at: now, author: environment.author, undoes: cause.undoes?.id, parts: written))
  }
}

/// Why a write is made, for the history.
struct WriteCause {
  /// The entry that the write undoes; nil if it undoes none.
  var undoes: HistoryEntry?
  /// The record of the operation that the write carries out, asked once the write is made; nil if it
  /// carries out none, or one from which nothing else follows.
  var operation: () -> Path? = { nil }
}
