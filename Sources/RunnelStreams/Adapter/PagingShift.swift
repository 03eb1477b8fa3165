import RunnelBase

/// Translates what happened to a stream into what happened to the list that has a paging row besides.
struct PagingShift {
  /// A state of the list.
  struct Side {
    /// The sections without the paging row.
    var sections: [KeyedSection]
    /// The paging row, if there is one.
    var row: PagingRow?

    /// A place of the stream in the list.
    func shifted(_ path: IndexPath) -> IndexPath {
      guard let row, row.path.section == path.section, path.row >= row.path.row else { return path }
      return IndexPath(section: path.section, row: path.row + 1)
    }

    /// The sections with the paging row.
    var list: [KeyedSection] {
      guard let row else { return sections }
      if row.isAlone { return sections + [KeyedSection(id: row.key, keys: [row.key])] }
      var list = sections
      list[row.path.section].keys.insert(row.key, at: row.path.row)
      return list
    }
  }

  let old: Side
  let new: Side

  /// The batch in the coordinates of the list, and with what happened to the paging row.
  func translated(_ batch: BatchUpdate) -> BatchUpdate {
    if batch.isReload { return batch }
    var result = batch
    result.deletedRows = batch.deletedRows.map(old.shifted)
    result.reloadedRows = batch.reloadedRows.map(old.shifted)
    result.insertedRows = batch.insertedRows.map(new.shifted)
    result.movedRows = batch.movedRows.map {
      .init(from: old.shifted($0.from), to: new.shifted($0.to))
    }
    switch (old.row, new.row) {
    case (nil, nil): return result
    case (let before?, nil): remove(before, in: &result)
    case (nil, let after?): insert(after, in: &result)
    case (let before?, let after?): follow(before, after, in: &result)
    }
    result.deletedRows.sort()
    result.insertedRows.sort()
    result.reloadedRows.sort()
    result.movedRows.sort { $0.from < $1.from }
    return result
  }

  private func remove(_ row: PagingRow, in batch: inout BatchUpdate) {
    if row.isAlone {
      batch.deletedSections.append(row.path.section)
    } else if !batch.deletedSections.contains(row.path.section) {
      batch.deletedRows.append(row.path)
    }
  }

  private func insert(_ row: PagingRow, in batch: inout BatchUpdate) {
    if row.isAlone {
      batch.insertedSections.append(row.path.section)
    } else if !batch.insertedSections.contains(row.path.section) {
      batch.insertedRows.append(row.path)
    }
  }

  private func follow(_ before: PagingRow, _ after: PagingRow, in batch: inout BatchUpdate) {
    if before.state != after.state { batch.reloadedRows.append(before.path) }
    if before.isAlone != after.isAlone {
      if before.isAlone { batch.deletedSections.append(before.path.section) }
      if after.isAlone { batch.insertedSections.append(after.path.section) }
    } else if before.isAlone
      || old.sections[before.path.section].id == new.sections[after.path.section].id
    {
      // It stands at the same end of the same section: nothing passes it.
      return
    }
    batch.movedRows.append(.init(from: before.path, to: after.path))
  }
}
