import RunnelTree

/// A request that waits for its answer, whatever its object type.
protocol AnyWaitingRequest {
  var summary: RequestSummary { get }
  func found(_ node: Node) -> [any Action]
  func rows(_ rows: [TreeRow]) -> [any Action]
  func written(awaitsOrigin: Bool) -> [any Action]
  func acknowledged() -> [any Action]
  func failed(_ error: TreeError) -> [any Action]
  func cancelled() -> [any Action]
}

/// A request that waits for its answer; it turns the answer into actions.
struct WaitingRequest<Object: TreeObject>: AnyWaitingRequest {
  let summary: RequestSummary

  func found(_ node: Node) -> [any Action] {
    if node.isEmpty { return [RequestSucceeded<Object>(summary, answer: .object(nil))] }
    switch Object.read(node, at: summary.path) {
    case .success(let object):
      return [RequestSucceeded<Object>(summary, answer: .object(object))]
    case .failure(let error): return failed(error)
    }
  }

  func rows(_ rows: [TreeRow]) -> [any Action] {
    var entries: [ObjectEntry<Object>] = []
    var malformed: [TreeError] = []
    for row in rows {
      switch Object.read(row, in: summary.path) {
      case .success(let object): entries.append(ObjectEntry(id: row.key, object: object))
      case .failure(let error): malformed.append(error)
      }
    }
    return [
      RequestSucceeded<Object>(summary, answer: .objects(entries, malformed: malformed))
    ]
  }

  func written(awaitsOrigin: Bool) -> [any Action] {
    [RequestSucceeded<Object>(summary, answer: .written(awaitsOrigin: awaitsOrigin))]
  }

  func acknowledged() -> [any Action] { [RequestAcknowledged<Object>(summary)] }

  func failed(_ error: TreeError) -> [any Action] {
    [RequestFailed<Object>(summary, error: error)]
  }

  func cancelled() -> [any Action] { [RequestCancelled<Object>(summary)] }
}
