import RunnelBase
import RunnelTerminal

// The comparison as a layer.

extension CompareScreen: ListLayer {
  var layer: Layer { .compare(self) }
  var summary: String { "comparison of \(draft.path)" }
  var heading: String? { "compare \(draft.path.shownPath)" }

  func contexts(about hand: AtHand) -> [KeymapContext] { CompareCommands.table.contexts }

  mutating func fit(_ state: AppState) {
    rebuild(columns: state.size.columns, height: state.height)
  }

  func draw(into canvas: inout Canvas, _ screen: AppScreen) {
    CompareDrawing(
      screen: self, local: screen.state.settings.local, rect: screen.layout.body,
      search: screen.state.trail.search
    ).draw(into: &canvas)
  }

  // MARK: Rows

  func depth(ofRow id: String) -> Int { 0 }

  /// The name of a field, followed by the version in the row, or by all versions in the wide form.
  func text(ofRow id: String) -> String {
    guard let line = lines[id] else { return "" }
    if let piece = pieces[id] { return piece }
    let row = model.rows[line.index]
    let sides = side(ofRow: id).map { [$0] } ?? ThreeWay.Side.allCases
    return ([name(of: row)] + sides.map { row[$0].jsonText() }).joined(separator: " ")
  }

  func textColumn(ofRow id: String, width: Int) -> Int? { nil }
}
