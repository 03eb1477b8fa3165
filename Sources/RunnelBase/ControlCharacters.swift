/// Characters that a terminal obeys instead of showing, written in the way of JSON: `\u001b`.
///
/// They are the controls of C0 and C1 and DEL, which move cursors, change colors and more; and those that
/// change the direction of text, by which one name can look like another.
public enum ControlCharacters {
  /// True of a character that is not to reach a terminal within a text.
  ///
  /// A tab and the ends of lines are among them; `escaped` lets through those that lay a text out.
  public static func contains(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// True if a text holds one of them, but for tabs and line feeds.
  public static func areIn(_ text: String) -> Bool {
    text.unicodeScalars.contains { contains($0) && $0 != "\n" && $0 != "\t" }
  }

  /// A text of several lines in which each of them is written out; tabs and line feeds stay.
  ///
  /// O(n) in the text.
  public static func escaped(_ text: String) -> String {
    areIn(text) ? escape(text) { $0 == "\n" || $0 == "\t" } : text
  }

  /// A name or another text of one line, in which tabs and line feeds are written out, too.
  public static func escapedLine(_ text: String) -> String {
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

  /// UTF-8 in which each of them is written out, but for tabs, line feeds, and returns before these.
  ///
  /// JSON stays the same JSON: within its strings an escape means the character, and nothing else of it
  /// has any. A character must not be split between two calls.
  ///
  /// O(n) in the bytes.
  public static func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    // All of them but C0 and DEL begin with one of these bytes, which other letters share.
    let isPlain = !bytes.contains { byte in
      switch byte {
      case 0x09, 0x0A: false
      case 0x00...0x1F, 0x7F, 0xC2, 0xD8, 0xE2: true
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
