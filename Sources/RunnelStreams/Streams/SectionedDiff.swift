import RunnelBase

/// The batch between two states of a sectioned list, with as few moves as possible.
///
/// It is given the rows that were *touched*: those that came, went, or changed in a way that may
/// have moved them. All others are taken to have stayed in their section and in their order, so that
/// the work is O(t log t) in the touched rows and does not depend on the length of the list.
///
/// Terms. An *untouched* row of a section is known by its ordinal among those; the *gap* of a touched
/// row is the number of untouched ones before it. A *run* is a stretch of untouched rows between two
/// gaps: its rows stay together in both states.
public struct SectionedDiff {
  /// A row at its place.
  struct Row {
    var path: IndexPath
    var key: String
  }

  /// One of the two states.
  struct Side {
    /// The ids of the sections, in order.
    var sections: [String]
    /// How many rows each has.
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

  /// Finds what happened between two states.
  ///
  /// - Parameters:
  ///   - old: the state before.
  ///   - new: the state after.
  ///   - changed: the keys of rows whose content changed, touched on both sides.
  /// - Returns: the changes; a reload if the touched rows cannot be all that happened.
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

  /// True if the rows that are not touched are as many before as after, section by section.
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
  /// A row that is in one section before and after, and where.
  private struct Candidate {
    var oldRow: Int
    var newRow: Int
  }

  private mutating func matchRows() {
    var places: [String: Int] = [:]
    places.reserveCapacity(new.touched.count)
    for (index, row) in new.touched.enumerated() { places[row.key] = index }
    var candidates: [Int: [Candidate]] = [:]
    var isKept = Array(repeating: false, count: new.touched.count)
    var isChanged = isKept
    for row in old.touched {
      guard let index = places[row.key] else {
        result.removedKeys.append(row.key)
        if successors[row.path.section] != nil { result.batch.deletedRows.append(row.path) }
        continue
      }
      let place = new.touched[index].path
      isKept[index] = true
      if changed.contains(row.key) {
        isChanged[index] = true
        result.updatedKeys.append(row.key)
        result.batch.reloadedRows.append(row.path)
      }
      if successors[row.path.section] == place.section {
        candidates[row.path.section, default: []]
          .append(Candidate(oldRow: row.path.row, newRow: place.row))
      } else {
        result.batch.movedRows.append(.init(from: row.path, to: place))
      }
    }
    for (index, row) in new.touched.enumerated() {
      let isNew = !isKept[index]
      if isNew || isChanged[index] { result.contentPaths.append(row.path) }
      guard isNew else { continue }
      result.insertedKeys.append(row.key)
      if !insertedSections.contains(row.path.section) { result.batch.insertedRows.append(row.path) }
    }
    for section in old.sections.indices {
      if let candidates = candidates[section] { settle(candidates, in: section) }
    }
  }

  private mutating func sortResult() {
    result.batch.movedSections.sort { $0.from < $1.from }
    result.batch.movedRows.sort { $0.from < $1.from }
  }
}

// MARK: Moves within a section

extension SectionedDiff {
  /// A place among the rows of a section: the gap, in it candidates before the run that follows.
  private struct Place: Comparable {
    var gap: Int
    var isRun: Bool
    var row: Int

    static func < (left: Place, right: Place) -> Bool {
      if left.gap != right.gap { return left.gap < right.gap }
      return left.isRun == right.isRun ? left.row < right.row : right.isRun
    }
  }

  /// What moves as a whole: a candidate, or a run of untouched rows.
  private struct Piece {
    var before: Place
    var after: Place
    /// How many rows a run has; nil for a candidate.
    var runCount: Int?
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

    /// How many untouched rows stand before a touched one.
    func gap(before row: Int) -> Int {
      gaps[gaps.indices.lowerBound { gaps[$0] + $0 < row }]
    }

    /// The place of an untouched row.
    func path(ofUntouched ordinal: Int) -> IndexPath {
      IndexPath(section: section, row: ordinal + gaps.lowerBound { $0 <= ordinal })
    }
  }

  /// Decides which rows of a section keep their order, and lists the others as moved.
  private mutating func settle(_ candidates: [Candidate], in section: Int) {
    guard let successor = successors[section] else { return }
    let (before, after) = (Gaps(old, section: section), Gaps(new, section: successor))
    let untouched = old.counts[section] - before.gaps.count
    let pieces = pieces(candidates, before, after, untouched: untouched)
    let order = pieces.indices.sorted { pieces[$0].before < pieces[$1].before }
    var ranks = Array(repeating: 0, count: pieces.count)
    for (rank, index) in order.enumerated() { ranks[index] = rank }
    // As few rows as possible move; among equals, rather touched ones than others.
    let unit = pieces.count + 1
    let weights = pieces.map { piece in piece.runCount.map { $0 * unit + 1 } ?? unit }
    let stays = HeaviestOrder.keeping(ranks: ranks, weights: weights)
    for (index, piece) in pieces.enumerated() where !stays[index] {
      guard let count = piece.runCount else {
        result.batch.movedRows.append(
          .init(
            from: IndexPath(section: section, row: piece.before.row),
            to: IndexPath(section: successor, row: piece.after.row)))
        continue
      }
      for ordinal in piece.before.gap..<(piece.before.gap + count) {
        result.batch.movedRows.append(
          .init(from: before.path(ofUntouched: ordinal), to: after.path(ofUntouched: ordinal)))
      }
    }
  }

  /// The candidates and the runs between them, in their new order.
  private func pieces(
    _ candidates: [Candidate], _ before: Gaps, _ after: Gaps, untouched: Int
  ) -> [Piece] {
    var pieces = candidates.map { candidate in
      Piece(
        before: Place(
          gap: before.gap(before: candidate.oldRow), isRun: false, row: candidate.oldRow),
        after: Place(
          gap: after.gap(before: candidate.newRow), isRun: false, row: candidate.newRow),
        runCount: nil)
    }
    let cuts = Set(pieces.flatMap { [$0.before.gap, $0.after.gap] } + [0, untouched]).sorted()
    for (start, end) in zip(cuts, cuts.dropFirst()) {
      let place = Place(gap: start, isRun: true, row: 0)
      pieces.append(Piece(before: place, after: place, runCount: end - start))
    }
    return pieces.sorted { $0.after < $1.after }
  }
}
