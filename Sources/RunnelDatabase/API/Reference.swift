public import RunnelTree
import Synchronization

/// A place in the tree of an open database; it may be empty.
///
/// It is a value: making one reads and writes nothing, and it may be kept and used on any thread.
/// It is also the query for all children of the place, by priority and key.
///
/// Source: tree semantics, section 17.
public struct Reference: Hashable, Sendable {
  /// The database.
  public let database: Database
  /// The place.
  public let path: Path

  /// Makes the reference of a place.
  public init(database: Database, path: Path) {
    self.database = database
    self.path = path
  }

  /// The last key of the path; nil at the root.
  public var key: String? { path.lastKey?.text }

  /// The place above; nil at the root.
  public var parent: Reference? { path.parent.map { Reference(database: database, path: $0) } }

  /// The place of the whole tree.
  public var root: Reference { Reference(database: database, path: .root) }

  /// The place reached by a relative path from here: `name`, `name/last`.
  ///
  /// Empty pieces are dropped: `name//last` is `name/last`.
  ///
  /// - Throws: `TreeError` (`invalidKey` or `invalidPath`) that names the refused piece; `invalidPath` for an
  ///   empty path, which may be a variable without a value.
  ///
  /// Source: tree semantics, section 2.1.
  public func child(_ path: String) throws(TreeError) -> Reference {
    let below = try Path(path)
    if below.isRoot {
      throw TreeError(
        .invalidPath, "The path of a child is empty: has a variable no value?",
        path: self.path.description)
    }
    return Reference(database: database, path: try self.path.appending(below))
  }

  /// The place of a child under a new key, which sorts after those made before; nothing is written.
  ///
  /// - Throws: `TreeError` (`invalidPath`) if the place is too deep or its path too long.
  public func childByAutoID() throws(TreeError) -> Reference {
    let key = database.autoIDs.withLock { $0.next() }
    return Reference(database: database, path: try path.child(key))
  }

  /// True if both are the same place of the same open database.
  public static func == (left: Reference, right: Reference) -> Bool {
    left.database === right.database && left.path == right.path
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(database))
    hasher.combine(path)
  }
}

extension Reference: CustomStringConvertible {
  /// The path as text, with one leading `/`.
  public var description: String { path.description }
}

extension Reference: Queryable {
  /// The query for all children of the place.
  public var databaseQuery: DatabaseQuery {
    DatabaseQuery(database: database, query: Query(path))
  }
}
