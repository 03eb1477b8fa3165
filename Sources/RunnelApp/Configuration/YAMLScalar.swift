import RunnelBase

/// The values of plain scalars: those without quotes.
///
/// The parser resolves them as YAML 1.1 does, where `12:30` is the number 750 and `no` is false.
///
/// Source: YAML 1.2.2, section 10.3, the core schema.
enum YAMLScalar {
  /// The value of a plain scalar; a text if it is nothing else.
  static func json(_ text: String) -> JSONValue {
    switch text {
    case "", "~", "null", "Null", "NULL": .null
    case "true", "True", "TRUE": .bool(true)
    case "false", "False", "FALSE": .bool(false)
    default: number(text).map { .number($0) } ?? .string(text)
    }
  }

  private static func number(_ text: String) -> JSONNumber? {
    if text.hasPrefix("0o") { return integer(text.dropFirst(2), radix: 8) }
    if text.hasPrefix("0x") { return integer(text.dropFirst(2), radix: 16) }
    // Other letters are those of `inf`, `nan` and hexadecimal fractions.
    let signs = "0123456789+-.eE".utf8
    guard text.utf8.allSatisfy({ signs.contains($0) }),
      text.utf8.contains(where: { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    if let whole = Int64(text) { return JSONNumber(whole) }
    return Double(text).flatMap { JSONNumber($0) }
  }

  private static func integer(_ digits: Substring, radix: Int) -> JSONNumber? {
    // A sign belongs before the prefix, and is not allowed there.
    if digits.hasPrefix("+") || digits.hasPrefix("-") { return nil }
    return Int64(digits, radix: radix).map { JSONNumber($0) }
  }
}
