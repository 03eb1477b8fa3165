import RunnelBase
import RunnelStreams
package import RunnelTerminal
import RunnelTree

/// Draws the detail of the cursor's row beside the list: the fields of a record, or the value of a
/// node of the tree.
package struct DetailDrawing {
  /// The columns that names may take in any pane, and at most.
  private static let labelWidths = 10...24

  package let state: AppState
  package let glyphs: Glyphs

  init(_ state: AppState, glyphs: Glyphs) {
    self.state = state
    self.glyphs = glyphs
  }

  /// Returns the width of the text in the rectangle of the pane, in columns.
  static func textWidth(_ rect: Rect) -> Int { area(rect).width }

  private static func area(_ rect: Rect) -> Rect {
    rect.splitLeft(1).rest.inset(rows: 0, columns: 1)
  }

  package func draw(into canvas: inout Canvas, rect: Rect) {
    canvas.fill(rect)
    canvas.verticalLine(
      row: rect.row, column: rect.column, height: rect.height,
      role: state.pane == .detail ? .frameFocus : .frame)
    let area = DetailDrawing.area(rect)
    guard !area.isEmpty else { return }
    let lines = lines(width: area.width)
    let top = min(Panes.detailTop(state), max(lines.count - area.height, 0))
    for index in 0..<min(area.height, lines.count - top) {
      let line = lines[top + index]
      canvas.put(
        state.trail.search.map { line.marking($0, .searchMatch) } ?? line,
        at: area.line(index).origin,
        width: area.width)
    }
    drawMore(lines.count - top - area.height, into: &canvas, area)
  }

  /// Shows the number of hidden lines in the last line.
  private func drawMore(_ count: Int, into canvas: inout Canvas, _ area: Rect) {
    guard count > 0 else { return }
    let text = "\(glyphs.down) \(count + 1) more lines"
    let line = area.line(area.height - 1)
    canvas.fill(line)
    canvas.put(text, at: line.origin, width: line.width, role: .muted)
  }

  /// Returns all lines of the pane for a width in columns.
  func lines(width: Int) -> DetailLines {
    guard let list = state.tabs.frontList else { return treeLines(width: width) }
    return DetailLines(head: lines(of: list.cursorRecord, in: list, width: width))
  }

  // MARK: Records

  private func lines(of record: Record?, in list: ListScreen, width: Int) -> [StyledLine] {
    guard let record else { return [StyledLine("no record here", .muted)] }
    var lines = [StyledLine(WritableKey.name(of: record.row.key.text), .title), StyledLine()]
    let order = FieldOrder(list.definition.columns.map(\.field))
    let fields = order.sorted(
      DetailDrawing.fields(of: record.row.node ?? .empty, state.database.coding), by: \.path)
    let longest = fields.map { CellWidth.width(of: WritableKey.name(of: $0.name)) }.max() ?? 0
    let room = min(
      max(width / 3, DetailDrawing.labelWidths.lowerBound), DetailDrawing.labelWidths.upperBound)
    let labelWidth = min(longest, room)
    for field in fields {
      lines += self.lines(of: field, labelWidth: labelWidth, width: width)
    }
    return lines + linesBelow(width: width)
  }

  private func lines(
    of field: PaneField, labelWidth: Int, width: Int
  ) -> [StyledLine] {
    let words = value(field).wrapped(width: max(width - labelWidth - 1, 1))
    let name = WritableKey.name(of: field.name)
    let gap = labelWidth - CellWidth.width(of: name)
    // A name without room stands above its value.
    let above = gap < 0 ? StyledLine(name, .muted).wrapped(width: width) : []
    return above
      + words.enumerated().map { index, text in
        let isBeside = index == 0 && gap >= 0
        var line = isBeside ? StyledLine(name, .muted) : StyledLine()
        line.append(String(repeating: " ", count: (isBeside ? gap : labelWidth) + 1))
        line.append(text)
        return line
      }
  }

  private func value(_ field: PaneField) -> StyledLine {
    if let moment = TreeText.moment(of: field.leaf, in: field.path, state.settings.local) {
      return StyledLine(moment, .jsonNumber)
    }
    return StyledLine(FieldKind.text(of: field.leaf.json), TreeText.role(of: field.leaf))
  }

  /// Returns the leaves of a record, with their paths below the record as names.
  private static func fields(of node: RunnelTree.Node, _ coding: ValueCoding) -> [PaneField] {
    var fields: [PaneField] = []
    append(node, at: .root, coding, to: &fields)
    return fields
  }

  private static func append(
    _ node: RunnelTree.Node, at path: Path, _ coding: ValueCoding, to fields: inout [PaneField]
  ) {
    if let value = coding.codedValue(node) {
      return fields.append(PaneField(path: path, leaf: .string(value.jsonText())))
    }
    switch node.content {
    case .empty: break
    case .leaf(let leaf): fields.append(PaneField(path: path, leaf: leaf))
    case .children(let children):
      for child in children {
        append(child.node, at: Path(unchecked: path.keys + [child.key]), coding, to: &fields)
      }
    }
  }

  // MARK: Values

  private func treeLines(width: Int) -> DetailLines {
    guard case .node(let path, let row, _)? = state.tabs.tree.cursorLine else {
      guard case .header? = state.tabs.tree.list.cursor,
        let root = state.tabs.tree.headings[TreeScreen.section]
      else { return DetailLines(head: [StyledLine("no node here", .muted)]) }
      return DetailLines(head: [StyledLine("/", .title), StyledLine(), root.detail])
    }
    let head = StyledLine(path.shownPath, .title).wrapped(width: width) + [StyledLine()]
    if case .leaf(let leaf) = row.summary.kind {
      return DetailLines(head: head + lines(of: leaf, width: width))
    }
    if let reason = TreeListing.reasonNotWhole(state, [path]) {
      let words = reason + KeyText.treeKeys(state).hint(.rowIn, "shows the keys")
      return DetailLines(head: head + StyledLine(words, .muted).wrapped(width: width))
    }
    guard let value = state.tabs.tree.preview.value, value.path == path else {
      return DetailLines(head: head + [StyledLine("\(glyphs.loading) reading", .muted)])
    }
    var tail = [
      StyledLine(), StyledLine("\(value.size) \(glyphs.dot) keys in their order", .muted),
    ]
    tail.append(StyledLine("read at \(state.settings.local.civil(value.time).timeText)", .muted))
    for time in value.moments {
      tail.append(StyledLine("\(time) = \(moment(time))", .muted))
    }
    return DetailLines(head: head, json: value.lines, tail: tail)
  }

  private func lines(of leaf: Leaf, width: Int) -> [StyledLine] {
    var lines = StyledLine(FieldKind.text(of: leaf.json), TreeText.role(of: leaf))
      .wrapped(width: width)
    var notes = [FieldKind(leaf.json).rawValue]
    if case .string(let text) = leaf { notes.append(ByteCount.text(text.utf8.count)) }
    if let moment = TreeText.moment(of: leaf, state.settings.local) { notes.append(moment) }
    lines += [StyledLine(), StyledLine(notes.joined(separator: " \(glyphs.dot) "), .muted)]
    return lines
  }

  private func moment(_ time: Int64) -> String {
    "\(state.settings.local.civil(time).dateText) \(state.settings.local.timeText(time))"
  }
}

/// A leaf of the record in the detail pane.
private struct PaneField {
  /// The path of the leaf below the record; the root for the record itself.
  let path: Path
  let leaf: Leaf

  /// The path as it is shown, without the slash at its beginning.
  var name: String { path.isRoot ? "value" : path.keys.map(\.text).joined(separator: "/") }
}

/// The lines of the detail pane; lines of a long value are styled when they are drawn.
package struct DetailLines {
  var head: [StyledLine]
  package var json: [String] = []
  var tail: [StyledLine] = []

  package var count: Int { head.count + json.count + tail.count }

  subscript(index: Int) -> StyledLine {
    if index < head.count { return head[index] }
    if index < head.count + json.count { return JSONLine.styled(json[index - head.count]) }
    return tail[index - head.count - json.count]
  }
}
