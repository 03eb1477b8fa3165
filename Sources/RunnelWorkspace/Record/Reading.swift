import RunnelBase
import RunnelTerminal
package import RunnelTree

// Values that do not fit into a line: texts are shown in full, and objects as records.

/// A value of a record that is shown in full.
package struct Reading: Hashable, Sendable {
  /// The field, relative to the record.
  package let field: Path
  /// The index of the first visible line.
  var top = 0
  /// Whether the code points of the text are shown instead.
  var showsCodePoints = false
}

extension Reading {
  /// The columns of a record's line besides the value: the name, the kind, and blanks.
  private static let columnsBesideValue = 34

  /// Opens the field under the cursor of a record: an object as a record, a long text in full.
  ///
  /// - Returns: True if there was something to open; otherwise the field is to be edited.
  @discardableResult
  static func openField(_ state: inout AppState, of screen: RecordScreen, isGoingIn: Bool) -> Bool {
    guard let field = screen.cursorField, opensField(state, of: screen, isGoingIn: isGoingIn) else {
      return false
    }
    if field.childCount != nil {
      ListScreen.open(&state, record: Path(unchecked: screen.path.keys + field.path.keys), nil)
      return true
    }
    var screen = screen
    screen.reading = Reading(field: field.path)
    state.layers[state.layers.count - 1] = .record(screen)
    return true
  }

  /// Returns whether the field under the cursor of a record can be opened.
  ///
  /// The command that goes in opens all values in full, not only long ones.
  static func opensField(_ state: AppState, of screen: RecordScreen, isGoingIn: Bool) -> Bool {
    guard let field = screen.cursorField else { return false }
    if field.childCount != nil { return true }
    return field.leaf.map { isGoingIn || state.database.isReadOnly || isLong(state, $0) } ?? false
  }

  private static func isLong(_ state: AppState, _ leaf: Leaf) -> Bool {
    guard case .string(let text) = leaf else { return false }
    let room = state.layout.body.width - columnsBesideValue
    return text.utf8.count > max(room, 0)
      && (text.contains(where: \.isNewline) || text.utf8.count > 8 * max(room, 1)
        || CellWidth.width(of: text) > room)
  }

  /// Shows the code points of the text, or the text again.
  static func toggleCodePoints(_ state: inout AppState) {
    changeReading(&state) { reading in
      reading.showsCodePoints.toggle()
      reading.top = 0
    }
  }

  /// Edits the field that is shown in full.
  static func editReadField(_ state: inout AppState) {
    closeReading(&state)
    RecordScreen.editField(&state)
  }

  static func closeReading(_ state: inout AppState) {
    guard case .record(var screen)? = state.layers.last else { return }
    screen.reading = nil
    state.layers[state.layers.count - 1] = .record(screen)
  }

  /// Scrolls the value shown in full by lines, up if negative.
  static func scrollReading(_ state: inout AppState, by lines: Int) {
    guard case .record(let screen)? = state.layers.last, let reading = screen.reading else {
      return
    }
    let text = ReadingText(reading, of: screen, local: state.settings.local)
    let most = max(text.lines(width: state.layout.body.width - 4).count + 2 - state.height, 0)
    changeReading(&state) { $0.top = min(max($0.top + min(max(lines, -most), most), 0), most) }
  }

  private static func changeReading(_ state: inout AppState, _ body: (inout Reading) -> Void) {
    guard case .record(var screen)? = state.layers.last, var reading = screen.reading else {
      return
    }
    body(&reading)
    screen.reading = reading
    state.layers[state.layers.count - 1] = .record(screen)
  }
}
