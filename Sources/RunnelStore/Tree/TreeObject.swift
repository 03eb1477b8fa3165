public import RunnelBase
public import RunnelTree

/// A type whose values stand in the tree as children of a place: the type that actions are about.
///
/// A type that is `Codable` needs to say no more; see `CodableTreeObject` in RunnelDatabase.
public protocol TreeObject: Equatable, Sendable {
  /// Reads an object.
  ///
  /// - Parameters:
  ///   - id: the key under which it stands.
  ///   - node: what stands there; never empty.
  /// - Throws: any error that says what does not fit; it is told in an `ObjectErrored`.
  init(id: Key, node: Node) throws

  /// The object as it is written, without its key.
  ///
  /// - Throws: any error that says what cannot be written; it is told in a `RequestFailed`.
  func json() throws -> JSONValue

  /// The name of the type in an action log: that of the type in Swift unless another is given.
  static var objectName: String { get }
}

extension TreeObject {
  /// The name of the type in Swift, without its module.
  public static var objectName: String { String(describing: Self.self) }
}

extension TreeObject {
  /// Reads the object that a row of a collection shows.
  static func read(_ row: TreeRow, in collection: Path) -> Result<Self, TreeError> {
    read(row.node, at: Path(unchecked: collection.keys + [row.key]))
  }

  /// Reads an object that may be missing or not fit.
  static func read(_ node: Node?, at path: Path) -> Result<Self, TreeError> {
    guard let id = path.lastKey, let node, !node.isEmpty else {
      return .failure(
        TreeError(.noData, "Nothing that is \(objectName) stands here.", path: path.description))
    }
    do {
      return .success(try Self(id: id, node: node))
    } catch {
      return .failure(TreeError(.malformedData, "\(error)", path: path.description))
    }
  }
}

extension TreeError.Code {
  /// An object is expected at a place where nothing stands.
  public static let noData = TreeError.Code(rawValue: "no_data")
  /// What stands at a place is not the object that is expected there, or an object cannot be written.
  public static let malformedData = TreeError.Code(rawValue: "malformed_data")
  /// A request has the name of another that waits.
  public static let nameInUse = TreeError.Code(rawValue: "name_in_use")
}

/// An object with the key under which it stands.
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
