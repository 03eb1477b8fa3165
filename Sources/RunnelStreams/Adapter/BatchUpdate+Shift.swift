import RunnelBase

extension BatchUpdate {
  /// The same update for sections that stand after `count` others.
  func shifted(bySections count: Int) -> BatchUpdate {
    if count == 0 { return self }
    func shift(_ path: ListIndexPath) -> ListIndexPath {
      ListIndexPath(section: path.section + count, row: path.row)
    }
    var result = self
    result.deletedSections = deletedSections.map { $0 + count }
    result.reloadedSections = reloadedSections.map { $0 + count }
    result.insertedSections = insertedSections.map { $0 + count }
    result.movedSections = movedSections.map { .init(from: $0.from + count, to: $0.to + count) }
    result.deletedRows = deletedRows.map(shift)
    result.reloadedRows = reloadedRows.map(shift)
    result.insertedRows = insertedRows.map(shift)
    result.movedRows = movedRows.map { .init(from: shift($0.from), to: shift($0.to)) }
    return result
  }
}
