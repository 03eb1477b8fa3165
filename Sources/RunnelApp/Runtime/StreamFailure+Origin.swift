import RunnelDatabase
import RunnelServices
import RunnelStreams
import RunnelTree

extension StreamFailure {
  private static let permissionDenied = "PERMISSION_DENIED"

  /// Creates the failure of a list of a place; if the server's rules forbid reading, the message says what to
  /// do.
  ///
  /// With `isOfService`, it says what the server says of the service, which has no such rules.
  init(_ error: DatabaseError, readingAt place: Path, isOfService: Bool = false) {
    self.init(error)
    let isForbidden = code == StreamFailure.permissionDenied
    if isOfService {
      guard let reason = error.reason else { return }
      guard let service = place.keys.first else {
        message = "the server lists no services"
        return
      }
      let name = ServiceRecordCoding.name(of: service.text)
      message = isForbidden ? "The server says: \(reason)" : "\(name): \(reason)"
      return
    }
    guard isForbidden else { return }
    message =
      "No `.read` rule of the server lets you read \(place). If you are not signed in, sign in (`runnel "
      + "login`, or the accounts of the workspace). If you are, it is for others: take another account or "
      + "token, or add a rule there or above it."
  }
}
