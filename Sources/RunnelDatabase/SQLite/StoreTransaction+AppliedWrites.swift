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
    try statement("INSERT OR IGNORE INTO applied_write (client, number) VALUES (?, ?)")
      .run(.text(id.client), .integer(id.number))
    applied = try closedGap(of: id.client, from: applied)
    forgotten = try droppedOldest(of: id.client, forgotten)
    try statement(
      "INSERT OR REPLACE INTO write_client (client, applied, forgotten) VALUES (?, ?, ?)"
    ).run(.text(id.client), .integer(applied), .integer(forgotten))
  }

  private func bounds(of client: String) throws -> (applied: Int64, forgotten: Int64) {
    let found: (Int64, Int64)? = try statement(
      "SELECT applied, forgotten FROM write_client WHERE client = ?"
    ).first(.text(client)) { row in
      (try row.integer(0, "applied") ?? 0, try row.integer(1, "forgotten") ?? 0)
    }
    return found ?? (0, 0)
  }

  private func isRemembered(_ id: WriteID) throws -> Bool {
    try statement("SELECT number FROM applied_write WHERE client = ? AND number = ?")
      .first(.text(id.client), .integer(id.number)) { _ in true } ?? false
  }

  /// The number up to which there is no gap any more, so that its rows need not be kept.
  private func closedGap(of client: String, from applied: Int64) throws -> Int64 {
    var end = applied
    try statement("SELECT number FROM applied_write WHERE client = ? ORDER BY number")
      .forEach([.text(client)]) { row in
        guard try row.integer(0, "number") == end + 1 else { return false }
        end += 1
        return true
      }
    if end > applied { try forgetNumbers(of: client, upTo: end) }
    return end
  }

  /// Drops the oldest of too many remembered numbers; returns the highest dropped number.
  private func droppedOldest(of client: String, _ forgotten: Int64) throws -> Int64 {
    let oldest = try statement(
      "SELECT number FROM applied_write WHERE client = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
    ).first(.text(client), .integer(Int64(AppliedWrites.countMax))) { try $0.integer(0, "number") }
    guard let oldest = oldest ?? nil else { return forgotten }
    try forgetNumbers(of: client, upTo: oldest)
    return oldest
  }

  private func forgetNumbers(of client: String, upTo number: Int64) throws {
    try statement("DELETE FROM applied_write WHERE client = ? AND number <= ?")
      .run(.text(client), .integer(number))
  }
}
