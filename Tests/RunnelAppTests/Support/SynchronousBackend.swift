import RunnelDatabase

@testable import RunnelApp
@testable import RunnelWorkspace

/// A database that answers when it is told to, so that a test sees the state before the answer.
final class SynchronousBackend: TreeBackend {
  let session: DatabaseSession
  /// What was asked for and not answered yet, oldest first.
  private(set) var requests: [DatabaseRequest] = []
  /// Why the next writes are refused; nil to carry them out.
  var refusal: DatabaseError?
  /// Why a write is refused; asked for each as it is answered.
  var refuse: () -> DatabaseError? = { nil }
  /// Why the next listeners are refused; nil to register them.
  var listenRefusal: DatabaseError?
  /// Why the history is not read; nil to read it.
  var historyRefusal: DatabaseError?
  /// The writes that were asked for, refused ones included.
  private(set) var writeCount = 0

  init(_ session: DatabaseSession) { self.session = session }

  var databaseFile: String? { session.file }

  func submit(_ request: DatabaseRequest) { requests.append(request) }

  /// Carries the oldest request out; nil if there is none.
  func answer() -> [DatabaseMessage]? {
    if requests.isEmpty { return nil }
    let request = requests.removeFirst()
    var alone = request
    if case .taking(_, let write) = request { alone = write }
    switch alone {
    case .listen(let listener, _), .extend(let listener, _):
      if let listenRefusal { return [.failed(listener, listenRefusal)] }
    case .write(let number, _), .push(let number, _, _), .pushAll(let number, _, _),
      .perform(let number, _, _),
      .undo(let number, _, _), .writeIf(let number, _, _),
      .performIf(let number, _, _, _), .undoWrite(let number, _, _):
      writeCount += 1
      if let refusal = refusal ?? refuse() { return [.refused(number, refusal)] }
    case .history(let number, _, _, _):
      if let historyRefusal { return [.refused(number, historyRefusal)] }
    case .orders, .unlisten, .get, .dropPending, .dropRefused, .taking, .excerpt, .search, .level,
      .copyPages, .endCopy, .connectOrigin, .disconnectOrigin, .receive:
      break
    }
    return session.answer(request)
  }
}
