import RunnelDatabase
import RunnelStreams
import RunnelTree

extension StreamFailure {
  private static let permissionDenied = "PERMISSION_DENIED"

  /// Creates the failure of a list of a place; if the server's rules forbid reading, the message says what to
  /// do.
  ///
  /// With `isOfService`, it says what the service does, which has no such rules.
  init(_ error: DatabaseError, readingAt place: Path, isOfService: Bool = false) {
    self.init(error)
    guard code == StreamFailure.permissionDenied else { return }
    if isOfService {
      message =
        "The server says: \(error.message): sign in (`runnel login`, or the accounts of the workspace), or as "
        + "somebody else."
      return
    }
    message =
      "No `.read` rule of the server lets you read \(place). If you are not signed in, sign in (`runnel "
      + "login`, or the accounts of the workspace). If you are, it is for others: take another account or "
      + "token, or add a rule there or above it."
  }
}
