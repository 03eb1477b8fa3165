import GRDB

/// Checks the feed of changes (I8).
struct FeedAudit {
  let db: GRDB.Database

  func run(into report: inout DatabaseReport) throws {
    var last: Int64?
    var count = 0
    let cursor = try Row.fetchCursor(
      db, sql: "SELECT sequence, paths FROM change ORDER BY sequence")
    while let row = try cursor.next() {
      let sequence = try row.integerOrNil("sequence") ?? 0
      if let last, sequence != last + 1 {
        add("the changes between \(last) and \(sequence) are missing", &report)
      }
      if (try? row.text("paths")).flatMap(StoreTransaction.writtenPaths) == nil {
        add("change \(sequence) does not say what was written", &report)
      }
      last = sequence
      count += 1
    }
    if count > Schema.feedCountMin + Schema.feedSlack {
      add("\(count) changes are too many", &report)
    }
    if let last, report.version == 1, try counter() != last {
      add("the counter of changes does not stand at the last, \(last)", &report)
    }
  }

  /// Where the counter of version 1 stands.
  private func counter() throws -> Int64? {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'change'"
    // What is no number stands nowhere.
    return try Row.fetchOne(db, sql: sql).flatMap { try? $0.integerOrNil("seq") }
  }

  private func add(_ what: String, _ report: inout DatabaseReport) {
    report.add(DatabaseFault(place: "change", what: what, remedy: .restartFeed))
  }
}
