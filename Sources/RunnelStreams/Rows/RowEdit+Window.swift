import RunnelBase

extension RowEdit {
  /// The edit as seen by a list that shows one range of the rows.
  ///
  /// Untouched rows leave that list, or enter it, if the range or the number of rows before it
  /// changes.
  ///
  /// O(t log t) in the t rows of the edit and those that come and leave.
  ///
  /// - Parameters:
  ///   - rows: the rows before the edit.
  ///   - old: the range shown before the edit.
  ///   - new: the range shown after the edit.
  /// - Returns: the edit of the list that shows the range.
  func seen(of rows: Rows<Item>, from old: Range<Int>, to new: Range<Int>) -> RowEdit {
    let newCount = rows.count - removing.count + inserting.count
    if old == 0..<rows.count, new == 0..<newCount { return self }
    let walk = WindowWalk(edit: self, count: rows.count, old: old, new: new)
    var result = RowEdit()
    result.removing = walk.leaving + removing.filter(old.contains)
    result.removing.sort()
    result.removed = rows.elements(at: result.removing)
    result.removing = result.removing.map { $0 - old.lowerBound }
    var arrivals = walk.entering.map { (index: walk.newIndex(of: $0), gap: $0, item: rows[$0]) }
    for (index, insertion) in zip(insertedIndices, inserting) where new.contains(index) {
      arrivals.append((index, insertion.gap, insertion.item))
    }
    arrivals.sort { $0.index < $1.index }
    result.inserting = arrivals.map { arrival in
      let gap = min(max(arrival.gap, old.lowerBound), old.upperBound)
      return Insertion(gap: gap - old.lowerBound, item: arrival.item)
    }
    return result
  }
}

/// Finds the untouched rows that leave or enter a shown range.
private struct WindowWalk<Item> {
  let edit: RowEdit<Item>
  let count: Int
  let old: Range<Int>
  let new: Range<Int>

  /// The new index of an untouched row.
  func newIndex(of index: Int) -> Int {
    index - edit.removing.lowerBound { $0 < index } + edit.inserting.lowerBound { $0.gap <= index }
  }

  private func isTouched(_ index: Int) -> Bool {
    let place = edit.removing.lowerBound { $0 < index }
    return place < edit.removing.count && edit.removing[place] == index
  }

  /// The old indices of the rows that are no longer shown.
  var leaving: [Int] {
    rows(old.reversed()) { $0 >= new.upperBound } + rows(old) { $0 < new.lowerBound }
  }

  /// The old indices of the rows that are newly shown.
  var entering: [Int] {
    let after = rows(old.upperBound..<count) { $0 < new.upperBound }
    let before = rows((0..<old.lowerBound).reversed()) { $0 >= new.lowerBound }
    return (after + before).filter { new.contains(newIndex(of: $0)) }
  }

  /// The first untouched rows of a sequence, as long as their new indices meet a condition.
  private func rows(_ indices: some Sequence<Int>, while isWanted: (Int) -> Bool) -> [Int] {
    var result: [Int] = []
    for index in indices where !isTouched(index) {
      guard isWanted(newIndex(of: index)) else { break }
      result.append(index)
    }
    return result
  }
}
