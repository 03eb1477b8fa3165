import RunnelBase

// MARK: Following

extension PartitionedStream {
  func follow(_ change: StreamChange<Item>) {
    hub.perform { [self] in
      let before = loadState
      loadState = change.loadState
      var changes = ChangeSet()
      if change.changes.batch.isReload {
        changes = distribute(change.sections)
      } else if !change.changes.isEmpty {
        changes = take(change)
      }
      sourceCounts = change.sections.map(\.items.count)
      if changes.isEmpty && before == loadState { return nil }
      if !changes.batch.isReload, !change.changes.arrivedKeys.isEmpty {
        changes.arrivedKeys = change.changes.arrivedKeys.intersection(changes.insertedKeys)
      }
      return self.change(changes)
    }
  }

  @specialized(where Item == Record, Section == Int)
  @specialized(where Item == Record, Section == DaySection)
  @specialized(where Item == Record, Section == FieldSection)
  private func take(_ change: StreamChange<Item>) -> ChangeSet {
    let edit = SourceEdit(change, oldCounts: sourceCounts)
    let removed = edit.removing.map { order.rows[$0] }
    let inserted = edit.inserting.map {
      RowEdit<RowObject>.Insertion(gap: $0.gap, item: row($0.item))
    }
    let replaced = edit.replacing.map { number, item in
      let (old, new) = (order.rows[number], row(item))
      new.label = old.label
      return Replacement(old: old, new: new)
    }
    order.insert(inserted)
    let shift = RowEdit<RowObject>(inserting: inserted)
    func shifted(_ number: Int) -> Int {
      number + shift.inserting.lowerBound { $0.gap <= number }
    }
    order.update(
      removing: edit.removing.map(shifted),
      replacing: zip(edit.replacing, replaced).compactMap { place, pair in
        pair.new.map { (shifted(place.number), $0) }
      })
    let pairs =
      removed.map { Replacement(old: $0) } + inserted.map { Replacement(new: $0.item) }
      + replaced
    return replace(pairs, changed: Set(change.changes.updatedKeys))
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
    if due.count > 2 * order.rows.count + 16 {
      due = Rows(due.filter { entries[$0.row.key] === $0.row })
    }
  }

  /// Asks the rule about rows again; those that it puts elsewhere move.
  func assignAgain(_ rows: [RowObject]) -> ChangeSet {
    var moved: [(old: RowObject, new: RowObject)] = []
    for old in rows {
      let new = row(Row.row(old).item)
      new.label = old.label
      moved.append((old, new))
    }
    let places = moved.map { (order.index(of: $0.old), $0.new) }.sorted { $0.0 < $1.0 }
    order.update(removing: [], replacing: places)
    return replace(moved.map { Replacement(old: $0.old, new: $0.new) }, changed: [])
  }
}

// MARK: Changing

extension PartitionedStream {
  /// Takes rows out of their sections, and puts others into theirs.
  ///
  /// O(t log n) in the t rows.
  private func replace(_ replacements: [Replacement], changed: Set<String>) -> ChangeSet {
    for case let old? in replacements.map(\.old) { entries[old.key] = nil }
    for case let new? in replacements.map(\.new) { entries[new.key] = new }
    var byPart: [ObjectIdentifier: (place: PartitionPlace, rows: [Replacement])] = [:]
    func add(_ replacement: Replacement, to part: PartitionPlace?) {
      guard let part else { return }
      byPart[ObjectIdentifier(part), default: (part, [])].rows.append(replacement)
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
    var edits = PartEdits<Item, Section>(shown)
    for (place, rows) in byPart.values {
      let part = Part.of(place)
      edits.note(part, part.rows.replace(rows))
    }
    return finish(edits, changed: changed)
  }

  /// Brings the list of sections up to date, and tells what happened.
  func finish(_ edits: PartEdits<Item, Section>, changed: Set<String>) -> ChangeSet {
    let (oldSections, oldRows) = (sections, edits.oldRows)
    showSections()
    var changes = SectionedDiff.changes(
      from: .init(sections: oldSections.map(\.id), counts: edits.counts, touched: oldRows),
      to: .init(
        sections: sections.map(\.id), counts: sections.map(\.items.count), touched: edits.newRows),
      changed: changed)
    if !changes.batch.isReload {
      changes.batch.reloadedSections = changedHeadings(since: oldSections)
    }
    return changes
  }

  /// Distributes all rows, and finds out what became different.
  ///
  /// O(n).
  @specialized(where Item == Record, Section == Int)
  @specialized(where Item == Record, Section == DaySection)
  @specialized(where Item == Record, Section == FieldSection)
  private func distribute(_ source: [StreamSection<Item>]) -> ChangeSet {
    let before = sections
    (entries, parts, due) = ([:], [:], Rows())
    var rows: [ObjectIdentifier: (place: PartitionPlace, rows: [RowObject])] = [:]
    var all: [RowObject] = []
    for section in source {
      for item in section.items {
        let row = row(item)
        all.append(row)
        entries[row.key] = row
        guard let place = row.place else { continue }
        rows[ObjectIdentifier(place), default: (place, [])].rows.append(row)
      }
    }
    order = SourceOrder(all)
    for (place, rows) in rows.values { Part.of(place).rows.fill(rows) }
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

  /// Lists the sections that are shown, and what they show; forgets those without rows.
  private func showSections() {
    for key in fixed { _ = part(for: key) }
    for part in shown { part.index = nil }
    parts = parts.filter { $1.totalCount > 0 || fixed.contains($0) }
    shown = parts.values.filter { $0.totalCount > 0 || !look.hidesEmptySections }
      .sorted { $0.key < $1.key }
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
