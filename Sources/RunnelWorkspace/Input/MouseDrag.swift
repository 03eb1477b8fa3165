import RunnelBase
import RunnelTerminal

// Mouse drags: they mark rows, or resize panes.

/// A mouse drag that is under way.
enum MouseDrag: Hashable, Sendable {
  /// A drag over rows: it marks rows from the first one on, once the pointer reaches another row.
  case rows(from: String, isMarking: Bool)
  /// A drag of the line at the right of the views pane.
  case views
  /// A drag of the line at the left of the detail pane.
  case detail
}

extension MouseDrag {
  /// Begins a drag where the button went down; returns true on the line between two panes, where a
  /// press is no click.
  static func beginDrag(_ state: inout AppState, at position: Position) -> Bool {
    state.input.drag = nil
    guard state.layers.isEmpty else { return false }
    if state.layout.views.contains(position), position.column == state.layout.views.endColumn - 1,
      !state.layout.body.isEmpty
    {
      state.input.drag = .views
    } else if state.layout.detail.contains(position), position.column == state.layout.detail.column,
      !state.layout.body.isEmpty
    {
      state.input.drag = .detail
    } else if case .row(let id)? = MouseInput.item(state, at: position), state.marked.isMarkable(id)
    {
      state.input.drag = .rows(from: id, isMarking: false)
      return false
    }
    return state.input.drag != nil
  }

  /// Continues the drag after the pointer moved to another cell with the button down.
  static func goOnWithDrag(_ state: inout AppState, to position: Position) {
    guard state.layers.isEmpty else { return state.input.drag = nil }
    switch state.input.drag {
    case .rows(let id, let isMarking): drag(&state, from: id, to: position, isMarking: isMarking)
    case .views:
      let most = state.size.columns / 3
      state.panes.choices[state.tabs.front, default: PaneChoice()].viewsColumns =
        min(max(position.column + 1, PaneArrangement.viewsColumnsMin), most)
      useColumnsOfMouse(&state)
    case .detail:
      let most = state.size.columns - state.layout.views.width - PaneArrangement.listColumnsMin
      state.panes.choices[state.tabs.front, default: PaneChoice()].detailColumns =
        min(max(state.size.columns - position.column, PaneArrangement.detailColumnsMin), most)
      useColumnsOfMouse(&state)
    case nil: break
    }
  }

  private static func useColumnsOfMouse(_ state: inout AppState) {
    state.paneSize = .normal
    FilterScreen.fitList(&state)
  }

  /// Moves the cursor to the row under the pointer.
  ///
  /// Above or below the list, it moves by as many rows as the pointer is away from the list. The
  /// rows between are marked as with `mark.range`.
  private static func drag(
    _ state: inout AppState, from id: String, to position: Position, isMarking: Bool
  ) {
    let area = state.layout.body
    if position.row < area.row {
      state.withList { list, content, height in
        list.move(by: position.row - area.row, in: content, height: height)
      }
    } else if position.row >= area.endRow {
      state.withList { list, content, height in
        list.move(by: position.row - area.endRow + 1, in: content, height: height)
      }
    } else if let item = MouseInput.item(
      state, at: Position(row: position.row, column: area.column))
    {
      MouseInput.moveCursor(&state, to: item)
    }
    // A range that a key began is continued.
    if isMarking || state.marked.rangeStart != nil || state.marked.list.cursor == .row(id) {
      return
    }
    state.marked.rangeStart = id
    state.input.drag = .rows(from: id, isMarking: true)
  }

  /// Ends the drag after the button went up; the rows of the drag stay marked.
  static func endDrag(_ state: inout AppState) {
    if case .rows(_, isMarking: true)? = state.input.drag { Marking.endRange(&state) }
    state.input.drag = nil
  }
}
