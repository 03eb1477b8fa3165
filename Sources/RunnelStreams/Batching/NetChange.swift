import RunnelBase

/// The sum of several changes of a stream, as if they had been one.
///
/// Responsibilities:
/// - It knows the rows that any of the changes touched: their places before the first change, and
///   after the last.
/// - It finds the old or new place of every other row.
///
/// It holds no rows of the stream, so its size depends only on what was touched.
struct NetChange {
  /// The state before the first change.
  private(set) var old: SectionedDiff.Side
  /// The state after the last one.
  private(set) var new: SectionedDiff.Side
  /// The ids of rows whose content changed.
  private var updated: Set<String>
  /// The ids of those that changed more than once, which may have brought their content back.
  private var updatedAgain: Set<String> = []
  /// The ids of rows that were gone for a while.
  private var left: Set<String>
  /// The ids of rows that arrived by themselves.
  private(set) var arrived: Set<String>
  /// The ids of sections whose header or footer changed.
  private(set) var reloadedSections: Set<String>
  /// The ids of sections that were gone for a while.
  private var leftSections: Set<String>

  /// Reads a change of a stream; `before` are the stream's sections before it.
  ///
  /// O(t log t) in the rows that it touches.
  ///
  /// Nil if the change is a reload, or names a place that does not exist.
  init?<Item>(_ change: StreamChange<Item>, from before: [StreamSection<Item>]) {
    let changes = change.changes
    let batch = changes.batch
    if batch.isReload { return nil }
    var oldPaths = Set(batch.deletedRows + batch.reloadedRows + batch.movedRows.map(\.from))
    for section in batch.deletedSections where before.indices.contains(section) {
      for row in before[section].items.indices {
        oldPaths.insert(ListIndexPath(section: section, row: row))
      }
    }
    let newPaths = Set(changes.contentPaths + batch.movedRows.map(\.to))
    guard let gone = NetChange.rows(at: oldPaths, in: before),
      let come = NetChange.rows(at: newPaths, in: change.sections)
    else { return nil }
    old = SectionedDiff.Side(before, touched: gone)
    new = SectionedDiff.Side(change.sections, touched: come)
    updated = Set(changes.updatedIDs)
    left = Set(changes.removedIDs)
    arrived = changes.arrivedIDs
    reloadedSections = []
    leftSections = []
    for section in batch.deletedSections where before.indices.contains(section) {
      leftSections.insert(before[section].id)
    }
    for section in batch.reloadedSections {
      guard before.indices.contains(section) else { return nil }
      reloadedSections.insert(before[section].id)
    }
  }

  /// The rows at some places, in order; nil if one does not exist.
  private static func rows<Item>(
    at paths: Set<ListIndexPath>, in sections: [StreamSection<Item>]
  ) -> [SectionedDiff.Row]? {
    var rows: [SectionedDiff.Row] = []
    rows.reserveCapacity(paths.count)
    for path in paths.sorted() {
      guard sections.indices.contains(path.section),
        sections[path.section].items.indices.contains(path.row)
      else { return nil }
      rows.append(.init(path: path, id: sections[path.section].items[path.row].id))
    }
    return rows
  }

  /// The change of a stream that has no sections before and after.
  static var nothing: NetChange { NetChange() }

  private init() {
    old = SectionedDiff.Side(sections: [], counts: [], touched: [])
    new = old
    (updated, left, arrived) = ([], [], [])
    (reloadedSections, leftSections) = ([], [])
  }

  /// The number of touched rows before or after, whichever is greater.
  ///
  /// O(1).
  var rowCount: Int { max(old.touched.count, new.touched.count) }

  /// The number of rows that were added, removed, changed or moved.
  ///
  /// O(touched rows).
  var changedRowCount: Int { Set(old.touched.map(\.id)).union(new.touched.map(\.id)).count }
}

// MARK: Adding up

extension NetChange {
  /// The sum of this change and the next one.
  ///
  /// O(t log t) in the rows that both touched. Nil if `next` does not begin with the state in which
  /// this ends.
  func followed(by next: NetChange) -> NetChange? {
    guard new.sections == next.old.sections, new.counts == next.old.counts else { return nil }
    var result = self
    let known = Set(new.touched.map(\.id))
    let back = RowMap(from: new, to: old)
    for row in next.old.touched where !known.contains(row.id) {
      guard let path = back.path(of: row.path) else { return nil }
      result.old.touched.append(.init(path: path, id: row.id))
    }
    let retouched = Set(next.old.touched.map(\.id))
    let forth = RowMap(from: next.old, to: next.new)
    result.new = next.new
    for row in new.touched where !retouched.contains(row.id) {
      guard let path = forth.path(of: row.path) else { return nil }
      result.new.touched.append(.init(path: path, id: row.id))
    }
    result.old.touched.sort { $0.path < $1.path }
    result.new.touched.sort { $0.path < $1.path }
    result.updatedAgain.formUnion(next.updatedAgain)
    result.updatedAgain.formUnion(updated.intersection(next.updated))
    result.updated.formUnion(next.updated)
    result.left.formUnion(next.left)
    result.arrived.formUnion(next.arrived)
    result.reloadedSections.formUnion(next.reloadedSections)
    result.leftSections.formUnion(next.leftSections)
    return result
  }

  /// The change set that leads from the first state to the last.
  ///
  /// O(t log t) in the rows that were touched.
  ///
  /// - Parameters:
  ///   - isSame: returns true if a row that was gone or changed meanwhile, and is at these places before
  ///     and after, has its former content.
  ///   - isSameHeading: returns true if a section that was gone for a while, and has these indices
  ///     before and after, has its former header and footer.
  /// - Returns: the changes; a reload if the changes contradict each other.
  func changes(
    isSame: (ListIndexPath, ListIndexPath) -> Bool,
    isSameHeading: (_ old: Int, _ new: Int) -> Bool
  ) -> ChangeSet {
    var changes = SectionedDiff.changes(from: old, to: new, changed: changed(isSame))
    if changes.batch.isReload { return changes }
    changes.arrivedIDs = arrived.intersection(changes.insertedIDs)
    let places = Dictionary(
      new.sections.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    changes.batch.reloadedSections = old.sections.indices.filter { index in
      let id = old.sections[index]
      guard let place = places[id] else { return false }
      if reloadedSections.contains(id) { return true }
      return leftSections.contains(id) && !isSameHeading(index, place)
    }
    return changes
  }

  /// The ids of the rows whose content differs from before.
  func changed(_ isSame: (ListIndexPath, ListIndexPath) -> Bool) -> Set<String> {
    let unsure = left.union(updatedAgain)
    if unsure.isEmpty { return updated }
    let before = Dictionary(
      old.touched.lazy.filter { unsure.contains($0.id) }.map { ($0.id, $0.path) },
      uniquingKeysWith: { first, _ in first })
    var changed = updated.subtracting(unsure)
    for row in new.touched {
      if let path = before[row.id], !isSame(path, row.path) { changed.insert(row.id) }
    }
    return changed
  }
}

// MARK: Finding rows

extension NetChange {
  /// The place of a row before the first change; nil if the row is new.
  ///
  /// O(t) in the rows that were touched.
  ///
  /// - Parameters:
  ///   - id: the id of the row.
  ///   - path: its place after the last change; nil if it is gone.
  /// - Returns: the old place.
  func oldPath(ofID id: String, at path: ListIndexPath?) -> ListIndexPath? {
    if let row = old.touched.first(where: { $0.id == id }) { return row.path }
    if new.touched.contains(where: { $0.id == id }) { return nil }
    return path.flatMap { RowMap(from: new, to: old).path(of: $0) }
  }
}

/// Maps the places of untouched rows from one side of a change to the other.
///
/// Such a row stays in its section, with as many untouched rows before it.
private struct RowMap {
  /// The touched rows of one section, by their row numbers, ascending.
  private typealias Rows = [Int]

  private let from: [Rows]
  private let to: [Rows]
  /// The index of each section on the other side; nil if it does not exist there.
  private let sections: [Int?]

  init(from: SectionedDiff.Side, to: SectionedDiff.Side) {
    self.from = RowMap.rows(of: from)
    self.to = RowMap.rows(of: to)
    let places = Dictionary(
      to.sections.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    sections = from.sections.map { places[$0] }
  }

  private static func rows(of side: SectionedDiff.Side) -> [Rows] {
    var rows = Array(repeating: Rows(), count: side.sections.count)
    for row in side.touched { rows[row.path.section].append(row.path.row) }
    return rows
  }

  /// The place of an untouched row on the other side; nil if its section does not exist there.
  ///
  /// O(log t).
  func path(of path: ListIndexPath) -> ListIndexPath? {
    guard let section = sections[path.section] else { return nil }
    let others = from[path.section]
    let ordinal = path.row - others.lowerBound { $0 < path.row }
    let touched = to[section]
    let before = touched.indices.lowerBound { touched[$0] - $0 <= ordinal }
    return ListIndexPath(section: section, row: ordinal + before)
  }
}
