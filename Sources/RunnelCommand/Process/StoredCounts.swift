/// What a check of a database has counted, in words.
enum StoredCounts {
  /// The numbers of rows, and of entries of indexes.
  static func words(rows: Int, entries: Int) -> String {
    let rows = rows == 1 ? "1 row" : "\(rows) rows"
    let entries = entries == 1 ? "1 entry" : "\(entries) entries"
    return "\(rows), \(entries) of indexes"
  }
}
