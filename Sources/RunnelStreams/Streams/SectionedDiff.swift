import RunnelBase

/// The batch between two states of a sectioned list, with as few moves as possible.
///
/// Its input are the *touched* rows: those that were added or removed, or that changed in a way
/// that may have moved them. All other rows count as staying in their section and order. So the
/// work is O(t log t) in the touched rows, and does not depend on the length of the list.
///
/// Terms. An *untouched* row of a section is identified by its ordinal among the untouched rows.
/// The *gap* of a touched row is the number of untouched rows before it. A *run* is a stretch of
/// untouched rows between two gaps: its rows stay together in both states.
public struct SectionedDiff {
  /// A row and its place.
  struct Row {
    var path: ListIndexPath
    var id: String
  }

  /// A side of the difference: the state before or after it.
  struct Side {
    /// The ids of the sections, in order.
    var sections: [String]
    /// The number of rows in each section.
    var counts: [Int]
    /// The touched rows, in order of their places.
    var touched: [Row]
  }

  private let old: Side
  private let new: Side
  private let changed: Set<String>
  private var result = ChangeSet()
  /// The new index of each old section; nil if it is gone.
  private var successors: [Int?] = []
  private var insertedSections: Set<Int> = []

  /// Computes the changes between two states.
  ///
  /// - Parameters:
  ///   - old: the state before.
  ///   - new: the state after.
  ///   - changed: the ids of rows whose content changed; they must be touched on both sides.
  /// - Returns: the changes; a reload if the touched rows cannot explain the difference.
  static func changes(from old: Side, to new: Side, changed: Set<String>) -> ChangeSet {
    var diff = SectionedDiff(old: old, new: new, changed: changed)
    diff.matchSections()
    guard diff.isPlausible else { return .reload }
    diff.matchRows()
    diff.sortResult()
    return diff.result
  }

  private init(old: Side, new: Side, changed: Set<String>) {
    self.old = old
    self.new = new
    self.changed = changed
  }
}

// MARK: Sections

extension SectionedDiff {
  private mutating func matchSections() {
    let places = Dictionary(
      new.sections.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    successors = old.sections.map { places[$0] }
    result.batch.deletedSections = successors.indices.filter { successors[$0] == nil }
    insertedSections = Set(new.sections.indices).subtracting(successors.compactMap { $0 })
    result.batch.insertedSections = insertedSections.sorted()

    let kept = successors.indices.filter { successors[$0] != nil }
    let ranks = kept.compactMap { successors[$0] }
    let stays = HeaviestOrder.keeping(ranks: ranks, weights: ranks.map { _ in 1 })
    for (index, from) in kept.enumerated() where !stays[index] {
      result.batch.movedSections.append(.init(from: from, to: ranks[index]))
    }
  }

  /// True if each section has as many untouched rows before as after.
  private var isPlausible: Bool {
    var oldRest = old.counts
    for row in old.touched { oldRest[row.path.section] -= 1 }
    var newRest = new.counts
    for row in new.touched { newRest[row.path.section] -= 1 }
    for (section, successor) in successors.enumerated() {
      let rest = successor.map { newRest[$0] } ?? 0
      if oldRest[section] != rest || rest < 0 { return false }
    }
    return insertedSections.allSatisfy { newRest[$0] == 0 }
  }
}

// MARK: Rows

extension SectionedDiff {
  /// A touched row that is in the same section before and after, with its places and its gaps.
  private struct Candidate {
    var oldRow: Int
    var newRow: Int
    var oldGap: Int
    var newGap: Int
  }

  private mutating func matchRows() {
    var places: [String: Int] = [:]
    places.reserveCapacity(new.touched.count)
    for (index, row) in new.touched.enumerated() { places[row.id] = index }
    var candidates = Array(repeating: [Candidate](), count: old.sections.count)
    let (oldGaps, newGaps) = (old.gaps, new.gaps)
    var isKept = Array(repeating: false, count: new.touched.count)
    var isChanged = isKept
    for (oldIndex, row) in old.touched.enumerated() {
      guard let index = places[row.id] else {
        result.removedIDs.append(row.id)
        if successors[row.path.section] != nil { result.batch.deletedRows.append(row.path) }
        continue
      }
      let place = new.touched[index].path
      isKept[index] = true
      if changed.contains(row.id) {
        isChanged[index] = true
        result.updatedIDs.append(row.id)
        result.batch.reloadedRows.append(row.path)
      }
      if successors[row.path.section] == place.section {
        candidates[row.path.section].append(
          Candidate(
            oldRow: row.path.row, newRow: place.row, oldGap: oldGaps[oldIndex],
            newGap: newGaps[index]))
      } else {
        result.batch.movedRows.append(.init(from: row.path, to: place))
      }
    }
    for (index, row) in new.touched.enumerated() {
      let isNew = !isKept[index]
      if isNew || isChanged[index] { result.contentPaths.append(row.path) }
      guard isNew else { continue }
      result.insertedIDs.append(row.id)
      if !insertedSections.contains(row.path.section) { result.batch.insertedRows.append(row.path) }
    }
    for section in old.sections.indices where !candidates[section].isEmpty {
      settle(candidates[section], in: section)
    }
  }

  private mutating func sortResult() {
    result.batch.movedSections.sort { $0.from < $1.from }
    result.batch.movedRows.sort { $0.from < $1.from }
  }
}

// MARK: Moves within a section

extension SectionedDiff {
  /// A unit that moves as a whole: a candidate, or a run of untouched rows.
  private enum Piece {
    case candidate(Int)
    case run(Range<Int>)
  }

  /// The gaps of the touched rows of one section, in order.
  private struct Gaps {
    let section: Int
    let gaps: [Int]

    init(_ side: Side, section: Int) {
      self.section = section
      let rows = side.touched[Gaps.range(of: section, in: side.touched)]
      gaps = rows.enumerated().map { index, row in row.path.row - index }
    }

    /// The touched rows of a section.
    private static func range(of section: Int, in rows: [Row]) -> Range<Int> {
      let start = rows.lowerBound { $0.path.section < section }
      return start..<rows.lowerBound { $0.path.section <= section }
    }

    /// The place of an untouched row.
    func path(ofUntouched ordinal: Int) -> ListIndexPath {
      ListIndexPath(section: section, row: ordinal + gaps.lowerBound { $0 <= ordinal })
    }
  }

  /// Decides which rows of a section keep their order, and lists the others as moved.
  ///
  /// The candidates come in their old order.
  private mutating func settle(_ candidates: [Candidate], in section: Int) {
    guard let successor = successors[section] else { return }
    let byNewPlace = candidates.indices.sorted { candidates[$0].newRow < candidates[$1].newRow }
    if SectionedDiff.areInPlace(candidates, byNewPlace) { return }
    let (before, after) = (Gaps(old, section: section), Gaps(new, section: successor))
    let cuts = SectionedDiff.cuts(candidates, rowCount: old.counts[section] - before.gaps.count)
    let oldOrder = SectionedDiff.pieces(cuts, candidates.indices) { candidates[$0].oldGap }
    let pieces = SectionedDiff.pieces(cuts, byNewPlace) { candidates[$0].newGap }
    let stays = SectionedDiff.staying(pieces, oldOrder: oldOrder, candidateCount: candidates.count)
    for (piece, stays) in zip(pieces, stays) where !stays {
      switch piece {
      case .candidate(let index):
        result.batch.movedRows.append(
          .init(
            from: ListIndexPath(section: section, row: candidates[index].oldRow),
            to: ListIndexPath(section: successor, row: candidates[index].newRow)))
      case .run(let ordinals):
        for ordinal in ordinals {
          result.batch.movedRows.append(
            .init(from: before.path(ofUntouched: ordinal), to: after.path(ofUntouched: ordinal)))
        }
      }
    }
  }

  /// True if no candidate passes another one, or an untouched row.
  ///
  /// This is usual if only contents changed.
  private static func areInPlace(_ candidates: [Candidate], _ byNewPlace: [Int]) -> Bool {
    byNewPlace.enumerated().allSatisfy { $0 == $1 }
      && candidates.allSatisfy { $0.oldGap == $0.newGap }
  }

  /// The gaps at which the runs of untouched rows begin and end.
  private static func cuts(_ candidates: [Candidate], rowCount: Int) -> [Int] {
    var cuts = [0, rowCount]
    for candidate in candidates { cuts += [candidate.oldGap, candidate.newGap] }
    cuts.sort()
    var last: Int?
    return cuts.filter { cut in
      defer { last = cut }
      return cut != last
    }
  }

  /// Runs and candidates in order; in one gap candidates come first.
  private static func pieces(
    _ cuts: [Int], _ candidates: some Sequence<Int>, gap: (Int) -> Int
  ) -> [Piece] {
    var pieces: [Piece] = []
    var next = 0
    func passRuns(before gap: Int) {
      while next + 1 < cuts.count, cuts[next] < gap {
        pieces.append(.run(cuts[next]..<cuts[next + 1]))
        next += 1
      }
    }
    for candidate in candidates {
      passRuns(before: gap(candidate))
      pieces.append(.candidate(candidate))
    }
    passRuns(before: .max)
    return pieces
  }

  /// The pieces that keep their order, so that as few rows as possible move, and preferably touched
  /// ones.
  private static func staying(
    _ pieces: [Piece], oldOrder: [Piece], candidateCount: Int
  ) -> [Bool] {
    var (candidateRanks, runRanks) = (Array(repeating: 0, count: candidateCount), [Int]())
    for (rank, piece) in oldOrder.enumerated() {
      switch piece {
      case .candidate(let index): candidateRanks[index] = rank
      case .run: runRanks.append(rank)
      }
    }
    let unit = pieces.count + 1
    var (ranks, weights) = ([Int](), [Int]())
    var run = 0
    for piece in pieces {
      switch piece {
      case .candidate(let index):
        ranks.append(candidateRanks[index])
        weights.append(unit)
      case .run(let ordinals):
        ranks.append(runRanks[run])
        weights.append(ordinals.count * unit + 1)
        run += 1
      }
    }
    return HeaviestOrder.keeping(permutation: ranks, weights: weights)
  }
}

extension SectionedDiff.Side {
  /// The gap of each touched row: the number of untouched rows of its section before it.
  fileprivate var gaps: [Int] {
    var (section, passed) = (-1, 0)
    return touched.map { row in
      if row.path.section != section { (section, passed) = (row.path.section, 0) }
      defer { passed += 1 }
      return row.path.row - passed
    }
  }
}
