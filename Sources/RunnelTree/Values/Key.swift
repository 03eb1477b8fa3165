/// The name of a child.
///
/// A key is valid by construction, and keys compare in the tree's order.
///
/// A key is a non-empty string of at most 768 bytes of UTF-8 without `. # $ / [ ]` and without
/// ASCII control characters. Keys are compared as given; nothing is normalized.
///
/// Order: keys that look like 32-bit integers come first, by number (on a tie the shorter text
/// first, then by code unit, so that the order is total); the others follow by UTF-16 code unit.
///
/// Source: tree semantics, sections 2.1 and 4.1.
public struct Key: Hashable, Sendable {
  /// The key's text.
  public let text: String
  /// The number that an integer-like key stands for; nil for every other key.
  package let integer: Int32?

  /// Makes a key.
  ///
  /// - Throws: `TreeError` (`invalidKey`) that says which character or length is refused.
  public init(_ text: String) throws(TreeError) {
    if let reason = Key.refusal(of: text) {
      throw TreeError(.invalidKey, "The key \(Key.quoted(text)) \(reason).")
    }
    self.init(unchecked: text)
  }

  /// Makes a key from text that is known to be valid: an array index, or text from a tree.
  package init(unchecked text: String) {
    self.text = text
    integer = Key.integer(of: text)
  }

  /// The reason why `text` is not a key, or nil if it is one.
  ///
  /// O(n) in its bytes.
  static func refusal(of text: String) -> String? {
    if text.isEmpty { return "is empty: give it at least one character" }
    if text.utf8.count > TreeLimits.keyBytesMax {
      return "has \(text.utf8.count) bytes: \(TreeLimits.keyBytesMax) are allowed"
    }
    // The bytes are made contiguous: reading them one by one from a bridged text takes ten times as
    // long.
    var text = text
    guard let byte = text.withUTF8({ $0.first(where: isRefused) }) else { return nil }
    if byte < 0x20 || byte == 0x7F { return "holds a control character: remove it" }
    return "holds '\(Character(Unicode.Scalar(byte)))': . # $ / [ ] are not allowed in a key"
  }

  @inline(__always)
  private static func isRefused(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "/"),
      UInt8(ascii: "["), UInt8(ascii: "]"), 0..<0x20, 0x7F:
      true
    default: false
    }
  }

  /// The text in quotes, cut to a readable length and with its control characters made visible.
  private static func quoted(_ text: String) -> String {
    let head = text.prefix(40).map { character in
      character.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? "?" : character
    }
    return "\"" + String(head) + (text.dropFirst(40).isEmpty ? "" : "...") + "\""
  }

  /// The number of `^-?0*[0-9]{1,10}$` within 32 bits.
  private static func integer(of text: String) -> Int32? {
    let bytes = text.utf8
    guard let first = bytes.first, first <= UInt8(ascii: "9") else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    let digits = isNegative ? bytes.dropFirst() : bytes[...]
    if digits.isEmpty { return nil }
    var value: Int64 = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      if value > 2_147_483_648 { return nil }
    }
    return Int32(exactly: isNegative ? -value : value)
  }
}

extension Key: Comparable {
  /// The tree's order of keys.
  ///
  /// O(n) in the shorter text.
  public static func < (left: Key, right: Key) -> Bool {
    switch (left.integer, right.integer) {
    case (let a?, let b?):
      if a != b { return a < b }
      let (leftCount, rightCount) = (left.text.utf8.count, right.text.utf8.count)
      return leftCount == rightCount
        ? left.text.isOrderedBefore(right.text) : leftCount < rightCount
    case (_?, nil): return true
    case (nil, _?): return false
    case (nil, nil): return left.text.isOrderedBefore(right.text)
    }
  }

  /// True if both have the same code units; canonically equivalent texts are different keys.
  public static func == (left: Key, right: Key) -> Bool {
    left.text.hasSameUnits(as: right.text)
  }

  /// Hashes the code units.
  public func hash(into hasher: inout Hasher) {
    text.hashUnits(into: &hasher)
  }
}

extension Key: CustomStringConvertible {
  /// The key's text.
  public var description: String { text }
}
