import RunnelBase
import RunnelStreams
import RunnelTerminal

/// A view as text in a views file, for people to read and change.
package enum ViewText {
  /// Returns the text of a whole views file.
  package static func file(_ views: [ViewDefinition]) -> String {
    "views:\n" + views.map { entry($0, indentation: 2) }.joined()
  }

  /// Returns the text of an entry of the list `views`, with a line feed at its end.
  ///
  /// Members that have their usual value are left out.
  package static func entry(_ view: ViewDefinition, indentation: Int) -> String {
    let margin = String(repeating: " ", count: indentation)
    var lines: [String] = []
    for member in view.members where !isUsual(member) {
      if case .array(let elements) = member.value {
        lines.append("\(member.name):")
        lines += elements.map { "  - " + flow($0) }
      } else {
        lines.append("\(member.name): " + flow(member.value))
      }
    }
    return lines.enumerated().map { index, line in
      margin + (index == 0 ? "- " : "  ") + line + "\n"
    }.joined()
  }

  /// Returns the text of a views file with another entry for a view; nil if the file has no entry that
  /// begins with the name of the view.
  ///
  /// All other lines stay as they are.
  package static func replacing(_ view: ViewDefinition, in text: String) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { name(inLine: $0) == view.name }) else { return nil }
    let indentation = lines[start].prefix { $0 == " " }.count
    var end = start + 1
    while end < lines.count, belongs(lines[end], toEntryAt: indentation) { end += 1 }
    // Blank lines and comments before the next entry belong to that.
    while end > start + 1, isBlankOrComment(lines[end - 1]) { end -= 1 }
    let before = lines[..<start].map { $0 + "\n" }.joined()
    return before + entry(view, indentation: indentation)
      + lines[end...].joined(separator: "\n")
  }

  /// Returns the text of a views file with an entry for one more view at the end of its list; nil if the
  /// file has no list `views:` with lines of its own for each view.
  ///
  /// All other lines stay as they are.
  package static func adding(_ view: ViewDefinition, to text: String) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let head = lines.firstIndex(where: { isHead($0) }),
      let first = lines[(head + 1)...].first(where: { !isBlankOrComment($0) }),
      first.drop(while: { $0 == " " }).hasPrefix("- ")
    else { return nil }
    let indentation = first.prefix { $0 == " " }.count
    var end = head + 1
    while end < lines.count, isBlankOrComment(lines[end]) || isInList(lines[end], indentation) {
      end += 1
    }
    while end > head + 1, isBlankOrComment(lines[end - 1]) { end -= 1 }
    let before = lines[..<end].map { $0 + "\n" }.joined()
    return before + entry(view, indentation: indentation)
      + lines[end...].joined(separator: "\n")
  }

  private static func isHead(_ line: Substring) -> Bool {
    guard line.hasPrefix("views:") else { return false }
    return isBlankOrComment(line.dropFirst("views:".count))
  }

  /// Whether a line is one of a list whose entries have an indentation.
  private static func isInList(_ line: Substring, _ indentation: Int) -> Bool {
    let own = line.prefix { $0 == " " }.count
    return own > indentation || own == indentation && line.dropFirst(own).hasPrefix("-")
  }

  private static func belongs(_ line: Substring, toEntryAt indentation: Int) -> Bool {
    isBlankOrComment(line) || line.prefix { $0 == " " }.count > indentation
  }

  private static func isBlankOrComment(_ line: Substring) -> Bool {
    let rest = line.drop { $0 == " " }
    return rest.isEmpty || rest.first == "#" || rest == "\r"
  }

  /// The name in the first line of an entry: `- name: Messages`; nil for another line.
  private static func name(inLine line: Substring) -> String? {
    var rest = line.drop { $0 == " " }
    guard rest.first == "-" else { return nil }
    rest = rest.dropFirst().drop { $0 == " " }
    guard rest.hasPrefix("name:") else { return nil }
    rest = rest.dropFirst("name:".count).drop { $0 == " " }
    if let quote = rest.first, quote == "\"" || quote == "'" {
      return String(rest.dropFirst().prefix { $0 != quote })
    }
    let name = rest.firstRange(of: " #").map { rest[..<$0.lowerBound] } ?? rest
    return String(name.reversed().drop { $0.isWhitespace }.reversed())
  }

  /// Whether a member has the value that a view has without it.
  private static func isUsual(_ member: JSONMember) -> Bool {
    switch (member.name, member.value) {
    case ("order", "$key"), ("anchor", "first"), ("format", "plain"): true
    case ("descending", false), ("muted", false), ("color", false), ("screen", 0): true
    default: false
    }
  }

  /// Returns a value on one line, in the flow style of YAML.
  private static func flow(_ json: JSONValue) -> String {
    switch json {
    case .object(let members):
      let words = members.filter { !isUsual($0) }.map { "\(plain($0.name)): \(flow($0.value))" }
      return words.isEmpty ? "{}" : "{ \(words.joined(separator: ", ")) }"
    case .array(let elements): return "[" + elements.map(flow).joined(separator: ", ") + "]"
    case .string(let text): return plain(text)
    case .null, .bool, .number: return json.jsonText()
    }
  }

  /// Returns a text without quotes if it is a text in YAML so, and in quotes otherwise.
  private static func plain(_ text: String) -> String {
    let words: Set = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
    let isWord = text.unicodeScalars.allSatisfy { scalar in
      scalar.isASCII
        && (scalar.properties.isAlphabetic || "0123456789_/$-.".unicodeScalars.contains(scalar))
    }
    let begins =
      text.unicodeScalars.first.map { $0.properties.isAlphabetic || $0 == "/" || $0 == "$" }
      ?? false
    return isWord && begins && !words.contains(text.lowercased())
      ? text : JSONValue.string(text).jsonText()
  }
}
