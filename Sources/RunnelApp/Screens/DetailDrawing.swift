import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Draws the record under the cursor beside the list: its fields, with long texts wrapped.
struct DetailDrawing {
  private static let labelWidthMax = 10

  let record: Record?
  let local: LocalTime

  func draw(into canvas: inout Canvas, rect: Rect) {
    canvas.fill(rect)
    let (border, rest) = rect.splitLeft(1)
    for line in 0..<border.height {
      canvas.put(
        canvas.glyphs.vertical, at: border.line(line).origin, width: 1, role: .frame)
    }
    let area = rest.inset(rows: 0, columns: 1)
    guard !area.isEmpty else { return }
    for (index, line) in lines(width: area.width).prefix(area.height).enumerated() {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }

  private func lines(width: Int) -> [StyledLine] {
    guard let record else { return [StyledLine("no record here", .muted)] }
    var lines = [StyledLine(record.row.key.text, .title), StyledLine()]
    let fields = DetailDrawing.fields(of: record.row.node ?? .empty)
    let longest = fields.map { CellWidth.width(of: $0.name) }.max() ?? 0
    let labelWidth = min(longest, DetailDrawing.labelWidthMax)
    for field in fields {
      lines += self.lines(of: field, labelWidth: labelWidth, width: width)
    }
    return lines
  }

  private func lines(
    of field: (name: String, leaf: Leaf), labelWidth: Int, width: Int
  ) -> [StyledLine] {
    let words = value(field.leaf).wrapped(width: max(width - labelWidth - 1, 1))
    let blank = String(repeating: " ", count: labelWidth + 1)
    return words.enumerated().map { index, text in
      var line: StyledLine
      if index == 0 {
        let gap = max(labelWidth - CellWidth.width(of: field.name), 0) + 1
        line = StyledLine(field.name, .muted)
        line.append(String(repeating: " ", count: gap))
      } else {
        line = StyledLine(blank)
      }
      line.append(text)
      return line
    }
  }

  private func value(_ leaf: Leaf) -> StyledLine {
    var line = StyledLine(FieldKind.text(of: leaf.json), TreeText.role(of: leaf))
    if case .number = leaf {
      let hint = TreeText.hint(of: leaf, local)
      if hint != FieldKind.number.rawValue { line = StyledLine(hint, .jsonNumber) }
    }
    return line
  }

  /// The leaves of a record, by their paths below it.
  private static func fields(of node: RunnelTree.Node) -> [(name: String, leaf: Leaf)] {
    var fields: [(name: String, leaf: Leaf)] = []
    append(node, named: "", to: &fields)
    return fields
  }

  private static func append(
    _ node: RunnelTree.Node, named name: String, to fields: inout [(name: String, leaf: Leaf)]
  ) {
    switch node.content {
    case .empty: break
    case .leaf(let leaf): fields.append((name.isEmpty ? "value" : name, leaf))
    case .children(let children):
      for child in children {
        append(
          child.node, named: name.isEmpty ? child.key.text : "\(name)/\(child.key.text)",
          to: &fields)
      }
    }
  }
}
