import RunnelBase
import RunnelTerminal

// Mouse input: the wheel scrolls; a click moves the cursor, folds a section or changes the view; a
// double click opens. Drags are in `MouseDrag`.

/// Handles mouse events.
enum MouseInput {
  /// The number of lines that a turn of the wheel scrolls.
  private static let wheelLines = 3

  static func handleMouse(_ state: inout AppState, _ mouse: MouseEvent) {
    state.input.awaited = nil
    if state.layers.isEmpty, scrollsDetail(&state, mouse) { return }
    switch mouse.kind {
    case .wheelUp: perform(&state, .scrollUp, count: wheelLines, inListBehind: true)
    case .wheelDown: perform(&state, .scrollDown, count: wheelLines, inListBehind: true)
    case .wheelLeft: perform(&state, .scrollLeft, count: nil, inListBehind: true)
    case .wheelRight: perform(&state, .scrollRight, count: nil, inListBehind: true)
    case .press where mouse.button == .left:
      if !MouseDrag.beginDrag(&state, at: mouse.position) { click(&state, mouse) }
    case .drag where mouse.button == .left: MouseDrag.goOnWithDrag(&state, to: mouse.position)
    case .release: MouseDrag.endDrag(&state)
    case .press, .drag: break
    }
  }

  /// Performs an action of the wheel in the visible list, even if that list is behind a line or
  /// bar.
  private static func perform(
    _ state: inout AppState, _ action: ActionID, count: Int?, inListBehind: Bool
  ) {
    state.input.matcher.reset()
    guard let top = state.layers.last?.component else { return state.perform(action, count: count) }
    switch top.extent {
    case .page: if !top.holdsInput { state.perform(action, count: count) }
    case .line, .bar:
      ListScreen.forgetAwaitedRow(&state)
      Commands.command(action, in: [.list])?.run(&state, count)
    case .dialog:
      if top.choices == nil { return }
      state.perform(action == .scrollUp ? .inputPrevious : .inputNext, count: nil)
    }
  }

  private static func click(_ state: inout AppState, _ mouse: MouseEvent) {
    state.input.matcher.reset()
    let count = state.input.clicks.press(mouse, now: state.now)
    if clickInMenu(&state, mouse.position, count: count) { return }
    if case .question(let question)? = state.layers.last {
      guard let answer = question.answer(at: mouse.position, rect: state.layout.overlay) else {
        return
      }
      return state.perform(answer, count: nil)
    }
    guard state.isPageInFront else { return }
    if mouse.position.row == state.layout.tabs.row, !state.layout.isCompact {
      guard let tab = TabBar(state).tab(atColumn: mouse.position.column) else { return }
      return Input.change(&state, to: state.tabs.tab(atPosition: tab))
    }
    if state.layers.isEmpty, clickPane(&state, at: mouse.position) { return }
    guard let item = item(state, at: mouse.position) else { return }
    moveCursor(&state, to: item)
    switch item {
    case .header where state.layers.isEmpty && state.tabs.front != .tree:
      if count == 1 { state.perform(.foldToggle, count: nil) }
    case .row where count == 2: state.perform(.rowOpen, count: nil)
    case .header, .row: break
    }
  }

  /// Scrolls the detail pane by the wheel; returns false if the pointer is elsewhere.
  private static func scrollsDetail(_ state: inout AppState, _ mouse: MouseEvent) -> Bool {
    guard state.layout.detail.contains(mouse.position) else { return false }
    switch mouse.kind {
    case .wheelUp: Panes.scrollDetail(&state, by: -wheelLines)
    case .wheelDown: Panes.scrollDetail(&state, by: wheelLines)
    default: return false
    }
    return true
  }

  /// Gives the keys to the clicked pane, and goes to a clicked view; returns false for the list.
  private static func clickPane(_ state: inout AppState, at position: Position) -> Bool {
    if state.layout.detail.contains(position) {
      Panes.focusPane(&state, .detail)
    } else if state.layout.views.contains(position) {
      Panes.focusPane(&state, .views)
      let item = ListWidget.item(
        at: position, Panes.viewsContent(state), state.panes.views, rect: state.layout.views)
      guard let item else { return true }
      state.panes.views.moveTo(
        item, in: Panes.viewsContent(state), height: state.layout.views.height)
      Panes.openInViews(&state)
    } else {
      if state.focus != .list { Panes.focusPane(&state, .list) }
      return false
    }
    return true
  }

  /// Selects the clicked choice of a menu or the palette, and runs it on a double click; returns
  /// false if neither is in front.
  private static func clickInMenu(_ state: inout AppState, _ position: Position, count: Int) -> Bool
  {
    guard let top = state.layers.last?.component, var choices = top.choices else { return false }
    let rows = top.choicesArea(in: state.layout)
    guard rows.contains(position),
      choices.select(line: position.row - rows.row, height: rows.height)
    else { return true }
    state.changeTop { component, state in
      component.choices = choices
      component.selectionChanged(in: &state)
    }
    if count == 2 { state.perform(.inputAccept, count: nil) }
    return true
  }

  static func item(_ state: AppState, at position: Position) -> ListItem? {
    let (list, content) = state.listInFront
    let isView = state.layers.allSatisfy { $0.component.showsListBelow }
    return ListWidget.item(
      at: position, content, list, tallRows: isView ? tallRows(state) : nil,
      rect: listArea(state))
  }

  /// The heights of the rows of the list in front, if rows take several lines.
  private static func tallRows(_ state: AppState) -> TallRows? {
    RowLines.tallRows(state) { id, width in
      guard let screen = state.tabs.frontList, let record = screen.records[id] else {
        return [StyledLine()]
      }
      return RowText.rowText(state, of: screen, .unicode)
        .lines(for: record, state: RowText.State(), width: width)
    }
  }

  static func moveCursor(_ state: inout AppState, to item: ListItem) {
    state.withListInFront { list, content, height in
      _ = list.moveTo(item, in: content, height: height)
    }
  }

  /// The area of the list that the keys move through.
  private static func listArea(_ state: AppState) -> Rect {
    if case .help? = state.layers.last {
      HelpDrawing.list(in: state.layout.body)
    } else {
      state.layout.body
    }
  }
}
