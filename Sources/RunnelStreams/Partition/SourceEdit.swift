import RunnelBase

/// A change of the rows of a partition's source, with rows numbered over all its sections.
struct SourceEdit<Item: StreamItem> {
  /// The rows that are removed or move, by their old number, ascending.
  private(set) var removing: [Int] = []
  /// The rows that are added or move.
  ///
  /// Each stands directly before the row at its gap, after the inserted rows that come before it in
  /// this list.
  private(set) var inserting: [RowEdit<Item>.Insertion] = []
  /// The rows that stay with new content, by their old number, ascending.
  private(set) var replacing: [(number: Int, item: Item)] = []

  /// Reads a change, which must not be a reload.
  ///
  /// O(t log t) in the rows that were touched or are in sections that were.
  init(_ change: StreamChange<Item>, oldCounts: [Int]) {
    let batch = change.changes.batch
    let (old, new) = (Numbering(oldCounts), Numbering(change.sections.map(\.items.count)))
    removing = SourceEdit.going(batch, old)
    let coming = SourceEdit.coming(batch, new)
    // The number of staying rows before a new row: its number less the number of new rows before
    // it.
    let ordinals = coming.enumerated().map { index, number in number - index }
    var gone = 0
    for (item, ordinal) in zip(new.items(at: coming, of: change.sections), ordinals) {
      while gone < removing.count, removing[gone] - gone <= ordinal { gone += 1 }
      inserting.append(.init(gap: ordinal + gone, item: item))
    }
    var (staying, places): ([Int], [Int]) = ([], [])
    for number in SourceEdit.unique(batch.reloadedRows.map { old.number(of: $0) }) {
      let goneBefore = removing.lowerBound { $0 < number }
      if goneBefore < removing.count, removing[goneBefore] == number { continue }
      let ordinal = number - goneBefore
      staying.append(number)
      places.append(ordinal + ordinals.lowerBound { $0 <= ordinal })
    }
    let items = new.items(at: places, of: change.sections)
    replacing = zip(staying, items).map { (number: $0, item: $1) }
  }

  private static func going(_ batch: BatchUpdate, _ old: Numbering) -> [Int] {
    var numbers = batch.deletedRows.map { old.number(of: $0) }
    numbers += batch.movedRows.map { old.number(of: $0.from) }
    for section in batch.deletedSections + batch.movedSections.map(\.from) {
      numbers += old.numbers(of: section)
    }
    return unique(numbers)
  }

  private static func coming(_ batch: BatchUpdate, _ new: Numbering) -> [Int] {
    var numbers = batch.insertedRows.map { new.number(of: $0) }
    numbers += batch.movedRows.map { new.number(of: $0.to) }
    for section in batch.insertedSections + batch.movedSections.map(\.to) {
      numbers += new.numbers(of: section)
    }
    return unique(numbers)
  }

  private static func unique(_ numbers: [Int]) -> [Int] {
    var result: [Int] = []
    for number in numbers.sorted() where result.last != number { result.append(number) }
    return result
  }
}

/// Rows of a sectioned list, counted from its start.
private struct Numbering {
  /// The number of the first row of each section, and the number after the last row.
  private let starts: [Int]

  init(_ counts: [Int]) {
    var start = 0
    starts =
      [0]
      + counts.map { count in
        start += count
        return start
      }
  }

  func number(of path: ListIndexPath) -> Int { starts[path.section] + path.row }

  func numbers(of section: Int) -> Range<Int> { starts[section]..<starts[section + 1] }

  /// The rows with these numbers, which ascend.
  func items<Item>(at numbers: [Int], of sections: [StreamSection<Item>]) -> [Item] {
    var result: [Item] = []
    var next = 0
    for (index, section) in sections.enumerated() {
      let start = next
      while next < numbers.count, numbers[next] < starts[index + 1] { next += 1 }
      if start == next { continue }
      result += section.items.elements(at: numbers[start..<next].map { $0 - starts[index] })
    }
    return result
  }
}
