/// A child of a place as a value of a Swift type, with its key.
public struct KeyedValue<Value> {
  /// The key of the child.
  public var key: String
  /// The value.
  public var value: Value

  /// Makes a pair.
  public init(key: String, value: Value) {
    self.key = key
    self.value = value
  }
}

extension KeyedValue: Identifiable {
  /// The identity among the children of one place: the key.
  public var id: String { key }
}

extension KeyedValue: Equatable where Value: Equatable {}
extension KeyedValue: Hashable where Value: Hashable {}
extension KeyedValue: Sendable where Value: Sendable {}

extension DataSnapshot {
  /// The children as values of a Swift type, in the order of the query.
  ///
  /// - Throws: `DataCodingError` with the place of the first child that does not fit.
  public func children<Value: Decodable>(
    as type: Value.Type, using decoder: NodeDecoder = NodeDecoder()
  ) throws(DataCodingError) -> [KeyedValue<Value>] {
    var result: [KeyedValue<Value>] = []
    for child in children {
      result.append(
        KeyedValue(key: child.key ?? "", value: try child.decode(type, using: decoder)))
    }
    return result
  }
}

extension Queryable {
  /// The current content as a value of a Swift type.
  ///
  /// - Parameters:
  ///   - type: the type; an optional one is nil for an empty place.
  ///   - source: the source of the answer.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the value.
  /// - Throws: `DataCodingError` with the place that does not fit; `DatabaseError` as `get(from:)`.
  public func get<Value: Decodable & Sendable>(
    as type: Value.Type, from source: GetSource = .any, using decoder: NodeDecoder = NodeDecoder()
  ) async throws -> Value {
    try await get(from: source).decode(type, using: decoder)
  }

  /// The current children as values of a Swift type, in the order of the query.
  ///
  /// - Parameters:
  ///   - type: the type of each child.
  ///   - source: the source of the answer.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the values with their keys.
  /// - Throws: `DataCodingError` with the place of the first child that does not fit;
  ///   `DatabaseError` as `get(from:)`.
  public func children<Value: Decodable & Sendable>(
    as type: Value.Type, from source: GetSource = .any, using decoder: NodeDecoder = NodeDecoder()
  ) async throws -> [KeyedValue<Value>] {
    try await get(from: source).children(as: type, using: decoder)
  }
}
