import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// The page of a list: its rows below the titles of their columns, or words in place of them.

extension AppScreen {
  /// Draws the rows of the list in front.
  func drawList(into canvas: inout Canvas) {
    guard let screen = state.tabs.frontList else { return }
    if case .failed(let message) = screen.reach.phase {
      let words = state.phrase(message.message, .viewResync, "reads it again")
      let hint =
        AccountsScreen.isListRefusedToNobody(state)
        ? AccountsScreen.signInHint(state, "signs in") : ""
      return drawNote("\(glyphs.failed) \(words)\(hint)", into: &canvas)
    }
    if screen.content.sections.isEmpty {
      return drawNote(noteWithoutRows(of: screen), into: &canvas)
    }
    let rows = RowText.rowText(state, of: screen, glyphs)
    let people = Presence.rows(state, of: screen)
    let areRowsUnchanged =
      cache?.rowLines.begin(
        rows, width: layout.body.width + screen.list.horizontalOffset,
        basis: RowLineCache.Basis(state, screen)) ?? false
    ListWidget.draw(
      screen.content, screen.list, headings: screen.headings.all,
      rowText: { id, width in lines(of: id, in: screen, rows, people, width: width)[0] },
      tallRows: RowLines.tallRows(state) { id, width in
        self.lines(of: id, in: screen, rows, people, width: width)
      },
      emptyHint: screen.filtering.filter == nil && screen.isComplete
        ? KeyText.listKeys(state).hint(.recordAdd, "adds") : "",
      isFocused: isListFocused, showsCursor: !isCursorSought,
      divider: screen.unreadText(local: state.settings.local, isShort: layout.isCompact),
      rowSign: rows.hasGutter
        ? nil
        : { id in
          screen.records[id].flatMap { record in
            rows.narrowSign(of: self.rowState(of: id, record, in: screen, isCursor: false))
          }
        },
      drawn: cache?.list, areRowsUnchanged: areRowsUnchanged,
      showsCursorInRows: !rows.hasGutter || state.trail.search != nil || screen.look.cell != nil,
      into: &canvas,
      rect: layout.body)
  }

  /// Draws the titles of the columns on the line above the list.
  func drawTitles(into canvas: inout Canvas) {
    guard let view = state.tabs.front.view else { return }
    let (screen, body) = (state.tabs.lists[view], layout.body)
    if !screen.hasTitles || layout.topRule.isEmpty || screen.content.sections.isEmpty { return }
    let source = screen.definition.source
    let rows = RowText.rowText(state, of: screen, glyphs)
    let width = max(body.width - 1, 0) + screen.list.horizontalOffset
    let titles =
      cache?.rowLines.titles(
        by: rows, width: width, orderedBy: source.order, isDescending: source.isDescending)
      ?? ColumnTitles(
        rows, width: width, orderedBy: source.order, isDescending: source.isDescending)
    let rule = FrameCache.TitleRule(
      titles: titles, body: body, offset: screen.list.horizontalOffset, cell: screen.look.cell)
    guard let cache, layout.topRule.width == canvas.size.columns else {
      return drawTitles(of: rule, into: &canvas, row: layout.topRule.row)
    }
    let line = cache.line(rule) { rule in
      CanvasLine(width: layout.topRule.width, glyphs: glyphs) { line in
        self.rule(line.bounds, into: &line)
        drawTitles(of: rule, into: &line, row: 0)
      }
    }
    canvas.put(line, at: layout.topRule.origin)
  }

  /// Draws titles of columns on a row with a rule.
  private func drawTitles(
    of rule: FrameCache.TitleRule, into canvas: inout Canvas, row: Int
  ) {
    drawMissing(of: rule, into: &canvas, row: row)
    for title in rule.titles.titles {
      // A row begins beside the sign of the cursor.
      let start = rule.body.column + 1 + title.place - rule.offset
      let width = min(CellWidth.width(of: title.word), rule.body.endColumn - start)
      guard start > rule.body.column, width > 0 else { continue }
      canvas.put(
        title.word, at: Position(row: row, column: start), width: width,
        role: title.index == rule.cell ? .searchCurrent : .muted)
    }
  }

  /// Draws the number of columns for which there is no room: behind the titles, or where the last one
  /// reaches to the end before them, above the signs of the rows.
  private func drawMissing(of rule: FrameCache.TitleRule, into canvas: inout Canvas, row: Int) {
    let (count, titles, body) = (rule.titles.columnsWithoutRoom, rule.titles.titles, rule.body)
    guard count > 0, let first = titles.first, let last = titles.last else { return }
    let words = count == 1 ? "+1 column" : "+\(count) columns"
    let end = body.column + 1 + last.end - rule.offset
    let start = body.endColumn - words.utf8.count - 1
    if start > end {
      canvas.put(
        words, at: Position(row: row, column: start), width: words.utf8.count, role: .muted)
    } else if rule.offset == 0, first.start > 0 {
      canvas.put("+\(count)", at: Position(row: row, column: body.column), width: 3, role: .muted)
    }
  }

  /// The words in place of the rows of a list that shows none.
  private func noteWithoutRows(of screen: ListScreen) -> String {
    if screen.reach.phase == .loading { return "loading" }
    let keys = KeyText.listKeys(state)
    if let filter = screen.filtering.filter {
      let doubt = FilterDoubt(filter, in: screen).map { ": \($0.message)" } ?? ""
      let rows = screen.reach.isExhausted ? "no row" : "no loaded row"
      return "\(rows) fits the filter\(doubt)" + keys.hint(.stepBack, "clears it")
    }
    if screen.definition.source.path == state.database.resources.registry.log {
      return "nothing was done yet"
    }
    return "nothing here yet" + keys.hint(.recordAdd, "adds a first record")
  }

  /// Returns the state of a record's row that changes how it looks.
  private func rowState(
    of id: String, _ record: Record, in screen: ListScreen, isCursor: Bool,
    people: [Path: [String]] = [:]
  ) -> RowText.State {
    RowText.State(
      isTransient: screen.isTransient(record), isTyping: screen.isTyping(id),
      isChanged: (screen.news.changed[id] ?? 0) > state.now, isMarked: screen.isMarked(id),
      isConflict: state.writes.queue.conflict(at: record.path) != nil
        || state.writes.queue.wasRejected(at: record.path),
      hasDraft: state.writes.drafts.isOf(record: record.path),
      isPending: state.writes.queue.places.touch(record.path),
      isNew: screen.news.unread.rows.contains(id), isCursor: isCursor,
      cell: screen.list.cursor == .row(id) ? screen.look.cell : nil,
      people: people[record.path] ?? [])
  }

  private func pagingText(of screen: ListScreen, width: Int) -> PagingText {
    PagingText(
      glyphs: glyphs, width: width, keys: KeyText.listKeys(state),
      pageSize: screen.definition.source.page)
  }

  /// Returns the lines of a row: at least one.
  private func lines(
    of id: String, in screen: ListScreen, _ rows: RowText, _ people: [Path: [String]], width: Int
  ) -> [StyledLine] {
    // In an order that the user chose, rows are neither older nor newer.
    let isByArrival =
      screen.definition.source.anchor == .last && screen.arrangement.order == nil
    if id == ListScreen.fetchMoreRow {
      let source = screen.definition.source
      // What ends at the bottom of the screen has its end there, whatever the order.
      let isAbove = source.anchor == .last && !source.isDescending
      let isCached = state.database.origin?.isCached == true
      let isAllOfCache = screen.isAllOfCache(state.database.origin)
      if screen.filtering.filter == nil, screen.reach.isUnknown(state.database.origin) {
        return [pagingText(of: screen, width: width).unknownLine]
      }
      let phase = isAllOfCache ? .exhausted : screen.reach.paging
      let line = pagingText(of: screen, width: width).line(
        phase, isOlder: phase == .exhausted ? isAbove : isByArrival,
        isFiltered: screen.filtering.filter != nil, isSearched: screen.filtering.isSearchedBeyond,
        isCached: isCached)
      return [line]
    }
    if id == ListScreen.newerRow {
      let name = isByArrival ? "newer rows" : "rows before these"
      let line = pagingText(of: screen, width: width).line(
        screen.reach.newer, rows: name, isFiltered: screen.filtering.filter != nil,
        isSearched: screen.filtering.isSearchedBeyond)
      return [line]
    }
    guard let record = screen.records[id] else { return [StyledLine()] }
    // If signs have columns of their own, the cursor's row is formatted like any other.
    let rowState = rowState(
      of: id, record, in: screen, isCursor: !rows.hasGutter && screen.list.cursor == .row(id),
      people: people)
    let lines =
      cache?.rowLines.lines(of: id, record, state: rowState, by: rows, width: width)
      ?? rows.lines(for: record, state: rowState, width: width)
    guard let search = state.trail.search else { return lines }
    return lines.map { $0.marking(search, isCurrent: screen.list.cursor == .row(id)) }
  }

  /// Draws the note of a list without rows.
  private func drawNote(_ text: String, into canvas: inout Canvas) {
    let area = layout.body.inset(rows: 0, columns: 2).splitTop(1).rest
    let lines = StyledLine(text, .muted).wrapped(width: area.width)
    for (index, line) in lines.prefix(area.height).enumerated() {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }
}

// MARK: The cursor

extension AppScreen {
  /// Whether the cursor of the list in front is about to go to a row whose place in a new order is being
  /// read: it is on none of the rows that are shown, and keys for a row wait.
  var isCursorSought: Bool {
    guard let list = state.tabs.frontList, list.reach.phase == .loaded else { return false }
    if case .record? = list.goal.jump { return true }
    return state.requests.hasCursorRead
  }
}
