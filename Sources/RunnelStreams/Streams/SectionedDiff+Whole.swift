public import RunnelBase

extension SectionedDiff {
  /// The batch that leads from one list to another.
  ///
  /// O(n) to compare the lists, O(d log d) in the d rows between the equal rows at the ends of a
  /// section. As few rows as possible move.
  ///
  /// - Parameters:
  ///   - old: the list before; its ids are unique.
  ///   - new: the list after; its ids are unique.
  ///   - changed: the ids of rows whose content changed; those that are not in both lists are
  ///     ignored.
  /// - Returns: the batch, which follows the invariants of `BatchUpdate`.
  public static func update(
    from old: [SectionIDs], to new: [SectionIDs], changed: Set<String> = []
  ) -> BatchUpdate {
    func plain(_ section: SectionIDs, _ changed: Set<String>) -> StreamSection<PlainRow> {
      let rows = section.rowIDs.map { PlainRow(id: $0, isChanged: changed.contains($0)) }
      return StreamSection(id: section.id, items: rows)
    }
    return changes(from: old.map { plain($0, []) }, to: new.map { plain($0, changed) }).batch
  }

  /// A row of which only the id is known, and whether it has changed.
  private struct PlainRow: StreamItem {
    var id: String
    var isChanged: Bool
  }

  /// The changes between two lists without further knowledge.
  ///
  /// O(n).
  ///
  /// Rows at the ends of a section that are equal on both sides count as untouched.
  static func changes<Item>(
    from old: [StreamSection<Item>], to new: [StreamSection<Item>]
  ) -> ChangeSet {
    let newPlaces = Dictionary(
      new.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    var oldRanges = old.map { 0..<$0.items.count }
    var newRanges = new.map { 0..<$0.items.count }
    for (section, content) in old.enumerated() {
      guard let place = newPlaces[content.id] else { continue }
      (oldRanges[section], newRanges[place]) = trimmed(content.items, new[place].items)
    }
    let contents = Dictionary(
      zip(old, oldRanges).flatMap { $0.items[$1].map { ($0.id, $0) } },
      uniquingKeysWith: { first, _ in first })
    var changed = Set<String>()
    for (section, range) in zip(new, newRanges) {
      for item in section.items[range] {
        if let before = contents[item.id], before != item { changed.insert(item.id) }
      }
    }
    return changes(from: side(old, oldRanges), to: side(new, newRanges), changed: changed)
  }

  /// Two sections without the equal rows at their ends.
  private static func trimmed<Item: StreamItem>(
    _ old: Rows<Item>, _ new: Rows<Item>
  ) -> (Range<Int>, Range<Int>) {
    func areEqual(_ left: Item, _ right: Item) -> Bool { left.id == right.id && left == right }
    let shorter = min(old.count, new.count)
    var head = 0
    while head < shorter, areEqual(old[head], new[head]) { head += 1 }
    var tail = 0
    while tail < shorter - head, areEqual(old[old.count - 1 - tail], new[new.count - 1 - tail]) {
      tail += 1
    }
    return (head..<(old.count - tail), head..<(new.count - tail))
  }

  private static func side<Item>(
    _ sections: [StreamSection<Item>], _ ranges: [Range<Int>]
  ) -> Side {
    var touched: [Row] = []
    for (index, range) in ranges.enumerated() {
      for row in range {
        let path = ListIndexPath(section: index, row: row)
        touched.append(Row(path: path, id: sections[index].items[row].id))
      }
    }
    return Side(sections, touched: touched)
  }
}

extension SectionedDiff.Side {
  /// Makes a side from a stream's sections and the touched rows.
  init<Item>(_ sections: [StreamSection<Item>], touched: [SectionedDiff.Row]) {
    self.init(
      sections: sections.map(\.id), counts: sections.map(\.items.count), touched: touched)
  }
}
