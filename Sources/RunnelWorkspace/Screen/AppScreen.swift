import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// Draws the state of the workspace: a pure function from the state to a canvas.
///
/// It is a class so that its parts do not copy the state.
package final class AppScreen {
  package let state: AppState
  package let glyphs: Glyphs
  package let layout: AppLayout
  /// The cache of earlier frames, or nil to draw everything.
  let cache: FrameCache?

  package init(_ state: AppState, glyphs: Glyphs, cache: FrameCache? = nil) {
    self.state = state
    self.glyphs = glyphs
    self.cache = cache
    layout = state.layout
  }

  /// Draws the whole screen.
  package func draw() -> Canvas {
    var canvas = Canvas(size: state.size, glyphs: glyphs)
    if layout.isTooSmall {
      let needed = "\(AppLayout.smallest.columns)x\(AppLayout.smallest.rows) needed"
      canvas.put(needed, at: Position(row: 0, column: 0), width: state.size.columns)
      return canvas
    }
    cache?.begin(width: state.size.columns, glyphs: glyphs)
    drawFrameLines(into: &canvas)
    drawMain(into: &canvas)
    cache?.shown = FrameCache.Shown(self)
    return canvas
  }

  /// Draws the screen with the title, tabs and hints of the frame before, for a key whose effect is
  /// to be seen at once; returns nil if one of those lines certainly changes, or is not visible.
  ///
  /// `drawFrameLines` brings those lines up to date.
  package func drawBeforeFrameLines() -> Canvas? {
    guard let cache, let shown = FrameCache.Shown(self), cache.shown == shown else { return nil }
    var canvas = Canvas(size: state.size, glyphs: glyphs)
    cache.begin(width: state.size.columns, glyphs: glyphs)
    for (part, rect) in [(.title, layout.title), (.tabs, layout.tabs), (.hints, layout.hints)]
      as [(FrameCache.Part, Rect)] where !rect.isEmpty
    {
      guard let line = cache.line(part) else { return nil }
      canvas.put(line, at: rect.origin)
    }
    drawMain(into: &canvas)
    return canvas
  }

  /// Draws the main part: the list, the layers over it, and the footer.
  private func drawMain(into canvas: inout Canvas) {
    rule(layout.topRule, into: &canvas)
    drawBody(into: &canvas)
    drawFooter(into: &canvas)
    drawOverlays(into: &canvas)
    drawGreeting(into: &canvas)
  }

  func rule(_ rect: Rect, into canvas: inout Canvas) {
    guard let cache, rect.width == canvas.size.columns, !rect.isEmpty else {
      return canvas.horizontalLine(
        row: rect.row, column: rect.column, width: rect.width, role: .frame)
    }
    let line = cache.rule { width in
      CanvasLine(width: width, glyphs: glyphs) {
        $0.horizontalLine(row: 0, column: 0, width: width, role: .frame)
      }
    }
    canvas.put(line, at: rect.origin)
  }

  // MARK: Body

  private func drawBody(into canvas: inout Canvas) {
    if let index = state.fullLayer {
      return state.layers[index].component.draw(into: &canvas, self)
    }
    if state.tabs.isTree {
      drawTree(into: &canvas)
    } else {
      drawList(into: &canvas)
      drawTitles(into: &canvas)
    }
    drawPanes(into: &canvas)
  }

  /// Draws the panes beside the list or the tree.
  private func drawPanes(into canvas: inout Canvas) {
    if !layout.views.isEmpty {
      ViewsDrawing(state, glyphs: glyphs).draw(into: &canvas, rect: layout.views)
      if !layout.body.isEmpty { joinRules(at: layout.views.endColumn - 1, into: &canvas) }
    }
    if !layout.detail.isEmpty {
      DetailDrawing(state, glyphs: glyphs).draw(into: &canvas, rect: layout.detail)
      if !layout.body.isEmpty { joinRules(at: layout.detail.column, into: &canvas) }
    }
  }

  /// Joins the line between two panes with the rules above and below it.
  private func joinRules(at column: Int, into canvas: inout Canvas) {
    for (rule, sign) in [(layout.topRule, "┬"), (layout.bottomRule, "┴")] where !rule.isEmpty {
      canvas.put(
        glyphs.isASCII ? "+" : sign, at: Position(row: rule.row, column: column), width: 1,
        role: .frame)
    }
  }

  private var isListFocused: Bool { state.layers.isEmpty && state.pane == .list }

  private func drawList(into canvas: inout Canvas) {
    let screen = state.tabs.front
    if case .failed(let message) = screen.phase {
      return drawNote("\(glyphs.failed) \(message)", into: &canvas)
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
      screen.content, screen.list, headings: screen.headings,
      rowText: { id, width in lines(of: id, in: screen, rows, people, width: width)[0] },
      tallRows: RowLines.tallRows(state) { id, width in
        self.lines(of: id, in: screen, rows, people, width: width)
      },
      emptyHint: screen.filter == nil && screen.isComplete
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
      showsCursorInRows: !rows.hasGutter || state.trail.search != nil || screen.cell != nil,
      into: &canvas,
      rect: layout.body)
  }

  /// Draws the titles of the columns on the line above the list.
  private func drawTitles(into canvas: inout Canvas) {
    let (screen, body) = (state.tabs.front, layout.body)
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
      titles: titles, body: body, offset: screen.list.horizontalOffset, cell: screen.cell)
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
    if screen.phase == .loading { return "loading" }
    let keys = KeyText.listKeys(state)
    if let filter = screen.filter {
      let doubt = FilterDoubt(filter, in: screen).map { ": \($0.message)" } ?? ""
      let rows = screen.isExhausted ? "no row" : "no loaded row"
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
      isChanged: (screen.changed[id] ?? 0) > state.now, isMarked: screen.isMarked(id),
      isConflict: state.writes.queue.conflict(at: record.path) != nil
        || state.writes.queue.wasRejected(at: record.path),
      hasDraft: state.writes.drafts.isOf(record: record.path),
      isPending: state.writes.queue.places.touch(record.path),
      isNew: screen.unread.rows.contains(id), isCursor: isCursor,
      cell: screen.list.cursor == .row(id) ? screen.cell : nil,
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
    if id == ListScreen.fetchMoreRow {
      let source = screen.definition.source
      // What ends at the bottom of the screen has its end there, whatever the order.
      let isAbove = source.anchor == .last && !source.isDescending
      let line = pagingText(of: screen, width: width).line(
        screen.paging, isOlder: screen.paging == .exhausted ? isAbove : source.anchor == .last,
        isFiltered: screen.filter != nil, isSearched: screen.isSearchedBeyond,
        isCached: state.database.origin?.isCached == true)
      return [line]
    }
    if id == ListScreen.newerRow {
      let name = screen.definition.source.anchor == .last ? "newer rows" : "rows before these"
      let line = pagingText(of: screen, width: width).line(
        screen.newer, rows: name, isFiltered: screen.filter != nil,
        isSearched: screen.isSearchedBeyond)
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

  /// Draws a list of ready lines.
  func drawLines(
    _ lines: [String: StyledLine], of layer: some ListLayer, headings: [String: ListHeading],
    into canvas: inout Canvas
  ) {
    ListWidget.draw(
      layer.content, layer.list, headings: headings,
      rowText: { id, _ in
        (lines[id] ?? StyledLine())
          .marking(state.trail.search, isCurrent: layer.list.cursor == .row(id))
      }, into: &canvas, rect: layout.body)
  }

  private func drawTree(into canvas: inout Canvas) {
    let text = TreeText(
      tree: state.tabs.tree, local: state.settings.local, glyphs: glyphs,
      keys: KeyText.treeKeys(state),
      pageSize: state.settings.pageSize,
      waiting: QueueScreen.waitingValues(state))
    ListWidget.draw(
      state.tabs.tree.content, state.tabs.tree.list,
      headings: state.tabs.tree.headings(state.settings.local),
      rowText: { id, width in
        text.line(id: id, width: width)
          .marking(state.trail.search, isCurrent: state.tabs.tree.list.cursor == .row(id))
      },
      emptyHint: state.tabs.tree.expanded[.root]?.phase == .loading
        ? "" : KeyText.treeKeys(state).hint(.recordAdd, "adds a first value"),
      isFocused: isListFocused, drawn: cache?.tree, into: &canvas, rect: layout.body)
  }

  /// Draws the note of a list without rows.
  private func drawNote(_ text: String, into canvas: inout Canvas) {
    let area = layout.body.inset(rows: 0, columns: 2).splitTop(1).rest
    let lines = StyledLine(text, .muted).wrapped(width: area.width)
    for (index, line) in lines.prefix(area.height).enumerated() {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }

  // MARK: Overlays

  private func drawOverlays(into canvas: inout Canvas) {
    // Layers below one that covers the whole body are not visible.
    for layer in state.layers.suffix(from: (state.fullLayer ?? -1) + 1) {
      if layer.component.extent != .page { layer.component.draw(into: &canvas, self) }
    }
    drawKeyPopup(into: &canvas)
  }

  /// Draws the popup of the keys that may follow, if the key sequence was begun a while ago.
  private func drawKeyPopup(into canvas: inout Canvas) {
    guard let time = Input.keyPopupTime(state), time <= state.now else { return }
    if let awaited = state.input.awaited {
      return KeyPopup(title: awaited.keys, hints: hints(for: awaited))
        .draw(into: &canvas, rect: layout.panes)
    }
    let keys = state.input.matcher.keys
    let bindings = state.settings.keymap.bindings(for: state.contexts, after: keys)
    let hints = bindings.map { binding in
      Hint(
        KeyBinding.notation(of: Array(binding.sequence.dropFirst(keys.count))), binding.description)
    }
    KeyPopup(title: state.input.matcher.pendingText, hints: hints)
      .draw(into: &canvas, rect: layout.panes)
  }

  /// Returns the bookmarks as hints, while a command waits for the letter of one.
  private func hints(for awaited: AwaitedLetter) -> [Hint] {
    var hints = PlaceHistory.bookmarkList(state).map { Hint(String($0.letter), $0.place.title) }
    switch awaited.purpose {
    case .set: hints.append(Hint("a-z", hints.isEmpty ? "any letter" : "any other letter"))
    case .goTo: hints.append(Hint(awaited.keys, "back to where I was"))
    }
    return hints
  }

  /// The widest name before the line that composes a record.
  private static let writerWidth = 20

  /// The user as people know them: the id of an account is known to rules only.
  private var writer: String {
    let me = state.database.me
    let account = state.database.accounts?.current.flatMap { $0.id == me ? $0 : nil }
    let name = account?.name.flatMap { $0.isEmpty ? nil : $0 } ?? account?.title ?? me
    return CellWidth.width(of: name) <= AppScreen.writerWidth
      ? name : CellText.fitted(name, to: AppScreen.writerWidth, isRight: false, glyphs: glyphs)
  }

  func drawComposer(_ composer: ComposeScreen, into canvas: inout Canvas) {
    let (top, bottom) = layout.composer.splitTop(layout.composer.height > 1 ? 1 : 0)
    if !top.isEmpty { rule(top, into: &canvas) }
    if let error = composer.error {
      // Without a rule, the error takes the end of the list.
      let place = Position(row: bottom.row - 1, column: 2)
      canvas.put(
        " \(glyphs.conflict) \(error) ", at: place, width: max(top.width - 4, 0), role: .error)
    }
    let label =
      ComposeScreen.isSending(state, inView: composer.view)
      ? " \(glyphs.loading)" : " \(writer)"
    composer.editor.draw(into: &canvas, rect: bottom, label: label)
  }
}

// MARK: The cursor

extension AppScreen {
  /// Whether the cursor of the list in front is about to go to a row whose place in a new order is being
  /// read: it is on none of the rows that are shown, and keys for a row wait.
  var isCursorSought: Bool {
    guard state.tabs.front.phase == .loaded, !state.tabs.isTree else { return false }
    if case .record? = state.tabs.front.jump { return true }
    return state.requests.hasCursorRead
  }
}
