import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Draws the state of the application: a pure function from the state to a canvas.
struct AppScreen {
  let state: AppState
  let glyphs: Glyphs
  let layout: AppLayout
  /// What was drawn for the frame before; nil to draw all.
  let cache: FrameCache?

  init(_ state: AppState, glyphs: Glyphs, cache: FrameCache? = nil) {
    self.state = state
    self.glyphs = glyphs
    self.cache = cache
    layout = state.layout
  }

  /// The whole screen.
  func draw() -> Canvas {
    var canvas = Canvas(size: state.size, glyphs: glyphs)
    if layout.isTooSmall {
      let needed = "\(AppLayout.smallest.columns)x\(AppLayout.smallest.rows) needed"
      canvas.put(needed, at: Position(row: 0, column: 0), width: state.size.columns)
      return canvas
    }
    cache?.begin(width: state.size.columns, glyphs: glyphs)
    drawHeader(into: &canvas)
    drawBody(into: &canvas)
    drawFooter(into: &canvas)
    drawOverlays(into: &canvas)
    drawGreeting(into: &canvas)
    return canvas
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
      switch state.layers[index] {
      case .record(let screen):
        return RecordDrawing(screen, state, layout.body).draw(into: &canvas)
      case .help(let screen):
        return HelpDrawing(screen, layout.body).draw(into: &canvas)
      case .debug(let screen): return drawDebug(screen, into: &canvas)
      case .compare(let screen):
        return CompareDrawing(screen: screen, rect: layout.body, search: state.search)
          .draw(into: &canvas)
      case .queue(let screen):
        return ListWidget.draw(
          screen.content, screen.list, headings: screen.headings,
          rowText: { id, _ in
            (screen.lines[id] ?? StyledLine())
              .marking(state.search, isCurrent: screen.list.cursor == .row(id))
          }, into: &canvas, rect: layout.body)
      case .history(let screen):
        let keys = KeyText(state.keymap, [.history, .list, .global])
        return HistoryDrawing(
          screen: screen, local: state.local, rect: layout.body, keys: keys, search: state.search
        ).draw(into: &canvas)
      case .form, .confirm, .compose, .filter, .search, .palette, .menu: break
      }
    }
    if state.isTree { drawTree(into: &canvas) } else { drawList(into: &canvas) }
    drawPanes(into: &canvas)
  }

  /// What stands beside the list or the tree.
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
    let screen = state.lists[state.active]
    if case .failed(let message) = screen.phase {
      return drawNote("\(glyphs.failed) \(message)", into: &canvas)
    }
    if screen.content.sections.isEmpty {
      let note =
        screen.phase == .loading
        ? "loading"
        : screen.filter != nil
          ? "no loaded row fits the filter" + state.listKeys.hint(.stepBack, "clears it")
          : screen.definition.source.path == state.resources.registry.log
            ? "nothing was done yet"
            : "nothing here yet" + state.listKeys.hint(.recordAdd, "adds a first record")
      return drawNote(note, into: &canvas)
    }
    let rows = state.rowText(of: screen, glyphs)
    cache?.rowLines.begin(rows, width: layout.body.width + screen.list.horizontalOffset)
    ListWidget.draw(
      screen.content, screen.list, headings: screen.headings,
      rowText: { id, width in line(of: id, in: screen, rows, width: width) },
      emptyHint: screen.filter == nil ? state.listKeys.hint(.recordAdd, "adds") : "",
      isFocused: isListFocused,
      divider: screen.unreadText(local: state.local, isShort: layout.isCompact),
      rowSign: rows.hasGutter
        ? nil
        : { id in
          screen.records[id].flatMap { record in
            rows.narrowSign(of: rowState(of: id, record, in: screen, isCursor: false))
          }
        },
      drawn: cache?.list, into: &canvas, rect: layout.body)
  }

  /// What distinguishes the row of a record from others.
  private func rowState(
    of id: String, _ record: Record, in screen: ListScreen, isCursor: Bool
  ) -> RowText.State {
    RowText.State(
      isTransient: screen.isTransient(record),
      isChanged: (screen.changed[id] ?? 0) > state.now, isMarked: screen.isMarked(id),
      isConflict: state.queue.conflict(at: record.path) != nil,
      isNew: screen.unread.rows.contains(id), isCursor: isCursor)
  }

  private func pagingText(of screen: ListScreen, width: Int) -> PagingText {
    PagingText(
      glyphs: glyphs, width: width, keys: state.listKeys, pageSize: screen.definition.source.page)
  }

  private func line(
    of id: String, in screen: ListScreen, _ rows: RowText, width: Int
  ) -> StyledLine {
    if id == ListScreen.pagingRow {
      return pagingText(of: screen, width: width).line(
        screen.paging, isOlder: screen.definition.source.anchor == .last,
        isFiltered: screen.filter != nil)
    }
    if id == ListScreen.newerRow {
      let name = screen.definition.source.anchor == .last ? "newer rows" : "rows before these"
      return pagingText(of: screen, width: width)
        .line(screen.newer, rows: name)
    }
    guard let record = screen.records[id] else { return StyledLine() }
    // Where signs have columns of their own, the cursor's row reads like any other.
    let rowState = rowState(
      of: id, record, in: screen, isCursor: !rows.hasGutter && screen.list.cursor == .row(id))
    let line =
      cache?.rowLines.line(of: id, record, state: rowState, by: rows, width: width)
      ?? rows.line(for: record, state: rowState, width: width)
    return line.marking(state.search, isCurrent: screen.list.cursor == .row(id))
  }

  private func drawDebug(_ screen: DebugScreen, into canvas: inout Canvas) {
    ListWidget.draw(
      screen.content, screen.list, headings: screen.headings,
      rowText: { id, _ in
        (screen.lines[id] ?? StyledLine())
          .marking(state.search, isCurrent: screen.list.cursor == .row(id))
      }, into: &canvas, rect: layout.body)
  }

  private func drawTree(into canvas: inout Canvas) {
    let text = TreeText(
      tree: state.tree, local: state.local, glyphs: glyphs, keys: state.treeKeys,
      pageSize: state.pageSize,
      waiting: state.waitingValues)
    ListWidget.draw(
      state.tree.content, state.tree.list, headings: state.tree.headings,
      rowText: { id, width in
        text.line(id: id, width: width)
          .marking(state.search, isCurrent: state.tree.list.cursor == .row(id))
      },
      emptyHint: state.tree.expanded[.root]?.phase == .loading
        ? "" : state.treeKeys.hint(.recordAdd, "adds a first value"),
      isFocused: isListFocused, drawn: cache?.list, into: &canvas, rect: layout.body)
  }

  /// What a list without rows says.
  private func drawNote(_ text: String, into canvas: inout Canvas) {
    let area = layout.body.inset(rows: 0, columns: 2).splitTop(1).rest
    let lines = StyledLine(text, .muted).wrapped(width: area.width)
    for (index, line) in lines.prefix(area.height).enumerated() {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }

  // MARK: Overlays

  private func drawOverlays(into canvas: inout Canvas) {
    // What lies below a layer that takes all of the body is not seen.
    for layer in state.layers.suffix(from: (state.fullLayer ?? -1) + 1) {
      switch layer {
      case .record, .help, .debug, .history, .compare, .queue: break
      case .compose(let composer): drawComposer(composer, into: &canvas)
      case .filter(let filter): PromptDrawing(state, layout.composer).draw(filter, into: &canvas)
      case .search(let search): PromptDrawing(state, layout.composer).draw(search, into: &canvas)
      case .form(let form):
        FormDrawing(form, WritePreview(form, state), state.formKeys, layout.overlay)
          .draw(into: &canvas)
      case .palette(let palette): PaletteDrawing(palette, layout.panes).draw(into: &canvas)
      case .menu(let menu): MenuDrawing(menu, layout.overlay).draw(into: &canvas)
      case .confirm(let question): question.draw(into: &canvas, rect: layout.overlay)
      }
    }
    drawKeyPopup(into: &canvas)
  }

  /// What may follow the keys struck so far, if they were struck a while ago.
  private func drawKeyPopup(into canvas: inout Canvas) {
    guard let time = state.keyPopupTime, time <= state.now else { return }
    if let awaited = state.awaited {
      return KeyPopup(title: awaited.keys, hints: hints(for: awaited))
        .draw(into: &canvas, rect: layout.panes)
    }
    let keys = state.matcher.keys
    let bindings = state.keymap.bindings(for: state.contexts, after: keys)
    let hints = bindings.map { binding in
      Hint(
        KeyBinding.notation(of: Array(binding.sequence.dropFirst(keys.count))), binding.description)
    }
    KeyPopup(title: state.matcher.pendingText, hints: hints)
      .draw(into: &canvas, rect: layout.panes)
  }

  /// The bookmarks that there are, where the letter of one is waited for.
  private func hints(for awaited: AwaitedLetter) -> [Hint] {
    var hints = state.bookmarkList.map { Hint(String($0.letter), $0.place.title) }
    switch awaited.purpose {
    case .set: hints.append(Hint("a-z", hints.isEmpty ? "any letter" : "any other letter"))
    case .goTo: hints.append(Hint(awaited.keys, "back to where I was"))
    }
    return hints
  }

  private func drawComposer(_ composer: ComposeScreen, into canvas: inout Canvas) {
    let (top, bottom) = layout.composer.splitTop(layout.composer.height - 1)
    if !top.isEmpty { rule(top, into: &canvas) }
    if let error = composer.error {
      // Without a rule, the error takes the end of the list.
      let place = Position(row: bottom.row - 1, column: 2)
      canvas.put(
        " \(glyphs.conflict) \(error) ", at: place, width: max(top.width - 4, 0), role: .error)
    }
    let label = state.isSending(inView: composer.view) ? " \(glyphs.loading)" : " \(state.me)"
    composer.editor.draw(into: &canvas, rect: bottom, label: label)
  }
}
