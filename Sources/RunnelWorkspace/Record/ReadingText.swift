import RunnelBase
package import RunnelTerminal
import RunnelTree

/// Formats a value in full: wrapped, or one code point per line.
package struct ReadingText {
  /// The greatest number of characters shown of a text.
  static let charactersMax = 64 << 10
  /// The greatest number of code points listed.
  static let codePointsMax = 4096

  private let reading: Reading
  private let title: String
  private let leaf: Leaf?
  private let local: LocalTime

  init(_ reading: Reading, of screen: RecordScreen, local: LocalTime) {
    self.reading = reading
    self.local = local
    title = Path(unchecked: screen.path.keys + reading.field.keys).shownPath
    leaf = screen.fields[reading.field.description]?.leaf
  }

  package func draw(into canvas: inout Canvas, rect: Rect) {
    canvas.fill(rect)
    let (head, rest) = rect.splitTop(1)
    StatusLine(
      left: StyledLine(" \(title)", .sectionHeader), right: StyledLine("\(size) ", .muted)
    ).draw(into: &canvas, rect: head)
    let area = rest.splitTop(1).rest.inset(rows: 0, columns: 2)
    for (index, line) in lines(width: area.width).dropFirst(reading.top).prefix(area.height)
      .enumerated()
    {
      canvas.put(line, at: area.line(index).origin, width: area.width)
    }
  }

  /// Returns all lines for a width in columns.
  func lines(width: Int) -> [StyledLine] {
    guard let leaf else { return [StyledLine("this value is gone", .muted)] }
    let text = FieldKind.text(of: leaf.json)
    if reading.showsCodePoints { return codePoints(of: text) }
    let role = TreeText.role(of: leaf)
    var lines = StyledLine(String(text.prefix(ReadingText.charactersMax)), role)
      .wrapped(width: width)
    if let moment = TreeText.moment(of: leaf, local) { lines.append(StyledLine(moment, .muted)) }
    if text.utf8.count > ReadingText.charactersMax, text.count > ReadingText.charactersMax {
      lines.append(StyledLine("these are the first 65536 characters", .muted))
    }
    return lines
  }

  private var size: String {
    guard let leaf else { return "" }
    guard case .string(let text) = leaf else { return FieldKind(leaf.json).rawValue }
    return "\(ByteCount.text(text.utf8.count)) · \(text.unicodeScalars.count) code points"
  }

  private func codePoints(of text: String) -> [StyledLine] {
    var lines = text.unicodeScalars.prefix(ReadingText.codePointsMax).map { scalar in
      let hex = String(scalar.value, radix: 16, uppercase: true)
      let number = "U+" + String(repeating: "0", count: max(4 - hex.count, 0)) + hex
      var line = StyledLine(
        number + String(repeating: " ", count: max(9 - number.count, 1)), .jsonNumber)
      let sign = String(Character(scalar))
      line.append(sign, .jsonString)
      line.append(String(repeating: " ", count: max(4 - CellWidth.width(of: sign), 1)))
      line.append(scalar.properties.name ?? scalar.properties.nameAlias ?? "", .muted)
      return line
    }
    if text.unicodeScalars.count > ReadingText.codePointsMax {
      lines.append(StyledLine("these are the first \(ReadingText.codePointsMax)", .muted))
    }
    return lines
  }
}
