import RunnelAccounts
import RunnelApp
import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelSync
import RunnelServices
import RunnelWorkspace

extension OriginChoice {
  /// Returns what a workspace needs to show the services of a Feathers server.
  ///
  /// - Throws: `Failure` if no service is named, or if the credentials cannot be read or would go
  ///   over an open line.
  func servicesWish() throws -> OriginWish {
    let arguments = arguments
    var services = profile?.services ?? []
    let path = address.place.keys.map { ServiceRecordCoding.name(of: $0.text) }
      .joined(separator: "/")
    if !path.isEmpty { services = [path] + services.filter { $0 != path } }
    if services.isEmpty {
      throw Failure(
        "A Feathers server does not list its services: name one, as in feathers+https://HOST/messages, or "
          + "write `services: messages, users` in the profile.", status: .usage)
    }
    let token = try OriginChoice.servicesToken(arguments)
    let credentials = try profile?.signInFile.map(OriginChoice.credentials)
    let host = try servicesHost()
    if token != nil || credentials != nil, !host.isSafe {
      throw Failure(
        "\(address.host) is asked without TLS, so others could read the token: use feathers+https.",
        status: .usage)
    }
    let user =
      token.map { OriginAccess.token($0).user }
      ?? credentials.map { $0["email"]?.string ?? $0["username"]?.string ?? "user" }
      ?? OriginAccess.nobody.user
    var wish = OriginWish(
      address, as: OriginAccess(user: user, provider: nil), arguments.options)
    wish.services = ServicePlan(
      host, ServiceAccess(arguments), services: services, token: token, credentials: credentials)
    if token != nil { wish.notice = sharedFileNotice }
    if token == nil, credentials == nil, let place = AccountPlace.known(self) {
      // The data of a user whose session was ended stays readable.
      wish.user = try place.signedIn()?.user.id ?? place.ended?.user.id
      wish.accounts = place.home
      wish.services?.tokens = try place.access()?.provider
    }
    return wish
  }

  /// The address of the host, without a place.
  ///
  /// - Throws: `Failure` of usage if it is none.
  func servicesHost() throws -> WebAddress {
    let scheme = address.isSecure ? "https" : "http"
    guard let host = WebAddress("\(scheme)://\(address.host)/") else {
      throw Failure("\(address.host) is not the address of a host.", status: .usage)
    }
    return host
  }

  /// The methods of services that the profile describes; none if it names no file.
  ///
  /// - Throws: `Failure` if the file cannot be read, or has another form.
  func methodOffers() throws -> [MethodOffer] {
    guard let file = profile?.methodsFile else { return [] }
    let bytes = try OriginArguments.bytes(of: file)
    guard let json = try? JSONValue(parsing: bytes),
      let offers = MethodOffer.list(json, place: { ServicePlan.place(of: $0) })
    else {
      throw Failure(
        "\(file) does not describe methods: it is a JSON object with a member for each service, and in that "
          + "one for each method, as in {\"messages\": {\"archive\": {}}}.")
    }
    return offers
  }

  /// The token of the options; nil for none.
  ///
  /// - Throws: `Failure` if it cannot be read, or is a service account's key.
  static func servicesToken(_ arguments: OriginArguments) throws -> String? {
    switch try arguments.credentials() {
    case .token(let token)?: return token
    case .account?:
      throw Failure(
        "The token file holds a service account's key; a Feathers server takes a token.",
        status: .usage)
    case nil: return nil
    }
  }

  /// What a file says to sign in with.
  ///
  /// - Throws: `Failure` if it cannot be read, or is no JSON object.
  static func credentials(_ file: String) throws -> JSONValue {
    let bytes = try OriginArguments.bytes(of: file)
    guard let json = try? JSONValue(parsing: bytes), case .object = json else {
      throw Failure("\(file) is no JSON object with credentials.")
    }
    return json
  }
}

extension ServiceAccess {
  /// Makes the access to a server with the options of the command line.
  init(_ arguments: OriginArguments) {
    self.init()
    trustedFile = arguments.trustedFile
    proxies = arguments.options.proxies
    userAgent = OriginArguments.userAgent
  }
}
