import RunnelBase
import RunnelTerminal

// What the mouse does: the wheel scrolls, a click moves the cursor, folds or changes the view, a
// double click opens. What a drag does is in AppState+Drag.swift.

extension AppState {
  /// The lines that one turn of the wheel scrolls.
  private static let wheelLines = 3

  mutating func handle(_ mouse: MouseEvent) {
    awaited = nil
    if layers.isEmpty, scrollsDetail(mouse) { return }
    switch mouse.kind {
    case .wheelUp: perform(.scrollUp, count: AppState.wheelLines, inListBehind: true)
    case .wheelDown: perform(.scrollDown, count: AppState.wheelLines, inListBehind: true)
    case .wheelLeft: perform(.scrollLeft, count: nil, inListBehind: true)
    case .wheelRight: perform(.scrollRight, count: nil, inListBehind: true)
    case .press where mouse.button == .left:
      if !beginDrag(at: mouse.position) { click(mouse) }
    case .drag where mouse.button == .left: goOnWithDrag(to: mouse.position)
    case .release: endDrag()
    case .press, .drag: break
    }
  }

  /// Scrolls the list that is seen: behind the line in which a record is composed, too.
  private mutating func perform(_ action: ActionID, count: Int?, inListBehind: Bool) {
    matcher.reset()
    switch layers.last {
    case .form, .confirm: return
    case .palette, .menu: perform(action == .scrollUp ? .inputPrevious : .inputNext, count: nil)
    case .record(let screen) where screen.edit != nil: return
    case .compose, .filter, .search:
      forgetAwaitedRow()
      Commands.command(action, in: [.list])?.run(&self, count)
    case .record, .help, .debug, .history, .compare, .queue, nil: perform(action, count: count)
    }
  }

  private mutating func click(_ mouse: MouseEvent) {
    matcher.reset()
    let count = clicks.press(mouse, now: now)
    if clickInMenu(mouse.position, count: count) { return }
    if case .confirm(let question)? = layers.last {
      guard let answer = question.answer(at: mouse.position, rect: layout.overlay) else { return }
      return perform(answer, count: nil)
    }
    guard canBeClicked else { return }
    if mouse.position.row == layout.tabs.row, !layout.isCompact {
      guard
        let tab = TabBar(names: tabs, unreadCounts: unreadCounts).tab(
          atColumn: mouse.position.column)
      else { return }
      return change(to: tab)
    }
    if layers.isEmpty, clickPane(at: mouse.position) { return }
    guard let item = item(at: mouse.position) else { return }
    moveCursor(to: item)
    switch item {
    case .header where layers.isEmpty && !isTree:
      if count == 1 { perform(.foldToggle, count: nil) }
    case .row where count == 2: perform(.rowOpen, count: nil)
    case .header, .row: break
    }
  }

  /// Scrolls the detail pane by the wheel; false if it is not turned there.
  private mutating func scrollsDetail(_ mouse: MouseEvent) -> Bool {
    guard layout.detail.contains(mouse.position) else { return false }
    switch mouse.kind {
    case .wheelUp: scrollDetail(by: -AppState.wheelLines)
    case .wheelDown: scrollDetail(by: AppState.wheelLines)
    default: return false
    }
    return true
  }

  /// Gives the keys to the pane that was clicked, and goes to the view there; false if it is the list.
  private mutating func clickPane(at position: Position) -> Bool {
    if layout.detail.contains(position) {
      focusPane(.detail)
    } else if layout.views.contains(position) {
      focusPane(.views)
      let item = ListWidget.item(at: position, viewsContent, viewsList, rect: layout.views)
      guard let item else { return true }
      viewsList.moveTo(item, in: viewsContent, height: layout.views.height)
      openInViews()
    } else {
      if focus != .list { focusPane(.list) }
      return false
    }
    return true
  }

  /// Selects what is clicked in a menu or the palette, and chooses it if it is clicked twice; false if
  /// neither is in front.
  private mutating func clickInMenu(_ position: Position, count: Int) -> Bool {
    switch layers.last {
    case .palette(var screen):
      let rows = PaletteDrawing.rows(of: screen, in: layout.panes)
      guard rows.contains(position),
        screen.menu.select(line: position.row - rows.row, height: rows.height)
      else { return true }
      layers[layers.count - 1] = .palette(screen)
      tryTheme()
    case .menu(var screen):
      let rows = MenuList.rows(inBox: MenuDrawing.box(of: screen, in: layout.overlay))
      guard rows.contains(position),
        screen.menu.select(line: position.row - rows.row, height: rows.height)
      else { return true }
      layers[layers.count - 1] = .menu(screen)
    default: return false
    }
    if count == 2 { perform(.inputAccept, count: nil) }
    return true
  }

  /// True if a click may move the cursor: nothing is being typed or asked.
  private var canBeClicked: Bool {
    switch layers.last {
    case .form, .confirm, .compose, .filter, .search, .palette, .menu: false
    case .record(let screen): screen.edit == nil
    case .help, .debug, .history, .compare, .queue, nil: true
    }
  }

  func item(at position: Position) -> ListItem? {
    let (list, content) = listInFront
    return ListWidget.item(at: position, content, list, rect: listArea)
  }

  mutating func moveCursor(to item: ListItem) {
    withListInFront { list, content, height in
      _ = list.moveTo(item, in: content, height: height)
    }
  }

  /// Where the list is drawn that keys move through.
  private var listArea: Rect {
    if case .help? = layers.last { HelpDrawing.list(in: layout.body) } else { layout.body }
  }

  /// The list that keys move through.
  var listInFront: (ListState, ListContent) {
    // A line that is typed, a menu or the palette is about the list behind it.
    let layer = layers.last {
      switch $0 {
      case .search, .palette, .menu: false
      default: true
      }
    }
    if let layer = layer?.listed { return (layer.list, layer.content) }
    return isTree ? (tree.list, tree.content) : (lists[active].list, lists[active].content)
  }
}
