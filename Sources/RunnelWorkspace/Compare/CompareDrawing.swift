import RunnelBase
package import RunnelTerminal
import RunnelTree

/// Draws three versions of a place: side by side with the result below, or one below the other.
package struct CompareDrawing {
  private static let nameWidth = 12

  package let screen: CompareScreen
  /// The local time for values that are times.
  let local: LocalTime
  let rect: Rect
  /// The text searched for, or nil if there is none.
  package let search: String?

  package func draw(into canvas: inout Canvas) {
    canvas.fill(rect)
    let (list, below) = rect.splitTop(screen.listHeight(of: rect.height))
    let glyphs = canvas.glyphs
    var headings = screen.headings
    if screen.isWide {
      for id in headings.keys { headings[id]?.title = wideTitle(width: rect.width - 1, glyphs) }
    }
    ListWidget.draw(
      screen.content, screen.list, headings: headings,
      rowText: { id, width in
        (pieceLine(id)
          ?? (screen.isWide ? wideLine(id, width: width, glyphs) : narrowLine(id, glyphs)))
          .marking(search, isCurrent: screen.list.cursor == .row(id))
      }, into: &canvas, rect: list)
    if screen.isWide { drawResult(into: &canvas, below) }
  }

  /// A line of a version that is shown in full; nil for other rows.
  private func pieceLine(_ id: String) -> StyledLine? {
    guard case .piece(let side, let index, let number)? = screen.lines[id],
      let text = screen.pieces[id]
    else { return nil }
    let row = screen.model.rows[index]
    // In the narrow form the version stands above.
    let label = screen.isWide && number == 0 ? screen.draft.label(of: side) : ""
    var line = StyledLine(
      "   " + label.padding(to: CompareScreen.pieceIndent - 3), .muted)
    line.append(text, role(of: side, row))
    return line
  }

  // MARK: Below each other

  private func narrowLine(_ id: String, _ glyphs: Glyphs) -> StyledLine {
    guard let shown = screen.lines[id] else { return StyledLine() }
    let row = screen.model.rows[shown.index]
    let labels = ThreeWay.Side.allCases.map { screen.draft.label(of: $0) }
    let width = (labels.map(\.count).max() ?? 0) + 2
    guard case .version(let side, _) = shown else {
      guard case .typed(let json)? = row.choice else { return StyledLine() }
      var line = StyledLine(" \(glyphs.marked) ", .rowMarked)
      line.append("typed".padding(to: width), .muted)
      line.append(text(json, of: row), .rowMarked)
      return line
    }
    let isKept = row.choice == .side(side)
    var line = StyledLine(" \(isKept ? glyphs.marked : " ") ", .rowMarked)
    line.append(screen.draft.label(of: side).padding(to: width), .muted)
    line.append(text(row.shown(side), of: row), role(of: side, row))
    return line
  }

  // MARK: Beside each other

  /// The names of the columns, each above its own.
  private func wideTitle(width: Int, _ glyphs: Glyphs) -> StyledLine {
    let column = max((width - 4 - CompareDrawing.nameWidth) / 3 - 4, 4)
    // A title begins one column further on than a row.
    var text = "  " + "field".padding(to: CompareDrawing.nameWidth + 1)
    for side in ThreeWay.Side.allCases {
      text += "   " + cut(screen.title(of: side), to: column, glyphs) + " "
    }
    while text.last == " " { text.removeLast() }
    return StyledLine(text, .sectionHeader)
  }

  private func wideLine(_ id: String, width: Int, _ glyphs: Glyphs) -> StyledLine {
    guard let shown = screen.lines[id] else { return StyledLine() }
    let row = screen.model.rows[shown.index]
    let sign = row.isConflict ? glyphs.conflict : row.isSame ? " " : glyphs.changed
    var line = StyledLine(" \(sign) ", row.choice == nil ? .conflict : .rowChanged)
    let name = screen.name(of: row)
    line.append(cut(name, to: CompareDrawing.nameWidth, glyphs) + " ", .jsonKey)
    let column = max((width - 4 - CompareDrawing.nameWidth) / 3 - 4, 4)
    for side in ThreeWay.Side.allCases {
      line.append("\(glyphs.vertical) ", .frame)
      line.append(row.choice == .side(side) ? glyphs.marked : " ", .rowMarked)
      line.append(
        cut(text(row.shown(side), of: row), to: column, glyphs) + " ", role(of: side, row))
    }
    return line
  }

  /// Draws the result of the choices, one line per field.
  private func drawResult(into canvas: inout Canvas, _ area: Rect) {
    guard area.height > 1 else { return }
    let (rule, rest) = area.splitTop(1)
    canvas.horizontalLine(row: rule.row, column: rule.column, width: rule.width, role: .frame)
    canvas.put(" Result ", at: rule.splitLeft(2).rest.origin, width: rule.width - 2, role: .title)
    let counts = " \(screen.counts) "
    let end = rule.splitRight(CellWidth.width(of: counts) + 2).right
    canvas.put(counts, at: end.origin, width: end.width, role: .muted)
    let first = max(0, min(screen.cursorIndex ?? 0, screen.model.rows.count - rest.height))
    for (offset, row) in screen.model.rows.dropFirst(first).prefix(rest.height).enumerated() {
      var line = StyledLine(
        "   " + cut(screen.name(of: row), to: CompareDrawing.nameWidth, canvas.glyphs) + "  ",
        .jsonKey)
      if let value = row.value {
        line.append(text(value, of: row), row.isSame ? .muted : .text)
        if !row.isSame { line.append("  " + screen.words(of: row), .muted) }
      } else {
        line.append("?  choose", .conflict)
      }
      canvas.put(line, at: rest.line(offset).origin, width: rest.width)
    }
  }

  // MARK: Text

  /// The value of a field as JSON; before a time its local date and time.
  private func text(_ json: JSONValue, of row: ThreeWay.Row) -> String {
    if json == .null { return "(none)" }
    let field = Path(unchecked: (screen.draft.path.keys + row.place.keys).suffix(1).map(\.self))
    guard let moment = TreeText.moment(of: json, in: field, local) else { return json.jsonText() }
    return "\(moment)  \(json.jsonText())"
  }

  private func role(of side: ThreeWay.Side, _ row: ThreeWay.Row) -> StyleRole {
    if row.isSame || side == .base { return .muted }
    return row[side] == row.base ? .muted : side == .mine ? .rowPending : .rowNew
  }

  private func cut(_ text: String, to width: Int, _ glyphs: Glyphs) -> String {
    var taken = ""
    var used = 0
    for cluster in CellText.sanitize(text, glyphs: glyphs) {
      if used + cluster.width > width - CellWidth.width(of: glyphs.ellipsis),
        taken.count < text.count,
        CellWidth.width(of: text) > width
      {
        taken += glyphs.ellipsis
        used += CellWidth.width(of: glyphs.ellipsis)
        break
      }
      taken += cluster.text
      used += cluster.width
    }
    return taken + String(repeating: " ", count: max(width - used, 0))
  }
}

extension String {
  /// The text, padded with blanks to a number of characters.
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }
}
