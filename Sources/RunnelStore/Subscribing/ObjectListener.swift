import RunnelTree

/// What is listened to, and for which type of object: two that are equal share a listener.
struct ObjectSource: Hashable {
  let request: ListenRequest
  let type: ObjectIdentifier
}

/// Makes actions of the events of one listener, whatever its object type.
protocol ObjectListener {
  /// What is listened to.
  var source: ObjectSource { get }
  /// What is told when it begins.
  var began: [any Action] { get }
  /// What is told when it ends.
  var ended: [any Action] { get }
  /// What one batch of events comes to.
  mutating func receive(_ events: [TreeEvent]) -> [any Action]
  /// What is told when nobody may listen.
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
