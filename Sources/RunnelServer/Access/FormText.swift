/// The members of a form as browsers send them.
///
/// Source: URL Standard, "application/x-www-form-urlencoded".
enum FormText {
  /// The members by name, the first of each name; nil if the text is no form.
  static func members(of bytes: [UInt8]) -> [String: String]? {
    var members: [String: String] = [:]
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(halves[0]), let value = decoded(halves.dropFirst().first ?? [])
      else { return nil }
      if members[name] == nil { members[name] = value }
    }
    return members
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var result: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
        result.append(value)
        rest = rest.dropFirst(2)
      default: result.append(byte)
      }
    }
    return String(validating: result, as: UTF8.self)
  }
}
