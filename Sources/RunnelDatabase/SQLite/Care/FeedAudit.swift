import GRDB
import RunnelStorage
import RunnelTree

/// Checks the feed of changes (I8).
struct FeedAudit {
  let db: GRDB.Database

  func run(into report: inout DatabaseReport) throws {
    var last: Int64?
    let newest = try Int64.fetchOne(db, sql: "SELECT max(sequence) FROM change") ?? 0
    let feedStart = newest - Int64(Schema.feedCountMin)
    let cursor = try Row.fetchCursor(
      db, sql: "SELECT sequence, paths FROM change ORDER BY sequence")
    while let row = try cursor.next() {
      let sequence = try row.integerOrNil("sequence") ?? 0
      let paths = (try? row.text("paths")).flatMap(StoreTransaction.writtenPaths)
      // Older changes may be gone; and a reader that gets a change of the whole tree misses
      // nothing.
      let before = last ?? max(feedStart, 0)
      if sequence > before + 1, sequence - 1 > feedStart, paths != [.root] {
        add("the changes between \(before) and \(sequence) are missing", &report)
      }
      if paths == nil { add("change \(sequence) does not say what was written", &report) }
      last = sequence
    }
    let noted = try StoreTransaction(db: db, indexes: []).sequenceAtLogStart()
    if noted > newest { add("the changes after \(newest) are missing", &report) }
    try checkCount(before: feedStart, &report)
    if let last, report.version == 1, try counter() != last {
      add("the counter of changes does not stand at the last, \(last)", &report)
    }
  }

  /// Changes without entries are dropped when they leave the feed, many at once.
  private func checkCount(before feedStart: Int64, _ report: inout DatabaseReport) throws {
    let store = StoreTransaction(db: db, indexes: [])
    let plain = report.version < Migration.version2.version ? "" : " AND at IS NULL"
    let sql = "SELECT count(*) FROM change WHERE sequence <= ?" + plain
    let end = feedStart - (try store.changeSlack())
    let count = try Int.fetchOne(db, sql: sql, arguments: [end]) ?? 0
    if count > 0 { add("\(count) changes are too many", &report) }
  }

  /// The counter of version 1.
  private func counter() throws -> Int64? {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'change'"
    // A value that is no number counts as missing.
    return try Row.fetchOne(db, sql: sql).flatMap { try? $0.integerOrNil("seq") }
  }

  private func add(_ what: String, _ report: inout DatabaseReport) {
    report.add(DatabaseFault(place: "change", what: what, remedy: .restartFeed))
  }
}
