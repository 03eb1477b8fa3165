import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

// The header above the body and the footer below it.

extension AppScreen {
  // MARK: Header

  /// Draws the title, the tabs and the hints.
  package func drawFrameLines(into canvas: inout Canvas) {
    drawHeader(into: &canvas)
    if !layout.isCompact {
      draw(Hints(state, cache?.hints ?? HintLookups()), into: &canvas, layout.hints)
    }
  }

  private func drawHeader(into canvas: inout Canvas) {
    var right = StyledLine()
    right.append(queueText)
    if state.database.isReadOnly, state.database.fileGone == nil {
      right.append("read-only  ", .warn)
    }
    if state.session.isLost {
      right.append(layout.isCompact ? "unkept " : "drafts are not kept  ", .error)
    }
    if layout.isCompact {
      right.append(liveness)
      right.append(newRowsText.isEmpty ? "" : " " + newRowsText, .rowNew)
      right.append(state.database.accounts?.line(glyphs, isShort: true) ?? StyledLine())
    } else {
      right.append(liveness)
      var person =
        state.database.accounts?.line(glyphs, isShort: false)
        ?? StyledLine("  \(state.database.origin?.credential ?? state.database.me) ", .muted)
      let others = Presence.headerLine(state, glyphs)
      if !others.isEmpty {
        person.append(others)
        person.append(" ")
      }
      right.append(person)
    }
    let title = StatusLine(left: heading(besides: right), right: right)
    draw(.title, title, into: &canvas, layout.title)
    if !layout.isCompact {
      let tabs = TabBar(state, glyphs).line(active: state.tabs.position)
      let counts = countLine(besides: tabs)
      draw(.tabs, StatusLine(left: tabs, right: counts), into: &canvas, layout.tabs)
    }
  }

  /// The names of the program, the database, and the place.
  ///
  /// Where there is no room for the rows that led to the place too, the names give way, and then these rows:
  /// the place is seen whole if it can be.
  private func heading(besides right: StyledLine) -> StyledLine {
    var names = StyledLine(layout.isCompact ? "" : " runnel  ", .title)
    if let profile = state.database.profile, let role = profile.color?.role {
      // The name is shown on narrow screens too.
      names.append(" \(profile.name) \(glyphs.foldClosed) \(place) ", role)
      return names
    }
    if !layout.isCompact { names.append("\(state.database.name) \(glyphs.foldClosed) ", .muted) }
    let crumbs = crumbs
    let room =
      state.size.columns - right.width - 1 - CellWidth.width(of: place)
    var heading = names
    if crumbs.isEmpty || names.width + CellWidth.width(of: crumbs) <= room {
      heading.append(crumbs, .muted)
    } else {
      heading = StyledLine(" ")
      if CellWidth.width(of: crumbs) < room { heading.append(crumbs, .muted) }
    }
    heading.append(place, .strong)
    return heading
  }

  /// Draws a line of the frame, or copies it from the frame before.
  private func draw(
    _ part: FrameCache.Part, _ line: StatusLine, into canvas: inout Canvas, _ rect: Rect
  ) {
    guard let cache, rect.height == 1, rect.width == canvas.size.columns else {
      return line.draw(into: &canvas, rect: rect)
    }
    let cells = cache.line(part, line) { line in
      CanvasLine(width: rect.width, glyphs: glyphs) { line.draw(into: &$0, rect: $0.bounds) }
    }
    canvas.put(cells, at: rect.origin)
  }

  private func draw(_ hints: Hints, into canvas: inout Canvas, _ rect: Rect) {
    let bar = HintBar(hints.all, last: hints.help)
    guard let cache, rect.height == 1, rect.width == canvas.size.columns else {
      return bar.draw(into: &canvas, rect: rect)
    }
    let cells = cache.line(bar) { bar in
      CanvasLine(width: rect.width, glyphs: glyphs) { bar.draw(into: &$0, rect: $0.bounds) }
    }
    canvas.put(cells, at: rect.origin)
  }

  /// The number of writes that are under way or wait for the origin, and of refused ones; empty if
  /// there are none.
  private var queueText: StyledLine {
    var line = StyledLine()
    let waiting = state.writes.queue.waitingCount(now: state.now) + state.writes.queue.pending.count
    if waiting > 0 { line.append("\(glyphs.pending)\(waiting) ", .rowPending) }
    let all = WaitingWrites(state)
    let (others, ofNobody) = (all.othersCount, all.nobodyRefusedCount)
    if others > 0 {
      let words = layout.isCompact ? "+\(others)" : "\(others) of others"
      line.append("\(glyphs.pending)\(words) ", .rowPending)
    }
    let unknown = state.writes.queue.unknownPending.count
    if unknown > 0 { line.append("?\(unknown) ", .warn) }
    let refused = state.writes.queue.refused.count
    if refused > 0 { line.append("\(glyphs.conflict)\(refused) ", .conflict) }
    if ofNobody > 0 {
      let words = layout.isCompact ? "+\(ofNobody)" : "\(ofNobody) of nobody"
      line.append("\(glyphs.conflict)\(words) ", .conflict)
    }
    if !line.isEmpty { line.append(" ") }
    return line
  }

  /// The state of the data on the screen: live, paused, or lost.
  private var liveness: StyledLine {
    if let gone = state.database.fileGone {
      return StyledLine("\(glyphs.failed) \(layout.isCompact ? gone.word : gone.words)", .error)
    }
    if let line = state.database.origin?.line(state, glyphs, isShort: layout.isCompact) {
      return line
    }
    let live = OriginFacts.liveLine(state.database.origin, glyphs, isShort: layout.isCompact)
    guard let screen = state.tabs.frontList else { return live }
    if let waiting = screen.reach.waitingCount {
      let words = layout.isCompact ? "\(waiting)" : "paused, \(waiting) wait\(pauseKeys)"
      return StyledLine("\(glyphs.connecting) \(words)", .warn)
    }
    return switch screen.reach.phase {
    case .idle, .loading:
      liveness(
        glyphs.loading, "loading\(state.database.origin?.receivedText ?? "")", .connecting)
    case .failed: liveness(glyphs.failed, "failed", .error)
    case .cached, .loaded: live
    }
  }

  /// Returns a sign, and its meaning if there is room.
  private func liveness(_ sign: String, _ words: String, _ role: StyleRole) -> StyledLine {
    StyledLine(layout.isCompact ? sign : "\(sign) \(words)", role)
  }

  /// The keys that make a paused list live again.
  private var pauseKeys: String {
    state.settings.keymap.firstKeys(for: .livePause, in: state.contexts).map { " · \($0)" } ?? ""
  }

  /// The rows that led to the list in front, with a sign after each; empty for a list with a tab of its
  /// own, and on small screens.
  private var crumbs: String {
    guard !layout.isCompact, let view = state.tabs.front.view,
      state.tabs.lists[view].drillDown != nil,
      state.layers.allSatisfy({ $0.component.heading == nil })
    else { return "" }
    let chain = state.tabs.chain(to: view).map { state.tabs.lists[$0] }
    let words = [chain[0].definition.name] + chain.compactMap(\.drillDown?.title)
    return words.map { "\($0.prefix(24)) \(glyphs.foldClosed) " }.joined()
  }

  /// The place in the tree that the screen shows.
  private var place: String {
    let headings = state.layers.reversed().lazy.compactMap(\.component.heading)
    if let heading = headings.first { return heading }
    if let list = state.tabs.frontList { return shownPath(list.definition.source.path) }
    if case .node(let path, _, _)? = state.tabs.tree.cursorLine { return shownPath(path) }
    return "/"
  }

  /// A place as it is shown; the path of a service, which is one key, as the server has it.
  private func shownPath(_ path: Path) -> String {
    guard state.database.origin?.hasServices == true else { return path.shownPath }
    return path.shownPath.replacing("%2F", with: "/")
  }

  /// The filter, the order and the count of the list, to stand beside the tabs.
  ///
  /// A long filter is cut, so that the count is seen whole.
  private func countLine(besides tabs: StyledLine) -> StyledLine {
    let page = state.layers.last { $0.component.heading != nil }?.component as? any ListLayer
    if let page, let words = page.countWords {
      let count = page.content.storedRowCount
      return StyledLine("\(count) \(count == 1 ? words.one : words.several) ", .muted)
    }
    guard let screen = state.tabs.frontList else {
      let count = state.tabs.tree.content.rowCount
      var line = StyledLine(count == 1 ? "1 line" : "\(count) lines", .muted)
      line.append(cachedText)
      line.append(" ")
      return line
    }
    var line = StyledLine()
    line.append(orderText(of: screen) + groupingText(of: screen), .warn)
    let isUnknown = screen.filtering.filter == nil && screen.reach.isUnknown(state.database.origin)
    line.append(isUnknown ? "nothing known yet" : screen.countText(state.database.origin), .muted)
    line.append(cachedText)
    if !newRowsText.isEmpty { line.append(" · \(newRowsText)", .rowNew) }
    line.append(" ")
    guard let filter = screen.filtering.filter, !filter.isEmpty else { return line }
    let keys = KeyText.listKeys(state).keys(.filterEdit).map { "\($0) " } ?? ""
    let width = CellWidth.width(of: filter.text)
    let room =
      max(state.size.columns - tabs.width, state.size.columns * 2 / 3) - line.width
      - CellWidth.width(of: "\(keys) ·  ")
    let shown =
      width <= room
      ? filter.text
      : CellText.fitted(filter.text, to: max(room, 4), isRight: false, glyphs: glyphs)
    var whole = StyledLine("\(keys)\(shown) · ", .warn)
    whole.append(line)
    return whole
  }

  /// The order that the user chose, and that texts are sorted by their characters where these have another
  /// order than what the texts say; empty if there is nothing to say.
  private func orderText(of screen: ListScreen) -> String {
    let isAsText = screen.sortedTexts != nil
    guard screen.arrangement.order != nil || isAsText else { return "" }
    let source = screen.definition.source
    let field = screen.arrangement.order.map { $0.fieldText } ?? source.order.forward.description
    let isDescending = screen.arrangement.order?.isDescending ?? source.isDescending
    let sign = isDescending ? glyphs.down : glyphs.up
    return "by \(field) \(sign)\(isAsText ? " as text" : "") · "
  }

  /// The sections that the user chose; empty for those of the view.
  private func groupingText(of screen: ListScreen) -> String {
    switch screen.arrangement.grouping {
    case nil: ""
    case .whole: "no sections · "
    case .values(let path): "grouped by \(path.shownText) · "
    }
  }

  /// The mark of data from the cache, with their age; empty if they are the server's.
  private var cachedText: StyledLine {
    let text = state.database.origin?.cachedText(now: state.now)
    return StyledLine(text.map { " · \($0)" } ?? "", .warn)
  }

  private var newRowsText: String {
    guard let screen = state.tabs.frontList else { return "" }
    let count = max(
      screen.unreadCount, screen.newAboveCount + screen.newBelowCount)
    return count == 0 ? "" : "\(count) new"
  }

  // MARK: Footer

  func drawFooter(into canvas: inout Canvas) {
    rule(layout.bottomRule, into: &canvas)
    var left = StyledLine(" ")
    if state.input.matcher.isPending {
      left.append(state.input.matcher.pendingText, .hintKey)
    } else if let awaited = state.input.awaited {
      left.append(awaited.keys, .hintKey)
    } else if !TypeAhead.typeAheadText(state).isEmpty {
      left.append(TypeAhead.typeAheadText(state), .rowPending)
    } else if !layout.isCompact {
      let refusal = Reconnecting.lastingText(state)
      left.append(refusal, .error)
      let marks = marksText
      let pill = newRowsPill
      if !refusal.isEmpty, !marks.isEmpty || !pill.isEmpty { left.append(" · ") }
      left.append(marks, .rowMarked)
      if !marks.isEmpty, !pill.isEmpty { left.append(" · ") }
      left.append(pill, .rowNew)
      let typing = Presence.typingText(state)
      if !left.text.dropFirst().isEmpty, !typing.isEmpty { left.append(" · ") }
      left.append(typing, .muted)
    } else if let help = Hints(state).help {
      left.append(help.line)
    }
    draw(.status, StatusLine(left: left, right: positionLine), into: &canvas, layout.status)
    drawToast(into: &canvas)
  }

  /// Draws the message over the status line, and over as many lines above it as it needs, but not
  /// over the list, so that the cursor stays visible.
  private func drawToast(into canvas: inout Canvas) {
    let passing = state.toast?.toast ?? cutError.map { Toast(.error, $0) }
    guard let toast = passing ?? FileGone.lossToast(state) else { return }
    let lines = StyledLine(toast.text).wrapped(width: max(state.size.columns - 4, 1)).count
    // A lasting message must not cover the line for typing.
    let top = passing == nil ? max(layout.body.endRow, layout.composer.endRow) : layout.body.endRow
    let height = min(lines, Toast.lineCountMax, state.size.rows - top)
    let area = Rect(size: state.size).splitBottom(height).bottom
    canvas.fill(area)
    toast.draw(into: &canvas, rect: area)
  }

  /// The error of the field that has the keys, if there is no room for it beside the field;
  /// otherwise nil.
  private var cutError: String? { state.layers.last?.component.cutError(self) }

  private var marksText: String {
    let count = state.tabs.frontList?.markCount ?? state.tabs.tree.markCount
    return count == 0 ? "" : "\(count) marked"
  }

  private var newRowsPill: String {
    guard let screen = state.tabs.frontList else { return "" }
    let (above, below) = (screen.newAboveCount, screen.newBelowCount)
    if above == 0, below == 0 { return "" }
    let more = screen.arrivedMayBeMore ? "+" : ""
    var parts: [String] = []
    if above > 0 { parts.append("\(glyphs.up)\(above)\(screen.arrivesBelow ? "" : more) new") }
    if below > 0 { parts.append("\(glyphs.down)\(below)\(screen.arrivesBelow ? more : "") new") }
    // In an open record the key does not go there.
    return parts.joined(separator: " · ")
      + KeyText(state.settings.keymap, state.contexts).hint(.rowNewest, "goes there")
  }

  private var positionLine: StyledLine {
    // A line for typing, a menu or a question is about what is below it.
    let top = state.layers.reversed().lazy.map(\.component)
      .first { $0.position != nil || ($0 as? any ListLayer) != nil }
    if let position = top?.position {
      return StyledLine(
        words(position.word, number: "\(position.number)", of: position.count) + " ", .muted)
    }
    let layer = top as? any ListLayer
    let (list, content) = layer.map { ($0.list, $0.content) } ?? state.listInFront
    var isOnPlaceholder = false
    if case .row(let id)? = list.cursor { isOnPlaceholder = ListScreen.isPlaceholder(id) }
    let loaded = isOnPlaceholder ? nil : list.rowNumber(in: content).map(content.storedRowNumber)
    // A layer may have rows of its own.
    let shown = state.layers.allSatisfy { $0.listed == nil } ? state.tabs.frontList : nil
    let known = shown?.numberInAll(ofLoaded: loaded ?? 1)
    let isSought = shown != nil && isCursorSought
    let number = isSought ? "-" : loaded.map { String(known?.number ?? $0) } ?? "-"
    let count = known?.total ?? content.storedRowCount
    // The root is no row of its tree.
    if state.tabs.front == .tree, layer == nil, loaded == nil, !isOnPlaceholder, count > 0 {
      return StyledLine((count == 1 ? "1 row" : "\(count) rows") + " ", .muted)
    }
    let isPart = known == nil && shown.map { $0.filtering.filter == nil && !$0.isComplete } == true
    let cells = state.layers.isEmpty && shown?.look.cell != nil ? "cells · " : ""
    let position =
      cells
      + words(
        layer?.rowWord ?? "row", number: number, of: count,
        isOpen: known == nil && shown?.isFilterSearching == true)
      + (isPart && !layout.isCompact ? " loaded" : "")
    guard list.isFollowing else { return StyledLine(position + " ", .muted) }
    return StyledLine(followingText(shown) + position + " ", .muted)
  }

  /// That the list follows the newest row; away from that row, the key that leads to where it does.
  private func followingText(_ screen: ListScreen?) -> String {
    let keys = KeyText.listKeys(state)
    guard let screen, !screen.followsNow else {
      return keys.keys(.followToggle).map { "\($0) following · " } ?? "following · "
    }
    if screen.followsAtTop { return "follows at the top · " }
    return keys.keys(.rowLast).map { "\($0) follows · " } ?? "follows at the end · "
  }
}

extension AppScreen {
  /// The number of a row and of how many; with a plus if there may be more.
  private func words(_ word: String, number: String, of count: Int, isOpen: Bool = false) -> String
  {
    let all = isOpen ? "\(count)+" : "\(count)"
    return layout.isCompact ? "\(number)/\(all)" : "\(word) \(number) of \(all)"
  }
}

extension ListScreen {
  /// Whether rows that the filter has not seen yet may fit it.
  fileprivate var isFilterSearching: Bool { filtering.filter != nil && !reach.isExhausted }

  /// The number of rows shown, and of how many.
  fileprivate func countText(_ origin: OriginFacts?) -> String {
    let bareCountText = bareCountText(origin)
    guard filtering.filter == nil, let filterPlace = filtering.filterPlace else {
      return bareCountText
    }
    // The view itself has a condition.
    switch filterPlace {
    case .server: return bareCountText + ", by the server"
    case .both: return bareCountText + ", in part by the server"
    case .here: return bareCountText + ", filtered here"
    }
  }

  private func bareCountText(_ origin: OriginFacts?) -> String {
    // Rows being composed or sent are not in the collection yet.
    let shown = content.storedRowCount - passing.rows.count
    if filtering.filter != nil, let filterPlace = filtering.filterPlace {
      let rows =
        "\(shown)\(reach.isExhausted ? "" : "+") \(shown == 1 && reach.isExhausted ? "row" : "rows")"
      switch filterPlace {
      case .server: return rows + " by the server"
      case .both: return rows + " by the server and here"
      // Of what was searched by the condition, only that is counted which meets it.
      case .here:
        return rows
          + (reach.isExhausted
            ? " here, of all"
            : " here, of \(max(reach.loadedCount + filtering.searchedCount, shown)) loaded")
      }
    }
    if filtering.filter != nil {
      // A row of another source may be shown before its own place is loaded.
      // A row that the filter hides changes no loaded row, but the number of all.
      let searched = reach.loadedCount + filtering.searchedCount
      let count = reach.isExhausted ? reach.total ?? searched : searched
      return "\(shown) of \(max(count, shown))\(reach.isExhausted ? "" : "+") rows"
    }
    if reach.paging == .exhausted, !reach.isAway { return shown == 1 ? "1 row" : "\(shown) rows" }
    // Rows of other sources may be shown among them.
    if let total = reach.total, total > shown { return "\(shown) of \(total) rows" }
    // The last row says that it is the end of that.
    if isAllOfCache(origin), !reach.isAway {
      return "\(shown) \(shown == 1 ? "row" : "rows") kept here"
    }
    let sides = reach.isAway && reach.paging != .exhausted ? "above and below" : moreSide
    return "\(shown) loaded, more \(sides)"
  }

  /// The side of the rows that are not loaded, if they are at one end.
  private var moreSide: String {
    isLiveAtBottom != reach.isAway ? "above" : "below"
  }
}
