import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The headers of the sections: their titles and numbers of rows.

extension ListScreen {
  /// The values that the detail of a header is made from.
  package struct SectionCount: Hashable {
    /// The number of records in the section.
    package var stored: Int
    /// Whether the section may have rows that are not loaded.
    var isOpen: Bool
    var isFiltered: Bool

    package var text: String { "\(stored)" + (isFiltered ? " match" : isOpen ? " loaded" : "") }
    /// The number where there is little room: with a plus if there may be more.
    var shortText: String { "\(stored)" + (isOpen ? "+" : "") }
  }

  /// Updates the headings of sections whose number of rows has changed; on another day, updates all
  /// headings.
  ///
  /// O(sections).
  mutating func updateHeadings(now: Int64, local: LocalTime) {
    let day = local.civil(now).dayNumber
    let isSameDay = headings.day == day
    headings.day = day
    let (known, written) = (headings.counts, headings.all)
    (headings.counts, headings.all) = ([:], [:])
    let transient = transientCounts(local)
    for section in content.sections {
      let count = self.count(of: section, transient: transient[section.id] ?? 0)
      headings.counts[section.id] = count
      if isSameDay, known[section.id] == count, let heading = written[section.id] {
        headings.all[section.id] = heading
      } else {
        headings.all[section.id] = ListHeading(
          title: title(of: section.id, now: now, local: local),
          detail: StyledLine(count.text, .muted))
      }
    }
  }

  private func count(of section: ListSection, transient: Int) -> SectionCount {
    SectionCount(
      stored: section.rows.storedCount - transient, isOpen: isOpen(section),
      isFiltered: filtering.filter != nil)
  }

  /// Returns whether the section may have rows that are not loaded.
  private func isOpen(_ section: ListSection) -> Bool {
    if reach.paging == .exhausted, !reach.isAway { return false }
    // If sections follow the order of the rows, only the sections at the ends can lack rows.
    guard SectionID(section.id).isPieceOfOrder(of: definition) else { return true }
    return (section.rows.hasFetchMoreRow && reach.paging != .exhausted)
      || section.rows.ends.contains(ListScreen.newerRow)
  }

  /// Returns the number of rows being composed or sent, by section.
  private func transientCounts(_ local: LocalTime) -> [String: Int] {
    var counts: [String: Int] = [:]
    for record in passing.rows.compactMap({ records[$0] }) {
      let section = SectionID(
        of: record.row.node ?? .empty, key: record.row.key, in: definition, local: local)
      counts[section.text, default: 0] += 1
    }
    return counts
  }

  private func title(of id: String, now: Int64, local: LocalTime) -> StyledLine {
    // A fetch-more row with no row beside it has a section of its own.
    if ListScreen.isPlaceholder(id) { return StyledLine(shownName, .sectionHeader) }
    if definition.sections.isEmpty { return StyledLine(shownName, .sectionHeader) }
    return StyledLine(
      SectionID(id).title(in: definition, now: now, local: local), .sectionHeader)
  }

  /// The name of the view, with the row for which it was opened in the place of its parameter.
  private var shownName: String {
    guard let drillDown, definition.name.contains("$") else { return definition.name }
    return drillDown.keys.reduce(definition.name) { name, parameter in
      let isLast = drillDown.record.lastKey == parameter.value
      let title = isLast ? drillDown.title : WritableKey.name(of: parameter.value.text)
      return name.replacing("$\(parameter.key)", with: title)
    }
  }

  /// Returns the time after `now` when the text of a visible row or a header changes by itself, or
  /// nil if none does.
  func nextChange(height: Int, now: Int64, local: LocalTime) -> Int64? {
    var times = [news.changed.nextEnd].compactMap(\.self).filter { $0 > now }
    let ages = definition.ageFields
    if !ages.isEmpty {
      for line in list.lines(in: content, height: height) {
        guard case .row(let id) = line.kind, let record = records[id] else { continue }
        if let change = record.nextAgeChange(in: ages, now: now, local) { times.append(change) }
      }
    }
    if definition.sections.contains(where: { if case .day = $0 { true } else { false } }) {
      times.append(local.midnight(after: now))
    }
    return times.min()
  }

  /// Updates the titles of the headings if the day has changed since they were made.
  mutating func refreshTitles(now: Int64, local: LocalTime) {
    let day = local.civil(now).dayNumber
    guard let titled = headings.day, titled != day else { return }
    headings.day = day
    for section in content.sections {
      let title = title(of: section.id, now: now, local: local)
      headings.all[section.id]?.title = title
    }
  }
}

extension ViewDefinition {
  /// The fields whose columns show an age.
  var ageFields: [FieldPath] {
    columns.compactMap { $0.format == .age ? $0.field : nil }
  }
}

extension Record {
  /// Returns the time when an age in the row of the record changes its text, or nil if none does.
  func nextAgeChange(in fields: [FieldPath], now: Int64, _ local: LocalTime) -> Int64? {
    var next: Int64?
    for field in fields {
      let value = field.node(key: row.key, row.node ?? .empty)
      guard let time = StoredTime.milliseconds(of: value.leaf, local),
        let change = Age.nextChange(of: time, now: now)
      else { continue }
      next = min(next ?? change, change)
    }
    return next
  }
}
