import RunnelBase
import RunnelTerminal
import RunnelTree

/// Writes a line of the tree: a name, a kind and size, a value.
struct TreeText {
  private static let nameWidthMax = 28

  let tree: TreeScreen
  let local: LocalTime
  let glyphs: Glyphs
  let keys: KeyText

  func line(id: String, width: Int) -> StyledLine {
    switch tree.lines[id] {
    case .node(let path, let row, let depth):
      return indented(node(path, row), depth)
    case .paging(_, let phase, let depth):
      let text = PagingText(glyphs: glyphs, width: width - 2 * depth - 1, keys: keys)
      return indented(text.line(phase, isOlder: false), depth)
    case .failed(_, let message, let depth):
      return indented(
        StyledLine(
          "  \(glyphs.failed) \(message)\(keys.hint(.rowOpen, "tries again"))", .error), depth)
    case nil:
      return StyledLine()
    }
  }

  private func node(_ path: Path, _ row: TreeRow) -> StyledLine {
    switch row.summary.kind {
    case .children(let count):
      let sign = tree.expanded[path] == nil ? glyphs.foldClosed : glyphs.foldOpen
      var line = StyledLine(sign + " ", .frameFocus)
      line.append(name(row.key), .jsonKey)
      line.append(count == 1 ? "1 key" : "\(count) keys", .muted)
      return line
    case .leaf(let leaf):
      var line = StyledLine("  ")
      line.append(name(row.key), .jsonKey)
      line.append(leaf.json.jsonText(), TreeText.role(of: leaf))
      line.append("  " + TreeText.hint(of: leaf, local), .muted)
      return line
    case .empty: return StyledLine()
    }
  }

  /// The name with blanks up to the column of the values.
  private func name(_ key: RunnelTree.Key) -> String {
    let blanks = max(TreeText.nameWidthMax - CellWidth.width(of: key.text), 2)
    return key.text + String(repeating: " ", count: blanks)
  }

  private func indented(_ line: StyledLine, _ depth: Int) -> StyledLine {
    StyledLine([StyledRun(String(repeating: "  ", count: depth) + " ")] + line.runs)
  }

  /// The role of a value's kind.
  static func role(of leaf: Leaf) -> StyleRole {
    switch leaf {
    case .bool: .jsonBool
    case .number: .jsonNumber
    case .string: .jsonString
    }
  }

  /// The kind of a value, and for a number that looks like milliseconds since 1970 its date.
  static func hint(of leaf: Leaf, _ local: LocalTime) -> String {
    guard case .number(let number) = leaf, let time = number.integer,
      (1_000_000_000_000..<4_000_000_000_000).contains(time)
    else { return FieldKind(leaf.json).rawValue }
    return "\(local.civil(time).dateText) \(local.timeText(time))"
  }
}
