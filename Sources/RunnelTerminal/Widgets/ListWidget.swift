public import RunnelBase

/// Draws a list: headers, rows, the cursor, the sticky header.
public enum ListWidget {
  /// The columns of a title that take precedence over the detail beside it.
  private static let titleWidthMin = 8
  /// The width below which the text of a divider stands near its beginning.
  private static let narrowColumns = 50

  /// Draws the part of a list that its state shows.
  ///
  /// Column 0 holds the cursor's sign, so that the cursor is visible without colors. Rows begin in
  /// column 1. Titles begin in column 2, or one further on if both signs stand before them. The
  /// detail of a header is left out if it would squeeze the title.
  ///
  /// - Parameters:
  ///   - content: the list.
  ///   - state: the position in it, for this content and the height of `rect`.
  ///   - headings: the texts of the headers, by the sections' ids.
  ///   - rowText: returns the text of the row with an id, at most so many columns wide.
  ///   - tallRows: what rows of several lines show; nil if each row has one line.
  ///   - emptyHint: the hint after the text of a section without rows.
  ///   - isFocused: whether keys go to this list.
  ///   - showsCursor: whether the cursor is shown: false while it is about to go to a row that is being read.
  ///   - divider: the text of the divider.
  ///   - rowSign: returns the sign before the row with an id, if the cursor's sign is not there;
  ///     nil for none.
  ///   - drawn: the cache of drawn lines; nil to draw all.
  ///   - areRowsUnchanged: whether `rowText` and `rowSign` are known to return for each row what they
  ///     returned for the frame before, unless the cursor came to it or left it.
  ///   - showsCursorInRows: whether `rowText` or `rowSign` may return something else for a row with the
  ///     cursor on it.
  ///   - canvas: the canvas to draw on.
  ///   - rect: the area of the list.
  public static func draw(
    _ content: ListContent, _ state: ListState, headings: [String: ListHeading],
    rowText: (_ id: String, _ width: Int) -> StyledLine, tallRows: TallRows? = nil,
    emptyHint: @autoclosure () -> String = "", isFocused: Bool = true, showsCursor: Bool = true,
    divider: String = "",
    rowSign: ((_ id: String) -> StyledRun?)? = nil, drawn: DrawnLines? = nil,
    areRowsUnchanged: Bool = false, showsCursorInRows: Bool = true, into canvas: inout Canvas,
    rect: Rect
  ) {
    guard !rect.isEmpty else { return }
    let (width, glyphs) = (rect.width, canvas.glyphs)
    let lines = shownLines(content, state, tallRows, rect)
    canvas.fill(rect.splitTop(lines.reduce(0) { $0 + $1.height }).rest)
    drawn?.begin(
      width: width, glyphs: glyphs, areRowsUnchanged: areRowsUnchanged,
      showsCursorInRows: showsCursorInRows)
    var top = 0
    for shown in lines {
      let (line, height) = (shown.line, shown.height)
      defer { top += height }
      let section = content.sections[line.section]
      var cells: CanvasLine
      switch line.kind {
      case .header, .stickyHeader:
        let look = DrawnLines.Content.header(
          headings[section.id] ?? ListHeading(), isSticky: line.kind == .stickyHeader,
          isFolded: state.folded.contains(section.id), isCursor: line.isCursor)
        cells =
          drawn?.header(section.id, look, isCursor: line.isCursor) { self.line($0, width, glyphs) }
          ?? self.line(look, width, glyphs)
      case .row(let id):
        func look() -> DrawnLines.Content {
          .row(
            rowText(id, max(width - 1, 0) + state.horizontalOffset), sign: rowSign?(id),
            offset: state.horizontalOffset)
        }
        cells =
          drawn?.row(id, isCursor: line.isCursor, content: look) { self.line($0, width, glyphs) }
          ?? self.line(look(), width, glyphs)
        if height > 1, let tallRows {
          let rest = tallRows.lines(id, max(width - 1, 0)).dropFirst().prefix(height - 1)
          for (index, words) in rest.enumerated() {
            var cells = self.line(.row(words, sign: nil, offset: 0), width, glyphs)
            if line.isCursor, showsCursor {
              cells.highlight(0..<width, isFocused ? .focused : .unfocused)
            }
            canvas.put(cells, at: rect.line(top + 1 + index).origin)
          }
        }
      case .emptyText:
        cells = emptyLine(section.emptyText.map { $0 + emptyHint() } ?? "", width, glyphs)
      case .divider:
        cells = dividerLine(divider, width, glyphs)
      }
      if line.isCursor, showsCursor {
        let sign = StyledLine(glyphs.cursor, .strong)
        cells.put(sign, at: 0, width: min(1, width), glyphs: glyphs)
        cells.highlight(0..<width, isFocused ? .focused : .unfocused)
      }
      canvas.put(cells, at: rect.line(top).origin)
    }
  }

  /// Returns the lines that a rectangle shows of a list.
  private static func shownLines(
    _ content: ListContent, _ state: ListState, _ tallRows: TallRows?, _ rect: Rect
  ) -> [ListState.TallLine] {
    guard let tallRows else {
      return state.lines(in: content, height: rect.height)
        .map { ListState.TallLine(line: $0, height: 1) }
    }
    let width = max(rect.width - 1, 0)
    return state.tallLines(in: content, height: tallRows.height, room: rect.height) {
      tallRows.lines($0, width).count
    }
  }

  /// A row or a header, without the cursor's sign.
  private static func line(
    _ content: DrawnLines.Content, _ width: Int, _ glyphs: Glyphs
  ) -> CanvasLine {
    CanvasLine(width: width, glyphs: glyphs) { canvas in
      let area = canvas.bounds
      switch content {
      case .row(let words, let sign, let offset):
        if let sign {
          canvas.put(sign.text, at: area.origin, width: min(1, width), role: sign.role)
        }
        let text = area.splitLeft(1).rest
        canvas.put(
          words.dropping(columns: offset, glyphs: glyphs), at: text.origin, width: text.width)
      case .header(let heading, let isSticky, let isFolded, let isCursor):
        drawHeader(
          heading, isSticky: isSticky, isFolded: isFolded, isCursor: isCursor, into: &canvas)
      }
    }
  }

  /// The line shown in a section without rows.
  private static func emptyLine(_ words: String, _ width: Int, _ glyphs: Glyphs) -> CanvasLine {
    CanvasLine(width: width, glyphs: glyphs) { canvas in
      let text = canvas.bounds.splitLeft(2).rest
      canvas.put(words, at: text.origin, width: text.width, role: .muted)
    }
  }

  /// Returns the header or row that is drawn at a position; nil if there is none.
  ///
  /// - Parameters:
  ///   - position: a cell of the screen.
  ///   - content: the list.
  ///   - state: the position in it, as it was drawn.
  ///   - tallRows: what rows of several lines show; nil if each row has one line.
  ///   - rect: the rectangle in which it was drawn.
  /// - Returns: the item; nil for the line of an empty section, and outside.
  public static func item(
    at position: Position, _ content: ListContent, _ state: ListState, tallRows: TallRows? = nil,
    rect: Rect
  ) -> ListItem? {
    guard rect.contains(position) else { return nil }
    guard tallRows != nil else {
      return state.item(atLine: position.row - rect.row, in: content, height: rect.height)
    }
    var end = rect.row
    for shown in shownLines(content, state, tallRows, rect) {
      end += shown.height
      if position.row < end { return shown.line.item(in: content) }
    }
    return nil
  }

  /// A line with a text in its middle, or on a narrow screen near its beginning.
  private static func dividerLine(_ text: String, _ width: Int, _ glyphs: Glyphs) -> CanvasLine {
    CanvasLine(width: width, glyphs: glyphs) { canvas in
      canvas.horizontalLine(row: 0, column: 0, width: width, role: .unreadLine)
      if text.isEmpty { return }
      let textWidth = CellWidth.width(of: text) + 2
      let start = width < narrowColumns ? 2 : (width - textWidth) / 2
      let place = canvas.bounds.splitLeft(max(start, 0)).rest
      canvas.put(" \(text) ", at: place.origin, width: place.width, role: .unreadLine)
    }
  }

  private static func drawHeader(
    _ heading: ListHeading, isSticky: Bool, isFolded: Bool, isCursor: Bool,
    into canvas: inout Canvas
  ) {
    let area = canvas.bounds
    let role = isSticky ? StyleRole.sectionSticky : .sectionHeader
    canvas.fill(area, role: role)
    // The cursor's sign takes the place of the fold's sign, which moves on. In ASCII both look the
    // same, so the fold's sign always stands beside it.
    let shift = isCursor || canvas.glyphs.isASCII ? 1 : 0
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
