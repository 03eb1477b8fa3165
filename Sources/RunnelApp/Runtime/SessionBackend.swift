import RunnelDatabase
import RunnelTree

/// A database that answers when it is asked to, for a workspace without a terminal.
///
/// It does what `Database` does, on the caller's thread: requests wait until `answer` is called.
final class SessionBackend: TreeBackend {
  private let session: DatabaseSession
  private var requests: [DatabaseRequest] = []

  init(_ session: DatabaseSession) { self.session = session }

  /// True if there is nothing to answer.
  var isIdle: Bool { requests.isEmpty }

  func submit(_ request: DatabaseRequest) { requests.append(request) }

  /// Carries out the requests that wait; returns what comes of them, in order.
  func answer() -> [DatabaseMessage] {
    let waiting = requests
    requests = []
    return waiting.flatMap(answer)
  }

  /// What other processes wrote since the last time.
  func catchUp() -> [DatabaseMessage] {
    do {
      return messages(try session.catchUp())
    } catch {
      return [.stale(failure(error))]
    }
  }

  private func answer(_ request: DatabaseRequest) -> [DatabaseMessage] {
    switch request {
    case .listen(let listener, let request):
      return answer(for: listener) { try session.listen(listener, request) }
    case .unlisten(let listener):
      session.unlisten(listener)
      return []
    case .extend(let listener, let count):
      return answer(for: listener) { try session.extend(listener, by: count) }
    case .write(let number, let write):
      return answer(number) { (nil, try session.write(write)) }
    case .push(let number, let path, let json):
      return answer(number) { try session.push(json, to: path) }
    // Nothing here talks to an origin.
    case .connectOrigin, .disconnectOrigin, .receive: return []
    }
  }

  private func answer(
    for listener: ListenerID, _ body: () throws -> [Delivery]
  ) -> [DatabaseMessage] {
    do {
      return messages(try body())
    } catch {
      return [.failed(listener, failure(error))]
    }
  }

  private func answer(
    _ number: Int, _ body: () throws -> (key: RunnelTree.Key?, deliveries: [Delivery])
  ) -> [DatabaseMessage] {
    do {
      let result = try body()
      return messages(result.deliveries) + [.written(number, key: result.key)]
    } catch {
      return [.refused(number, failure(error))]
    }
  }

  private func messages(_ deliveries: [Delivery]) -> [DatabaseMessage] {
    deliveries.isEmpty ? [] : [.deliveries(deliveries)]
  }

  private func failure(_ error: any Error) -> DatabaseError {
    error as? DatabaseError ?? DatabaseError(.storage, "\(error)")
  }
}
