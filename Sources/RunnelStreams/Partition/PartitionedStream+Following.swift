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
        changes = take(SourceEdit(change, oldCounts: sourceCounts), change.changes)
      }
      sourceCounts = change.sections.map(\.items.count)
      if changes.isEmpty && before == loadState { return nil }
      if !changes.batch.isReload, !change.changes.arrivedKeys.isEmpty {
        changes.arrivedKeys = change.changes.arrivedKeys.intersection(changes.insertedKeys)
      }
      return self.change(changes)
    }
  }

  private func take(_ edit: SourceEdit<Item>, _ changes: ChangeSet) -> ChangeSet {
    let removed = edit.removing.map { order.rows[$0] }
    let inserted = edit.inserting.map { RowEdit.Insertion(gap: $0.gap, item: entry($0.item)) }
    let replaced = edit.replacing.map { number, item in
      let (old, new) = (order.rows[number], entry(item))
      new.place.label = old.place.label
      return (old: old, new: new)
    }
    order.insert(inserted)
    let shift = RowEdit<Entry>(inserting: inserted)
    func shifted(_ number: Int) -> Int {
      number + shift.inserting.lowerBound { $0.gap <= number }
    }
    order.update(
      removing: edit.removing.map(shifted),
      replacing: zip(edit.replacing, replaced).map { (shifted($0.number), $1.new) })
    let pairs =
      removed.map { Replacement(old: $0) } + inserted.map { Replacement(new: $0.item) }
      + replaced.map { Replacement(old: $0.old, new: $0.new) }
    return replace(pairs, changed: Set(changes.updatedKeys))
  }

  typealias Replacement = ShownRows<Part.Place, Item>.Replacement

  /// Makes the entry of a row, in the section that the rule names.
  private func entry(_ item: Item) -> Entry {
    let home = rule(item, now)
    let entry = Entry(.init(section: home.map { part(for: $0.section) }), item)
    if let until = home?.until { wait(until, for: entry) }
    return entry
  }

  private func part(for key: Section) -> Part {
    if let part = parts[key] { return part }
    let part = Part(key: key, id: sectionID(key))
    _ = part.rows.limit(look.limit(of: key)) as RowEdit<Item>
    parts[key] = part
    return part
  }

  private func wait(_ until: Int64, for entry: Entry) {
    due.insert((until, entry), at: due.lowerBound { $0.until <= until })
    if due.count > 2 * order.rows.count + 16 {
      due = Rows(due.filter { entries[$0.entry.item.key] === $0.entry })
    }
  }

  /// Asks the rule about rows again; those that it puts elsewhere move.
  func assignAgain(_ rows: [Entry]) -> ChangeSet {
    var moved: [(old: Entry, new: Entry)] = []
    for old in rows {
      let new = entry(old.item)
      new.place.label = old.place.label
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
    for case let old? in replacements.map(\.old) { entries[old.item.key] = nil }
    for case let new? in replacements.map(\.new) { entries[new.item.key] = new }
    var byPart: [ObjectIdentifier: (part: Part, rows: [Replacement])] = [:]
    func add(_ replacement: Replacement, to part: Part?) {
      guard let part else { return }
      byPart[ObjectIdentifier(part), default: (part, [])].rows.append(replacement)
    }
    for replacement in replacements {
      let (old, new) = (replacement.old?.place.section, replacement.new?.place.section)
      if old === new {
        add(replacement, to: old)
      } else {
        if let row = replacement.old { add(.init(old: row), to: old) }
        if let row = replacement.new { add(.init(new: row), to: new) }
      }
    }
    var edits = PartEdits(shown)
    for (part, rows) in byPart.values {
      edits.note(part, before: part.rows.items, part.rows.replace(rows))
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
  private func distribute(_ source: [StreamSection<Item>]) -> ChangeSet {
    let before = sections
    (entries, parts, due) = ([:], [:], Rows())
    var rows: [Section: [Entry]] = [:]
    var all: [Entry] = []
    for section in source {
      for item in section.items {
        let entry = entry(item)
        all.append(entry)
        entries[item.key] = entry
        if let part = entry.place.section { rows[part.key, default: []].append(entry) }
      }
    }
    order = SourceOrder(all)
    for (key, rows) in rows { part(for: key).rows.fill(rows) }
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
