package import RunnelBase

/// A change of a list in sections, by the ids of its rows: the update, and the ids of the new rows.
///
/// It brings a list up to date that is not the streams' own: one that is read from a file, or laid
/// out from several streams.
package struct ListEdit: Hashable, Sendable {
  /// The update.
  package var update: BatchUpdate
  /// The ids of `update.insertedRows`, in that order.
  package var insertedRows: [String]
  /// The sections of `update.insertedSections`, in that order, with all their rows, also those that
  /// moved in; after a reload all sections.
  package var insertedSections: [ListSection]

  /// Makes an edit.
  package init(
    _ update: BatchUpdate, insertedRows: [String] = [], insertedSections: [ListSection] = []
  ) {
    self.update = update
    self.insertedRows = insertedRows
    self.insertedSections = insertedSections
  }

  /// Makes the edit for an update, with the new ids read from the list after it.
  ///
  /// O(new rows). Nil if the update names a place that the list does not have.
  package init?(_ update: BatchUpdate, to sections: [ListSection]) {
    let content = ListContent(sections: sections)
    let ids = update.insertedRows.compactMap { content.row(at: $0) }
    guard ids.count == update.insertedRows.count,
      update.insertedSections.allSatisfy(sections.indices.contains)
    else { return nil }
    self.init(
      update, insertedRows: ids,
      insertedSections: update.isReload
        ? sections : update.insertedSections.map { sections[$0] })
  }
}

// MARK: Applying

extension ListEdit {
  /// The sections after the edit; nil if the edit contradicts the sections before it.
  ///
  /// O(sections + t log n) in the t rows that it touches; O(n) for a section that was not made by
  /// an edit.
  package func sections(after old: [ListSection]) -> [ListSection]? {
    if update.isReload { return insertedSections }
    guard update.insertedRows.count == insertedRows.count,
      update.insertedSections.count == insertedSections.count,
      let origins = origins(among: old), let leaving = leaving(old),
      let coming = coming(old, count: origins.count)
    else { return nil }
    var result: [ListSection] = []
    result.reserveCapacity(origins.count)
    for (index, origin) in origins.enumerated() {
      switch origin {
      case .inserted(let number): result.append(insertedSections[number])
      case .kept(let place):
        var section = old[place]
        let (gone, come) = (leaving[place] ?? [], coming[index] ?? [])
        if !gone.isEmpty || !come.isEmpty {
          guard let rows = KeyRows.rows(section.rows).edited(removing: gone, placing: come) else {
            return nil
          }
          section.rows = ListRows(rows)
        }
        result.append(section)
      }
    }
    return result
  }

  /// The origin of a section of the new list: an index in the old list, or among the inserted
  /// sections.
  private enum Origin {
    case kept(Int)
    case inserted(Int)
  }

  private func origins(among old: [ListSection]) -> [Origin]? {
    var placed: [Int: Origin] = [:]
    for (number, index) in update.insertedSections.enumerated() {
      placed[index] = .inserted(number)
    }
    for move in update.movedSections { placed[move.to] = .kept(move.from) }
    let left = update.deletedSections + update.movedSections.map(\.from)
    let count = old.count - update.deletedSections.count + update.insertedSections.count
    guard left.allSatisfy(old.indices.contains), Set(left).count == left.count,
      placed.count == update.insertedSections.count + update.movedSections.count,
      placed.keys.allSatisfy({ $0 >= 0 && $0 < count })
    else { return nil }
    let gone = Set(left)
    var staying = old.indices.filter { !gone.contains($0) }[...]
    return (0..<count).compactMap { placed[$0] ?? staying.popFirst().map { Origin.kept($0) } }
  }

  /// The indices of the rows that leave each old section, ascending; nil if a row does not exist.
  private func leaving(_ old: [ListSection]) -> [Int: [Int]]? {
    var numbers: [Int: [Int]] = [:]
    for path in update.deletedRows + update.movedRows.map(\.from) {
      guard old.indices.contains(path.section), old[path.section].rows.indices.contains(path.row)
      else { return nil }
      numbers[path.section, default: []].append(path.row)
    }
    for section in numbers.keys {
      numbers[section]?.sort()
      let rows = numbers[section] ?? []
      if !zip(rows, rows.dropFirst()).allSatisfy(<) { return nil }
    }
    return numbers
  }

  /// The rows that enter each new section, by their indices there.
  private func coming(_ old: [ListSection], count: Int) -> [Int: [Rows<String>.Placed]]? {
    var placed: [Int: [Rows<String>.Placed]] = [:]
    for (path, id) in zip(update.insertedRows, insertedRows) {
      placed[path.section, default: []].append(.init(index: path.row, element: id))
    }
    for move in update.movedRows {
      guard old.indices.contains(move.from.section) else { return nil }
      let id = old[move.from.section].rows[move.from.row]
      placed[move.to.section, default: []].append(.init(index: move.to.row, element: id))
    }
    guard placed.keys.allSatisfy({ $0 >= 0 && $0 < count }) else { return nil }
    for section in placed.keys { placed[section]?.sort { $0.index < $1.index } }
    return placed
  }
}

/// Ids of rows in the same kind of tree that streams use: an edit costs as much as it touches.
struct KeyRows: ListRowSource {
  private var rows: Rows<String>

  /// The rows of a list; they are copied if they are of another kind.
  static func rows(_ rows: ListRows) -> KeyRows {
    rows.source as? KeyRows ?? KeyRows(rows: Rows(rows))
  }

  var count: Int { rows.count }
  func ids(in range: Range<Int>) -> [String] { rows.elements(in: range) }
  func isCopy(of other: any ListRowSource) -> Bool {
    (other as? KeyRows)?.rows.isCopy(of: rows) ?? false
  }

  /// The rows with some removed and others placed at new indices; nil if an index is out of range.
  func edited(removing: [Int], placing: [Rows<String>.Placed]) -> KeyRows? {
    rows.edited(removing: removing, placing: placing).map { KeyRows(rows: $0) }
  }
}

extension Rows {
  /// A row and its index after an edit.
  struct Placed {
    var index: Int
    var element: Element
  }

  /// The rows with some removed and others placed at new indices; both lists ascend.
  ///
  /// O(t log n) in the t rows. Nil if an index is out of range.
  func edited(removing: [Int], placing: [Placed]) -> Rows? {
    let staying = count - removing.count
    var edit = RowEdit<Element>()
    edit.removing = removing
    var (removed, highest) = (0, 0)
    for (number, placed) in placing.enumerated() {
      // The number of staying rows before it.
      let before = placed.index - number
      guard (highest...Swift.max(highest, staying)).contains(before), before <= staying else {
        return nil
      }
      highest = before
      while removed < removing.count, removing[removed] - removed < before { removed += 1 }
      edit.inserting.append(.init(gap: before + removed, item: placed.element))
    }
    var result = self
    result.apply(edit)
    return result
  }

  /// The rows of a list of one section after an update.
  ///
  /// O(t log n) in the t rows of the update. Nil if it does not fit the rows.
  ///
  /// - Parameters:
  ///   - update: the update.
  ///   - contents: the rows that are new or have new content, by their new indices; all rows after
  ///     a reload.
  /// - Returns: the rows after the update.
  package func following(_ update: BatchUpdate, contents: [Int: Element]) -> Rows? {
    if update.isReload { return Rows(contents.sorted { $0.key < $1.key }.map { $0.value }) }
    let removing =
      (update.deletedRows + update.reloadedRows + update.movedRows.map(\.from)).map(\.row)
    guard removing.allSatisfy(indices.contains) else { return nil }
    var placed = contents
    for move in update.movedRows where placed[move.to.row] == nil {
      placed[move.to.row] = self[move.from.row]
    }
    let placing = placed.sorted { $0.key < $1.key }.map { Placed(index: $0.key, element: $0.value) }
    return edited(removing: Set(removing).sorted(), placing: placing)
  }
}
