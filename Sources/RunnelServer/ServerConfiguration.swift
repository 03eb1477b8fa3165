public import RunnelNetwork
package import RunnelSync

/// The configuration of a server: its databases, addresses, access and limits.
public struct ServerConfiguration: Sendable {
  /// The default port.
  public static let defaultPort = 9000
  /// The default port for administrators.
  public static let defaultAdminPort = 9001

  /// The databases to serve.
  public enum Databases: Hashable, Sendable {
    /// A single file; the name of the database is `name`, or the name of the file if nil.
    case file(String, name: String?)
    /// Each `NAME.db` in a folder.
    case folder(String)
    /// Each namespace of a store in PostgreSQL.
    case store(StoreConfiguration)
  }

  /// The databases to serve.
  public var databases: Databases
  /// Further stores besides the first one, on other primaries, whose namespaces are served too.
  package var otherStores: [StoreConfiguration] = []
  /// All stores, the first of which has the accounts.
  var stores: [StoreConfiguration] {
    if case .store(let first) = databases { [first] + otherStores } else { [] }
  }
  /// Called with the name of a namespace that was moved to another store, or dropped; nil to send clients to the
  /// new address.
  ///
  /// Called on the thread of the store's link, so it returns at once. No client is sent on then.
  package var didLeave: (@Sendable (_ name: String) -> Void)?
  /// Called on the thread of large reads, before a store is opened for one and again before anything is read.
  package var readNotice: (@Sendable (_ isOpen: Bool) -> Void)?
  /// The addresses to listen on: `HOST:PORT` each.
  public var listen: [String] = ["localhost"]
  /// The path of a Unix socket on which clients connect, those of this user only; nil for none.
  package var socketFile: String?
  /// A secret that makes its holder an administrator as long as the server runs; nil for none.
  package var ownSecret: String?
  /// The loopback address for administrators besides the Unix socket, `HOST:PORT`; nil for none.
  public var adminAddress: String?
  /// The rules file of a single database; nil for `NAME.rules.json` beside it.
  public var rulesFile: String?
  /// The file of rules that are tried: what they would deny is logged, and done; nil for none.
  public var trialRulesFile: String?
  /// True if credentials are accepted without proof, for tests.
  public var isEmulator = false
  /// The most databases in a folder up to which requests may create further ones.
  public var creationsMax = 0
  /// The files for TLS; nil to serve without TLS.
  public var tls: TLSFiles?
  /// True if other machines may be served without TLS, by trusted proxies.
  public var isPlainText = false
  /// The proxies whose statements about their clients' addresses are trusted.
  public var trustedProxies: [AddressRange] = []
  /// The host names accepted by a server without rules, besides those of loopback.
  public var hostNames: [String] = []
  /// The origins of web pages that may use a server without rules, besides those of loopback.
  public var allowedOrigins: [String] = []
  /// The file or web address of the public keys that verify tokens; nil for Google's if there is a
  /// project.
  public var keys: String?
  /// The project for which those tokens are made; nil to accept none of them.
  public var project: String?
  /// The accounts that clients sign up for; nil for none.
  public var accounts: AccountsConfiguration?
  /// The collections that are served as services of Feathers, and how.
  public var services = ServicesConfiguration()
  /// The backup plan; nil for none.
  public var backups: BackupPlan?
  /// The form of client addresses in the log.
  public var loggedAddresses = LoggedAddresses.short
  /// Whether requests and connections are logged.
  public var logsRequests = true
  /// The limits of connections.
  public var network = NetworkLimits()
  /// The limits of sessions.
  package var wire = WireLimits()
  /// The limits of requests.
  package var rest = RESTExchange.Limits()
  /// The most writes at once whose bodies are large and in memory; one more is refused.
  public var largeWritesMax = 4
  /// The limits of operations on trees.
  public var tree = ServedTreeLimits()
  /// The most requests per second of one connection, on average; nil for no limit.
  public var requestsPerSecond: Int? {
    get { network.requestsPerSecond }
    set { (network.requestsPerSecond, wire.requestsPerSecond) = (newValue, newValue) }
  }
  /// The most bytes per second from one connection, on average; nil for no limit.
  public var bytesPerSecond: Int? {
    get { network.bytesPerSecond }
    set { (network.bytesPerSecond, wire.bytesPerSecond) = (newValue, newValue) }
  }
  /// The longest time for a message to arrive, in milliseconds.
  public var messageMilliseconds: Int64 {
    get { wire.messageMilliseconds }
    set { (network.messageMilliseconds, wire.messageMilliseconds) = (newValue, newValue) }
  }
  /// The most levels of objects and arrays in a text of JSON.
  public var jsonDepthMax: Int {
    get { rest.jsonDepthMax }
    set { (rest.jsonDepthMax, wire.jsonDepthMax) = (newValue, newValue) }
  }
  /// The most bytes of one write, over HTTP and over WebSockets.
  public var writeBytesMax: Int {
    get { rest.writeBytesMax }
    set { (rest.writeBytesMax, wire.writeBytesMax) = (newValue, newValue) }
  }
  /// The clock that tells the time of day, in milliseconds since 1970; it may jump, and any thread calls it.
  public var calendar: @Sendable () -> Int64 = { ServerWorld.calendar }
  /// The longest time for pending answers and goodbyes at the end.
  public var stopDuration = Duration.seconds(10)

  /// Makes a configuration that listens on this machine only.
  public init(_ databases: Databases) { self.databases = databases }
}

/// A store in PostgreSQL, as a server uses it.
public struct StoreConfiguration: Hashable, Sendable {
  /// The name of the store for people.
  public var name: String
  /// The connection string; it may hold a password, so it is never shown.
  public var connection: String
  /// The address of this server for clients, HOST:PORT; nil for none.
  public var address: String?
  /// How long sessions stay open, and their requests wait, while no primary can be reached.
  public var patience = Duration.seconds(60)
  /// How long the server counts as ready while the primary does not answer.
  public var readyPatience = Duration.seconds(10)
  /// How long sessions stay open while no primary can be reached, if that is another time than `patience`.
  package var sessionPatience: Duration?
  /// The only namespace that is served; nil for all.
  package var namespace: String?

  /// Makes the configuration of a store.
  public init(name: String, connection: String, address: String? = nil) {
    (self.name, self.connection, self.address) = (name, connection, address)
  }

  /// True if the server serves the namespace of a name.
  func serves(_ name: String) -> Bool {
    DatabaseNames.isValid(name) && (namespace == nil || namespace == name)
  }
}
