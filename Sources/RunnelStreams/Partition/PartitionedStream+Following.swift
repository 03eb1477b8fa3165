import RunnelBase

// MARK: Following

extension PartitionedStream {
  func follow(_ change: StreamChange<Item>) {
    hub.perform { [self] in
      let before = followedState
      followedState = change.loadState
      var changes = ChangeSet()
      if change.changes.batch.isReload {
        changes = distribute(change.sections)
      } else if !change.changes.isEmpty {
        changes = take(change)
      }
      if changes.isEmpty && before == followedState { return nil }
      if !changes.batch.isReload, !change.changes.arrivedIDs.isEmpty {
        changes.arrivedIDs = change.changes.arrivedIDs.intersection(changes.insertedIDs)
      }
      return self.change(changes)
    }
  }

  @specialized(where Item == Record, Section == Int)
  @specialized(where Item == Record, Section == DaySection)
  @specialized(where Item == Record, Section == FieldSection)
  @specialized(where Item == Record, Section == RuleSection)
  private func take(_ change: StreamChange<Item>) -> ChangeSet {
    let pairs = rows.follow(change) { row($0) }
    forgetGoneWaits()
    return replace(pairs, changed: Set(change.changes.updatedIDs))
  }

  typealias Replacement = RowList.Replacement

  /// Makes a row of an item, in the section that the rule names.
  private func row(_ item: Item) -> Row {
    let home = rule(item, now)
    let row = Row(item, in: home.map { part(for: $0.section) })
    if let until = home?.until { wait(until, for: row) }
    return row
  }

  private func part(for key: Section) -> Part {
    if let part = parts[key] { return part }
    let part = Part(key: key, id: sectionID(key))
    _ = part.rows.limit(look.limit(of: key)) as RowEdit<RowObject>
    parts[key] = part
    return part
  }

  private func wait(_ until: Int64, for row: RowObject) {
    due.insert((until, row), at: due.lowerBound { $0.until <= until })
  }

  /// Forgets waiting rows that are gone, once they are the majority.
  private func forgetGoneWaits() {
    if due.count <= 2 * rows.order.rows.count + 16 { return }
    due = Rows(due.filter { rows.table[$0.row.id] === $0.row })
  }

  /// Asks the rule again about some rows; rows whose section differs move.
  func assignAgain(_ rows: [RowObject]) -> ChangeSet {
    let renewed = rows.map { old in (old: old, new: row(Row.row(old).item) as RowObject) }
    defer { forgetGoneWaits() }
    return replace(self.rows.renew(renewed), changed: [])
  }
}

// MARK: Changing

extension PartitionedStream {
  /// Removes rows from their sections, and adds others to theirs.
  ///
  /// O(t log n) in the t rows.
  private func replace(_ replacements: [Replacement], changed: Set<String>) -> ChangeSet {
    var byPart: [(place: PartitionPlace, rows: [Replacement])] = []
    func add(_ replacement: Replacement, to part: PartitionPlace?) {
      guard let part else { return }
      if let slot = part.slot { return byPart[slot].rows.append(replacement) }
      part.slot = byPart.count
      byPart.append((part, [replacement]))
    }
    for replacement in replacements {
      let old = replacement.old.flatMap { Row.row($0).place }
      let new = replacement.new.flatMap { Row.row($0).place }
      if old === new {
        add(replacement, to: old)
      } else {
        if let row = replacement.old { add(.init(old: row), to: old) }
        if let row = replacement.new { add(.init(new: row), to: new) }
      }
    }
    var edits = beginEdits()
    for (place, rows) in byPart {
      let part = Part.of(place)
      part.slot = nil
      edits.note(part, part.rows.replace(rows))
    }
    return finish(edits, changed: changed)
  }

  /// Releases the shown sections, so that their rows can be changed in place.
  func beginEdits() -> PartEdits<Item, Section> {
    defer { sections = [] }
    return PartEdits(sections)
  }

  /// Updates the list of sections, and returns the changes.
  func finish(_ edits: PartEdits<Item, Section>, changed: Set<String>) -> ChangeSet {
    let oldRows = edits.oldRows
    showSections()
    var changes = SectionedDiff.changes(
      from: .init(sections: edits.headings.map(\.id), counts: edits.counts, touched: oldRows),
      to: .init(
        sections: sections.map(\.id), counts: sections.map(\.items.count), touched: edits.newRows),
      changed: changed)
    if !changes.batch.isReload {
      changes.batch.reloadedSections = changedHeadings(since: edits.headings)
    }
    return changes
  }

  /// Distributes all rows again, and computes the changes.
  ///
  /// O(n).
  @specialized(where Item == Record, Section == Int)
  @specialized(where Item == Record, Section == DaySection)
  @specialized(where Item == Record, Section == FieldSection)
  @specialized(where Item == Record, Section == RuleSection)
  private func distribute(_ source: [StreamSection<Item>]) -> ChangeSet {
    let before = sections
    (parts, due) = ([:], Rows())
    rows.reset(source) { row($0) }
    var byPart: [(place: PartitionPlace, rows: [RowObject])] = []
    for row in rows.order.rows {
      guard let place = Row.row(row).place else { continue }
      if let slot = place.slot {
        byPart[slot].rows.append(row)
      } else {
        place.slot = byPart.count
        byPart.append((place, [row]))
      }
    }
    for (place, rows) in byPart {
      place.slot = nil
      Part.of(place).rows.fill(rows)
    }
    showSections()
    if before.isEmpty { return sections.isEmpty ? ChangeSet() : .reload }
    var changes = SectionedDiff.changes(from: before, to: sections)
    if !changes.batch.isReload {
      changes.batch.reloadedSections = changedHeadings(since: before)
    }
    return changes
  }

  private func changedHeadings(since old: [StreamSection<Item>]) -> [Int] {
    let new = Dictionary(sections.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return old.indices.filter { index in
      new[old[index].id].map { !$0.hasSameHeading(as: old[index]) } ?? false
    }
  }

  /// Lists the shown sections and their rows; drops sections without rows.
  private func showSections() {
    for key in fixed { _ = part(for: key) }
    for part in shown { part.index = nil }
    parts = parts.filter { $1.totalCount > 0 || fixed.contains($0) }
    shown = parts.values.filter { $0.totalCount > 0 || !look.hidesEmptySections }
      .sorted { isDescending ? $1.key < $0.key : $0.key < $1.key }
    for (index, part) in shown.enumerated() { part.index = index }
    sections = shown.map { part in
      var section = StreamSection(id: part.id, items: part.rows.items)
      section.hiddenCount = part.totalCount - part.rows.items.count
      section.isCollapsed = look.collapsed.contains(part.key)
      section.title = look.title?(part.key)
      section.footer = look.footer?(part.key, part.totalCount, section.hiddenCount)
      return section
    }
  }
}
