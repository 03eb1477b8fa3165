public import RunnelBase
public import RunnelTree

/// A type whose values are stored in the tree as children of a place; actions are about such
/// objects.
///
/// A `Codable` type needs no more than to conform; see `CodableTreeObject` in RunnelDatabase.
public protocol TreeObject: Equatable, Sendable {
  /// Reads an object.
  ///
  /// - Parameters:
  ///   - id: its key.
  ///   - node: its node; never empty.
  /// - Throws: any error if the node does not fit; an `ObjectErrored` reports it.
  init(id: Key, node: Node) throws

  /// The object as JSON, without its key.
  ///
  /// - Throws: any error if it cannot be written; a `RequestFailed` reports it.
  func json() throws -> JSONValue

  /// The error to report if an object cannot be read: `malformedData` at its place, or below it if
  /// the error of `init(id:node:)` tells where.
  static func readingError(_ error: any Error, at path: Path) -> TreeError

  /// The name of the type in an action log: its name in Swift unless another one is given.
  static var objectName: String { get }
}

extension TreeObject {
  /// The name of the type in Swift, without its module.
  public static var objectName: String { String(describing: Self.self) }

  /// The error with its text, at the place of the object.
  public static func readingError(_ error: any Error, at path: Path) -> TreeError {
    TreeError(.malformedData, "\(error)", path: path.description)
  }
}

extension TreeObject {
  /// Reads the object that a row of a collection shows.
  static func read(_ row: TreeRow, in collection: Path) -> Result<Self, TreeError> {
    read(row.node, at: Path(unchecked: collection.keys + [row.key]))
  }

  /// Reads an object whose node may be missing or may not fit.
  static func read(_ node: Node?, at path: Path) -> Result<Self, TreeError> {
    guard let id = path.lastKey, let node, !node.isEmpty else {
      return .failure(
        TreeError(.noData, "Nothing that is \(objectName) stands here.", path: path.description))
    }
    do {
      return .success(try Self(id: id, node: node))
    } catch {
      return .failure(readingError(error, at: path))
    }
  }
}

extension TreeError.Code {
  /// No data is stored at a place where an object is expected.
  public static let noData = TreeError.Code(rawValue: "no_data")
  /// The node at a place is not the expected object, or an object cannot be written.
  public static let malformedData = TreeError.Code(rawValue: "malformed_data")
  /// Another request that waits has the same name.
  public static let nameInUse = TreeError.Code(rawValue: "name_in_use")
}

/// An object and its key.
public struct ObjectEntry<Object: TreeObject>: Equatable, Sendable {
  /// The key.
  public var id: Key
  /// The object.
  public var object: Object

  /// Makes an entry.
  public init(id: Key, object: Object) {
    self.id = id
    self.object = object
  }
}
