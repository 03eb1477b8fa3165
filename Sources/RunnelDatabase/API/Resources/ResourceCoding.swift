import RunnelBase
public import RunnelStreams
import RunnelTree

// Conversion between typed objects and records. The key is not stored in the record.

/// The field in which a type's key would be written.
private let keyField = "key"

extension ResourceBase {
  /// A typed object in the form that operations need.
  ///
  /// - Throws: `ResourceError` (`tree`) for an invalid key, `DataCodingError` for an object that
  ///   cannot be written.
  func object<Object: Resource>(
    _ object: Object, nils: NilCoding = .absent
  ) throws -> ResourceObject {
    var json = try NodeEncoder(dates: dates, nils: nils).json(object)
    if case .object(let members) = json {
      json = .object(members.filter { $0.name != keyField })
    }
    guard let key = object.key else { return ResourceObject(Object.resourceName, value: json) }
    return try ResourceObject(Object.resourceName, key: key, value: json)
  }

  /// The objects of a level of a context.
  func objects(_ objects: [String: any Resource]) throws -> [String: ResourceObject] {
    try objects.mapValues { try object($0) }
  }

  /// An object of a context as a value of its type.
  func object<Object: Resource>(_ object: ResourceObject, as type: Object.Type) throws -> Object {
    let node = try Node(json: object.value)
    return try NodeDecoder(dates: dates).resource(type, key: object.key, from: node)
  }
}

extension NodeDecoder {
  /// The object of a record, with its key.
  func resource<Object: Resource>(
    _ type: Object.Type, key: Key?, from node: Node, at path: Path = .root
  ) throws(DataCodingError) -> Object {
    var object = try decode(type, from: node, at: path)
    object.key = key?.text
    return object
  }
}

extension DataSnapshot {
  /// The object of the record at this place, with its key.
  ///
  /// - Parameters:
  ///   - type: the type of the resource.
  ///   - decoder: the decoder, which knows how dates are stored.
  /// - Returns: the object; nil if the place is empty.
  /// - Throws: `DataCodingError` with the place that does not fit, and the type expected there.
  public func resource<Object: Resource>(
    _ type: Object.Type, using decoder: NodeDecoder = NodeDecoder()
  ) throws(DataCodingError) -> Object? {
    if node.isEmpty { return nil }
    return try decoder.resource(
      type, key: reference.path.lastKey, from: node, at: reference.path)
  }
}
