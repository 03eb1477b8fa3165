/// A reader that reads each row of one place once, however many views of the place ask for it.
///
/// It is used while the place has one state, and dropped before the next write.
final class RowCache: TreeReader {
  private struct Question: Hashable {
    var key: Key
    var index: QueryIndex
    var filter: ChildPredicate?
    var detail: TreeRow.Detail
  }

  private let reader: any TreeReader
  private var rows: [Question: TreeRow?] = [:]
  /// The last question; views of one place mostly ask the same one.
  private var last: (question: Question, row: TreeRow?, position: IndexPosition?)?
  private var summary: NodeSummary?

  let hasOrigin: Bool

  init(_ reader: any TreeReader) {
    self.reader = reader
    hasOrigin = reader.hasOrigin
  }

  func node(at path: Path) throws(TreeError) -> Node { try reader.node(at: path) }

  func summary(at path: Path) throws(TreeError) -> NodeSummary {
    if let summary { return summary }
    let read = try reader.summary(at: path)
    summary = read
    return read
  }

  func row(
    _ key: Key, of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    let row = try row(key, of: path, slice, detail)
    guard let row, slice.contains(row.position) else { return nil }
    return row
  }

  /// The row wherever it stands in the order, so that all windows with the same order share it.
  private func row(
    _ key: Key, of path: Path, _ slice: RowSlice, _ detail: TreeRow.Detail
  ) throws(TreeError) -> TreeRow? {
    let question = Question(
      key: key, index: slice.index, filter: slice.filter, detail: detail)
    if let last, last.question == question { return last.row }
    let row: TreeRow?
    if let known = rows[question] {
      row = known
    } else {
      let anywhere = RowSlice(index: slice.index, filter: slice.filter)
      row = try reader.row(key, of: path, in: anywhere, detail: detail)
      rows[question] = .some(row)
    }
    last = (question, row, row?.position)
    return row
  }

  /// The position of a row in the order of a slice, also outside its ends; nil if there is no row.
  func position(
    of key: Key, at path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> IndexPosition? {
    if let last, last.question.key == key, last.question.index == slice.index,
      last.question.filter == slice.filter, last.question.detail == detail
    {
      return last.position
    }
    return try row(key, of: path, slice, detail)?.position
  }

  func rows(
    of path: Path, in slice: RowSlice, detail: TreeRow.Detail
  ) throws(TreeError) -> [TreeRow] {
    try reader.rows(of: path, in: slice, detail: detail)
  }

  func knowledge(of query: Query) throws(TreeError) -> Knowledge {
    try reader.knowledge(of: query)
  }
}
