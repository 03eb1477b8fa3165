/// A parameter of a statement, as PostgreSQL's binary form has it.
package enum PostgresValue: Hashable, Sendable {
  case integer(Int64)
  case bytes([UInt8]?)
  case text(String?)
  case identifier(PostgresIdentifier)
  case integers([Int64?])
  case byteStrings([[UInt8]?])
  case texts([String?])

  /// The number of the type in PostgreSQL's catalog; the same in every database.
  var type: UInt32 {
    switch self {
    case .integer: 20
    case .bytes: 17
    case .text: 25
    case .identifier: 2950
    case .integers: 1016
    case .byteStrings: 1001
    case .texts: 1009
    }
  }

  /// The bytes of the value; nil for NULL.
  var encoded: [UInt8]? {
    switch self {
    case .integer(let integer): PostgresValue.bigEndian(integer)
    case .bytes(let bytes): bytes
    case .text(let text): text.map { Array($0.utf8) }
    case .identifier(let identifier): identifier.bytes
    case .integers(let elements):
      PostgresValue.array(elements.map { $0.map(PostgresValue.bigEndian) }, of: 20)
    case .byteStrings(let elements): PostgresValue.array(elements, of: 17)
    case .texts(let elements):
      PostgresValue.array(elements.map { $0.map { Array($0.utf8) } }, of: 25)
    }
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// An array of one dimension, whose elements are counted from 1.
  private static func array(_ elements: [[UInt8]?], of type: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
    bytes += bigEndian(Int32(elements.isEmpty ? 0 : 1))
    bytes += bigEndian(Int32(elements.contains { $0 == nil } ? 1 : 0))
    bytes += bigEndian(type)
    if elements.isEmpty { return bytes }
    bytes += bigEndian(Int32(elements.count))
    bytes += bigEndian(Int32(1))
    for element in elements {
      bytes += bigEndian(Int32(element?.count ?? -1))
      if let element { bytes += element }
    }
    return bytes
  }
}

/// A random number of 128 bits that names a start of a server.
package struct PostgresIdentifier: Hashable, Sendable {
  /// The 16 bytes.
  package let bytes: [UInt8]

  /// Makes an identifier of 16 bytes.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == 16, "An identifier has 16 bytes.")
    self.bytes = bytes
  }

  /// Makes a random identifier: version 4.
  package init(using random: inout some RandomNumberGenerator) {
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    self.init(bytes: bytes)
  }

  /// Makes a random identifier by the system's generator.
  @Sendable package static func random() -> PostgresIdentifier {
    var random = SystemRandomNumberGenerator()
    return PostgresIdentifier(using: &random)
  }

  /// The usual form: 32 digits in five groups.
  package var text: String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += byte < 16 ? "0" : ""
      text += String(byte, radix: 16)
    }
    return text
  }
}

/// A statement with its parameters.
package struct PostgresStatement: Hashable, Sendable {
  /// One statement, with `$1` and so on for the parameters.
  package var text: String
  package var values: [PostgresValue]

  /// Makes a statement; its text is prepared once per connection and set of types.
  package init(_ text: String, _ values: PostgresValue...) {
    (self.text, self.values) = (text, values)
  }

  /// Makes a statement; its text is prepared once per connection and set of types.
  package init(_ text: String, values: [PostgresValue]) {
    (self.text, self.values) = (text, values)
  }
}
