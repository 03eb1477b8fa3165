import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Draws the text field of a cell that is edited in its list, with the kind of value behind the text, and a line
/// beside it with the error or the choices.
struct CellDrawing {
  /// The least width of the text field, as far as the list has room.
  private static let widthMin = 16
  /// The blanks between the text field and the line of notes, and after that line.
  private static let margin = 1

  private let input: FieldInput
  private let glyphs: Glyphs
  private let local: LocalTime
  /// The area of the list.
  private let body: Rect
  /// The area of the text field.
  private let field: Rect
  /// The kind of value, in the line of the text field, so that other rows stay visible; empty without room.
  private let kind: String

  /// Finds the cell on the screen; nil while nothing is edited.
  ///
  /// If others removed the row meanwhile, the text field takes the last line of the list.
  init?(_ record: RecordScreen, _ screen: AppScreen) {
    guard let edit = record.edit, !screen.layout.body.isEmpty else { return nil }
    (input, glyphs, body) = (edit.input, screen.glyphs, screen.layout.body)
    local = screen.state.settings.local
    let line = CellDrawing.line(of: Record.id(of: record.path), screen) ?? body.endRow - 1
    let cell = CellDrawing.columns(screen)
    let text = CellWidth.width(of: edit.input.editor.text) + 1
    let labels = CellDrawing.hasNote(input) ? [] : [input.label(local), input.label]
    let room = body.width - text - CellDrawing.margin
    kind = labels.first { CellWidth.width(of: $0) <= room } ?? ""
    let needed = text + (kind.isEmpty ? 0 : CellWidth.width(of: kind) + CellDrawing.margin)
    let width = min(max(cell?.width ?? 0, needed, CellDrawing.widthMin), body.width)
    let start = min(max(cell?.start ?? body.column, body.column), body.endColumn - width)
    field = Rect(row: line, column: start, height: 1, width: width)
  }

  /// The line of the screen on which a row of the list begins.
  private static func line(of row: String, _ screen: AppScreen) -> Int? {
    // The list has the keys again without the layers over it.
    var list = screen.state
    list.layers = []
    let body = screen.layout.body
    return (body.row..<body.endRow).first { line in
      MouseInput.item(list, at: Position(row: line, column: body.column)) == .row(row)
    }
  }

  /// The first column of the cell on the screen, and the width of the cell.
  private static func columns(_ screen: AppScreen) -> (start: Int, width: Int)? {
    guard let list = screen.state.tabs.frontList else { return nil }
    let body = screen.layout.body
    let source = list.definition.source
    let offset = list.list.horizontalOffset
    let titles = RowText.rowText(screen.state, of: list, screen.glyphs).titles(
      width: max(body.width - 1, 0) + offset, orderedBy: source.order,
      isDescending: source.isDescending)
    // A row begins beside the sign of the cursor.
    return titles.first { $0.index == list.look.cell }
      .map { (body.column + 1 + $0.start - offset, $0.width) }
  }

  /// Whether there is a line beside the text field.
  private static func hasNote(_ input: FieldInput) -> Bool {
    input.error != nil || !input.offers.isEmpty
  }

  /// The words beside the text field.
  private var note: StyledLine {
    if let error = input.error { return StyledLine("\(glyphs.conflict) \(error)", .error) }
    return StyledLine(input.offersText, .muted)
  }

  /// The area of the line beside the text field: below it, or above it on the last line; empty if there is none.
  private var noteArea: Rect {
    guard CellDrawing.hasNote(input) else { return Rect(row: 0, column: 0, height: 0, width: 0) }
    let row = field.row + 1 < body.endRow ? field.row + 1 : field.row - 1
    let width = min(note.width + 2 * CellDrawing.margin, body.width)
    let start = min(field.column, body.endColumn - width)
    return Rect(row: row, column: start, height: body.height > 1 ? 1 : 0, width: width)
  }

  /// The error, if there is no room for it beside the text field; otherwise nil.
  var cutError: String? {
    noteArea.isEmpty || note.width + 2 * CellDrawing.margin > body.width ? input.error : nil
  }

  func draw(into canvas: inout Canvas) {
    let kindWidth = kind.isEmpty ? 0 : CellWidth.width(of: kind) + CellDrawing.margin
    let (kindArea, text) = field.splitRight(kindWidth)
    canvas.fill(kindArea)
    canvas.put(
      StyledLine(kind, .muted), at: kindArea.splitLeft(CellDrawing.margin).rest.origin,
      width: max(kindArea.width - CellDrawing.margin, 0))
    input.editor.draw(into: &canvas, rect: text, error: input.error)
    if noteArea.isEmpty { return }
    canvas.fill(noteArea)
    let place = noteArea.splitLeft(CellDrawing.margin).rest
    canvas.put(note, at: place.origin, width: max(place.width - CellDrawing.margin, 0))
  }
}
