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
    return waiting.flatMap(session.answer)
  }

  /// What other processes wrote since the last time.
  func catchUp() -> [DatabaseMessage] { session.news() }
}
