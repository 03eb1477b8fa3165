import RunnelBase

/// The coding of a text as a cell of comma separated values.
///
/// A spreadsheet takes the cell for a text, a terminal can show it, and an import of the cell gives
/// the exported text again.
///
/// - A text that a spreadsheet would take for a formula gets a `'` before it. Such a text is not a
///   number, and begins with `=`, `+`, `-`, `@`, one of these in full width, a tab or a line end. A
///   text that begins with such a sign after one or more `'` gets another `'`.
/// - A text with control characters is written as a JSON string, which escapes them. So is a text
///   that looks like such a cell.
package enum CellCoding {
  private static let formulaSigns = Set<Unicode.Scalar>("=+-@＝＋－＠\t\r\n".unicodeScalars)

  /// Returns the cell of a text.
  static func cell(of text: String) -> String {
    if isUnsafe(text) || decoded(text) != nil {
      let json = JSONValue.string(text).jsonText()
      return String(decoding: ControlCharacters.escaped(Array(json.utf8)), as: UTF8.self)
    }
    return needsMark(text.unicodeScalars[...]) ? "'" + text : text
  }

  /// Returns the text of a cell.
  package static func text(of cell: String) -> String {
    if let text = decoded(cell) { return text }
    let scalars = cell.unicodeScalars
    guard scalars.first == "'", needsMark(scalars.dropFirst()) else { return cell }
    return String(String.UnicodeScalarView(scalars.dropFirst()))
  }

  /// Returns the text of a cell that had to be written as a JSON string, or nil for any other cell.
  private static func decoded(_ cell: String) -> String? {
    guard cell.utf8.first == UInt8(ascii: "\""), cell.utf8.contains(UInt8(ascii: "\\")),
      case .string(let text)? = try? JSONValue(parsing: cell),
      isUnsafe(text) || decoded(text) != nil
    else { return nil }
    return text
  }

  /// Whether a text has control characters other than tabs and the ends of lines.
  private static func isUnsafe(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      ControlCharacters.contains($0) && $0 != "\n" && $0 != "\t" && $0 != "\r"
    }
  }

  private static func needsMark(_ scalars: Substring.UnicodeScalarView) -> Bool {
    let rest = scalars.drop { $0 == "'" }
    guard let first = rest.first, formulaSigns.contains(first) else { return false }
    return !isNumber(String(String.UnicodeScalarView(rest)))
  }

  private static func isNumber(_ text: String) -> Bool {
    Double(text) != nil && text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
  }
}
