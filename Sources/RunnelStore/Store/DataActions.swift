public import RunnelTree

// The conformances of this library's actions to `DataAction`.

extension RequestPending: DataAction {
  /// The place of the request.
  public var path: Path { request.path }
}

extension RequestSucceeded: DataAction {
  /// The place of the request.
  public var path: Path { request.path }
}

extension RequestAcknowledged: DataAction {
  /// The place of the request.
  public var path: Path { request.path }
}

extension RequestFailed: DataAction {
  /// The place of the request.
  public var path: Path { request.path }
}

extension RequestCancelled: DataAction {
  /// The place of the request.
  public var path: Path { request.path }
}

extension ObjectSubscribed: DataAction {
  /// The place of the query.
  public var path: Path { query.path }
}

extension ObjectsLoaded: DataAction {
  /// The place of the query.
  public var path: Path { query.path }
}

extension ObjectAdded: DataAction {
  /// The place of the object.
  public var path: Path { query.path(of: entry.id) }
}

extension ObjectChanged: DataAction {
  /// The place of the object.
  public var path: Path { query.path(of: entry.id) }
}

extension ObjectMoved: DataAction {
  /// The place of the object.
  public var path: Path { query.path(of: entry.id) }
}

extension ObjectRemoved: DataAction {
  /// The place of the object.
  public var path: Path { query.path(of: id) }
}

extension ObjectErrored: DataAction {
  /// False for a child that is not an object of the type, which is left out.
  public var isSerious: Bool { path == query.path }
}

extension ObjectObserved: DataAction {}

extension Query {
  /// The place of a child.
  fileprivate func path(of key: Key) -> Path { Path(unchecked: path.keys + [key]) }
}
