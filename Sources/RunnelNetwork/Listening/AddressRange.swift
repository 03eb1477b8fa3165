import Glibc

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or a single address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  private static let bitsOfVersion4 = 32
  private static let bitsOfVersion6 = 128
  /// The beginning of an IPv4 address that is written as an IPv6 address.
  private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [255, 255]

  private let bytes: [UInt8]
  private let bitCount: Int

  /// Reads the text of a range.
  ///
  /// - Throws: `NetworkError` if the text is not a range.
  public init(_ text: String) throws(NetworkError) {
    let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = halves.first, let bytes = AddressRange.bytes(of: String(first)) else {
      throw AddressRange.error(text)
    }
    var bitCount = bytes.count * 8
    if halves.count == 2 {
      guard let number = Int(halves[1]), (0...bitCount).contains(number) else {
        throw AddressRange.error(text)
      }
      bitCount = number
    }
    self.bitCount = bitCount
    self.bytes = AddressRange.beginning(of: bytes, bitCount)
  }

  private static func error(_ text: String) -> NetworkError {
    NetworkError("\(text) is not a range of addresses: write it like 10.0.0.0/8 or fd00::/8.")
  }

  /// True if a numeric address is in the range.
  public func contains(_ address: String) -> Bool {
    guard let other = AddressRange.bytes(of: address), other.count == bytes.count else {
      return false
    }
    return AddressRange.beginning(of: other, bitCount) == bytes
  }

  /// The range as text.
  public var description: String { AddressRange.text(of: bytes) + "/\(bitCount)" }

  /// The bytes of a numeric address; nil if the text is none.
  ///
  /// An IPv4 address that is written as an IPv6 address counts as IPv4.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: bitsOfVersion4 / 8)
    if inet_pton(AF_INET, text, &bytes) == 1 { return bytes }
    bytes = [UInt8](repeating: 0, count: bitsOfVersion6 / 8)
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    return bytes.starts(with: mappedPrefix) ? Array(bytes.dropFirst(mappedPrefix.count)) : bytes
  }

  /// The household of an address, whose connections are counted together: the first 64 bits of an
  /// IPv6 address, which are those of one network.
  package static func household(of address: String) -> String {
    guard let bytes = bytes(of: address) else { return address }
    if bytes.count * 8 == bitsOfVersion4 { return text(of: bytes) }
    return text(of: beginning(of: bytes, 64)) + "/64"
  }

  private static func text(of bytes: [UInt8]) -> String {
    let family = bytes.count * 8 == bitsOfVersion4 ? AF_INET : AF_INET6
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // The buffer is large enough for every address.
    _ = inet_ntop(family, bytes, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The address with all bits after the first `bitCount` set to 0.
  private static func beginning(of bytes: [UInt8], _ bitCount: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let bits = min(8, max(0, bitCount - index * 8))
      return bits == 0 ? 0 : byte & ~UInt8(truncatingIfNeeded: (1 << (8 - bits)) - 1)
    }
  }
}
