import RunnelAccounts
package import RunnelBase
package import RunnelClient
package import RunnelNetwork
package import RunnelServices
package import RunnelServicesNetwork

/// How the services of a Feathers server are shown: where it is, who asks, and which services are
/// wanted.
package struct ServicePlan: Sendable {
  /// The address of the server.
  package var address: WebAddress
  /// How it is asked.
  package var access: ServiceAccess
  /// The paths of the services to show.
  package var services: [String]
  /// The token of who asks; nil for nobody.
  package var token: String?
  /// What is sent to sign in; nil to use the token alone.
  package var credentials: JSONValue?
  /// The tokens of the account that is signed in; nil for nobody, and if a token or credentials are given.
  package var tokens: OriginAccess.Provider?
  /// True if users sign in with accounts.
  package var hasAccounts = false
  /// True if the server is asked as a user, not as nobody.
  var isSignedIn: Bool { token != nil || credentials != nil || tokens != nil }
  /// What the server is known to find by itself.
  package let reach = FindReach()

  /// Makes a plan.
  package init(
    _ address: WebAddress, _ access: ServiceAccess, services: [String], token: String? = nil,
    credentials: JSONValue? = nil
  ) {
    (self.address, self.access, self.services) = (address, access, services)
    (self.token, self.credentials) = (token, credentials)
  }

  /// Makes an application that asks over Socket.IO, and fails calls if there is no connection.
  package func hastyApplication() -> Feathers { application(SocketProvider(address, access)) }

  /// Makes an application that asks over REST.
  package func restApplication() -> Feathers { application(restProvider()) }

  /// Makes what asks over Socket.IO.
  func socketProvider() -> SocketProvider {
    var access = access
    access.socket.isPatient = true
    return SocketProvider(address, access)
  }

  /// Makes what asks over REST.
  func restProvider() -> RestProvider { RestProvider(address, access) }

  /// Makes an application that asks as the user.
  func application(_ provider: any ServiceProvider) -> Feathers {
    let app = Feathers(provider: provider)
    if let tokens {
      app.configure(auth: AuthenticationOptions(offering: tokens))
      return app
    }
    var options = AuthenticationOptions()
    options.storage.setToken(token, options.storageKey)
    if let credentials { options.credentials = { credentials } }
    app.configure(auth: options)
    return app
  }
}
