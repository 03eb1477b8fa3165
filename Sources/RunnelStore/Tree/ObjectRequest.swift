public import RunnelBase
public import RunnelTree

/// An action that requests something of the tree; `TreeAccess` carries it out.
///
/// `RequestPending` follows at once, then `RequestSucceeded` or `RequestFailed`; or only
/// `RequestFailed`, if the request is refused at once. These actions have the same object type and
/// name the request.
public struct ObjectRequest<Object: TreeObject>: Sendable {
  /// The operations that can be requested.
  enum Operation: Sendable {
    case create(Object, at: Path)
    case createChild(Object, of: Path)
    case update(JSONValue, at: Path)
    case merge(JSONValue, at: Path)
    case remove(Path)
    case get(Path)
    case search(Query)
  }

  let operation: Operation
  /// The name; nil if it is to be given one.
  let id: RequestID?
}

/// An action that stops waiting for a request; a request that is not waiting is ignored.
public struct CancelRequest: Sendable {
  let id: RequestID

  /// Makes the action for the request with a name.
  public init(_ id: RequestID) { self.id = id }
}

// MARK: Action creators

extension TreeObject {
  /// Puts an object at a place, in place of the node there.
  public static func createObject(
    _ object: Self, at path: Path, id: RequestID? = nil
  ) -> ObjectRequest<Self> {
    ObjectRequest(operation: .create(object, at: path), id: id)
  }

  /// Adds an object to a collection under a new key, which is the last key of the path in the
  /// answers.
  public static func createObject(
    _ object: Self, in collection: Path, id: RequestID? = nil
  ) -> ObjectRequest<Self> {
    ObjectRequest(operation: .createChild(object, of: collection), id: id)
  }

  /// Replaces the named children of an object in one write, and keeps the others; null removes.
  ///
  /// `parameters` is an object whose names may be relative paths.
  public static func updateObject(
    at path: Path, _ parameters: JSONValue, id: RequestID? = nil
  ) -> ObjectRequest<Self> {
    ObjectRequest(operation: .update(parameters, at: path), id: id)
  }

  /// Replaces the leaves that `parameters` names, at any depth, and keeps all others, in one write.
  ///
  /// Empty values remove; see `Write.merge`.
  public static func mergeObject(
    at path: Path, _ parameters: JSONValue, id: RequestID? = nil
  ) -> ObjectRequest<Self> {
    ObjectRequest(operation: .merge(parameters, at: path), id: id)
  }

  /// Removes an object, with all below it.
  public static func removeObject(at path: Path, id: RequestID? = nil) -> ObjectRequest<Self> {
    ObjectRequest(operation: .remove(path), id: id)
  }

  /// Reads an object once.
  public static func getObject(at path: Path, id: RequestID? = nil) -> ObjectRequest<Self> {
    ObjectRequest(operation: .get(path), id: id)
  }

  /// Reads the objects of a query once.
  public static func searchObjects(_ query: Query, id: RequestID? = nil) -> ObjectRequest<Self> {
    ObjectRequest(operation: .search(query), id: id)
  }

  /// Reads once the objects of a collection that have a value at a path below them.
  ///
  /// - Throws: `TreeError` (`invalidQuery`, `invalidKey`, `invalidPath`) if `child` is not a path.
  public static func searchObjects(
    in collection: Path, where child: String, equals value: Leaf, id: RequestID? = nil
  ) throws(TreeError) -> ObjectRequest<Self> {
    searchObjects(
      try Query(collection).ordered(byChild: child).equal(to: .leaf(value)), id: id)
  }
}

// MARK: Carrying out

extension ObjectRequest: TreeCommand {
  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] {
    let id = id ?? access.nextRequestID()
    var request = RequestSummary(id: id, kind: operation.kind, path: operation.path)
    if access.isWaiting(id) {
      let error = TreeError(
        .nameInUse, "A request called \(id) waits already: choose another name.")
      return [RequestFailed<Object>(request, error: error)]
    }
    do {
      if case .createChild(_, let collection) = operation {
        request.path = try collection.child(access.newObjectID())
      }
      let effect = try operation.effect(id, path: request.path)
      access.wait(for: WaitingRequest<Object>(summary: request), effect)
    } catch {
      let error =
        error as? TreeError
        ?? TreeError(.malformedData, "\(error)", path: request.path.description)
      return [RequestFailed<Object>(request, error: error)]
    }
    return [RequestPending<Object>(request)]
  }
}

extension ObjectRequest.Operation {
  fileprivate var kind: RequestSummary.Kind {
    switch self {
    case .create, .createChild: .create
    case .update: .update
    case .merge: .merge
    case .remove: .remove
    case .get: .get
    case .search: .search
    }
  }

  fileprivate var path: Path {
    switch self {
    case .create(_, let path), .createChild(_, let path), .update(_, let path),
      .merge(_, let path), .remove(let path), .get(let path):
      path
    case .search(let query): query.path
    }
  }

  /// The effect that carries out the request at its place.
  fileprivate func effect(_ id: RequestID, path: Path) throws -> TreeEffect {
    switch self {
    case .create(let object, _), .createChild(let object, _):
      return .write(id, .set(path, try object.json()))
    case .update(let parameters, _):
      guard case .object(let members) = parameters else {
        throw TreeError(
          .invalidValue, "An update names the children to replace: give it an object.",
          path: path.description)
      }
      return .write(id, .update(path, members))
    case .merge(let parameters, _): return .write(id, try .merge(parameters, at: path))
    case .remove: return .write(id, .remove(path))
    case .get: return .get(id, path)
    case .search(let query): return .search(id, query)
    }
  }
}

extension CancelRequest: TreeCommand {
  func carriedOut(by access: TreeAccess, state: Any?) -> [any Action] { access.cancel(id) }
}
