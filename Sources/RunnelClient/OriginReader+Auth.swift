package import RunnelBase
import RunnelSync

extension OriginReader {
  /// Returns the variable `auth` of the rules for the session's credential: null if there is none, and nil
  /// if the rules do not hold for it, as for an administrator.
  ///
  /// - Throws: `OriginReadFailure` if there is no credential at the moment.
  package func ruledIdentity() async throws(OriginReadFailure) -> JSONValue? {
    guard let credential = try await credential(isRefresh: false) else { return .some(.null) }
    if credential.isUnauthenticated { return .some(.null) }
    if let auth = credential.authVariable { return auth }
    if credential.isAdministrator { return nil }
    return OriginAccess.auth(of: credential.text)
  }
}
