import RunnelBase

// The containers of `NodeEncoding`. Swift's protocols require their many functions.

/// Encodes members of an object.
struct KeyedNodeEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: NodeEncoding

  var codingPath: [any CodingKey] { encoding.codingPath }

  private func at(_ key: any CodingKey) -> NodeEncoding {
    encoding.below(key, encoding.slot.member(key.stringValue))
  }

  func encodeNil(forKey key: Key) { at(key).encodeScalar(.null) }
  func encode(_ value: Bool, forKey key: Key) { at(key).encodeScalar(.bool(value)) }
  func encode(_ value: String, forKey key: Key) { at(key).encodeScalar(.string(value)) }
  func encode(_ value: Double, forKey key: Key) throws { try at(key).encode(number: value) }
  func encode(_ value: Float, forKey key: Key) throws {
    try at(key).encode(single: value)
  }
  func encode(_ value: Int, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: Int8, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: Int16, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: Int32, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: Int64, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt8, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt16, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt32, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt64, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: Int128, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: UInt128, forKey key: Key) throws { try at(key).encode(integer: value) }
  func encode(_ value: some Encodable, forKey key: Key) throws { try at(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    at(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    at(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { at(NamedKey.superclass) }

  func superEncoder(forKey key: Key) -> any Encoder { at(key) }
}

/// Encodes elements of an array.
struct UnkeyedNodeEncoding: UnkeyedEncodingContainer {
  let encoding: NodeEncoding

  var codingPath: [any CodingKey] { encoding.codingPath }
  var count: Int { encoding.slot.elementCount }

  private func next() -> NodeEncoding {
    encoding.below(PositionKey(count), encoding.slot.nextElement())
  }

  func encodeNil() { next().encodeScalar(.null) }
  func encode(_ value: Bool) { next().encodeScalar(.bool(value)) }
  func encode(_ value: String) { next().encodeScalar(.string(value)) }
  func encode(_ value: Double) throws { try next().encode(number: value) }
  func encode(_ value: Float) throws { try next().encode(single: value) }
  func encode(_ value: Int) throws { try next().encode(integer: value) }
  func encode(_ value: Int8) throws { try next().encode(integer: value) }
  func encode(_ value: Int16) throws { try next().encode(integer: value) }
  func encode(_ value: Int32) throws { try next().encode(integer: value) }
  func encode(_ value: Int64) throws { try next().encode(integer: value) }
  func encode(_ value: UInt) throws { try next().encode(integer: value) }
  func encode(_ value: UInt8) throws { try next().encode(integer: value) }
  func encode(_ value: UInt16) throws { try next().encode(integer: value) }
  func encode(_ value: UInt32) throws { try next().encode(integer: value) }
  func encode(_ value: UInt64) throws { try next().encode(integer: value) }
  func encode(_ value: Int128) throws { try next().encode(integer: value) }
  func encode(_ value: UInt128) throws { try next().encode(integer: value) }
  func encode(_ value: some Encodable) throws { try next().encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    next().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  func superEncoder() -> any Encoder { next() }
}

/// Encodes a single value.
struct SingleNodeEncoding: SingleValueEncodingContainer {
  let encoding: NodeEncoding

  var codingPath: [any CodingKey] { encoding.codingPath }

  func encodeNil() { encoding.encodeScalar(.null) }
  func encode(_ value: Bool) { encoding.encodeScalar(.bool(value)) }
  func encode(_ value: String) { encoding.encodeScalar(.string(value)) }
  func encode(_ value: Double) throws { try encoding.encode(number: value) }
  func encode(_ value: Float) throws { try encoding.encode(single: value) }
  func encode(_ value: Int) throws { try encoding.encode(integer: value) }
  func encode(_ value: Int8) throws { try encoding.encode(integer: value) }
  func encode(_ value: Int16) throws { try encoding.encode(integer: value) }
  func encode(_ value: Int32) throws { try encoding.encode(integer: value) }
  func encode(_ value: Int64) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt8) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt16) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt32) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt64) throws { try encoding.encode(integer: value) }
  func encode(_ value: Int128) throws { try encoding.encode(integer: value) }
  func encode(_ value: UInt128) throws { try encoding.encode(integer: value) }
  func encode(_ value: some Encodable) throws { try encoding.encode(value) }
}
