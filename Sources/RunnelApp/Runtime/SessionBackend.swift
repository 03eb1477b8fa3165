import RunnelDatabase
import RunnelTree

/// A database that answers on demand, for a workspace without a terminal.
///
/// It does what `Database` does, on the caller's thread: requests wait until `answer` is called.
final class SessionBackend: TreeBackend {
  private let session: DatabaseSession
  private var requests: [DatabaseRequest] = []

  init(_ session: DatabaseSession) { self.session = session }

  /// Whether no request waits.
  var isIdle: Bool { requests.isEmpty }

  func submit(_ request: DatabaseRequest) { requests.append(request) }

  /// Carries out the waiting requests; returns their results in order.
  func answer() -> [DatabaseMessage] {
    let waiting = requests
    requests = []
    return waiting.flatMap(session.answer)
  }

  /// Returns what other processes wrote since the last call.
  func catchUp() -> [DatabaseMessage] { session.news() }
}
