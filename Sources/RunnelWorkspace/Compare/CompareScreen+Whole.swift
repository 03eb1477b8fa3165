import RunnelBase
import RunnelTerminal

// Values that are shown in full: below their rows, in as many lines as they need.

extension CompareScreen {
  /// The columns before a line of a value: the sign, and the label of the version.
  static let pieceIndent = 16
  /// The most lines of one version.
  private static let piecesMax = 2000

  /// Shows the versions of the field under the cursor in full, or no longer.
  mutating func toggleWhole(columns: Int, height: Int) {
    guard let index = cursorIndex else { return }
    let side = list.cursor.flatMap { cursor -> ThreeWay.Side? in
      if case .row(let id) = cursor { self.side(ofRow: id) } else { nil }
    }
    toggle(whole: index)
    rebuild(columns: columns, height: height)
    list = ListState()
    list.apply(.reload, from: ListContent(), to: content, height: listHeight(of: height))
    moveTo(index, height: height)
    if !isWide, let side {
      _ = list.moveTo(
        .row(Line.version(side, index).id), in: content, height: listHeight(of: height))
    }
  }

  /// The texts of a value in lines of at most so many columns; a value that is too long for that ends with a line
  /// that says so.
  static func pieces(of value: JSONValue, columns: Int) -> [String] {
    if value == .null { return ["(none)"] }
    let width = max(columns - pieceIndent - 2, 8)
    var (lines, line, used) = ([String](), "", 0)
    for character in value.jsonText() {
      let next = CellWidth.width(of: String(character))
      if used + next > width {
        lines.append(line)
        if lines.count == piecesMax {
          return lines + ["and more, which is too long for this screen"]
        }
        (line, used) = ("", 0)
      }
      line.append(character)
      used += next
    }
    return lines + [line]
  }
}
