import RunnelBase
import RunnelTerminal

// What is done with the mouse while its button is down: rows are marked, or panes made wider.

/// A mouse drag, from where the button went down.
enum MouseDrag: Hashable, Sendable {
  /// The rows from one on are marked, once the pointer comes to another one.
  case rows(from: String, isMarking: Bool)
  /// The line at the right of the views is moved.
  case views
  /// The line at the left of the detail is moved.
  case detail
}

extension MouseDrag {
  /// Takes note of where the button went down; true on the line between two panes, which is no click.
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

  /// The pointer came to another cell with the button down.
  static func goOnWithDrag(_ state: inout AppState, to position: Position) {
    guard state.layers.isEmpty else { return state.input.drag = nil }
    switch state.input.drag {
    case .rows(let id, let isMarking): drag(&state, from: id, to: position, isMarking: isMarking)
    case .views:
      let most = state.size.columns / 3
      state.panes.choices[state.tabs.index, default: PaneChoice()].viewsColumns =
        min(max(position.column + 1, PaneArrangement.viewsColumnsMin), most)
      useColumnsOfMouse(&state)
    case .detail:
      let most = state.size.columns - state.layout.views.width - PaneArrangement.listColumnsMin
      state.panes.choices[state.tabs.index, default: PaneChoice()].detailColumns =
        min(max(state.size.columns - position.column, PaneArrangement.detailColumnsMin), most)
      useColumnsOfMouse(&state)
    case nil: break
    }
  }

  private static func useColumnsOfMouse(_ state: inout AppState) {
    state.paneSize = .normal
    FilterScreen.fitList(&state)
  }

  /// Moves the cursor to the row under the pointer, or beyond the edge by as many rows as the pointer is;
  /// what lies between is marked as with `mark.range`.
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
    // A range that was begun by a key goes on.
    if isMarking || state.marked.rangeStart != nil || state.marked.list.cursor == .row(id) {
      return
    }
    state.marked.rangeStart = id
    state.input.drag = .rows(from: id, isMarking: true)
  }

  /// The button went up: what was drawn over stays marked.
  static func endDrag(_ state: inout AppState) {
    if case .rows(_, isMarking: true)? = state.input.drag { Marking.endRange(&state) }
    state.input.drag = nil
  }
}
