public import RunnelBase
public import RunnelStreams
import RunnelTree

extension JSONValue {
  /// The value as a Swift type.
  ///
  /// - Parameters:
  ///   - type: the type; an optional one is nil for `null`.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the value.
  /// - Throws: `DataCodingError` with the place that does not fit, and the type expected there.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, using decoder: NodeDecoder = NodeDecoder()
  ) throws(DataCodingError) -> Value {
    let node: Node
    do {
      node = try Node(json: self)
    } catch {
      throw DataCodingError(error, place: .root, type: type)
    }
    return try decoder.decode(type, from: node)
  }
}

extension Record {
  /// The value of the record as a Swift type.
  ///
  /// - Parameters:
  ///   - type: the type; an optional one is nil if only a summary was read.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the value.
  /// - Throws: `DataCodingError` with the place that does not fit, and the type expected there.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, using decoder: NodeDecoder = NodeDecoder()
  ) throws(DataCodingError) -> Value {
    try decoder.decode(type, from: row.node ?? .empty, at: path)
  }
}
