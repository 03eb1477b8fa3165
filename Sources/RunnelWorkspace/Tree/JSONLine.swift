import RunnelTerminal

/// Formats a line of pretty JSON with the styles of its parts.
enum JSONLine {
  /// Returns the line with its name, its value, and the separators.
  ///
  /// O(n).
  static func styled(_ text: String) -> StyledLine {
    var line = StyledLine()
    var rest = text[...]
    let blanks = rest.prefix { $0 == " " }
    if !blanks.isEmpty { line.append(String(blanks)) }
    rest = rest.dropFirst(blanks.count)
    if let end = endOfString(rest), rest[end...].hasPrefix(":") {
      line.append(WritableKey.name(of: String(rest[..<end])), .jsonKey)
      line.append(": ", .muted)
      rest = rest[end...].dropFirst(2)
    }
    let comma = rest.hasSuffix(",") ? "," : ""
    let value = String(rest.dropLast(comma.count))
    line.append(value, role(of: value))
    if !comma.isEmpty { line.append(comma, .muted) }
    return line
  }

  /// Returns the index after a string at the beginning of a text, or nil if there is none.
  private static func endOfString(_ text: Substring) -> Substring.Index? {
    guard text.first == "\"" else { return nil }
    var isEscaped = false
    for index in text.indices.dropFirst() {
      if isEscaped {
        isEscaped = false
      } else if text[index] == "\\" {
        isEscaped = true
      } else if text[index] == "\"" {
        return text.index(after: index)
      }
    }
    return nil
  }

  private static func role(of value: String) -> StyleRole {
    switch value.first {
    case "\"": .jsonString
    case "t", "f": .jsonBool
    case "n": .jsonNull
    case "-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9": .jsonNumber
    default: .muted
    }
  }

  /// Returns the number in a line if it looks like milliseconds since 1970, otherwise nil.
  static func moment(in text: String) -> Int64? {
    let digits = text.reversed().drop { $0 == "," }.prefix { $0.isASCII && $0.isNumber }
    guard digits.count == 13, let time = Int64(String(digits.reversed())),
      StoredTime.milliseconds.contains(time)
    else { return nil }
    let before = text.reversed().drop { $0 == "," }.dropFirst(13).first
    return before == nil || before == " " ? time : nil
  }
}
