public import RunnelBase

/// A section of a list, by the keys of its rows.
public struct KeyedSection: Hashable, Sendable {
  /// What the section is known by.
  public var id: String
  /// The keys of the rows, in order.
  public var keys: [String]

  /// Makes a section.
  public init(id: String, keys: [String]) {
    self.id = id
    self.keys = keys
  }
}

/// The difference between two states of a sectioned list, as a batch update.
///
/// What both have at the same end of a section is passed over, so that the cost beyond that pass is
/// O(d log d) in the d rows between. As few rows as possible are moved within a section.
///
/// - Precondition: no section id and no row key is in a list twice.
public enum SectionedDiff {
  /// The update that leads from `old` to `new`.
  ///
  /// - Parameters:
  ///   - old: the list before.
  ///   - new: the list after.
  ///   - changed: the keys of rows whose content changed; those that are not in both are ignored.
  /// - Returns: the update; it follows the rules of `BatchUpdate`.
  public static func update(
    from old: [KeyedSection], to new: [KeyedSection], changed: Set<String> = []
  ) -> BatchUpdate {
    var update = BatchUpdate()
    let sections = SectionMatch(old, new)
    update.deletedSections = sections.deleted
    update.insertedSections = sections.inserted
    update.movedSections = sections.moved
    let rows = RowMatch(old, new, sections)
    update.deletedRows = rows.deleted
    update.insertedRows = rows.inserted
    update.movedRows = rows.moved
    if !changed.isEmpty { update.reloadedRows = reloads(old, changed, rows, sections) }
    return update
  }

  private static func reloads(
    _ old: [KeyedSection], _ changed: Set<String>, _ rows: RowMatch, _ sections: SectionMatch
  ) -> [IndexPath] {
    let deleted = Set(rows.deleted)
    let moved = Set(rows.moved.map(\.from))
    let gone = Set(sections.deleted)
    var reloads: [IndexPath] = []
    for (section, rows) in old.enumerated() {
      for (row, key) in rows.keys.enumerated() where changed.contains(key) {
        let path = IndexPath(section: section, row: row)
        if deleted.contains(path) || (gone.contains(section) && !moved.contains(path)) { continue }
        reloads.append(path)
      }
    }
    return reloads
  }
}

/// Which sections of two lists are the same.
private struct SectionMatch {
  private(set) var deleted: [Int] = []
  private(set) var inserted: [Int] = []
  private(set) var moved: [BatchUpdate.Move<Int>] = []
  /// The sections that both lists have, by their old index.
  private(set) var kept: [(old: Int, new: Int)] = []

  init(_ old: [KeyedSection], _ new: [KeyedSection]) {
    let newIndex = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1.id, $0) })
    let oldIDs = Set(old.map(\.id))
    for (index, section) in old.enumerated() {
      if let place = newIndex[section.id] {
        kept.append((index, place))
      } else {
        deleted.append(index)
      }
    }
    inserted = new.indices.filter { !oldIDs.contains(new[$0].id) }
    let staying = LongestIncreasing.indices(of: kept.map(\.new))
    for (index, pair) in kept.enumerated() where !staying.contains(index) {
      moved.append(BatchUpdate.Move(from: pair.old, to: pair.new))
    }
  }
}

/// Which rows of two lists are the same, and which of them moved.
private struct RowMatch {
  private(set) var deleted: [IndexPath] = []
  private(set) var inserted: [IndexPath] = []
  private(set) var moved: [BatchUpdate.Move<IndexPath>] = []

  init(_ old: [KeyedSection], _ new: [KeyedSection], _ sections: SectionMatch) {
    var before: [(key: String, place: IndexPath)] = []
    var after: [(key: String, place: IndexPath)] = []
    for section in sections.deleted { RowMatch.append(old[section].keys, section, to: &before) }
    for section in sections.inserted { RowMatch.append(new[section].keys, section, to: &after) }
    for (from, to) in sections.kept {
      let (oldKeys, newKeys) = (old[from].keys, new[to].keys)
      let (start, end) = RowMatch.commonEnds(oldKeys, newKeys)
      RowMatch.append(oldKeys, from, start..<(oldKeys.count - end), to: &before)
      RowMatch.append(newKeys, to, start..<(newKeys.count - end), to: &after)
    }
    match(before, after, sections)
  }

  private mutating func match(
    _ before: [(key: String, place: IndexPath)], _ after: [(key: String, place: IndexPath)],
    _ sections: SectionMatch
  ) {
    let newPlaces = Dictionary(uniqueKeysWithValues: after.map { ($0.key, $0.place) })
    let oldKeys = Set(before.map(\.key))
    let deletedSections = Set(sections.deleted)
    let insertedSections = Set(sections.inserted)
    let newSection = Dictionary(uniqueKeysWithValues: sections.kept.map { ($0.old, $0.new) })
    var inPlace: [Int: [BatchUpdate.Move<IndexPath>]] = [:]
    for (key, place) in before {
      guard let target = newPlaces[key] else {
        if !deletedSections.contains(place.section) { deleted.append(place) }
        continue
      }
      let move = BatchUpdate.Move(from: place, to: target)
      if newSection[place.section] == target.section {
        inPlace[target.section, default: []].append(move)
      } else {
        moved.append(move)
      }
    }
    for (key, place) in after where !oldKeys.contains(key) {
      if !insertedSections.contains(place.section) { inserted.append(place) }
    }
    for moves in inPlace.values {
      // They stand in their old order; as many as can keep it stay.
      let staying = LongestIncreasing.indices(of: moves.map(\.to.row))
      for (index, move) in moves.enumerated() where !staying.contains(index) { moved.append(move) }
    }
    deleted.sort()
    inserted.sort()
    moved.sort { $0.from < $1.from }
  }

  private static func append(
    _ keys: [String], _ section: Int, _ range: Range<Int>? = nil,
    to list: inout [(key: String, place: IndexPath)]
  ) {
    for row in range ?? keys.indices {
      list.append((keys[row], IndexPath(section: section, row: row)))
    }
  }

  /// How many rows both have in common at the beginning, and after those at the end.
  private static func commonEnds(_ old: [String], _ new: [String]) -> (start: Int, end: Int) {
    let count = min(old.count, new.count)
    var start = 0
    while start < count, old[start] == new[start] { start += 1 }
    var end = 0
    while end < count - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    return (start, end)
  }
}

/// The longest increasing subsequence of distinct numbers.
enum LongestIncreasing {
  /// The indices of its members. O(n log n).
  static func indices(of values: [Int]) -> Set<Int> {
    // tails[k] is the index of the least value that ends an increasing sequence of length k + 1.
    var tails: [Int] = []
    var previous = [Int?](repeating: nil, count: values.count)
    for (index, value) in values.enumerated() {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: Set<Int> = []
    var next = tails.last
    while let index = next {
      result.insert(index)
      next = previous[index]
    }
    return result
  }
}
