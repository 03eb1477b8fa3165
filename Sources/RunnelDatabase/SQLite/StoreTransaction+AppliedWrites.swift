import GRDB
import RunnelStorage
import RunnelTree

/// The tables that remember the names of writes that were carried out.
///
/// - `write_client`: for each client the number up to which all its writes were carried out
///   (`applied`), and the number up to which single writes are no longer known (`forgotten`); the
///   latter is 0 as long as nothing was dropped.
/// - `applied_write`: the numbers carried out beyond `applied`: at most `countMax` of a client, all
///   of them above `forgotten`.
///
/// Limit: clients themselves are never forgotten; a client takes some 50 bytes.
enum AppliedWrites {
  /// The most numbers beyond a gap that are remembered of a client.
  static let countMax = 1000
}

extension StoreTransaction {
  /// Notes that a write is being carried out; returns false if it was carried out before.
  ///
  /// O(log n) without a gap in the client's numbers, else O(`countMax`).
  ///
  /// - Throws: `DatabaseError` (`forgotten`) if this is no longer known.
  func takeName(_ id: WriteID) throws -> Bool {
    if try isNameTaken(id) { return false }
    try noteName(id)
    return true
  }

  /// True if a write was carried out.
  ///
  /// - Throws: `DatabaseError` (`forgotten`) if this is no longer known.
  func isNameTaken(_ id: WriteID) throws -> Bool {
    let (applied, forgotten) = try bounds(of: id.client)
    if id.number <= applied { return true }
    if try isRemembered(id) { return true }
    if id.number <= forgotten {
      throw DatabaseError(
        .forgotten,
        "Write \(id.number) of \(id.client) comes too late to tell whether it was carried out "
          + "before: it was not carried out now. Look at the data, and write anew if need be.")
    }
    return false
  }

  /// Notes that a write was carried out; a number up to `forgotten` is left out.
  func noteName(_ id: WriteID) throws {
    var (applied, forgotten) = try bounds(of: id.client)
    if id.number <= max(applied, forgotten) { return }
    try db.cachedStatement(
      sql: "INSERT OR IGNORE INTO applied_write (client, number) VALUES (?, ?)"
    )
    .execute(arguments: [id.client, id.number])
    applied = try closedGap(of: id.client, from: applied)
    forgotten = try droppedOldest(of: id.client, forgotten)
    try db.cachedStatement(
      sql: "INSERT OR REPLACE INTO write_client (client, applied, forgotten) VALUES (?, ?, ?)"
    ).execute(arguments: [id.client, applied, forgotten])
  }

  private func bounds(of client: String) throws -> (applied: Int64, forgotten: Int64) {
    let statement = try db.cachedStatement(
      sql: "SELECT applied, forgotten FROM write_client WHERE client = ?")
    guard let row = try Row.fetchOne(statement, arguments: [client]) else { return (0, 0) }
    return (try row.integerOrNil("applied") ?? 0, try row.integerOrNil("forgotten") ?? 0)
  }

  private func isRemembered(_ id: WriteID) throws -> Bool {
    let statement = try db.cachedStatement(
      sql: "SELECT number FROM applied_write WHERE client = ? AND number = ?")
    return try Row.fetchOne(statement, arguments: [id.client, id.number]) != nil
  }

  /// The number up to which there is no gap any more, so that its rows need not be kept.
  private func closedGap(of client: String, from applied: Int64) throws -> Int64 {
    let numbers = try Row.fetchCursor(
      db.cachedStatement(
        sql: "SELECT number FROM applied_write WHERE client = ? ORDER BY number"),
      arguments: [client])
    var end = applied
    while let row = try numbers.next(), try row.integerOrNil("number") == end + 1 { end += 1 }
    if end > applied {
      try db.cachedStatement(sql: "DELETE FROM applied_write WHERE client = ? AND number <= ?")
        .execute(arguments: [client, end])
    }
    return end
  }

  /// Drops the oldest of too many remembered numbers; returns the highest dropped number.
  private func droppedOldest(of client: String, _ forgotten: Int64) throws -> Int64 {
    let statement = try db.cachedStatement(
      sql: """
        SELECT number FROM applied_write WHERE client = ?
        ORDER BY number DESC LIMIT 1 OFFSET \(AppliedWrites.countMax)
        """)
    guard let row = try Row.fetchOne(statement, arguments: [client]),
      let oldest = try row.integerOrNil("number")
    else { return forgotten }
    try db.cachedStatement(sql: "DELETE FROM applied_write WHERE client = ? AND number <= ?")
      .execute(arguments: [client, oldest])
    return oldest
  }
}
