import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

// Rows of several lines: the columns that take the rest of the line are wrapped.

extension RowText {
  /// Returns the lines of a record after the first one.
  func furtherLines(for record: Record, state: State, width: Int) -> [StyledLine] {
    let columns = shownColumns.map(\.column)
    let node = record.row.node ?? .empty
    let start = hasGutter ? RowText.gutterWidth : 0
    let end = hasGutter || !state.isCursor || sign(of: state) == nil ? 0 : 2
    let widths = widths(of: columns, in: width - start - end, state)
    let texts = zip(columns, widths).map { column, width -> [String] in
      guard column.width == nil, width > 0 else { return [] }
      let words = text(of: column.field.node(key: record.row.key, node), column.format)
      return pieces(of: words, width: width)
    }
    let links = columns.map { column -> [String] in
      guard column.width == nil else { return [] }
      return WebLink.all(
        in: text(of: column.field.node(key: record.row.key, node), column.format))
    }
    let count = texts.map(\.count).max() ?? 0
    guard count > 1 else { return [] }
    return (1..<count).map { index in
      var line = StyledLine(String(repeating: " ", count: start))
      for (position, column) in columns.enumerated() {
        let pieces = texts[position]
        let words = pieces.indices.contains(index) ? pieces[index] : ""
        let role: StyleRole = state.isTransient ? .transient : column.isMuted ? .muted : .text
        let cell = CellText.fitted(words, to: widths[position], isRight: false, glyphs: glyphs)
        line.append(StyledLine(cell, words.isEmpty ? .text : role).marking(links: links[position]))
        if position < columns.count - 1 { line.append(" ") }
      }
      return line
    }
  }

  /// Returns the lines of a text in a column: at least one, at most `linesMax`; the last one goes on
  /// if there is more, so that its end is cut.
  func pieces(of text: String, width: Int) -> [String] {
    // So many characters fill all lines, and one more, whatever they are.
    let most = (linesMax + 1) * max(width, 1)
    let (start, isWhole) = (text.prefix(most), text.count <= most)
    let lines = StyledLine(String(start)).wrapped(width: width).map(\.text)
    guard lines.count > linesMax || !isWhole else { return lines }
    let kept = lines.prefix(linesMax - 1)
    let last = lines.dropFirst(kept.count).joined(separator: " ")
    // Wider than the column, so that it ends with the sign of what is cut.
    return kept + [last + String(repeating: " ", count: width) + "."]
  }
}
