import RunnelBase
import RunnelTerminal
import RunnelTree

// An open record as a layer.

extension RecordScreen: ListLayer {
  var layer: Layer { .record(self) }
  var extent: LayerExtent { isCell ? .dialog : .page }
  var summary: String {
    edit.map { "record \(path), editing \($0.field.text)" } ?? "record \(path)"
  }
  var holdsInput: Bool { edit != nil }
  var heading: String? { path.shownPath }
  var helpTitle: String? { path.shownPath }
  var effectOnClose: Effect? { .closeRecord(path) }
  var rowWord: String { related.isEmpty ? "field" : "row" }

  var textField: LineEditor? {
    get { edit?.input.editor }
    set { if let newValue { edit?.input.editor = newValue } }
  }

  var fieldInput: FieldInput? {
    get { edit?.input }
    set { if let newValue { edit?.input = newValue } }
  }

  func contexts(about hand: AtHand) -> [KeymapContext] {
    if edit != nil { return FieldCommands.table.contexts }
    return reading != nil
      ? ValueCommands.table.contexts : hand.contexts + RecordCommands.table.contexts
  }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    if let edit {
      return edit.input.reasonWaiting(for: action) ?? reasonNextWaits(for: action, in: state)
    }
    let needsRecord =
      TypeAhead.isAboutRows(state, action)
      && !TypeAhead.traits(state, action).contains(.usesKeyOnly)
    return node == nil && needsRecord ? TypeAhead.recordIsRead : nil
  }

  /// The reason why the field to be edited next has to wait, or nil if it does not.
  private func reasonNextWaits(for action: ActionID, in state: AppState) -> String? {
    guard action == .fieldNext || action == .fieldPrevious else { return nil }
    var next = self
    next.list.move(by: action == .fieldNext ? 1 : -1, in: content, height: state.height)
    guard let field = next.cursorField, field.path != edit?.field else { return nil }
    return TypeAhead.reasonBeingSaved(
      state, at: Path(unchecked: path.keys + field.path.keys))
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    edit?.input.insert(text)
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    _ = edit?.input.editor.perform(id)
    edit?.input.check()
  }

  mutating func showError(_ message: String) { edit?.input.error = message }

  mutating func updateInputs(_ body: (inout FieldInput) -> Void) {
    guard var edit else { return }
    body(&edit.input)
    self.edit = edit
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    if isCell {
      CellDrawing(self, screen)?.draw(into: &canvas)
      return
    }
    RecordDrawing(self, screen.state, screen.layout.body).draw(into: &canvas)
  }

  func cutError(_ screen: AppScreen) -> String? {
    if isCell { return CellDrawing(self, screen)?.cutError }
    return RecordDrawing(self, screen.state, screen.layout.body).cutError
  }

  // MARK: Rows

  func depth(ofRow id: String) -> Int { fields[id]?.path.keys.count ?? 0 }

  /// Returns the name and the value of a field.
  func text(ofRow id: String) -> String {
    if let index = related(ofRow: id) { return "\(related[index].title) \(related[index].path)" }
    guard let field = fields[id] else { return "" }
    let value = field.leaf.map { FieldKind.text(of: $0.json) } ?? field.coded?.jsonText() ?? ""
    return "\(field.path.text) \(value)"
  }

  func textColumn(ofRow id: String, width: Int) -> Int? {
    let name = related(ofRow: id).map { related[$0].title } ?? fields[id]?.path.text ?? ""
    return 2 + max(nameWidth(in: width) - CellWidth.width(of: name) - 1, 1)
  }

  /// The least and the greatest number of columns of the names; on wide screens the names may take
  /// more.
  private static let nameWidths = 14...24
  /// The number of fields whose names are measured.
  private static let measuredMax = 200

  /// Returns the columns of the names of the fields, with the blanks behind them, on a page of a
  /// width.
  ///
  /// They are the same for all fields, so that the values stand one below the other; only names that
  /// take more than two fifths of the page push their values to the right.
  func nameWidth(in width: Int) -> Int {
    let fields = content.sections.first?.rows.prefix(RecordScreen.measuredMax)
      .compactMap { self.fields[$0] }
    let widest = fields?.map { CellWidth.width(of: $0.path.shownText) }.max() ?? 0
    let range = RecordScreen.nameWidths
    return min(max(widest + 2, range.lowerBound), max(range.upperBound, width * 2 / 5))
  }
}
