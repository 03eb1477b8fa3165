/// Control characters, which a terminal obeys instead of showing; escaped as in JSON: `\u001b`.
///
/// They are the controls of C0 and C1 and DEL, which move the cursor, change colors and more, and
/// the characters that change the direction of text, end lines or are not seen at all, by which one
/// name can look like another.
package enum ControlCharacters {
  /// True for a character that must not reach a terminal within a text.
  ///
  /// Tabs and line ends are among them; `escaped` keeps those that lay out a text.
  package static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  /// True if a text contains a control character other than a tab or a line feed.
  package static func areIn(_ text: String) -> Bool {
    text.unicodeScalars.contains { contains($0) && $0 != "\n" && $0 != "\t" }
  }

  /// A text of several lines with its control characters escaped; tabs and line feeds stay.
  ///
  /// O(n) in the text.
  package static func escaped(_ text: String) -> String {
    areIn(text) ? escape(text) { $0 == "\n" || $0 == "\t" } : text
  }

  /// A name or another text of one line with its control characters escaped, also tabs and line
  /// feeds.
  package static func escapedLine(_ text: String) -> String {
    text.unicodeScalars.contains(where: contains) ? escape(text) { _ in false } : text
  }

  private static func escape(_ text: String, _ stays: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if contains(scalar), !stays(scalar) {
        result += escape(of: scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// UTF-8 with its control characters escaped, except tabs, line feeds, and returns before line
  /// feeds.
  ///
  /// JSON keeps its meaning: other control characters occur only within its strings, where the
  /// escape means the character. A character must not be split between two calls.
  ///
  /// O(n) in the bytes.
  package static func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    // All of them except C0 and DEL begin with one of these bytes, which other characters share.
    let isPlain = !bytes.contains { byte in
      switch byte {
      case 0x09, 0x0A: false
      case 0x00...0x1F, 0x7F, 0xC2, 0xD8, 0xE2, 0xEF: true
      default: false
      }
    }
    if isPlain { return bytes }
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 64)
    var index = scalars.startIndex
    while index < scalars.endIndex {
      let scalar = scalars[index]
      index = scalars.index(after: index)
      let endsLine = scalar == "\r" && index < scalars.endIndex && scalars[index] == "\n"
      if contains(scalar), scalar != "\n", scalar != "\t", !endsLine {
        result += escape(of: scalar).utf8
      } else {
        result += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
    return result
  }

  private static func escape(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
