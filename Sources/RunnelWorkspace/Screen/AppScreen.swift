import RunnelBase
package import RunnelTerminal

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
    if state.tabs.front == .tree {
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

  /// Whether the list or the tree has the keys.
  var isListFocused: Bool { state.layers.isEmpty && state.pane == .list }

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
}
