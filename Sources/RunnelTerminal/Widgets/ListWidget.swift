public import RunnelBase

/// Draws a list: headers, rows, the cursor, the sticky header.
public enum ListWidget {
  /// The columns of a title that are worth more than the detail beside it.
  private static let titleWidthMin = 8
  /// Below so many columns what a divider says stands near its beginning.
  private static let narrowColumns = 50

  /// Draws the part of a list that its state shows.
  ///
  /// Column 0 holds the cursor's sign, so that the cursor is seen without colours; rows begin in
  /// column 1, titles in column 2, or one further on where both signs stand before them. The detail of a header is left out where it would squeeze the
  /// title.
  ///
  /// - Parameters:
  ///   - content: the list.
  ///   - state: where the user is in it, for this content and the height of `rect`.
  ///   - headings: what the headers of the sections say, by the sections' ids.
  ///   - rowText: the text of the row with an id, at most so many columns wide.
  ///   - emptyHint: what is to be said behind the text of a section without rows.
  ///   - isFocused: whether keys go to this list.
  ///   - divider: what the divider says.
  ///   - rowSign: what stands before the row with an id where the cursor's sign does not; nil for
  ///     nothing.
  ///   - canvas: what to draw on.
  ///   - rect: where to draw.
  public static func draw(
    _ content: ListContent, _ state: ListState, headings: [String: ListHeading],
    rowText: (_ id: String, _ width: Int) -> StyledLine, emptyHint: String = "",
    isFocused: Bool = true,
    divider: String = "", rowSign: (_ id: String) -> StyledRun? = { _ in nil },
    into canvas: inout Canvas, rect: Rect
  ) {
    canvas.fill(rect)
    guard !rect.isEmpty else { return }
    let lines = state.lines(in: content, height: rect.height)
    for (index, line) in lines.enumerated() {
      let area = rect.line(index)
      let section = content.sections[line.section]
      switch line.kind {
      case .header, .stickyHeader:
        let isFolded = state.folded.contains(section.id)
        let heading = headings[section.id] ?? ListHeading()
        drawHeader(heading, line, isFolded: isFolded, into: &canvas, area)
      case .emptyText:
        let text = area.splitLeft(2).rest
        let words = section.emptyText.map { $0 + emptyHint } ?? ""
        canvas.put(words, at: text.origin, width: text.width, role: .muted)
      case .divider: drawDivider(divider, into: &canvas, area)
      case .row(let id):
        if let sign = rowSign(id) {
          canvas.put(sign.text, at: area.origin, width: min(1, area.width), role: sign.role)
        }
        let text = area.splitLeft(1).rest
        let line = rowText(id, text.width + state.horizontalOffset)
          .dropping(columns: state.horizontalOffset, glyphs: canvas.glyphs)
        canvas.put(line, at: text.origin, width: text.width)
      }
      if line.isCursor {
        canvas.put(canvas.glyphs.cursor, at: area.origin, width: 1, role: .strong)
        canvas.highlightRow(area, focused: isFocused)
      }
    }
  }

  /// The header or row that is drawn at a place; nil where there is none.
  ///
  /// - Parameters:
  ///   - position: a cell of the screen.
  ///   - content: the list.
  ///   - state: where the user is in it, as it was drawn.
  ///   - rect: where it was drawn.
  /// - Returns: what is there; nil for the line of an empty section, and outside.
  public static func item(
    at position: Position, _ content: ListContent, _ state: ListState, rect: Rect
  ) -> ListItem? {
    guard rect.contains(position) else { return nil }
    return state.item(atLine: position.row - rect.row, in: content, height: rect.height)
  }

  /// A line with a text in its middle, or on a narrow screen near its beginning.
  private static func drawDivider(_ text: String, into canvas: inout Canvas, _ area: Rect) {
    canvas.horizontalLine(
      row: area.row, column: area.column, width: area.width, role: .unreadLine)
    if text.isEmpty { return }
    let width = CellWidth.width(of: text) + 2
    let start = area.width < narrowColumns ? 2 : (area.width - width) / 2
    let place = area.splitLeft(max(start, 0)).rest
    canvas.put(" \(text) ", at: place.origin, width: place.width, role: .unreadLine)
  }

  private static func drawHeader(
    _ heading: ListHeading, _ line: ListState.VisibleLine, isFolded: Bool,
    into canvas: inout Canvas, _ area: Rect
  ) {
    let role = line.kind == .stickyHeader ? StyleRole.sectionSticky : .sectionHeader
    canvas.fill(area, role: role)
    // The cursor's sign takes the place of the fold's, which moves on. In ASCII they look the same,
    // so the fold's always stands beside it.
    let shift = line.isCursor || canvas.glyphs.isASCII ? 1 : 0
    let sign = isFolded ? canvas.glyphs.foldClosed : canvas.glyphs.foldOpen
    canvas.put(
      sign, at: area.splitLeft(shift).rest.origin, width: min(1, area.width - shift), role: role)

    var text = area.splitLeft(2 + shift).rest
    let detailWidth = heading.detail.width
    let titleWidth = min(heading.title.width, titleWidthMin)
    if detailWidth > 0, titleWidth + 1 + detailWidth <= text.width {
      let (detail, rest) = text.splitRight(detailWidth)
      canvas.put(heading.detail, at: detail.origin, width: detail.width)
      text = rest.splitRight(1).rest
    }
    canvas.put(
      heading.title.replacing(.sectionHeader, with: role), at: text.origin, width: text.width)
  }
}
