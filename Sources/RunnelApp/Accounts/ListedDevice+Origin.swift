package import RunnelAccounts
package import RunnelDevices
package import RunnelSync
package import RunnelTree

extension ListedDevice {
  /// Makes the device in the lists of a server's database; nil if the user has no home.
  ///
  /// - Parameters:
  ///   - address: the address of the database.
  ///   - place: the place of the lists of users' devices.
  ///   - transport: sends the requests.
  ///   - environment: the environment variables of the process, which name the state folder.
  package init?(
    at address: OriginAddress, _ place: Path, _ transport: @escaping IdentityToolkit.Transport,
    environment: [String: String]
  ) {
    // Without a home there is no session either.
    guard let folder = try? AccountFolder.stateFolder(environment) else { return nil }
    self.init(
      base: "\(address.isSecure ? "https" : "http")://\(address.host)",
      namespace: address.namespace, keys: place.keys.map(\.text), folder: folder, transport)
  }
}
