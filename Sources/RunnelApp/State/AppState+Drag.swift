import RunnelBase
import RunnelTerminal

// What is done with the mouse while its button is down: rows are marked, or panes made wider.

/// What is drawn with the mouse, from where its button went down.
enum MouseDrag: Hashable, Sendable {
  /// The rows from one on are marked, once the pointer comes to another one.
  case rows(from: String, isMarking: Bool)
  /// The line at the right of the views is moved.
  case views
  /// The line at the left of the detail is moved.
  case detail
}

extension AppState {
  /// Takes note of where the button went down; true on the line between two panes, which is no click.
  mutating func beginDrag(at position: Position) -> Bool {
    drag = nil
    guard layers.isEmpty else { return false }
    if layout.views.contains(position), position.column == layout.views.endColumn - 1,
      !layout.body.isEmpty
    {
      drag = .views
    } else if layout.detail.contains(position), position.column == layout.detail.column,
      !layout.body.isEmpty
    {
      drag = .detail
    } else if case .row(let id)? = item(at: position), marked.isMarkable(id) {
      drag = .rows(from: id, isMarking: false)
      return false
    }
    return drag != nil
  }

  /// The pointer came to another cell with the button down.
  mutating func goOnWithDrag(to position: Position) {
    guard layers.isEmpty else { return drag = nil }
    switch drag {
    case .rows(let id, let isMarking): drag(from: id, to: position, isMarking: isMarking)
    case .views:
      let most = size.columns / 3
      paneChoices[active, default: PaneChoice()].viewsColumns =
        min(max(position.column + 1, PaneArrangement.viewsColumnsMin), most)
      useColumnsOfMouse()
    case .detail:
      let most = size.columns - layout.views.width - PaneArrangement.listColumnsMin
      paneChoices[active, default: PaneChoice()].detailColumns =
        min(max(size.columns - position.column, PaneArrangement.detailColumnsMin), most)
      useColumnsOfMouse()
    case nil: break
    }
  }

  private mutating func useColumnsOfMouse() {
    paneSize = .normal
    fitList()
  }

  /// Moves the cursor to the row under the pointer, or beyond the edge by as many rows as the pointer is;
  /// what lies between is marked as with `mark.range`.
  private mutating func drag(from id: String, to position: Position, isMarking: Bool) {
    let area = layout.body
    if position.row < area.row {
      withList { list, content, height in
        list.move(by: position.row - area.row, in: content, height: height)
      }
    } else if position.row >= area.endRow {
      withList { list, content, height in
        list.move(by: position.row - area.endRow + 1, in: content, height: height)
      }
    } else if let item = item(at: Position(row: position.row, column: area.column)) {
      moveCursor(to: item)
    }
    // A range that was begun by a key goes on.
    if isMarking || marked.rangeStart != nil || marked.list.cursor == .row(id) { return }
    marked.rangeStart = id
    drag = .rows(from: id, isMarking: true)
  }

  /// The button went up: what was drawn over stays marked.
  mutating func endDrag() {
    if case .rows(_, isMarking: true)? = drag { endRange() }
    drag = nil
  }
}
