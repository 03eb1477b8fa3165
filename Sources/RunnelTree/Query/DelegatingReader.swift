/// A reader that has another one read for it.
///
/// What is known of a query is not passed on: a tree that has an origin says that itself.
package protocol DelegatingReader: TreeReader {
  associatedtype Reader: TreeReader

  /// The reader of the places.
  var reader: Reader { get }
}

extension DelegatingReader {
  package func node(at path: Path) throws(TreeError) -> Node { try reader.node(at: path) }

  package func summary(at path: Path) throws(TreeError) -> NodeSummary {
    try reader.summary(at: path)
  }

  package func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    try reader.row(key, of: path, in: slice, detail: detail)
  }

  package func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try reader.rows(of: path, in: slice, detail: detail)
  }
}
