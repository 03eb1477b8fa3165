import RunnelBase
import RunnelTree

/// Keys and values as bytes whose order is the tree's.
///
/// Keys. An integer-like key is `01`, its number as 4 big-endian bytes with the sign bit flipped, its
/// text's length as 2 bytes, then `01` if the text has a minus sign and `00` if not: that is all its
/// text holds. Every other key is `02`, then its UTF-8 with the lead bytes of tree order (`UTF8Rank`),
/// then `00`, so that no key's bytes are the beginning of another's.
///
/// Values. `00` null; `01` false; `02` true; `03` a number: 8 bytes of its double with the sign folded
/// in, then 8 bytes of the integer likewise where it is one, so that integers beyond 2^53 keep their
/// order; `04` a string like a key's, ended by `00 00`, with `00` inside written `00 01`; `05` children.
enum OrderedBytes {
  static func key(_ key: Key) -> [UInt8] {
    let text = key.text
    guard let integer = key.integer else {
      var bytes: [UInt8] = [2]
      bytes.reserveCapacity(text.utf8.count + 2)
      for byte in text.utf8 { bytes.append(UTF8Rank.of(byte)) }
      bytes.append(0)
      return bytes
    }
    let count = UInt16(text.utf8.count)
    let sign: UInt8 = text.utf8.first == UInt8(ascii: "-") ? 1 : 0
    return [1] + bigEndian(UInt32(bitPattern: integer) ^ 0x8000_0000) + bigEndian(count) + [sign]
  }

  /// The key that `bytes` stand for; nil if they stand for none.
  static func key(from bytes: some RandomAccessCollection<UInt8>) -> Key? {
    switch bytes.first {
    case 1:
      guard bytes.count == 8 else { return nil }
      let all = Array(bytes)
      let raw = all[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let count = Int(all[5]) << 8 | Int(all[6])
      let digits = String(Int32(bitPattern: raw ^ 0x8000_0000).magnitude)
      let sign = all[7] == 1 ? "-" : ""
      let zeros = count - digits.utf8.count - sign.utf8.count
      guard zeros >= 0 else { return nil }
      return Key(unchecked: sign + String(repeating: "0", count: zeros) + digits)
    case 2:
      guard bytes.last == 0, bytes.count > 2 else { return nil }
      let units = bytes.dropFirst().dropLast().map { UTF8Rank.byte(ofRank: $0) }
      return Key(unchecked: String(decoding: units, as: UTF8.self))
    default: return nil
    }
  }

  static func value(_ value: IndexValue) -> [UInt8] {
    switch value {
    case .null: [0]
    case .leaf(.bool(false)): [1]
    case .leaf(.bool(true)): [2]
    case .leaf(.number(let number)):
      [3] + bigEndian(folded(number.double)) + bigEndian(folded(number.integer ?? 0))
    case .leaf(.string(let text)): string(text)
    case .children: [5]
    }
  }

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
