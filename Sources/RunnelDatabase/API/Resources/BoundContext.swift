public import RunnelStreams
import RunnelTree

/// A context of a base: the objects from which paths are made, and the operations in the context.
///
/// ```swift
/// let here = try base.context(["group": group])
/// let message = try await here.create(Message(text: "Tea?")).object
/// try await here.destroy(message)
/// ```
///
/// Names are looked up when an operation begins; see `ResourceContext` for pushing and resetting.
///
/// Isolation: one thread at a time. A task group makes a context in each of its tasks, from the base,
/// which may go anywhere.
///
/// Source: origins, section 2.8.
public struct BoundContext {
  /// The base.
  public let base: ResourceBase
  /// The levels of the context.
  public let levels: ResourceContext

  /// A context with one more level of objects on top, which may be of different types.
  ///
  /// - Throws: `ResourceError` (`tree`) for an invalid key, `DataCodingError` for an object that
  ///   cannot be written.
  public func push(_ objects: [String: any Resource] = [:]) throws -> BoundContext {
    BoundContext(base: base, levels: levels.push(try base.objects(objects)))
  }

  /// Replaces the objects of this level, and of no other.
  ///
  /// - Throws: as `push`.
  public func reset(_ objects: [String: any Resource] = [:]) throws {
    levels.reset(try base.objects(objects))
  }

  /// The object with a name, from the highest level that has one.
  ///
  /// - Throws: `DataCodingError` if it is not of the type.
  public func get<Object: Resource>(_ name: String, as type: Object.Type) throws -> Object? {
    try levels.get(name).map { try base.object($0, as: type) }
  }
}

extension ResourceBase {
  /// A context with one level of objects, which may be of different types.
  ///
  /// - Throws: `ResourceError` (`tree`) for an invalid key, `DataCodingError` for an object that
  ///   cannot be written.
  public func context(_ objects: [String: any Resource] = [:]) throws -> BoundContext {
    BoundContext(base: self, levels: ResourceContext(try self.objects(objects)))
  }
}

// MARK: Places

extension BoundContext {
  /// The place of an object's record.
  ///
  /// - Throws: `ResourceError` (`missingName`, `wrongResource`, `missingKey` and others of
  ///   `ResourceRegistry.path`).
  public func ref(of object: some Resource) throws -> Reference {
    let path = try base.registry.path(of: base.object(object), in: levels.objects)
    return base.database.reference(at: path)
  }

  /// The place whose children are the records of a type, by their keys.
  ///
  /// - Throws: `ResourceError` (`unknownResource`, or `missingName` or `wrongResource` with the pattern and
  ///   the name).
  public func collection<Object: Resource>(of type: Object.Type) throws -> Reference {
    let path = try base.registry.collection(of: type.resourceName, in: levels.objects)
    return base.database.reference(at: path)
  }
}

// MARK: Operations

extension BoundContext {
  /// Creates a record, in place of one that may exist; without a key it gets a new one.
  ///
  /// - Throws: as `ResourceBase.perform`, and `DataCodingError` for an object that cannot be written.
  @discardableResult
  nonisolated(nonsending) public func create<Object: Resource>(
    _ object: Object
  ) async throws -> ResourceResult<Object> {
    try await perform(.create, object)
  }

  /// Replaces the fields of a record by those of the object; a property that is nil removes its
  /// field.
  ///
  /// Fields that the type does not have are kept, and so are counters and copies, whatever the
  /// object holds.
  ///
  /// - Throws: as `create`, and `ResourceError` (`notFound`) if there is no such record.
  @discardableResult
  nonisolated(nonsending) public func update<Object: Resource>(
    _ object: Object
  ) async throws -> ResourceResult<Object> {
    try await perform(.update, object)
  }

  /// Removes a record, if it is there.
  ///
  /// - Throws: as `create`.
  @discardableResult
  nonisolated(nonsending) public func destroy<Object: Resource>(
    _ object: Object
  ) async throws -> ResourceResult<Object> {
    try await perform(.destroy, object)
  }

  /// Updates the record if it exists, and creates it if not.
  ///
  /// `exists` tells which of the two the caller means, independent of the stored data; nil decides
  /// by the stored data.
  ///
  /// - Throws: as `create`, and `ResourceError` (`notFound`) if `exists` is true and the record
  ///   does not exist.
  @discardableResult
  nonisolated(nonsending) public func createOrUpdate<Object: Resource>(
    _ object: Object, exists: Bool? = nil
  ) async throws -> ResourceResult<Object> {
    try await perform(.createOrUpdate(exists: exists), object)
  }

  /// Destroys the record if it exists, and creates it if not.
  ///
  /// `exists` tells which of the two the caller means, independent of the stored data; nil decides
  /// by the stored data.
  ///
  /// - Throws: as `create`.
  @discardableResult
  nonisolated(nonsending) public func toggle<Object: Resource>(
    _ object: Object, exists: Bool? = nil
  ) async throws -> ResourceResult<Object> {
    try await perform(.toggle(exists: exists), object)
  }

  nonisolated(nonsending) private func perform<Object: Resource>(
    _ kind: ResourceOperation.Kind, _ object: Object
  ) async throws -> ResourceResult<Object> {
    let operation = ResourceOperation(
      kind, try base.object(object, nils: kind.writtenNils), in: levels.objects)
    let result = try await base.perform(operation)
    var object = object
    object.key = result.object.key?.text
    if result.kind != .destroy, result.kind != nil {
      // The record is written, so one that a hook changed beyond its type is no error any more.
      object = (try? base.object(result.object, as: Object.self)) ?? object
    }
    return ResourceResult(
      object: object, kind: result.kind, reference: result.reference, changes: result.changes,
      receipt: result.receipt)
  }
}

extension ResourceOperation.Kind {
  /// The way in which nil properties are written: an update must name the fields that it removes.
  fileprivate var writtenNils: NilCoding {
    switch self {
    case .update, .createOrUpdate: .null
    case .create, .destroy, .toggle: .absent
    }
  }
}
