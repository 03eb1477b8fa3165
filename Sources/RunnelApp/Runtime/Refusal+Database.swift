import RunnelDatabase
import RunnelWorkspace

extension Refusal {
  /// Why the database refused something, or could not do it.
  init(_ error: DatabaseError) {
    self.init(error.message)
    switch error.code {
    case .changed: cause = .outdated
    case .locked, .diskFull, .readOnly, .storage, .corrupt: cause = .storage
    default: break
    }
  }
}
