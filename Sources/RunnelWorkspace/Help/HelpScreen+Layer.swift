import RunnelBase
import RunnelTerminal

// The help as a layer.

extension HelpScreen: ListLayer, TextLayer {
  var layer: Layer { .help(self) }
  var summary: String { "help" }
  var offersCommandsBelow: Bool { true }
  var chosenAction: ActionID? { cursorEntry?.action }

  func contexts(about hand: AtHand) -> [KeymapContext] { HelpCommands.table.contexts }

  mutating func insert(_ text: String, in state: inout AppState) {
    editor.insert(text)
    narrow(height: HelpScreen.helpHeight(state))
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    let old = editor.text
    if editor.perform(id), editor.text != old { narrow(height: HelpScreen.helpHeight(state)) }
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    HelpDrawing(self, screen.layout.body).draw(into: &canvas)
  }

  // MARK: Rows

  func listHeight(of height: Int) -> Int {
    HelpDrawing.list(in: Rect(size: TerminalSize(columns: 1, rows: height))).height
  }

  func depth(ofRow id: String) -> Int { 0 }

  func text(ofRow id: String) -> String { entries[id]?.description ?? "" }
}
