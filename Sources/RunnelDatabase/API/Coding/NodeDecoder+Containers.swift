import RunnelTree

// The containers of `NodeDecoding`. Swift's protocols require their many functions.

/// Decodes members of an object.
struct KeyedNodeDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoding: NodeDecoding

  var codingPath: [any CodingKey] { decoding.codingPath }
  var allKeys: [Key] { decoding.node.children.compactMap { Key(stringValue: $0.key.text) } }

  private func at(_ key: any CodingKey) -> NodeDecoding {
    decoding.below(key, decoding.node(for: key))
  }

  func contains(_ key: Key) -> Bool { !decoding.node(for: key).isEmpty }

  func decodeNil(forKey key: Key) -> Bool { !contains(key) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try at(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try at(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try at(key).double() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try at(key).float() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try at(key).integer(Int.self) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try at(key).integer(Int8.self) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try at(key).integer(Int16.self)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try at(key).integer(Int32.self)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try at(key).integer(Int64.self)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try at(key).integer(UInt.self) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try at(key).integer(UInt8.self)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try at(key).integer(UInt16.self)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try at(key).integer(UInt32.self)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try at(key).integer(UInt64.self)
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try at(key).integer(Int128.self)
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try at(key).integer(UInt128.self)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try at(key).value(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try at(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try at(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { at(NamedKey.superclass) }

  func superDecoder(forKey key: Key) -> any Decoder { at(key) }
}

/// Decodes elements of an array.
struct UnkeyedNodeDecoding: UnkeyedDecodingContainer {
  let decoding: NodeDecoding
  let elements: [Node]
  private(set) var currentIndex = 0

  init(decoding: NodeDecoding, elements: [Node]) {
    self.decoding = decoding
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoding.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  /// Decodes the next element, and goes on to the one after it only if that succeeds.
  private mutating func take<Value>(
    _ type: Any.Type, _ body: (NodeDecoding) throws -> Value
  ) throws -> Value {
    let key = PositionKey(currentIndex)
    if isAtEnd { throw decoding.below(key, .empty).missing(type) }
    let value = try body(decoding.below(key, elements[currentIndex]))
    currentIndex += 1
    return value
  }

  mutating func decodeNil() -> Bool {
    if isAtEnd || !elements[currentIndex].isEmpty { return false }
    currentIndex += 1
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try take(type) { decoding in try decoding.bool() }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try take(type) { decoding in try decoding.string() }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try take(type) { decoding in try decoding.double() }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try take(type) { decoding in try decoding.float() }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try take(type) { decoding in try decoding.integer(Int.self) }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try take(type) { decoding in try decoding.integer(Int8.self) }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try take(type) { decoding in try decoding.integer(Int16.self) }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try take(type) { decoding in try decoding.integer(Int32.self) }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try take(type) { decoding in try decoding.integer(Int64.self) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try take(type) { decoding in try decoding.integer(UInt.self) }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try take(type) { decoding in try decoding.integer(UInt8.self) }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try take(type) { decoding in try decoding.integer(UInt16.self) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try take(type) { decoding in try decoding.integer(UInt32.self) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try take(type) { decoding in try decoding.integer(UInt64.self) }
  }
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    try take(type) { decoding in try decoding.integer(Int128.self) }
  }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    try take(type) { decoding in try decoding.integer(UInt128.self) }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try take(type) { decoding in try decoding.value(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try take(type) { decoding in try decoding.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try take([Any].self) { decoding in try decoding.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    try take((any Decoder).self) { decoding in decoding }
  }
}

/// Decodes a single value.
struct SingleNodeDecoding: SingleValueDecodingContainer {
  let decoding: NodeDecoding

  var codingPath: [any CodingKey] { decoding.codingPath }

  func decodeNil() -> Bool { decoding.node.isEmpty }
  func decode(_ type: Bool.Type) throws -> Bool { try decoding.bool() }
  func decode(_ type: String.Type) throws -> String { try decoding.string() }
  func decode(_ type: Double.Type) throws -> Double { try decoding.double() }
  func decode(_ type: Float.Type) throws -> Float { try decoding.float() }
  func decode(_ type: Int.Type) throws -> Int { try decoding.integer(Int.self) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoding.integer(Int8.self) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoding.integer(Int16.self) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoding.integer(Int32.self) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoding.integer(Int64.self) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoding.integer(UInt.self) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoding.integer(UInt8.self) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoding.integer(UInt16.self) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoding.integer(UInt32.self) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoding.integer(UInt64.self) }
  func decode(_ type: Int128.Type) throws -> Int128 { try decoding.integer(Int128.self) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoding.integer(UInt128.self) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoding.value(type) }
}
