import RunnelBase
package import RunnelTree

/// Keys and values as bytes whose order is the tree's.
///
/// Keys. An integer-like key is `01`, its number as 4 big-endian bytes with the sign bit flipped,
/// its text's length as 2 bytes, then `00` if the text has a minus sign and `01` if not: these
/// bytes determine its text. (`-0` comes before `00`, as a minus sign does before a digit.) Every
/// other key is `02`, then its UTF-8 with the lead bytes of tree order (`UTF8Rank`), then `00`, so
/// that no key's bytes are the beginning of another's.
///
/// Values. `00` null; `01` false; `02` true; `03` a number: 8 bytes of its double with the sign
/// folded in, then for an integer 8 bytes of the integer likewise, so that integers beyond 2^53
/// keep their order, and for any other number 9 bytes `FF`, because 2^63 comes after the integers
/// that round to it; `04` a string like a key's, ended by `00 00`, with `00` inside written `00
/// 01`; `05` children.
///
/// Tuples. The elements follow each other, and none is the beginning of another: a value or a key
/// as above, but its first byte greater by 1, and `00` after a number that is an integer; inverted
/// bit by bit if the component descends. `00` and `FF`, with which no element begins, stand before
/// and after all elements.
package enum OrderedBytes {
  package static func key(_ key: Key) -> [UInt8] {
    let text = key.text
    guard let integer = key.integer else {
      let count = text.utf8.count + 2
      return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        buffer[0] = 2
        var index = 1
        for byte in text.utf8 {
          buffer[index] = UTF8Rank.of(byte)
          index += 1
        }
        buffer[index] = 0
        initialized = count
      }
    }
    let count = UInt16(text.utf8.count)
    let sign: UInt8 = text.utf8.first == UInt8(ascii: "-") ? 0 : 1
    return [1] + bigEndian(UInt32(bitPattern: integer) ^ 0x8000_0000) + bigEndian(count) + [sign]
  }

  /// The key with these bytes; nil if they are no key's.
  package static func key(from bytes: [UInt8]) -> Key? {
    bytes.withUnsafeBufferPointer(key(from:))
  }

  /// The key with these bytes; nil if they are no key's.
  package static func key(from bytes: UnsafeBufferPointer<UInt8>) -> Key? {
    switch bytes.first {
    case 1: integerKey(from: bytes)
    case 2: textKey(from: bytes)
    default: nil
    }
  }

  private static func integerKey(from bytes: UnsafeBufferPointer<UInt8>) -> Key? {
    guard bytes.count == 8, bytes[7] <= 1 else { return nil }
    let raw = bytes[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let integer = Int32(bitPattern: raw ^ 0x8000_0000)
    let count = Int(bytes[5]) << 8 | Int(bytes[6])
    let digits = String(integer.magnitude)
    let sign = bytes[7] == 0 ? "-" : ""
    let zeros = count - digits.utf8.count - sign.utf8.count
    guard zeros >= 0, count <= TreeLimits.keyBytesMax else { return nil }
    guard integer == 0 || (integer < 0) == (bytes[7] == 0) else { return nil }
    return Key(unchecked: sign + String(repeating: "0", count: zeros) + digits)
  }

  private static func textKey(from bytes: UnsafeBufferPointer<UInt8>) -> Key? {
    guard bytes.last == 0, bytes.count > 2 else { return nil }
    // Damaged bytes may be invalid UTF-8, no key, or a key that is stored in the other form.
    let ranks = UnsafeBufferPointer(rebasing: bytes[1..<bytes.count - 1])
    guard let text = text(ranks: ranks), let key = try? Key(text), key.integer == nil else {
      return nil
    }
    return key
  }

  private static func text(ranks: UnsafeBufferPointer<UInt8>) -> String? {
    let greatest = ranks.reduce(0) { max($0, $1) }
    // ASCII needs no check and is its own rank, as is everything below the greatest lead bytes.
    if greatest < 0x80 { return String(decoding: ranks, as: UTF8.self) }
    if greatest < 0xEE { return String(validating: ranks, as: UTF8.self) }
    return String(validating: ranks.map { UTF8Rank.byte(ofRank: $0) }, as: UTF8.self)
  }

  package static func value(_ value: IndexValue) -> [UInt8] {
    switch value {
    case .null: [0]
    case .leaf(.bool(false)): [1]
    case .leaf(.bool(true)): [2]
    case .leaf(.number(let number)):
      [3] + bigEndian(folded(number.double))
        + (number.integer.map { bigEndian(folded($0)) } ?? notAnInteger)
    case .leaf(.string(let text)): string(text)
    case .children: [5]
    case .tuple(let tuple): tuple.elements.flatMap(element)
    }
  }

  private static func element(_ element: IndexTuple.Element) -> [UInt8] {
    var bytes: [UInt8]
    switch element.content {
    case .lowest: return [0]
    case .highest: return [0xFF]
    case .value(let value):
      bytes = OrderedBytes.value(value)
      if case .leaf(.number(let number)) = value, number.integer != nil { bytes.append(0) }
    case .key(let key): bytes = OrderedBytes.key(key)
    }
    bytes[0] += 1
    return element.isDescending ? bytes.map { ~$0 } : bytes
  }

  private static let notAnInteger = [UInt8](repeating: 0xFF, count: 9)

  private static func string(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = [4]
    bytes.reserveCapacity(text.utf8.count + 3)
    for byte in text.utf8 {
      bytes.append(UTF8Rank.of(byte))
      if byte == 0 { bytes.append(1) }
    }
    return bytes + [0, 0]
  }

  private static func folded(_ double: Double) -> UInt64 {
    let bits = double.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  private static func folded(_ integer: Int64) -> UInt64 {
    UInt64(bitPattern: integer) ^ 1 << 63
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
