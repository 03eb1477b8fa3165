package import RunnelIdentity
public import RunnelNetwork

/// The accounts of a server: where they are, and how their users are told of things.
public struct AccountsConfiguration: Sendable {
  /// The file of the accounts, which is made if it does not exist; empty if they are in a store.
  public var file: String
  /// True if the accounts are in the store that is served, for all its servers.
  package private(set) var isInStore = false
  /// The issuer of tokens: the address at which clients reach the server; nil for the first address
  /// on which it listens.
  public var issuer: String?
  /// The least number of characters of a password; nil for 8, and for 6 with an emulator.
  public var passwordLengthMin: Int?
  /// The page of an application to which mailed links lead; nil for the server's own page.
  public var actionURL: String?
  /// The folder for mails, if there is no server of mail; nil for one beside the file.
  public var mailFolder: String?
  /// The server of mail; nil to write mails to the folder.
  public var mailServer: MailServer?
  /// The address from which mails come, or `name <address>`; nil for one at the host of the server.
  public var mailSender: String?
  /// The cost of hashes; nil for the standard.
  package var cost: ScryptCost?

  /// Makes a configuration with a file.
  public init(file: String) { self.file = file }

  /// The configuration of accounts in the store that is served.
  package static var inStore: AccountsConfiguration {
    var accounts = AccountsConfiguration(file: "")
    accounts.isInStore = true
    return accounts
  }

  /// Checks the address from which mails come, or `name <address>`.
  ///
  /// - Throws: `ServerError` of usage if no mails can come from it.
  package static func check(sender: String) throws(ServerError) {
    // The host is for a sender that is not given.
    _ = try AccountMailer.sender(sender, host: "")
  }

  /// The rules of the server.
  func policy(_ configuration: ServerConfiguration) -> IdentityPolicy {
    let isEmulator = configuration.isEmulator
    let project = configuration.project ?? AccountsConfiguration.project(configuration)
    let place = issuer ?? AccountsConfiguration.address(configuration)
    var policy = IdentityPolicy(
      project: project,
      issuer: isEmulator ? "https://securetoken.google.com/" + project : place,
      isEmulator: isEmulator)
    policy.actionURL =
      actionURL ?? place + (isEmulator ? "/emulator/action" : IdentityRoute.actionPath)
    if let passwordLengthMin { policy.passwordLengthMin = passwordLengthMin }
    if let cost { policy.cost = cost }
    let places = [place] + configuration.allowedOrigins + (actionURL.map { [$0] } ?? [])
    policy.continueHosts = Set(
      places.compactMap { IdentityDecider.host(of: $0) } + configuration.hostNames)
    return policy
  }

  /// The name of the project: that of the only database.
  private static func project(_ configuration: ServerConfiguration) -> String {
    switch configuration.databases {
    case .file(let file, let name): name ?? DatabaseNames.name(of: file)
    case .folder, .store: DatabaseNames.fallback
    }
  }

  /// The address at which the server is reached, as far as it is known.
  private static func address(_ configuration: ServerConfiguration) -> String {
    let listened = configuration.listen.first ?? "localhost"
    let port = ServerConfiguration.defaultPort
    // A text that is no address is refused where the server begins to listen.
    let place = (try? NetworkAddress.place(listened, defaultPort: port)) ?? listened
    return (configuration.tls == nil ? "http://" : "https://") + place
  }
}
