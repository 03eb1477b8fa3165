import RunnelStreams
import RunnelTree

/// The reason why a column of a view is empty: the field's name holds `/`, and the column names a path of
/// several keys, where the rows have one key.
///
/// It is a hint and no error: a row that is not loaded may have such a path.
struct ColumnDoubt {
  /// The most rows that are looked at.
  private static let rowsMax = 200

  /// What to say to the user, in one line.
  let message: String

  /// Looks at the columns of a list, which is loaded; nil if none is in doubt.
  ///
  /// O(columns x rows).
  init?(_ list: ListScreen) {
    let paths = list.definition.columns.compactMap { column -> Path? in
      if case .path(let path) = column.field, path.keys.count > 1 { path } else { nil }
    }
    if paths.isEmpty { return nil }
    let rows = list.someRecords(ColumnDoubt.rowsMax).filter { !list.isTransient($0) }
      .map { $0.row.node ?? .empty }
    for path in paths where rows.allSatisfy({ $0[path].isEmpty }) {
      let key = WritableKey.key(of: path.text)
      guard rows.contains(where: { !$0[key].isEmpty }) else { continue }
      message = "the column \(path.text) is empty: the field is written \(key.text) in a views file"
      return
    }
    return nil
  }
}
