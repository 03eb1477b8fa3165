import GRDB
import RunnelStorage

// The history's knowledge of an earlier time.

extension StoreTransaction {
  /// The writes to take back in order to reach an earlier time.
  enum Rewinding: Hashable {
    /// The entries after it, newest first.
    case entries([Int64])
    /// The history begins later, at this time, in milliseconds since 1970; nil if it is empty.
    case tooEarly(Int64?)
    /// The file is that of a replica, whose origin's changes are no entries.
    case replica
  }

  /// The writes after a time, in milliseconds since 1970.
  ///
  /// O(n) in the entries that are kept.
  func entries(after time: Int64) throws -> Rewinding {
    if try hasReplica() { return .replica }
    try checkNoChangeIsMissing()
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: """
          SELECT sequence, at FROM change WHERE at IS NOT NULL AND sequence >= ?
          ORDER BY sequence DESC
          """),
      arguments: [historyStart()])
    var later: [Int64] = []
    var earliest: Int64?
    for row in rows {
      guard let id = try row.integerOrNil("sequence"), let at = try row.integerOrNil("at") else {
        throw Damage("an entry of the history cannot be read")
      }
      if at <= time { return .entries(later) }
      later.append(id)
      earliest = at
    }
    return .tooEarly(earliest)
  }
}
