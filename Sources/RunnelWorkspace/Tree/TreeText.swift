import RunnelBase
import RunnelStreams
package import RunnelTerminal
package import RunnelTree

/// Formats a line of the tree: a name, a kind and size, a value.
package struct TreeText {
  private static let nameWidthMax = 28

  package let tree: TreeScreen
  package let local: LocalTime
  package let glyphs: Glyphs
  package let keys: KeyText
  /// The number of children of a page.
  package let pageSize: Int
  /// The typed values that are not on disk yet, by place.
  package var waiting: [Path: WaitingValue] = [:]

  package func line(id: String, width: Int) -> StyledLine {
    switch tree.lines[id] {
    case .node(let path, let row, let depth):
      let line = node(path, row, width: width - 2 * depth - 1)
      return tree.isMarked(id) ? marked(line, depth) : indented(line, depth)
    case .paging(_, let phase, let depth):
      let text = PagingText(
        glyphs: glyphs, width: width - 2 * depth - 1, keys: keys, pageSize: pageSize)
      return indented(text.line(phase, isOlder: false), depth)
    case .failed(let path, let message, let depth):
      var hints = [
        keys.hint(.rowOpen, "tries again"), keys.hint(.paletteOpen, "/PATH opens a place below"),
      ]
      // Whoever may not list the root may read what stands below.
      if path.isRoot { hints.reverse() }
      let line = PagingText.failure(
        "  \(glyphs.failed) \(message)", hints, width: width - 2 * depth - 1)
      return indented(line, depth)
    case nil:
      return StyledLine()
    }
  }

  private func node(_ path: Path, _ row: TreeRow, width: Int) -> StyledLine {
    switch row.summary.kind {
    case .children(let count):
      let sign = tree.expanded[path] == nil ? glyphs.foldClosed : glyphs.foldOpen
      var line = StyledLine(sign + " ", .frameFocus)
      line.append(name(row.key), .jsonKey)
      if let fact = tree.fact(of: path) {
        line.append(tree.factText(fact, of: path, glyphs))
      } else {
        line.append(tree.keyCountText(of: path, count), .muted)
      }
      guard let state = state(of: path) else { return line }
      let blanks = width - line.width - state.width - 1
      if blanks > 0 {
        line.append(String(repeating: " ", count: blanks))
        line.append(state)
      }
      return line
    case .leaf(let leaf):
      var line = StyledLine("  ")
      line.append(name(row.key), .jsonKey)
      if !waiting.isEmpty, let value = waiting[path] {
        line.append(value, width: width - line.width, glyphs)
      } else {
        append(leaf, to: &line, width: width)
      }
      return line
    case .empty: return StyledLine()
    }
  }

  /// Returns the load state of an expanded node's children, or nil for a collapsed node.
  private func state(of path: Path) -> StyledLine? {
    let children = tree.expanded[path]
    switch children?.phase {
    case .idle, .loading: return StyledLine("loading \(glyphs.loading)", .connecting)
    case .cached, .loaded: return children?.listing?.stateLine(local) ?? StyledLine("live", .live)
    case .failed:
      if let rows = children?.rows, !rows.isEmpty, let listing = children?.listing {
        return listing.stateLine(local)
      }
      return StyledLine("failed \(glyphs.failed)", .error)
    case nil: return nil
    }
  }

  /// Appends a value and its kind; of a long text its beginning, and its size.
  private func append(_ leaf: Leaf, to line: inout StyledLine, width: Int) {
    let role = TreeText.role(of: leaf)
    let room = width - line.width
    guard case .string(let text) = leaf, isLonger(text, than: room) else {
      line.append(leaf.json.jsonText(), role)
      line.append("  " + TreeText.hint(of: leaf, local), .muted)
      return
    }
    let size = "  " + ByteCount.text(text.utf8.count)
    let kept = max(room - size.count - CellWidth.width(of: glyphs.ellipsis) - 1, 1)
    let beginning = JSONValue.string(String(text.prefix(kept))).jsonText().dropLast()
    line.append(StyledLine(String(beginning), role).cut(to: kept))
    line.append(glyphs.ellipsis, role)
    line.append(size, .muted)
  }

  /// Returns whether a text is wider than a number of columns; a very long text is not measured.
  private func isLonger(_ text: String, than width: Int) -> Bool {
    let bytes = text.utf8.count
    if bytes + 2 <= width { return false }
    return bytes > 8 * max(width, 1) || CellWidth.width(of: text) + 2 > width
  }

  /// The name, padded to the column of the values.
  private func name(_ key: RunnelTree.Key) -> String {
    let name = WritableKey.name(of: key.text)
    let blanks = max(TreeText.nameWidthMax - CellWidth.width(of: name), 2)
    return name + String(repeating: " ", count: blanks)
  }

  private func indented(_ line: StyledLine, _ depth: Int) -> StyledLine {
    StyledLine([StyledRun(String(repeating: "  ", count: depth) + " ")] + line.runs)
  }

  private func marked(_ line: StyledLine, _ depth: Int) -> StyledLine {
    StyledLine(
      [
        StyledRun(glyphs.marked, .rowMarked), StyledRun(String(repeating: "  ", count: depth)),
      ] + line.runs)
  }

  /// Returns the style role for the kind of a value.
  package static func role(of leaf: Leaf) -> StyleRole {
    switch leaf {
    case .bool: .jsonBool
    case .number: .jsonNumber
    case .string: .jsonString
    }
  }

  /// Returns the local date and time of a number that looks like milliseconds since 1970, or like seconds
  /// in a field that its name tells to be a time, or of a text in ISO 8601 with a zone; nil for other values.
  static func moment(of leaf: Leaf, in field: Path = .root, _ local: LocalTime) -> String? {
    if case .number(let number) = leaf {
      guard let stored = number.integer else { return nil }
      let isTime =
        StoredTime.milliseconds.contains(stored)
        || StoredTime.seconds.contains(stored) && FieldRole(ofFieldAt: field) == .date
      if !isTime { return nil }
    }
    guard let time = StoredTime.moment(of: leaf) else { return nil }
    return "\(local.civil(time).dateText) \(local.timeText(time))"
  }

  /// Returns the local date and time of a value that is a time, as for a leaf; nil for other values.
  static func moment(
    of json: JSONValue, in field: Path = .root, _ local: LocalTime
  ) -> String? {
    switch json {
    case .number(let number): moment(of: .number(number) as Leaf, in: field, local)
    case .string(let text): moment(of: .string(text) as Leaf, in: field, local)
    default: nil
    }
  }

  /// Returns the local date of a number that looks like milliseconds since 1970, or of a text in ISO 8601 with a
  /// zone; of other values the kind.
  static func hint(of leaf: Leaf, _ local: LocalTime) -> String {
    moment(of: leaf, local) ?? FieldKind(leaf.json).rawValue
  }
}

extension StyledLine {
  /// Returns the beginning of a line with one run, cut to a number of columns.
  fileprivate func cut(to width: Int) -> StyledLine {
    guard let run = runs.first else { return self }
    var text = ""
    var used = 0
    for character in run.text {
      used += CellWidth.width(of: character)
      if used > width { break }
      text.append(character)
    }
    return StyledLine(text, run.role)
  }
}
