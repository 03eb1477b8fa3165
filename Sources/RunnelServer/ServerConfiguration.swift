public import RunnelNetwork
public import RunnelSync

/// What a server serves, where, and for whom.
public struct ServerConfiguration: Sendable {
  /// The port, unless another one is given.
  public static let defaultPort = 9000
  /// The port for administrators, unless another one is given.
  public static let defaultAdminPort = 9001

  /// What is served.
  public enum Databases: Hashable, Sendable {
    /// One file, by this name; nil for the name of the file.
    case file(String, name: String?)
    /// Each `NAME.db` in a folder.
    case folder(String)
  }

  /// What is served.
  public var databases: Databases
  /// Where to listen: `HOST:PORT` each.
  public var listen: [String] = ["localhost"]
  /// Where administrators may ask besides the Unix socket: `HOST:PORT`, of this machine; nil for nowhere.
  public var adminAddress: String?
  /// The file of the rules of a single database; nil for `NAME.rules.json` beside it.
  public var rulesFile: String?
  /// True if credentials are believed without proof, as tests need it.
  public var isEmulator = false
  /// How many databases requests may make in a folder.
  public var creationsMax = 0
  /// The files for TLS; nil to serve without.
  public var tls: TLSFiles?
  /// True if others than this machine may be served without TLS, by the proxies that are trusted.
  public var isPlainText = false
  /// The proxies that are believed from where their clients connect.
  public var trustedProxies: [AddressRange] = []
  /// Hosts by which a server without rules is called, besides those of loopback.
  public var hostNames: [String] = []
  /// Origins of pages that may use a server without rules, besides those of loopback.
  public var allowedOrigins: [String] = []
  /// A file of public keys by which tokens are checked, or their address on the web; nil for those of
  /// Google if there is a project.
  public var keys: String?
  /// The project for which those tokens are made; nil to take none of them.
  public var project: String?
  /// Where and how often backups are made; nil for none.
  public var backups: BackupPlan?
  /// How client addresses stand in the log.
  public var loggedAddresses = LoggedAddresses.short
  /// Whether requests and connections are logged.
  public var logsRequests = true
  /// The limits of connections.
  public var network = NetworkLimits()
  /// The limits of sessions.
  public var wire = WireLimits()
  /// The limits of requests.
  public var rest = RESTExchange.Limits()
  /// The limits of what is done with trees.
  public var tree = ServedTreeLimits()
  /// The most requests of one connection in a second on average; nil for any number.
  public var requestsPerSecond: Int? {
    get { network.requestsPerSecond }
    set { (network.requestsPerSecond, wire.requestsPerSecond) = (newValue, newValue) }
  }
  /// The most bytes that one connection sends in a second on average; nil for any number.
  public var bytesPerSecond: Int? {
    get { network.bytesPerSecond }
    set { (network.bytesPerSecond, wire.bytesPerSecond) = (newValue, newValue) }
  }
  /// The most levels of objects and arrays in a text of JSON.
  public var jsonDepthMax: Int {
    get { rest.jsonDepthMax }
    set { (rest.jsonDepthMax, wire.jsonDepthMax) = (newValue, newValue) }
  }
  /// The clock that tells the time of day, in milliseconds since 1970; it may jump, and any thread calls it.
  public var calendar: @Sendable () -> Int64 = { ServerWorld.calendar }
  /// So long answers and farewells may take at the end.
  public var stopDuration = Duration.seconds(10)

  /// Serves databases on this machine.
  public init(_ databases: Databases) { self.databases = databases }
}
