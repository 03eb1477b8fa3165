/// The mapping of items through a batch: where each item of the old list is in the new one.
///
/// Rows that a batch does not name keep their order, so the new index of such a row is its rank
/// among them, shifted by what arrived before it: two binary searches in the batch, whatever the
/// number of rows. A batch that contradicts the contents gives wrong or no answers, never a trap.
struct ListPassage {
  private let old: ListLayout
  private let new: ListLayout
  /// The new place of each old section, or nil if it is gone.
  private let newSections: [Int?]
  private let movedSections: Set<Int>
  /// Rows that left their place (old paths) and rows that came to theirs (new paths), in order.
  private let departed: [ListIndexPath]
  private let arrived: [ListIndexPath]
  private let moves: [BatchUpdate.Move<ListIndexPath>]

  /// O(sections + n log n) in the rows that the batch names.
  init(_ update: BatchUpdate, from old: ListLayout, to new: ListLayout) {
    self.old = old
    self.new = new
    var places: [String: Int] = [:]
    for (place, section) in new.content.sections.enumerated() where places[section.id] == nil {
      places[section.id] = place
    }
    newSections = old.content.sections.map { places[$0.id] }
    movedSections = Set(update.movedSections.map(\.from))
    departed = (update.deletedRows + update.movedRows.map(\.from)).sorted()
    arrived = (update.insertedRows + update.movedRows.map(\.to)).sorted()
    moves = update.movedRows
  }

  // MARK: - One item

  /// The new place of the item, or nil if it is gone or folded away.
  func place(after place: ListPlace) -> ListPlace? {
    if let stayed = placeIfUnmoved(place) { return stayed }
    guard let section = newSections[place.section] else { return destination(of: place) }
    guard place.row != nil else { return ListPlace(section: section) }
    if let moved = destination(of: place) { return moved }
    // The row is in a moved section, and stayed in it.
    return rowThatStayed(place, in: section)
  }

  /// The new place of the item, if neither it nor its section changed order; else nil.
  func placeIfUnmoved(_ place: ListPlace) -> ListPlace? {
    guard !movedSections.contains(place.section), let section = newSections[place.section]
    else { return nil }
    return place.row == nil ? ListPlace(section: section) : rowThatStayed(place, in: section)
  }

  private func rowThatStayed(_ place: ListPlace, in section: Int) -> ListPlace? {
    guard let row = place.row, !new.isFolded(section) else { return nil }
    let gone = Self.slice(departed, of: place.section)
    let before = gone.lowerBound { $0.row < row } - gone.startIndex
    if before < gone.count, gone[gone.startIndex + before].row == row { return nil }
    let moved = ListPlace(
      section: section, row: Self.index(ofRank: row - before, amid: arrived, section))
    return new.shows(moved) && new.item(at: moved) == old.item(at: place) ? moved : nil
  }

  private func destination(of place: ListPlace) -> ListPlace? {
    guard let row = place.row else { return nil }
    let path = ListIndexPath(section: place.section, row: row)
    let index = moves.lowerBound { $0.from < path }
    guard index < moves.count, moves[index].from == path else { return nil }
    let moved = ListPlace(moves[index].to)
    return new.shows(moved) && new.item(at: moved) == old.item(at: place) ? moved : nil
  }

  // MARK: - When it is gone

  /// Returns the new place of a cursor on an item: the item itself, else the nearest remaining
  /// item.
  ///
  /// For a removed row: the next row after it in the same section that stayed, else the previous
  /// one, else a row of the section that only changed its place in it, else the header. If the
  /// section is gone too: the header of the next remaining section, else the end of the previous
  /// one. A row that went into a folded section counts as removed: the eye stays where it was.
  /// O(log n) in the batch, or O(batch) if no row stayed; O(sections) if the section is gone.
  func successor(of place: ListPlace) -> ListPlace? {
    if let place = self.place(after: place) { return place }
    guard let section = newSections[place.section] else { return neighbour(of: place.section) }
    guard let row = place.row, !new.isFolded(section) else { return ListPlace(section: section) }
    let gone = Self.slice(departed, of: place.section)
    let rank = row - (gone.lowerBound { $0.row < row } - gone.startIndex)
    let stayedCount = old.content.sections[place.section].rows.count - gone.count
    if stayedCount > 0 {
      let next = ListPlace(
        section: section,
        row: Self.index(ofRank: min(rank, stayedCount - 1), amid: arrived, section))
      if new.shows(next) { return next }
    }
    return shuffled(near: row, from: place.section, to: section) ?? ListPlace(section: section)
  }

  /// A row that changed its place within the section: the next one in the old order, else the
  /// previous one.
  private func shuffled(near row: Int, from section: Int, to newSection: Int) -> ListPlace? {
    let inside = moves.filter { $0.from.section == section && $0.to.section == newSection }
    let move = inside.first { $0.from.row > row } ?? inside.last { $0.from.row < row }
    return move.map { ListPlace($0.to) }.flatMap { new.shows($0) ? $0 : nil }
  }

  private func neighbour(of section: Int) -> ListPlace? {
    for next in newSections[(section + 1)...] {
      if let next { return ListPlace(section: next) }
    }
    for case .some(let previous) in newSections[..<section].reversed() {
      let last = ListPlace(section: previous, row: new.content.sections[previous].rows.count - 1)
      return new.shows(last) ? last : ListPlace(section: previous)
    }
    return new.initialPlace
  }

  // MARK: - Ranks

  /// The index of the row with `rank` unmoved rows before it, among the rows that arrived.
  private static func index(ofRank rank: Int, amid arrived: [ListIndexPath], _ section: Int) -> Int
  {
    let came = slice(arrived, of: section)
    let first = came.startIndex
    return rank + came.indices.lowerBound { came[$0].row - ($0 - first) <= rank } - first
  }

  /// The paths of one section, out of paths in order.
  private static func slice(_ paths: [ListIndexPath], of section: Int) -> ArraySlice<ListIndexPath>
  {
    let first = paths.lowerBound { $0.section < section }
    let end = paths.lowerBound { $0.section <= section }
    return paths[first..<end]
  }
}
