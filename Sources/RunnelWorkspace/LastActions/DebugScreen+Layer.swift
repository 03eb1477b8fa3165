import RunnelBase
import RunnelTerminal

// The last actions as a layer.

extension DebugScreen: ListLayer {
  var layer: Layer { .debug(self) }
  var summary: String { "debug" }

  func contexts(about hand: AtHand) -> [KeymapContext] { LastActionsCommands.table.contexts }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    screen.drawLines(lines, of: self, headings: headings, into: &canvas)
  }

  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}
