package import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore

/// This device in the lists of users' devices in a server's database: for requests by programs that do
/// not watch the lists.
package struct ListedDevice: Sendable {
  private let base: String
  private let namespace: String?
  private let place: String
  /// Sends the requests.
  let transport: IdentityToolkit.Transport
  private let identity: DeviceIdentity

  /// Makes the device in the lists of a database.
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

  /// The id of this device if it may stand in the list of a user; nil for one in no list.
  func id(inListOf user: String, at service: String) -> String? {
    guard identity.holders(service).contains(user) else { return nil }
    // Without an id the device stands in no list.
    return try? identity.id()
  }

  /// Notes that the device does not stand in the list of a user any more.
  func forget(_ user: String, at service: String) {
    // A memory that cannot be written costs a new token at most.
    try? identity.remember(identity.holders(service).filter { $0 != user }, service)
  }

  /// The address of a place below the list of a user; nil if others could read the token.
  ///
  /// - Parameters:
  ///   - rest: the place below the list; empty for the list itself.
  ///   - user: the id of the user.
  ///   - token: the token for the request.
  ///   - options: what else the server is asked for, as the beginning of the query.
  /// - Returns: the address, with the token in its query.
  func address(
    _ rest: String, of user: String, _ token: Secret<String>, options: String = ""
  ) -> WebAddress? {
    var query = "\(options)auth=\(PercentEncoding.encoded(token.reveal()))"
    if let namespace { query += "&ns=\(PercentEncoding.encoded(namespace))" }
    let list = "\(base)\(place)/\(PercentEncoding.encoded(user))"
    let address = WebAddress("\(list)\(rest).json?\(query)")
    return address.flatMap { $0.isSafe ? $0 : nil }
  }
}
