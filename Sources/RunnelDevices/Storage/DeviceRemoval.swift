package import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore

/// Removes this device from the lists in a server's database by requests, for users who signed out and
/// whose replicas are closed.
package struct DeviceRemoval: Sendable {
  private let listed: ListedDevice

  /// Makes a removal.
  package init(_ listed: ListedDevice) { self.listed = listed }

  /// Removes the device from the list of a user, if it may stand there.
  ///
  /// - Parameters:
  ///   - user: the id of the user, who is departing.
  ///   - session: gives the user's tokens.
  /// - Returns: `later` if the server, or the account service, cannot be reached or answer; `done` if the
  ///   device is gone, or if the request was refused for good.
  package func remove(of user: String, in session: AccountSession) async -> DepartureResult {
    let service = session.provider.name
    guard let device = listed.id(inListOf: user, at: service) else { return .done }
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
        status = try await listed.transport(request).status
      } catch {
        return .later
      }
      switch status {
      case 200..<300:
        listed.forget(user, at: service)
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
    guard let address = listed.address("", of: user, token, options: "print=silent&") else {
      return nil
    }
    let values: JSONValue = .object([
      JSONMember("\(DeviceField.devices)/\(device)", .null),
      JSONMember("\(DeviceField.states)/\(device)", .null),
    ])
    return WebRequest(
      "PATCH", address, headers: [("Content-Type", "application/json")], body: values.jsonBytes())
  }
}
