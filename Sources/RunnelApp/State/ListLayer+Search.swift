import RunnelBase
import RunnelDatabase
import RunnelTerminal
import RunnelTree

// What is searched of the rows of what lies over a view.

extension ListLayer {
  /// The column at which the text of a row begins on the screen, from the beginning of the row; nil if
  /// it is not drawn in one piece.
  func textColumn(ofRow id: String) -> Int? { 0 }
}

extension HelpScreen {
  func text(ofRow id: String) -> String { entries[id]?.binding.description ?? "" }
}

extension DebugScreen {
  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}

extension QueueScreen {
  func text(ofRow id: String) -> String { lines[id]?.text ?? "" }
}

extension RecordScreen {
  /// The name and the value of a field.
  func text(ofRow id: String) -> String {
    guard let field = fields[id] else { return "" }
    let value = field.leaf.map { FieldKind.text(of: $0.json) } ?? ""
    return "\(field.path.text) \(value)"
  }

  func textColumn(ofRow id: String) -> Int? {
    let name = fields[id]?.path.text ?? ""
    return 2 + max(RecordDrawing.nameWidthMin - CellWidth.width(of: name) - 1, 1)
  }
}

extension HistoryScreen {
  func text(ofRow id: String) -> String {
    let text = text(ellipsis: "")
    switch lines[id] {
    case .entry(let entry): return "\(entry.author) \(text.text(of: entry))"
    case .place(let part):
      let name = text.name(of: part)
      return name.isEmpty ? part.path.description : name
    case .change(let change, let isOld):
      return "\(change.name) \((isOld ? change.old : change.new).jsonText())"
    case .note(let words): return words
    case nil: return ""
    }
  }

  func textColumn(ofRow id: String) -> Int? { 8 }
}

extension CompareScreen {
  /// The name of a place, and the version in the row, or all of them.
  func text(ofRow id: String) -> String {
    guard let index = id.split(separator: ".").first.flatMap({ Int($0) }),
      model.rows.indices.contains(index)
    else { return "" }
    let row = model.rows[index]
    let sides = side(ofRow: id).map { [$0] } ?? ThreeWay.Side.allCases
    return ([name(of: row)] + sides.map { row[$0].jsonText() }).joined(separator: " ")
  }

  func textColumn(ofRow id: String) -> Int? { nil }
}
