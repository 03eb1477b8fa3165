import RunnelBase
import RunnelTree

@testable import RunnelApp
@testable import RunnelDatabase

/// A database that answers when it is told to, so that a test sees the state before the answer.
final class SynchronousBackend: TreeBackend {
  let session: DatabaseSession
  /// What was asked for and not answered yet, oldest first.
  private(set) var requests: [DatabaseRequest] = []
  /// Why the next writes are refused; nil to carry them out.
  var refusal: DatabaseError?
  /// Why the next listeners are refused; nil to register them.
  var listenRefusal: DatabaseError?
  /// The writes that were asked for, refused ones included.
  private(set) var writeCount = 0

  init(_ session: DatabaseSession) { self.session = session }

  func submit(_ request: DatabaseRequest) { requests.append(request) }

  /// Carries the oldest request out; nil if there is none.
  func answer() -> [DatabaseMessage]? {
    if requests.isEmpty { return nil }
    switch requests.removeFirst() {
    case .listen(let listener, let request):
      return answer(listener) { try session.listen(listener, request) }
    case .unlisten(let listener):
      session.unlisten(listener)
      return []
    case .extend(let listener, let count):
      return answer(listener) { try session.extend(listener, by: count) }
    case .write(let number, let write):
      return answer(number) { (nil, try session.write(write)) }
    case .push(let number, let path, let json):
      return answer(number) { try session.push(json, to: path) }
    case .connectOrigin, .disconnectOrigin, .receive: return []
    }
  }

  private func answer(
    _ listener: ListenerID, _ body: () throws -> [Delivery]
  ) -> [DatabaseMessage] {
    do {
      if let listenRefusal { throw listenRefusal }
      return [.deliveries(try body())]
    } catch {
      return [.failed(listener, DatabaseError(error, file: session.file))]
    }
  }

  private func answer(
    _ number: Int, _ body: () throws -> (key: Key?, deliveries: [Delivery])
  ) -> [DatabaseMessage] {
    writeCount += 1
    do {
      if let refusal { throw refusal }
      let result = try body()
      return [.deliveries(result.deliveries), .written(number, key: result.key)]
    } catch {
      return [.refused(number, DatabaseError(error, file: session.file))]
    }
  }
}
