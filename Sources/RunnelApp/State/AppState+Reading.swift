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

extension KeymapContext {
  /// A value that is read in full.
  static let value = KeymapContext("value")
}

extension ActionID {
  static let valueCodePoints = ActionID("value.codePoints")
}

extension AppKeymap {
  /// The keys of a value that is read in full.
  static let value: [Row] = [
    (["c"], .valueCodePoints, "the text, or its code points one by one"),
    (["e", "F2"], .recordEdit, "edit the field in place"),
    (["h", "Left"], .stepBack, "back to the record"),
  ]
}

extension AppState {
  /// The columns of a record that are not the value's: its name, its kind, and what is between.
  private static let columnsBesideValue = 34

  /// Opens what is under the cursor of a record: an object, a long text, else the field to be edited.
  ///
  /// - Returns: true if there was something to open.
  mutating func openField(of screen: RecordScreen, _ action: ActionID) -> Bool {
    guard let field = screen.cursorField, opensField(of: screen, action) else { return false }
    if field.childCount != nil {
      open(record: Path(unchecked: screen.path.keys + field.path.keys), nil)
      return true
    }
    var screen = screen
    screen.reading = Reading(field: field.path)
    layers[layers.count - 1] = .record(screen)
    return true
  }

  /// True if there is something to open under the cursor of a record.
  func opensField(of screen: RecordScreen, _ action: ActionID) -> Bool {
    guard let field = screen.cursorField else { return false }
    if field.childCount != nil { return true }
    return field.leaf.map { action == .rowIn || isReadOnly || isLong($0) } ?? false
  }

  private func isLong(_ leaf: Leaf) -> Bool {
    guard case .string(let text) = leaf else { return false }
    let room = layout.body.width - AppState.columnsBesideValue
    return text.utf8.count > max(room, 0)
      && (text.contains(where: \.isNewline) || text.utf8.count > 8 * max(room, 1)
        || CellWidth.width(of: text) > room)
  }

  /// Does what is done with a value that is read in full.
  mutating func performInReading(_ action: ActionID, count: Int?) {
    guard case .record(var screen)? = layers.last, var reading = screen.reading else { return }
    let height = height
    switch action {
    case .stepBack, .rowOut: return closeReading()
    case .recordEdit:
      closeReading()
      return perform(.recordEdit, count: nil)
    case .valueCodePoints:
      reading.showsCodePoints.toggle()
      reading.top = 0
    default:
      guard let lines = AppState.scrolledLines(action, count, height: height) else {
        return say(.info, phrase("this is one text", .rowDown, "scrolls it"))
      }
      let text = ReadingText(reading, of: screen, local: local)
      let most = max(text.lines(width: layout.body.width - 4).count + 2 - height, 0)
      reading.top = min(max(reading.top + min(max(lines, -most), most), 0), most)
    }
    screen.reading = reading
    layers[layers.count - 1] = .record(screen)
  }

  private mutating func closeReading() {
    guard case .record(var screen)? = layers.last else { return }
    screen.reading = nil
    layers[layers.count - 1] = .record(screen)
  }

  /// How many lines an action scrolls a text; nil if it is no movement.
  static func scrolledLines(_ action: ActionID, _ count: Int?, height: Int) -> Int? {
    switch action {
    case .rowDown, .scrollDown: count ?? 1
    case .rowUp, .scrollUp: -(count ?? 1)
    case .pageHalfDown: max(height / 2, 1)
    case .pageHalfUp: -max(height / 2, 1)
    case .pageDown: max(height - 1, 1) * (count ?? 1)
    case .pageUp: -max(height - 1, 1) * (count ?? 1)
    case .rowFirst: -Int(Int32.max)
    case .rowLast: Int(Int32.max)
    default: nil
    }
  }
}
