import RunnelStorage
import RunnelTree

/// What a transaction will probably read, and is read together with its beginning: so a window that is
/// read once takes one round trip.
///
/// The statements are guessed by split nodes that were met before. A wrong guess costs a statement, and
/// never correctness: a result is used only if the transaction asks for just this statement.
struct ExpectedRows {
  /// The most reads that are guessed.
  private static let countMax = 64

  /// The rows that are fetched by the first statement, if there are any.
  private(set) var fetched: Set<RowID> = []
  private(set) var statements: [PostgresStatement] = []

  /// What queries will ask the rows of a namespace for; of one that shows all, only the way to it.
  init(_ queries: [Query], _ rows: PostgresRows) {
    var reads: [PostgresStatement] = []
    for query in queries.prefix(ExpectedRows.countMax) {
      let (way, split) = rows.guessedWay(to: query.path)
      fetched.formUnion(way.filter { rows.known[$0] == nil })
      guard let split, !query.loadsAllData else { continue }
      let first = FirstRead(RowSlice(query), at: query.path, indexes: rows.indexes)
      reads += first.parts.map { rows.statement($0, of: split) }
    }
    if !fetched.isEmpty { statements.append(rows.fetching(fetched)) }
    statements += reads
  }
}

extension PostgresRows {
  /// The rows on the way to a place, as far as the split nodes are known, and the split node there.
  func guessedWay(to path: Path) -> (way: [RowID], split: Int64?) {
    var way = [RowID.root]
    for key in path.keys {
      guard let split = guessedSplit(way[way.count - 1]) else { return (way, nil) }
      way.append(RowID(parent: split, key))
    }
    return (way, guessedSplit(way[way.count - 1]))
  }

  private func guessedSplit(_ id: RowID) -> Int64? {
    if let row = known[id] {
      if case .split(let split)? = row { return split }
      return nil
    }
    return met[id]
  }

  fileprivate func statement(_ part: FirstRead.Part, of split: Int64) -> PostgresStatement {
    switch part {
    case .rows(let range, let isDescending):
      var size = PageSize(range.wantedCount)
      return pageStatement(split, range, isDescending, size.next())
    case .entries(let order, let range, let isDescending):
      var size = PageSize(range.wantedCount)
      return EntryReading(rows: self, split: split, order: order, isDescending: isDescending)
        .pageStatement(range, after: nil, size.next())
    case .hasPriorities: return entriesStatement(split, .priority)
    case .head: return headStatement(split)
    }
  }
}
