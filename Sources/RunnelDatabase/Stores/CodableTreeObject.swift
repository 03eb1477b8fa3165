public import RunnelBase
public import RunnelStore
public import RunnelTree

/// An object of the tree that is read and written by `Codable`.
///
/// ```swift
/// struct Group: CodableTreeObject { var name: String }
/// ```
///
/// The key under which it stands is not a part of it; actions name it beside the object.
public protocol CodableTreeObject: TreeObject, Codable {}

extension CodableTreeObject {
  /// Reads an object.
  ///
  /// - Throws: `DataCodingError` with the place that does not fit, as a path from the object's key on.
  public init(id: Key, node: Node) throws {
    self = try NodeDecoder().decode(Self.self, from: node, at: Path(unchecked: [id]))
  }

  /// The object as it is written.
  ///
  /// - Throws: `DataCodingError` (`notEncodable`) with the place of what cannot be written.
  public func json() throws -> JSONValue { try NodeEncoder().json(self) }
}
