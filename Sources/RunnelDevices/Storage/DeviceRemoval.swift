package import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore

/// Removes this device from the lists in a server's database by requests, for users who signed out and
/// whose replicas are closed.
package struct DeviceRemoval: Sendable {
  private let base: String
  private let namespace: String?
  private let place: String
  private let transport: IdentityToolkit.Transport
  private let identity: DeviceIdentity

  /// Makes a removal.
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

  /// Removes the device from the list of a user, if it may stand there.
  ///
  /// - Parameters:
  ///   - user: the id of the user, who is departing.
  ///   - session: gives the user's tokens.
  /// - Returns: `later` if the server, or the account service, cannot be reached or answer; `done` if the
  ///   device is gone, or if the request was refused for good.
  package func remove(of user: String, in session: AccountSession) async -> DepartureResult {
    let service = session.provider.name
    guard identity.holders(service).contains(user) else { return .done }
    // Without an id the device stands in no list.
    guard let device = try? identity.id() else { return .done }
    var refused: Secret<String>?
    for _ in 0..<2 {
      let token: Secret<String>
      do throws(AccountFailure) {
        token = try await session.idToken(of: user, refused: refused)
      } catch {
        return error.isTemporary ? .later : .done
      }
      guard let request = request(device, user, token) else { return .done }
      let status: Int
      do throws(NetworkError) {
        status = try await transport(request).status
      } catch {
        return .later
      }
      switch status {
      case 200..<300:
        forget(user, service)
        return .done
      case 401 where refused == nil: refused = token
      case 429, 500...: return .later
      default: return .done
      }
    }
    return .done
  }

  /// The request that removes the entry and its status; nil if others could read the token.
  private func request(
    _ device: String, _ user: String, _ token: Secret<String>
  ) -> WebRequest? {
    var query = "print=silent&auth=\(PercentEncoding.encoded(token.reveal()))"
    if let namespace { query += "&ns=\(PercentEncoding.encoded(namespace))" }
    guard
      let address = WebAddress(
        "\(base)\(place)/\(PercentEncoding.encoded(user)).json?\(query)"),
      address.isSafe
    else { return nil }
    let values: JSONValue = .object([
      JSONMember("\(DeviceField.devices)/\(device)", .null),
      JSONMember("\(DeviceField.states)/\(device)", .null),
    ])
    return WebRequest(
      "PATCH", address, headers: [("Content-Type", "application/json")], body: values.jsonBytes())
  }

  /// Notes that the device does not stand in the list of a user any more.
  private func forget(_ user: String, _ service: String) {
    // A memory that cannot be written costs a new token at most.
    try? identity.remember(identity.holders(service).filter { $0 != user }, service)
  }
}
