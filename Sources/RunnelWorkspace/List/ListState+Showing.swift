import RunnelBase
import RunnelStreams

extension ListState {
  /// Replaces the content of a list by a new one: rows keep their lines, and the cursor its row.
  ///
  /// - Parameters:
  ///   - new: the content from now on.
  ///   - content: the content until now.
  ///   - height: the height of the list.
  ///   - first: the row that gets the cursor if there were no rows; nil for none.
  mutating func show(
    _ new: ListContent, inPlaceOf content: inout ListContent, height: Int, first: String?
  ) {
    let isFirst = content.rowCount == 0
    apply(changeOf: &content, to: new, height: height)
    if isFirst, let first { _ = moveTo(.row(first), in: new, height: height) }
  }

  /// Replaces the content of a list by a new one, and follows what changed.
  mutating func apply(changeOf content: inout ListContent, to new: ListContent, height: Int) {
    let update = SectionedDiff.update(
      from: content.sections.map { SectionIDs($0) }, to: new.sections.map { SectionIDs($0) })
    apply(update, from: content, to: new, height: height)
    content = new
  }
}
