public import RunnelBase

extension BatchUpdate {
  /// Applies the update to a list, taking new rows from the list after it.
  ///
  /// O(n).
  ///
  /// Only the coordinates are followed, so a wrong update gives another list, or nil if a
  /// coordinate lies outside. A reload gives `new`.
  ///
  /// - Parameters:
  ///   - old: the list before.
  ///   - new: the list after, where inserted sections and rows are looked up.
  /// - Returns: the list that a view which follows the update shows.
  public func replayed(on old: [SectionIDs], to new: [SectionIDs]) -> [SectionIDs]? {
    if isReload { return new }
    guard let rows = keptRows(of: old), let origins = origins(of: new, among: old) else {
      return nil
    }
    var placed = Array(repeating: [Int: String](), count: new.count)
    for path in insertedRows {
      guard let id = new.id(at: path) else { return nil }
      placed[path.section][path.row] = id
    }
    for move in movedRows {
      guard let id = old.id(at: move.from), placed.indices.contains(move.to.section) else {
        return nil
      }
      placed[move.to.section][move.to.row] = id
    }
    var result: [SectionIDs] = []
    for (index, origin) in origins.enumerated() {
      if let origin {
        guard let ids = BatchUpdate.merged(rows[origin], placed[index]) else { return nil }
        result.append(SectionIDs(id: old[origin].id, rowIDs: ids))
      } else {
        // The rows of an inserted section come with it, except those that moved in.
        let ids = new[index].rowIDs.enumerated().map { placed[index][$0] ?? $1 }
        result.append(SectionIDs(id: new[index].id, rowIDs: ids))
      }
    }
    return result
  }

  /// The rows of each old section, without those that are deleted or moved.
  private func keptRows(of old: [SectionIDs]) -> [[String]]? {
    var rows = old.map { $0.rowIDs.map(Optional.some) }
    for path in deletedRows + movedRows.map(\.from) {
      guard old.id(at: path) != nil, rows[path.section][path.row] != nil else { return nil }
      rows[path.section][path.row] = nil
    }
    return rows.map { $0.compactMap { $0 } }
  }

  /// The index of each new section in the old list; nil for an inserted section.
  private func origins(of new: [SectionIDs], among old: [SectionIDs]) -> [Int?]? {
    var placed: [Int: Int?] = [:]
    for index in insertedSections { placed.updateValue(nil, forKey: index) }
    for move in movedSections { placed.updateValue(move.from, forKey: move.to) }
    let leaving = deletedSections + movedSections.map(\.from)
    guard leaving.allSatisfy(old.indices.contains) else { return nil }
    let gone = Set(leaving)
    var staying = old.indices.filter { !gone.contains($0) }[...]
    var result: [Int?] = []
    for index in new.indices {
      if let origin = placed[index] {
        result.append(origin)
      } else {
        guard let next = staying.popFirst() else { return nil }
        result.append(next)
      }
    }
    return staying.isEmpty ? result : nil
  }

  /// The rows that stay, in their order, between the rows whose places are given.
  private static func merged(_ staying: [String], _ placed: [Int: String]) -> [String]? {
    var rest = staying[...]
    var result: [String] = []
    for index in 0..<(staying.count + placed.count) {
      guard let key = placed[index] ?? rest.popFirst() else { return nil }
      result.append(key)
    }
    return result
  }
}

extension [SectionIDs] {
  /// The id of the row at a place; nil if there is none.
  fileprivate func id(at path: ListIndexPath) -> String? {
    guard indices.contains(path.section), self[path.section].rowIDs.indices.contains(path.row)
    else {
      return nil
    }
    return self[path.section].rowIDs[path.row]
  }
}

// MARK: Checking

extension BatchUpdate {
  /// The mistake in an update from one list to another; nil if there is none.
  ///
  /// O(n).
  package func mistake(from old: [SectionIDs], to new: [SectionIDs]) -> String? {
    if isReload {
      return withoutReload.isEmpty ? nil : "I4: a reload lists nothing else: \(self)."
    }
    if let mistake = invariantMistake(from: old, to: new) { return "\(mistake) \(self)." }
    if replayed(on: old, to: new) != new {
      return "The batch \(self) does not lead from \(old) to \(new)."
    }
    return nil
  }

  /// The mistake in the numbers of rows; nil if they agree with the update.
  ///
  /// O(sections).
  ///
  /// - Parameters:
  ///   - old: the numbers of rows of the sections before.
  ///   - new: the numbers of rows of the sections afterwards.
  /// - Returns: the mistake, in words for a person.
  package func countMistake(from old: [Int], to new: [Int]) -> String? {
    if isReload { return nil }
    let sections = old.count - deletedSections.count + insertedSections.count
    if sections != new.count { return "The batch makes \(sections) sections of \(new.count)." }
    let gone = Set(deletedSections)
    let come = Set(insertedSections)
    var count = 0
    for (index, rows) in old.enumerated() where !gone.contains(index) { count += rows }
    for (index, rows) in new.enumerated() where !come.contains(index) { count -= rows }
    count += insertedRows.count - deletedRows.count
    for move in movedRows {
      if gone.contains(move.from.section) { count += 1 }
      if come.contains(move.to.section) { count -= 1 }
    }
    return count == 0 ? nil : "The batch makes \(count) rows too many."
  }

  private var withoutReload: BatchUpdate {
    var update = self
    update.isReload = false
    return update
  }

  private func invariantMistake(from old: [SectionIDs], to new: [SectionIDs]) -> String? {
    let goneSections = Set(deletedSections)
    let newSections = Set(insertedSections)
    if deletedRows.contains(where: { goneSections.contains($0.section) })
      || insertedRows.contains(where: { newSections.contains($0.section) })
    {
      return "I1: a section stands for its rows:"
    }
    let isAscending =
      deletedSections.ascends && insertedSections.ascends && reloadedSections.ascends
      && movedSections.map(\.from).ascends && deletedRows.ascends && insertedRows.ascends
      && reloadedRows.ascends && movedRows.map(\.from).ascends
    if !isAscending { return "I2: every list ascends:" }
    for section in reloadedSections
    where goneSections.contains(section) || !old.indices.contains(section) {
      return "I2: a section that is reloaded stays:"
    }
    let deleted = Set(deletedRows)
    let moved = Set(movedRows.map(\.from))
    if !deleted.isDisjoint(with: moved) { return "I3: a row is deleted or moved, not both:" }
    for path in reloadedRows {
      let isGone = goneSections.contains(path.section) && !moved.contains(path)
      if deleted.contains(path) || isGone || old.id(at: path) == nil {
        return "I3: a row that is reloaded stays:"
      }
    }
    return nil
  }
}

extension Array where Element: Comparable {
  /// True if the elements ascend without repetition.
  fileprivate var ascends: Bool { zip(self, dropFirst()).allSatisfy(<) }
}
