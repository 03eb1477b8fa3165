import RunnelTree

/// The request of a listener and its object type: equal sources share a listener.
struct ObjectSource: Hashable {
  let request: ListenRequest
  let type: ObjectIdentifier
}

/// Turns the events of one listener into actions, whatever its object type.
protocol ObjectListener {
  /// The source of the events.
  var source: ObjectSource { get }
  /// The actions at its beginning.
  var began: [any Action] { get }
  /// The actions at its end.
  var ended: [any Action] { get }
  /// The actions for one batch of events.
  mutating func receive(_ events: [TreeEvent]) -> [any Action]
  /// The actions when the source cannot be listened to.
  func failed(_ error: TreeError) -> [any Action]
}

/// Listens to one object.
struct SingleObjectListener<Object: TreeObject>: ObjectListener {
  let path: Path

  private var query: Query { Query(path) }

  var source: ObjectSource {
    ObjectSource(
      request: ListenRequest(query: query, events: .value), type: ObjectIdentifier(Object.self))
  }

  var began: [any Action] { [ObjectObserved<Object>(path, .began)] }

  var ended: [any Action] { [ObjectObserved<Object>(path, .ended)] }

  func receive(_ events: [TreeEvent]) -> [any Action] {
    events.compactMap { event -> (any Action)? in
      guard case .value(let node) = event else { return nil }
      if node.isEmpty { return ObjectObserved<Object>(path, .object(nil)) }
      switch Object.read(node, at: path) {
      case .success(let object): return ObjectObserved<Object>(path, .object(object))
      case .failure(let error): return ObjectErrored<Object>(query, path: path, error: error)
      }
    }
  }

  func failed(_ error: TreeError) -> [any Action] {
    [ObjectErrored<Object>(query, path: path, error: error)]
  }
}
