import RunnelBase
import RunnelTree

extension TreeRow {
  /// A number that ascends with the order of a query: of two rows, the first never has the greater
  /// number.
  ///
  /// It is a prefix of the compared value, so rows with equal numbers must be compared further.
  /// O(1).
  var orderPrefix: Int {
    switch value {
    case .null: key.orderPrefix
    case .leaf(.bool(let value)): 1 << OrderPrefix.payloadBits | (value ? 1 : 0)
    case .leaf(.number(let number)): 2 << OrderPrefix.payloadBits | OrderPrefix.payload(of: number)
    case .leaf(.string(let text)): 3 << OrderPrefix.payloadBits | OrderPrefix.payload(of: text)
    case .children: 4 << OrderPrefix.payloadBits | key.orderPrefix
    case .tuple: 5 << OrderPrefix.payloadBits
    }
  }
}

extension Key {
  /// A number that ascends with the order of keys, integers before all others.
  fileprivate var orderPrefix: Int {
    guard let integer else { return 1 << OrderPrefix.textBits | OrderPrefix.payload(of: text) }
    return Int(integer) - Int(Int32.min)
  }
}

/// Numbers of up to 60 bits that ascend with the order of values.
private enum OrderPrefix {
  static var payloadBits: Int { 60 }
  static var textBits: Int { 56 }

  static func payload(of number: JSONNumber) -> Int {
    let bits = number.double.bitPattern
    let isNegative = bits >> 63 == 1
    let ascending = isNegative ? ~bits : bits | 1 << 63
    return Int(ascending >> (64 - UInt64(payloadBits)))
  }

  /// The first bytes of a text as the tree ranks them.
  static func payload(of text: String) -> Int {
    var (payload, shift) = (0, textBits)
    for byte in text.utf8 {
      shift -= 8
      payload |= Int(UTF8Rank.of(byte)) << shift
      if shift == 0 { break }
    }
    return payload
  }
}
