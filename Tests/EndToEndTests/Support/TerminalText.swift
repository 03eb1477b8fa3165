/// The text on a screen, line by line, without blanks at the ends of lines.
struct TerminalText: Hashable, CustomStringConvertible {
  let lines: [String]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
      String.init)
  }

  /// All lines.
  var text: String { lines.joined(separator: "\n") }

  /// The screen between two rules, for the message of a failed test.
  var description: String {
    let rule = String(repeating: "=", count: 20)
    return "\(rule)\n\(text)\n\(rule)"
  }

  func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

  /// The number of the first line with a text, from 0.
  func line(of text: String) -> Int? { lines.firstIndex { $0.contains(text) } }

  /// The first line with a text.
  func first(_ text: String) -> String? { lines.first { $0.contains(text) } }

  /// The line under the cursor of a list, without its sign.
  var cursorLine: String? { lines.first { $0.hasPrefix(">") }.map { String($0.dropFirst()) } }

  /// The number of the line under the cursor of a list.
  var cursorLineNumber: Int? { lines.firstIndex { $0.hasPrefix(">") } }

  /// The lines between the header and the footer, on a screen with both.
  var body: ArraySlice<String> {
    let rules = lines.indices.filter { lines[$0].hasPrefix("───") || lines[$0].hasPrefix("---") }
    guard let first = rules.first, let last = rules.last, first < last else { return [] }
    return lines[(first + 1)..<last]
  }
}
