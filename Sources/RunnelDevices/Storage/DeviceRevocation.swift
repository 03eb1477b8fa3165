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

  private let base: String
  private let namespace: String?
  private let place: String
  private let transport: IdentityToolkit.Transport
  private let identity: DeviceIdentity

  /// Makes a check.
  ///
  /// - Parameters:
  ///   - base: scheme and host of the server.
  ///   - namespace: the database on that host; nil if the host names it.
  ///   - keys: the keys of the place of the lists.
  ///   - folder: the folder in which the device remembers its id.
  ///   - transport: sends the requests.
  package init(
    base: String, namespace: String?, keys: [String], folder: String,
    _ transport: @escaping IdentityToolkit.Transport
  ) {
    (self.base, self.namespace, self.transport) = (base, namespace, transport)
    place = keys.map { "/" + PercentEncoding.encoded($0) }.joined()
    identity = DeviceIdentity(folder: folder)
  }

  /// Ends the session if the device was taken away after the user had signed in.
  ///
  /// A device that stands in no list is not asked about, and without an answer the session goes on.
  ///
  /// - Parameter session: the session of the user.
  /// - Throws: `AccountFailure` (`revoked`) if it was.
  package func check(_ session: AccountSession) async throws(AccountFailure) {
    let service = session.provider.name
    guard let user = await session.user?.id, identity.holders(service).contains(user),
      let device = try? identity.id(), let token = try? await session.idToken(),
      let request = request(device, user, token),
      let answer = try? await transport(request), answer.status == 200,
      let time = (try? JSONValue(parsing: answer.body))?.int
    else { return }
    // A time of sign-in is in whole seconds.
    if let signIn = TokenClaims(token)?.signIn, signIn + 1000 > Int64(time) { return }
    // A memory that cannot be written costs a new token at most.
    try? identity.remember(identity.holders(service).filter { $0 != user }, service)
    await session.end(DeviceRevocation.failure)
    throw DeviceRevocation.failure
  }

  /// The request for the mark; nil if others could read the token.
  private func request(
    _ device: String, _ user: String, _ token: Secret<String>
  ) -> WebRequest? {
    var query = "auth=\(PercentEncoding.encoded(token.reveal()))"
    if let namespace { query += "&ns=\(PercentEncoding.encoded(namespace))" }
    let list = "\(base)\(place)/\(PercentEncoding.encoded(user))"
    guard
      let address = WebAddress(
        "\(list)/\(DeviceField.states)/\(device)/\(DeviceField.revoked).json?\(query)"),
      address.isSafe
    else { return nil }
    var request = WebRequest("GET", address)
    request.headSeconds = DeviceRevocation.answerSeconds
    return request
  }

  /// How long an answer is waited for.
  private static let answerSeconds: Int64 = 10
}
