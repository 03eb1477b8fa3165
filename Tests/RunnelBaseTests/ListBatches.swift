@testable import RunnelBase

/// Random numbers that a seed repeats (SplitMix64).
struct ListGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Makes lists and the batches between them, for tests.
enum ListBatches {
  /// A list written as sections of rows: `["a": ["1", "2"], "b": []]` in order.
  static func content(
    _ sections: KeyValuePairs<String, [String]>, emptyText: String? = "nothing"
  ) -> ListContent {
    ListContent(
      sections: sections.map {
        ListSection(id: $0.key, rows: $0.value, emptyText: emptyText)
      })
  }

  /// Rows named by a prefix and a number.
  static func rows(_ prefix: String, _ numbers: Range<Int>) -> [String] {
    numbers.map { "\(prefix)\($0)" }
  }

  /// The batch from one list to another, by the invariants of `BatchUpdate`.
  ///
  /// Quadratic.
  static func update(from old: ListContent, to new: ListContent) -> BatchUpdate {
    var update = BatchUpdate()
    let oldIDs = old.sections.map(\.id)
    let newIDs = new.sections.map(\.id)
    let stayed = longestCommonOrder(oldIDs, newIDs)
    for (index, id) in oldIDs.enumerated() {
      guard let place = newIDs.firstIndex(of: id) else {
        update.deletedSections.append(index)
        continue
      }
      if !stayed.contains(id) { update.movedSections.append(.init(from: index, to: place)) }
    }
    update.insertedSections = newIDs.indices.filter { !oldIDs.contains(newIDs[$0]) }
    for (section, content) in old.sections.enumerated() {
      let place = new.index(ofSection: content.id)
      let after = place.map { Array(new.sections[$0].rows) } ?? []
      let kept = longestCommonOrder(Array(content.rows), after)
      for (row, id) in content.rows.enumerated() where !kept.contains(id) {
        let from = ListIndexPath(section: section, row: row)
        if let to = new.indexPath(ofRow: id) {
          update.movedRows.append(.init(from: from, to: to))
        } else if place != nil {
          update.deletedRows.append(from)
        }
      }
    }
    for (section, content) in new.sections.enumerated() where oldIDs.contains(content.id) {
      for (row, id) in content.rows.enumerated() where old.indexPath(ofRow: id) == nil {
        update.insertedRows.append(ListIndexPath(section: section, row: row))
      }
    }
    return update
  }

  /// The ids that are new in a list.
  static func newRows(from old: ListContent, to new: ListContent) -> Set<String> {
    Set(new.sections.flatMap(\.rows)).subtracting(old.sections.flatMap(\.rows))
  }

  /// The most ids that have the same order in both lists.
  private static func longestCommonOrder(_ old: [String], _ new: [String]) -> Set<String> {
    var best = Array(
      repeating: Array(repeating: [String](), count: new.count + 1), count: old.count + 1)
    for i in old.indices {
      for j in new.indices {
        if old[i] == new[j] {
          best[i + 1][j + 1] = best[i][j] + [old[i]]
        } else {
          let (left, up) = (best[i + 1][j], best[i][j + 1])
          best[i + 1][j + 1] = left.count >= up.count ? left : up
        }
      }
    }
    return Set(best[old.count][new.count])
  }
}

/// A list that changes at random.
struct RandomList {
  private(set) var content = ListContent()
  private var nextID = 0

  mutating func name(_ prefix: String) -> String {
    nextID += 1
    return "\(prefix)\(nextID)"
  }

  /// Makes up to three changes and returns the content before them.
  mutating func change(using generator: inout ListGenerator) -> ListContent {
    let old = content
    var sections = content.sections
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      changeOnce(&sections, using: &generator)
    }
    content = ListContent(sections: sections, divider: divider(of: sections, using: &generator))
    return old
  }

  /// A place for the divider, now and then one that is none.
  private func divider(
    of sections: [ListSection], using generator: inout ListGenerator
  ) -> ListIndexPath? {
    guard Bool.random(using: &generator) else { return nil }
    let section = Int.random(in: 0...sections.count, using: &generator)
    return ListIndexPath(section: section, row: Int.random(in: 0...8, using: &generator))
  }

  private mutating func changeOnce(
    _ sections: inout [ListSection], using generator: inout ListGenerator
  ) {
    let choice = Int.random(in: 0..<20, using: &generator)
    guard !sections.isEmpty, choice != 0 else {
      let count = Int.random(in: 0...3, using: &generator)
      let section = ListSection(
        id: name("s"), rows: (0..<count).map { _ in name("r") },
        emptyText: Bool.random(using: &generator) ? "empty" : nil)
      let place = Int.random(in: 0...sections.count, using: &generator)
      if sections.count < 6 { sections.insert(section, at: place) }
      return
    }
    let section = Int.random(in: sections.indices, using: &generator)
    let rows = sections[section].rows.count
    switch choice {
    case 1:
      sections.remove(at: section)
    case 2:
      let moved = sections.remove(at: section)
      sections.insert(moved, at: Int.random(in: 0...sections.count, using: &generator))
    case 3..<10 where rows > 0:
      sections[section].rows.remove(at: Int.random(in: 0..<rows, using: &generator))
    case 10..<13 where rows > 0:
      let row = sections[section].rows.remove(at: Int.random(in: 0..<rows, using: &generator))
      let target = Int.random(in: sections.indices, using: &generator)
      let place = Int.random(in: 0...sections[target].rows.count, using: &generator)
      sections[target].rows.insert(row, at: place)
    default:
      let place = Int.random(in: 0...rows, using: &generator)
      if rows < 12 { sections[section].rows.insert(name("r"), at: place) }
    }
  }
}

extension ListRows {
  /// Puts a row in; the rows are an array from then on.
  mutating func insert(_ id: String, at index: Int) {
    var ids = Array(self)
    ids.insert(id, at: index)
    self = ListRows(ids)
  }

  /// Takes a row out and returns it.
  @discardableResult
  mutating func remove(at index: Int) -> String {
    var ids = Array(self)
    defer { self = ListRows(ids) }
    return ids.remove(at: index)
  }
}
