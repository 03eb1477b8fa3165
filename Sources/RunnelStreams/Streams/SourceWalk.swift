import RunnelBase

/// One pass over the rows of a partition's source, before and after a change.
///
/// It finds at which rows of the partition's sections the touched rows of the source are. Rows are
/// counted over all sections of the source. A row that was reloaded or moved is one that goes and
/// one that comes.
struct SourceWalk<Item: KeyedItem> {
  /// The rows that go, by their old number, ascending.
  let removed: [Int]
  /// The rows that come, in their new order.
  let inserted: [Item]
  /// What happens to each old section of the partition.
  private(set) var edits: [RowEdit<Item>] = []
  /// What happens to each new section that is not an old one.
  private(set) var newEdits: [RowEdit<Item>] = []
  /// The new numbers of the rows that come, ascending.
  private let insertedNumbers: [Int]

  /// Reads a change; nil if the source's sections changed, or everything is to be read anew.
  init?(_ change: StreamChange<Item>, oldCounts: [Int]) {
    let batch = change.changes.batch
    let newCounts = change.sections.map(\.items.count)
    if batch.isReload || !batch.deletedSections.isEmpty || !batch.insertedSections.isEmpty
      || !batch.movedSections.isEmpty || newCounts.count != oldCounts.count
    {
      return nil
    }
    let (old, new) = (Numbering(oldCounts), Numbering(newCounts))
    var going = batch.deletedRows.map { old.number(of: $0) }
    going += batch.movedRows.map { old.number(of: $0.from) }
    var coming = batch.insertedRows.map { new.number(of: $0) }
    coming += batch.movedRows.map { new.number(of: $0.to) }
    going.sort()
    coming.sort()
    // A row that stayed has as many others before it that stayed as it had.
    let goingSet = Set(going)
    let stays = coming.enumerated().map { index, number in number - index }
    for path in batch.reloadedRows {
      let number = old.number(of: path)
      if goingSet.contains(number) { continue }
      let ordinal = number - going.lowerBound { $0 < number }
      coming.append(ordinal + stays.lowerBound { $0 <= ordinal })
    }
    removed = goingSet.union(batch.reloadedRows.map { old.number(of: $0) }).sorted()
    coming.sort()
    insertedNumbers = coming
    inserted = coming.map { number in
      let path = new.path(of: number)
      return change.sections[path.section].items[path.row]
    }
  }

  /// Walks; fills the edits and brings the assignment up to date.
  ///
  /// - Parameters:
  ///   - assignment: the old section of each row; afterwards the new one.
  ///   - newSections: the new section of each row that comes.
  ///   - table: which new section an old one is.
  mutating func run<Section>(
    _ assignment: inout [Int32], newSections: [Int], _ table: SectionTable<Section>
  ) {
    edits = Array(repeating: RowEdit(), count: table.successors.count)
    newEdits = Array(repeating: RowEdit(), count: table.keys.count)
    // A section without a successor has only rows that go, so that its number is never copied.
    let successors = table.successors.map { Int32($0 ?? 0) }
    var result: [Int32] = []
    result.reserveCapacity(assignment.count - removed.count + inserted.count)
    var passed = Array(repeating: 0, count: edits.count)
    var going = removed[...]
    var coming = insertedNumbers.indices
    var next = 0
    while next < assignment.count || !coming.isEmpty {
      if let index = coming.first, insertedNumbers[index] == result.count {
        let section = newSections[index]
        if let origin = table.origins[section] {
          edits[origin].inserting.append(.init(gap: passed[origin], item: inserted[index]))
        } else {
          newEdits[section].inserting.append(.init(gap: 0, item: inserted[index]))
        }
        result.append(Int32(section))
        coming.removeFirst()
        continue
      }
      precondition(next < assignment.count, "The source told all that happened to its rows.")
      let section = Int(assignment[next])
      if going.first == next {
        edits[section].removing.append(passed[section])
        going.removeFirst()
      } else {
        result.append(successors[section])
      }
      passed[section] += 1
      next += 1
    }
    assignment = result
  }
}

/// Rows of a sectioned list, counted from its start.
private struct Numbering {
  private let starts: [Int]

  init(_ counts: [Int]) {
    var start = 0
    starts = counts.map { count in
      defer { start += count }
      return start
    }
  }

  func number(of path: IndexPath) -> Int { starts[path.section] + path.row }

  /// The place of a row; of sections that start at one number, the last holds it.
  func path(of number: Int) -> IndexPath {
    let section = starts.lowerBound { $0 <= number } - 1
    return IndexPath(section: section, row: number - starts[section])
  }
}
