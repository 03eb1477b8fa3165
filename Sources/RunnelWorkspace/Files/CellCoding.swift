import RunnelBase

/// How a text stands in a cell of comma separated values, so that a spreadsheet takes it for a text and a
/// terminal shows it; and back, so that what is imported again is what was exported.
///
/// - A text that a spreadsheet would take for a formula gets a `'` before it: one that begins with
///   `=`, `+`, `-`, `@`, one of these in full width, a tab or the end of a line, and is no number. So does one that begins with such
///   signs after others of `'`.
/// - A text with control characters is written as a string of JSON, in which they are escapes; and so is a
///   text that looks like such a cell.
package enum CellCoding {
  private static let formulaSigns = Set<Unicode.Scalar>("=+-@＝＋－＠\t\r\n".unicodeScalars)

  /// The cell of a text.
  static func cell(of text: String) -> String {
    if isUnsafe(text) || decoded(text) != nil {
      let json = JSONValue.string(text).jsonText()
      return String(decoding: ControlCharacters.escaped(Array(json.utf8)), as: UTF8.self)
    }
    return needsMark(text.unicodeScalars[...]) ? "'" + text : text
  }

  /// The text of a cell.
  package static func text(of cell: String) -> String {
    if let text = decoded(cell) { return text }
    let scalars = cell.unicodeScalars
    guard scalars.first == "'", needsMark(scalars.dropFirst()) else { return cell }
    return String(String.UnicodeScalarView(scalars.dropFirst()))
  }

  /// The text that a cell holds as a string of JSON, where it had to be written so; nil for any other.
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
