import RunnelBase

// MARK: Sections

extension PartitionedStream {
  /// True if fixed sections without rows are not shown.
  public var hidesEmptySections: Bool {
    get { look.hidesEmptySections }
    set { relook { $0.hidesEmptySections = newValue } }
  }

  /// How many rows each section shows, unless it has a limit of its own; nil for all.
  public var sectionLimit: RowLimit? {
    get { look.limit }
    set { relook { $0.limit = newValue } }
  }

  /// Gives a section a limit of its own, which it keeps while it is away; nil takes it back.
  ///
  /// O(r) in the rows that come or leave.
  public func setLimit(_ limit: RowLimit?, for section: Section) {
    relook { $0.limits[section] = limit }
  }

  /// Hides the rows of a section, or shows them again; it stays so while it is away.
  ///
  /// O(r) in the rows that come or leave.
  public func setCollapsed(_ isCollapsed: Bool, for section: Section) {
    relook { look in
      if isCollapsed { look.collapsed.insert(section) } else { look.collapsed.remove(section) }
    }
  }

  /// True if the rows of a section are hidden, whether it is shown or not.
  public func isCollapsed(_ section: Section) -> Bool { look.collapsed.contains(section) }

  /// Says what stands above each section; nil for nothing.
  public func setTitles(_ title: ((Section) -> String?)?) { relook { $0.title = title } }

  /// Says what stands below each section, given how many rows belong to it and how many of those are
  /// not shown; nil for nothing.
  public func setFooters(
    _ footer: ((_ section: Section, _ totalCount: Int, _ hiddenCount: Int) -> String?)?
  ) {
    relook { $0.footer = footer }
  }

  private func relook(_ mutation: @escaping (inout SectionLook<Section>) -> Void) {
    hub.perform { [self] in
      mutation(&look)
      var edits = beginEdits()
      for part in parts.values {
        let limit = look.limit(of: part.key)
        if part.rows.list.limit == limit { continue }
        edits.note(part, part.rows.limit(limit))
      }
      let changes = finish(edits, changed: [])
      return changes.isEmpty ? nil : change(changes)
    }
  }
}

// MARK: Time

extension PartitionedStream {
  /// When `advance(to:)` should be called next, in milliseconds since 1970; nil if time changes nothing.
  public var nextChange: Int64? { due.first?.until }

  /// Tells the time: rows whose section is not right any more go to another.
  ///
  /// O(t log n) in the t rows that are due.
  ///
  /// - Parameter now: the time, in milliseconds since 1970.
  public func advance(to now: Int64) {
    hub.perform { [self] in
      self.now = now
      let count = due.lowerBound { $0.until <= now }
      if count == 0 { return nil }
      let waiting = due[0..<count].map(\.row)
      due.apply(RowEdit(removing: Array(0..<count)))
      let changes = assignAgain(waiting.filter { rows.table[$0.key] === $0 })
      return changes.isEmpty ? nil : change(changes)
    }
  }

  /// Applies the rule to every row again, because what it depends on changed.
  ///
  /// O(n).
  public func repartition() {
    hub.perform { [self] in
      due = Rows()
      let changes = assignAgain(Array(rows.order.rows))
      return changes.isEmpty ? nil : change(changes)
    }
  }
}
