import Testing

/// A configuration file with a mistake.
struct BadFile: CustomTestStringConvertible, Sendable {
  var yaml: String
  var line: Int
  /// What the message says of it.
  var words: String

  init(_ yaml: String, line: Int, _ words: String) {
    self.yaml = yaml
    self.line = line
    self.words = words
  }

  var testDescription: String { words }

  /// Lines as they stand within an element of a list.
  static func indented(_ text: String) -> String {
    text.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
  }
}
