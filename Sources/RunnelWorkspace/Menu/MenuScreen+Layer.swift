import RunnelBase
import RunnelTerminal

// A menu as a layer.

extension MenuScreen: MenuLayer {
  var layer: Layer { .menu(self) }
  var summary: String { "menu \(title)" }

  func contexts(about hand: AtHand) -> [KeymapContext] { MenuCommands.table.contexts }

  func choicesArea(in layout: AppLayout) -> Rect {
    MenuList.rows(inBox: MenuDrawing.box(of: self, in: layout.overlay))
  }

  mutating func insert(_ text: String, in state: inout AppState) {
    editor.insert(text)
    menu.narrow(to: editor.text)
  }

  mutating func editText(_ id: ActionID, in state: inout AppState) {
    _ = editor.perform(id)
    menu.narrow(to: editor.text)
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    MenuDrawing(self, screen.layout.overlay).draw(into: &canvas)
  }
}
