public import RunnelBase
public import RunnelStore
public import RunnelTree

/// An object of the tree that is read and written by `Codable`.
///
/// ```swift
/// struct Group: CodableTreeObject { var name: String }
/// ```
///
/// Its key is not a part of the object; actions name the key beside it.
public protocol CodableTreeObject: TreeObject, Codable {}

extension CodableTreeObject {
  /// Reads an object.
  ///
  /// - Throws: `DataCodingError` with the place that does not fit, as a path that begins with the
  ///   object's key.
  public init(id: Key, node: Node) throws {
    self = try NodeDecoder().decode(Self.self, from: node, at: Path(unchecked: [id]))
  }

  /// The error with the place that does not fit, as a path from the root.
  public static func readingError(_ error: any Error, at path: Path) -> TreeError {
    guard let error = error as? DataCodingError, let collection = path.parent else {
      return TreeError(.malformedData, "\(error)", path: path.description)
    }
    // The place that the error names begins with the object's key.
    return TreeError(
      .malformedData, "\(error.clause).",
      path: (collection.isRoot ? "" : collection.description) + error.path)
  }

  /// The object as JSON.
  ///
  /// - Throws: `DataCodingError` (`notEncodable`) with the place of the part that cannot be
  ///   written.
  public func json() throws -> JSONValue { try NodeEncoder().json(self) }
}
