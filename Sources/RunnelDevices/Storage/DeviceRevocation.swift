package import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore

/// Finds out by a request whether the user took this device away, for programs that do not watch the
/// list; the session ends then.
package struct DeviceRevocation: Sendable {
  /// Why a session ends.
  package static let failure = AccountFailure(
    .revoked, "This device was revoked in the list of the user's devices.")

  private let listed: ListedDevice

  /// Makes a check.
  package init(_ listed: ListedDevice) { self.listed = listed }

  /// Ends the session if the device was taken away after the user had signed in.
  ///
  /// A device that stands in no list is not asked about, and without an answer the session goes on.
  ///
  /// - Parameter session: the session of the user.
  /// - Throws: `AccountFailure` (`revoked`) if it was.
  package func check(_ session: AccountSession) async throws(AccountFailure) {
    let service = session.provider.name
    guard let user = await session.user?.id, let device = listed.id(inListOf: user, at: service),
      let token = try? await session.idToken(), let request = request(device, user, token),
      let answer = try? await listed.transport(request), answer.status == 200,
      let time = (try? JSONValue(parsing: answer.body))?.int
    else { return }
    // A time of sign-in is in whole seconds.
    if let signIn = TokenClaims(token)?.signIn, signIn + 1000 > Int64(time) { return }
    listed.forget(user, at: service)
    await session.end(DeviceRevocation.failure)
    throw DeviceRevocation.failure
  }

  /// The request for the mark; nil if others could read the token.
  private func request(
    _ device: String, _ user: String, _ token: Secret<String>
  ) -> WebRequest? {
    let mark = "/\(DeviceField.states)/\(device)/\(DeviceField.revoked)"
    guard let address = listed.address(mark, of: user, token) else { return nil }
    var request = WebRequest("GET", address)
    request.headSeconds = DeviceRevocation.answerSeconds
    return request
  }

  /// How long an answer is waited for.
  private static let answerSeconds: Int64 = 10
}
