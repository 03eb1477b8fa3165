import RunnelBase
import RunnelTerminal

// The form as a layer.

extension FormScreen: LayerComponent {
  var layer: Layer { .form(self) }
  var summary: String { "form \(title)" }
  var extent: LayerExtent { .dialog }
  var holdsInput: Bool { true }
  var helpTitle: String? { title }
  var position: LayerPosition? {
    LayerPosition(word: "field", number: focus + 1, count: fields.count)
  }

  var textField: LineEditor? {
    get { fields[focus].input.editor }
    set { if let newValue { fields[focus].input.editor = newValue } }
  }

  var fieldInput: FieldInput? {
    get { fields[focus].input }
    set { if let newValue { fields[focus].input = newValue } }
  }

  func contexts(about hand: AtHand) -> [KeymapContext] { FormCommands.table.contexts }

  func reasonWaiting(for action: ActionID, in state: AppState) -> String? {
    fields[focus].input.reasonWaiting(for: action)
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    fields[focus].input.insert(text)
    isTouched = true
    forgetRefusal()
    followFormat()
  }

  /// Forgets why a form for accounts was refused: its fields were wrong together.
  private mutating func forgetRefusal() {
    guard case .account = purpose else { return }
    refusal = ""
    for index in fields.indices where index != focus { fields[index].input.error = nil }
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    let before = fields[focus].input.editor.text
    _ = fields[focus].input.editor.perform(id)
    // Deleting all of an empty text means the empty text.
    if id == .inputKillToStart || fields[focus].input.editor.text != before {
      isTouched = true
      forgetRefusal()
    }
    fields[focus].input.check()
    followFormat()
  }

  mutating func showError(_ message: String) { fields[focus].input.error = message }

  mutating func updateInputs(_ body: (inout FieldInput) -> Void) {
    for index in fields.indices { body(&fields[index].input) }
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    FormDrawing(
      self, WritePreview(self, screen.state), KeyText.formKeys(screen.state), screen.layout.overlay,
      screen.state.settings.local
    ).draw(into: &canvas)
  }

  func cutError(_ screen: AppScreen) -> String? {
    FormDrawing.cutError(of: self, in: screen.layout.overlay)
  }
}
