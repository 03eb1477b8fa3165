import RunnelStorage
import RunnelTree

/// The tree that a session reads: the stored tree, and `/.info`.
struct SessionTree: TreeReader {
  let stored: StoreTransaction
  let info: ConnectionInfo

  func node(at path: Path) throws(TreeError) -> Node {
    path.isInfo ? try info.node(at: path) : try stored.node(at: path)
  }

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    path.isInfo ? try info.summary(at: path) : try stored.summary(at: path)
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    path.isInfo
      ? try info.row(key, of: path, in: slice, detail: detail)
      : try stored.row(key, of: path, in: slice, detail: detail)
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    path.isInfo
      ? try info.rows(of: path, in: slice, detail: detail)
      : try stored.rows(of: path, in: slice, detail: detail)
  }

  /// The content of a query: the whole place, or the children that the query selects.
  func content(of query: Query) throws(TreeError) -> Node {
    if query.loadsAllData { return try node(at: query.path) }
    let rows = try rows(of: query.path, in: RowSlice(query), detail: .full)
    return Node(
      children: rows.compactMap { row in row.node.map { Child(key: row.key, node: $0) } })
  }

  /// The rows of a query, and the cost of finding them.
  func scan(
    _ query: Query, detail: TreeRow.Detail
  ) throws -> (rows: [TreeRow], report: ScanReport) {
    if query.path.isInfo {
      let rows = try info.rows(of: query.path, in: RowSlice(query), detail: detail)
      let count = try info.node(at: query.path).children.count
      return (rows, ScanReport(way: .record, scannedCount: count, shownCount: rows.count))
    }
    let scan = try stored.tree.scan(of: query.path, in: RowSlice(query), detail: detail)
    let report = ScanReport(
      way: scan.way, scannedCount: scan.scannedCount, shownCount: scan.rows.count,
      advice: scan.advice)
    return (scan.rows, report)
  }
}
