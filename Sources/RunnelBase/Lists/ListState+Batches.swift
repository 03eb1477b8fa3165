extension ListState {
  /// Follows the list through a batch.
  ///
  /// - The cursor keeps its item, also into another section. If the item is gone, the cursor goes
  ///   to the next item that stayed in the section, else the previous one, else the header, else
  ///   the nearest item.
  /// - The screen keeps still: a visible item that the batch did not move keeps its line on the
  ///   screen; the cursor's item if possible, else the nearest one below, else above. Only then the
  ///   list is scrolled, as little as needed to show the cursor.
  /// - A list that was shorter than the screen stays at its top.
  /// - If `isFollowing`, a cursor on the last item goes to the new last item.
  /// - After a reload the cursor keeps its item, if it is still there, and its line on the screen.
  ///
  /// - Parameters:
  ///   - update: the changes; `old` and `new` must be the contents before and after it.
  ///   - old: the content of the state until now.
  ///   - new: the content of the state from now on.
  ///   - height: the height of the screen.
  ///   - newRows: the inserted rows that are counted if they end up off-screen.
  ///   - isLettingGo: whether the list only unloads the deleted rows, which still exist: those that
  ///     were counted as new stay counted.
  public mutating func apply(
    _ update: BatchUpdate, from old: ListContent, to new: ListContent, height: Int,
    newRows: Set<String> = [], isLettingGo: Bool = false
  ) {
    let before = begin(old, height: height)
    if isLettingGo { letGo(of: update, in: old) }
    let layout = ListLayout(new, folded: folded)
    if update.isReload {
      let (above, below) = (newAbove.count, newBelow.count)
      reload(from: before, to: layout, newRows: newRows)
      if isLettingGo {
        unloadedNewAbove += max(0, above - newAbove.count)
        unloadedNewBelow += max(0, below - newBelow.count)
      }
    } else {
      follow(update, from: before, to: layout, newRows: newRows)
    }
  }

  // MARK: - A batch

  private mutating func follow(
    _ update: BatchUpdate, from before: Frame, to layout: ListLayout, newRows: Set<String>
  ) {
    let passage = ListPassage(update, from: before.layout, to: layout)
    let successor = before.cursor.flatMap { passage.successor(of: $0) } ?? layout.initialPlace
    let anchoredTop = anchoredTop(before, passage, layout)
    var after = Frame(
      layout: layout, height: before.height, top: 0,
      cursor: isAtEnd(before) ? layout.lastPlace : successor)
    if before.layout.lineCount >= before.height {
      // Without an anchor, the item that takes the cursor's place takes its line too.
      after.top = anchoredTop ?? successor.map { layout.line(of: $0) - cursorLine } ?? 0
    }

    let displaced = withdrawDisplacedNewRows(update, before.layout, layout)
    settle(after, from: update.movedSections.isEmpty ? anchoredTop : nil)
    after = frame(in: layout.content, height: before.height)
    for (id, place) in displaced { classifyNewRow(id, at: place, after) }
    countNewRows(newRows, of: update, after)
  }

  /// True if the cursor must go to the end of the new list.
  private func isAtEnd(_ before: Frame) -> Bool {
    isFollowing && before.cursor == before.layout.lastPlace
  }

  /// The top with which an item in sight that did not move keeps its line; nil if there is none.
  private func anchoredTop(
    _ before: Frame, _ passage: ListPassage, _ layout: ListLayout
  ) -> Int? {
    guard let cursorLine = before.cursorLine else { return nil }
    let visible = before.visibleLines
    let below = cursorLine..<max(cursorLine + 1, visible.upperBound)
    let above = min(visible.lowerBound, cursorLine)..<cursorLine
    for line in [Array(below), above.reversed()].joined() {
      if let place = before.layout.place(atLine: line),
        let stayed = passage.placeIfUnmoved(place)
      {
        return layout.line(of: stayed) - (line - before.top)
      }
    }
    return nil
  }

  /// Stops counting the new rows that the batch removes or moves, and returns the new places of the
  /// latter.
  private mutating func withdrawDisplacedNewRows(
    _ update: BatchUpdate, _ old: ListLayout, _ new: ListLayout
  ) -> [(id: String, place: ListPlace)] {
    guard !(newAbove.isEmpty && newBelow.isEmpty) else { return [] }
    var displaced: [(id: String, place: ListPlace)] = []
    for move in update.movedRows {
      guard let id = old.content.row(at: move.from), withdraw(id) else { continue }
      displaced.append((id, ListPlace(move.to)))
    }
    for path in update.deletedRows {
      if let id = old.content.row(at: path) { withdraw(id) }
    }
    for section in update.deletedSections where old.content.sections.indices.contains(section) {
      forgetNewRows(of: old.content.sections[section])
    }
    return displaced
  }

  /// Keeps counting the new rows that an update unloads from the list.
  private mutating func letGo(of update: BatchUpdate, in old: ListContent) {
    for path in update.deletedRows {
      if let id = old.row(at: path) { letGo(of: id) }
    }
    let moved = Set(update.movedRows.map(\.from))
    for section in update.deletedSections where old.sections.indices.contains(section) {
      for (row, id) in old.sections[section].rows.enumerated()
      where !moved.contains(ListIndexPath(section: section, row: row)) {
        letGo(of: id)
      }
    }
  }

  /// Counts those of the batch's new rows that are off-screen.
  ///
  /// O(rows that the batch inserts).
  private mutating func countNewRows(
    _ newRows: Set<String>, of update: BatchUpdate, _ frame: Frame
  ) {
    guard !newRows.isEmpty else { return }
    let content = frame.layout.content
    for path in update.insertedRows {
      guard let id = content.row(at: path), newRows.contains(id) else { continue }
      classifyNewRow(id, at: ListPlace(path), frame)
    }
    for section in update.insertedSections where content.sections.indices.contains(section) {
      for (row, id) in content.sections[section].rows.enumerated() where newRows.contains(id) {
        classifyNewRow(id, at: ListPlace(section: section, row: row), frame)
      }
    }
  }

  // MARK: - A reload

  /// Takes a list that was read anew: only the ids of the old rows can be compared.
  ///
  /// O(rows).
  private mutating func reload(from before: Frame, to layout: ListLayout, newRows: Set<String>) {
    let kept = before.cursor.flatMap { survivor(of: $0, in: before.layout, layout) }
    let cursor = isAtEnd(before) ? layout.lastPlace : kept ?? layout.initialPlace
    let top = kept.map { layout.line(of: $0) - cursorLine } ?? 0
    newBelow.formUnion(newRows)
    settle(
      Frame(layout: layout, height: before.height, top: top, cursor: cursor), from: nil)
  }

  /// The item itself, else the next row of its section that is still in it, else the previous one,
  /// else the header.
  private func survivor(of place: ListPlace, in old: ListLayout, _ new: ListLayout) -> ListPlace? {
    if let kept = new.place(of: old.item(at: place), hint: place) { return kept }
    let section = old.content.sections[place.section]
    guard let header = new.place(of: .header(section.id)), let row = place.row else { return nil }
    guard !new.isFolded(header.section) else { return header }
    for id in [Array(section.rows[(row + 1)...]), section.rows[..<row].reversed()].joined() {
      if let kept = new.place(of: .row(id)), kept.section == header.section { return kept }
    }
    return header
  }
}
