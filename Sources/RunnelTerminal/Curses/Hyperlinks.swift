/// Makes links of a screen clickable, in terminals that can do that (OSC 8).
///
/// Curses cannot put links into its cells. So after it has drawn them, the cells of links are written
/// again, now as links, with the cursor and the attributes saved before and restored after it:
/// nothing else changes for curses. Terminals that do not know links show the same text.
struct Hyperlinks {
  /// Types of terminals that do not skip control sequences that they do not know.
  private static let plainTerminals = ["linux", "vt", "ansi", "cons25", "dumb", "screen"]
  /// The longest link, in bytes; terminals limit them to about 2,000.
  private static let bytesMax = 1500

  private let theme: Theme

  /// Makes the links of a terminal; nil if it may not know them.
  ///
  /// - Parameters:
  ///   - theme: the look of the cells.
  ///   - term: the variable `TERM`.
  init?(theme: Theme, term: String) {
    if term.isEmpty || Self.plainTerminals.contains(where: { term.hasPrefix($0) }) { return nil }
    self.theme = theme
  }

  /// Returns what is to be sent for the links on a line of the screen; empty if there are none.
  func sequence(for line: CanvasLine, row: Int) -> String {
    // Most lines have no link.
    guard line.hasCell(of: .link) else { return "" }
    var sequence = ""
    var column = 0
    while column < line.width {
      guard line.cells[column].role == .link else {
        column += 1
        continue
      }
      let start = column
      var text = ""
      while column < line.width, line.cells[column].role == .link {
        text += line.cells[column].text
        column += 1
      }
      guard WebLink.first(in: text) == text, text.utf8.count <= Self.bytesMax else { continue }
      let highlight = line.cells[start].highlight
      let look = Self.attributes(of: theme.style(for: .link, highlight: highlight))
      let place = "\u{1B}[\(row + 1);\(start + 1)H"
      sequence += "\u{1B}7\(place)\u{1B}[\(look)m\u{1B}]8;;\(Self.target(text))\u{1B}\\"
      sequence += text + "\u{1B}]8;;\u{1B}\\\u{1B}8"
    }
    return sequence
  }

  /// Returns the target of a link: only printable ASCII, the rest percent-encoded.
  private static func target(_ link: String) -> String {
    link.utf8.map { byte in
      if (0x21...0x7E).contains(byte) { return String(Unicode.Scalar(byte)) }
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }

  /// Returns the parameters of the control sequence that selects a look.
  private static func attributes(of style: Style) -> String {
    let signs: [(Style.Attributes, String)] = [
      (.bold, "1"), (.dim, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7"),
    ]
    var parts = ["0"] + signs.filter { style.attributes.contains($0.0) }.map(\.1)
    if let color = style.foreground { parts.append(color < 8 ? "3\(color)" : "38;5;\(color)") }
    if let color = style.background { parts.append(color < 8 ? "4\(color)" : "48;5;\(color)") }
    return parts.joined(separator: ";")
  }
}
