import RunnelBase

extension BatchUpdate {
  /// Applies the update to a list, taking what is new from the list after it.
  ///
  /// It follows the coordinates alone, so that an update that is wrong gives another list, or nil if
  /// a coordinate lies outside. A reload gives `new`. O(n).
  ///
  /// - Parameters:
  ///   - old: the list before.
  ///   - new: the list after, where inserted sections and rows are looked up.
  /// - Returns: the list that a view which follows the update shows.
  package func replayed(on old: [KeyedSection], to new: [KeyedSection]) -> [KeyedSection]? {
    if isReload { return new }
    guard let rows = keptRows(of: old), let sections = placedSections(of: old, new) else {
      return nil
    }
    var result: [KeyedSection] = []
    for (index, origin) in sections.enumerated() {
      var pinned: [Int: String] = [:]
      for path in insertedRows where path.section == index {
        guard let key = BatchUpdate.key(at: path, in: new) else { return nil }
        pinned[path.row] = key
      }
      for move in movedRows where move.to.section == index {
        guard let key = BatchUpdate.key(at: move.from, in: old) else { return nil }
        pinned[move.to.row] = key
      }
      if origin == nil {
        // Rows of an inserted section are new, unless they moved in.
        for (row, key) in new[index].keys.enumerated() where pinned[row] == nil { pinned[row] = key }
      }
      let staying = origin.map { rows[$0] } ?? []
      guard let keys = BatchUpdate.merged(staying, pinned) else { return nil }
      result.append(KeyedSection(id: new[index].id, keys: keys))
    }
    return result
  }

  /// The rows of each old section that are neither deleted nor moved.
  private func keptRows(of old: [KeyedSection]) -> [[String]]? {
    let gone = Set(deletedRows).union(movedRows.map(\.from))
    guard gone.allSatisfy({ BatchUpdate.key(at: $0, in: old) != nil }),
      reloadedRows.allSatisfy({ BatchUpdate.key(at: $0, in: old) != nil })
    else { return nil }
    return old.enumerated().map { section, rows in
      rows.keys.enumerated().compactMap { row, key in
        gone.contains(IndexPath(section: section, row: row)) ? nil : key
      }
    }
  }

  /// For each new section the old one that it is; nil for an inserted one.
  private func placedSections(of old: [KeyedSection], _ new: [KeyedSection]) -> [Int?]? {
    var pinned: [Int: Int?] = [:]
    for index in insertedSections { pinned[index] = .some(nil) }
    for move in movedSections { pinned[move.to] = move.from }
    let gone = Set(deletedSections).union(movedSections.map(\.from))
    var staying = old.indices.filter { !gone.contains($0) }[...]
    var result: [Int?] = []
    for index in new.indices {
      if let origin = pinned[index] {
        result.append(origin)
      } else {
        guard let next = staying.popFirst() else { return nil }
        result.append(next)
      }
    }
    return staying.isEmpty ? result : nil
  }

  /// The rows that stay, in their order, around those whose place is given.
  private static func merged(_ staying: [String], _ pinned: [Int: String]) -> [String]? {
    var rest = staying[...]
    var result: [String] = []
    for index in 0..<(staying.count + pinned.count) {
      guard let key = pinned[index] ?? rest.popFirst() else { return nil }
      result.append(key)
    }
    return result
  }

  private static func key(at path: IndexPath, in list: [KeyedSection]) -> String? {
    guard list.indices.contains(path.section),
      list[path.section].keys.indices.contains(path.row)
    else { return nil }
    return list[path.section].keys[path.row]
  }
}
