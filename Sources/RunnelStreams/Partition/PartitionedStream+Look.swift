import RunnelBase

// MARK: Sections

extension PartitionedStream {
  /// True if fixed sections without rows are hidden.
  public var hidesEmptySections: Bool {
    get { look.hidesEmptySections }
    set { relook { $0.hidesEmptySections = newValue } }
  }

  /// The limit of each section without a limit of its own; nil for none.
  public var sectionLimit: RowLimit? {
    get { look.limit }
    set { relook { $0.limit = newValue } }
  }

  /// Gives a section a limit of its own, which it keeps while it is not shown; nil removes it.
  ///
  /// O(r) in the rows that come or leave.
  public func setLimit(_ limit: RowLimit?, for section: Section) {
    relook { $0.limits[section] = limit }
  }

  /// Hides the rows of a section, or shows them again; this is kept while the section is not shown.
  ///
  /// O(r) in the rows that come or leave.
  public func setCollapsed(_ isCollapsed: Bool, for section: Section) {
    relook { look in
      if isCollapsed { look.collapsed.insert(section) } else { look.collapsed.remove(section) }
    }
  }

  /// True if the rows of a section are hidden, whether it is shown or not.
  public func isCollapsed(_ section: Section) -> Bool { look.collapsed.contains(section) }

  /// Sets the function for the titles of sections; nil for no titles.
  public func setTitles(_ title: ((Section) -> String?)?) { relook { $0.title = title } }

  /// Sets the function for the footers of sections, which is given the number of rows in a section
  /// and the number of those that are not shown; nil for no footers.
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
  /// The next time at which `advance(to:)` must be called, in milliseconds since 1970; nil if time
  /// changes nothing.
  ///
  /// O(log n). It is later than `now`, whatever the rule returned: a row whose section was valid
  /// until an earlier time is looked at again with the next call, whenever that comes.
  public var nextChange: Int64? {
    let index = due.lowerBound { $0.until <= now }
    return index < due.count ? due[index].until : nil
  }

  /// Advances the time: rows whose section is no longer valid move to another one.
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
      let changes = assignAgain(waiting.filter { rows.table[$0.id] === $0 })
      return changes.isEmpty ? nil : change(changes)
    }
  }

  /// Applies the rule again to every row, because something that it depends on has changed.
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
