/// The way in which nil properties are written.
public enum NilCoding: Hashable, Sendable {
  /// Nil properties are omitted, so that an update keeps their fields.
  case absent
  /// Nil properties are written as null, so that an update removes their fields.
  case null
}

// The compiler calls these functions for the optional properties of a type. Each writes the value,
// or nil in the encoder's way.

extension KeyedNodeEncoding {
  private func encode<Value>(
    _ value: Value?, forKey key: Key, _ write: (Value) throws -> Void
  ) rethrows {
    switch (value, encoding.options.nils) {
    case (let value?, _): try write(value)
    case (nil, .null): encodeNil(forKey: key)
    case (nil, .absent): break
    }
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    encode(value, forKey: key) { encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    encode(value, forKey: key) { encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }

  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    try encode(value, forKey: key) { try encode($0, forKey: key) }
  }
}
