import RunnelDatabase
import RunnelWorkspace

extension Refusal {
  /// Makes a refusal from an error of the database.
  init(_ error: DatabaseError) {
    self.init(error.message)
    places = error.places
    switch error.code {
    case .changed: cause = .outdated
    case .dealtWith: cause = .dealtWith
    case .locked, .diskFull, .readOnly, .storage, .corrupt: cause = .storage
    case .fileGone: cause = .fileGone
    default: break
    }
  }
}
