import RunnelBase
import RunnelTerminal
import RunnelTree

// Values that do not fit into a line: texts in full, and objects as records of their own.

/// A value of a record that is read in full.
struct Reading: Hashable, Sendable {
  /// The field, relative to the record.
  let field: Path
  /// The line at the top of the screen.
  var top = 0
  /// Whether the code points of the text are listed instead.
  var showsCodePoints = false
}

extension AppState {
  /// The columns of a record that are not the value's: its name, its kind, and what is between.
  private static let columnsBesideValue = 34

  /// Opens what is under the cursor of a record: an object, a long text, else the field to be edited.
  ///
  /// - Returns: true if there was something to open.
  @discardableResult
  mutating func openField(of screen: RecordScreen, isGoingIn: Bool) -> Bool {
    guard let field = screen.cursorField, opensField(of: screen, isGoingIn: isGoingIn) else {
      return false
    }
    if field.childCount != nil {
      open(record: Path(unchecked: screen.path.keys + field.path.keys), nil)
      return true
    }
    var screen = screen
    screen.reading = Reading(field: field.path)
    layers[layers.count - 1] = .record(screen)
    return true
  }

  /// True if there is something to open under the cursor of a record: who goes in reads all values in
  /// full, not only those that do not fit.
  func opensField(of screen: RecordScreen, isGoingIn: Bool) -> Bool {
    guard let field = screen.cursorField else { return false }
    if field.childCount != nil { return true }
    return field.leaf.map { isGoingIn || isReadOnly || isLong($0) } ?? false
  }

  private func isLong(_ leaf: Leaf) -> Bool {
    guard case .string(let text) = leaf else { return false }
    let room = layout.body.width - AppState.columnsBesideValue
    return text.utf8.count > max(room, 0)
      && (text.contains(where: \.isNewline) || text.utf8.count > 8 * max(room, 1)
        || CellWidth.width(of: text) > room)
  }

  /// Shows the code points of the text that is read, or the text again.
  mutating func toggleCodePoints() {
    changeReading { reading in
      reading.showsCodePoints.toggle()
      reading.top = 0
    }
  }

  /// Edits the field that is read.
  mutating func editReadField() {
    closeReading()
    editField()
  }

  mutating func closeReading() {
    guard case .record(var screen)? = layers.last else { return }
    screen.reading = nil
    layers[layers.count - 1] = .record(screen)
  }

  /// Scrolls the value that is read by lines, up if negative.
  mutating func scrollReading(by lines: Int) {
    guard case .record(let screen)? = layers.last, let reading = screen.reading else { return }
    let text = ReadingText(reading, of: screen, local: local)
    let most = max(text.lines(width: layout.body.width - 4).count + 2 - height, 0)
    changeReading { $0.top = min(max($0.top + min(max(lines, -most), most), 0), most) }
  }

  private mutating func changeReading(_ body: (inout Reading) -> Void) {
    guard case .record(var screen)? = layers.last, var reading = screen.reading else { return }
    body(&reading)
    screen.reading = reading
    layers[layers.count - 1] = .record(screen)
  }
}
