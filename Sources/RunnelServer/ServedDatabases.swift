import Glibc
import HTTPTypes
import Logging
import RunnelDatabase
import RunnelNetwork
import RunnelPostgres
import RunnelSync
import Synchronization

/// An open database, and the verifier of its credentials.
struct OpenDatabase: Sendable {
  var database: ServedDatabase
  var verifier: TokenVerifier
  /// Tells whether there is a file already; nil if there was one from the start.
  var unmade: UnmadeFile?

  /// True if the database has a file, or another place where it is stored.
  var isMade: Bool { unmade?.isMade != false }
}

/// The databases of a server, by their names.
final class ServedDatabases: Sendable {
  struct State {
    var open: [String: OpenDatabase] = [:]
    /// The namespaces that were moved to another store: where they were, and the address for their clients,
    /// empty for none.
    var moved: [String: (from: String, address: String)] = [:]
    /// The namespaces that come from another store and are not open yet, by the names of the stores.
    var arriving: [String: Set<String>] = [:]
    /// The numbers of the namespaces of each store.
    var numbers: [String: [String: Int64]] = [:]
    /// What the stores last told of the namespaces that are in several of them, by their names.
    var copies: [String: [String: StoreHead]] = [:]
    /// The namespaces that are in two stores: where they are not served, how often that was found, and when it
    /// is told next.
    var doubles: [String: (store: String, count: Int, next: ContinuousClock.Instant)] = [:]
    /// Since when stores have told of their namespaces while the accounts could not be read.
    var unconfirmedSince: [String: ContinuousClock.Instant] = [:]
    /// The namespaces that are opened while the server runs, or will be tried again.
    var opening: Set<String> = []
    /// Those of them that wait until their stores can be used.
    var heldUp: [String: HeldUpNamespace] = [:]
  }

  let state: Mutex<State>
  /// True if a database without rules must not be served, since other machines can connect.
  let needsRules = Atomic<Bool>(false)
  private let folder: String?
  /// The files of the folder that are not served, because their names are no names of databases.
  let leftOut: [String]
  /// The links to the stores; none for files.
  let links: [StoreLink]
  /// The name of the database for requests that name none; nil if there are several.
  let main: String?
  let configuration: ServerConfiguration
  let world: ServerWorld
  let logger: Logger
  let accounts: AccountService?
  private let keys: Mutex<SigningKeys?>
  /// The address of published keys; nil if they are in a file, or there are none.
  private let keysAddress: WebAddress?
  private let published = Mutex<PublishedKeys?>(nil)
  let watched = WatchedFiles()

  /// Opens all databases.
  ///
  /// - Throws: `DatabaseError` or `ServerError` that names the problem with one.
  init(
    _ configuration: ServerConfiguration, _ links: [StoreLink], _ accounts: AccountService?,
    _ world: ServerWorld, _ logger: Logger
  ) throws {
    (self.configuration, self.world, self.logger) = (configuration, world, logger)
    self.accounts = accounts
    keysAddress = try ServedDatabases.keysAddress(configuration)
    let keysFile = keysAddress == nil ? configuration.keys : nil
    keys = Mutex(
      try keysFile.map { (file) throws(ServerError) in try ServedDatabases.keys(inFile: file) })
    state = Mutex(State())
    var places: [(name: String, place: ServedPlace)]
    self.links = links
    switch configuration.databases {
    case .file(let file, let name):
      (folder, leftOut) = (nil, [])
      places = [
        (name ?? DatabaseNames.name(of: file), ServedDatabases.place(ofFile: file, configuration))
      ]
    case .folder(let path):
      folder = path
      let files = try ServedDatabases.files(in: path).filter { _, file in
        !ServerFile.isSame(file, configuration.accounts?.file)
      }
      leftOut = files.filter { !DatabaseNames.isValid($0.name) }.map(\.file)
      places = files.filter { DatabaseNames.isValid($0.name) }.map {
        ($0.name, ServedDatabases.place(ofFile: $0.file, configuration))
      }
    case .store:
      (folder, leftOut) = (nil, [])
      places = try ServedDatabases.places(in: links, logger)
    }
    main = places.count == 1 ? places[0].name : nil
    for (name, place) in places {
      guard let opened = try openAtStart(name, place) else { continue }
      state.withLock { $0.open[name] = opened }
    }
    for link in links {
      link.news.take { [weak self] in self?.take($0, of: link) }
      link.keeper.start(
        told: { [weak self] in self?.newestTold(of: link) ?? [:] },
        shared: { [weak self] in self?.shared ?? [] })
    }
    if let keysFile { watchKeys(keysFile) }
  }

  /// The files of a folder whose names end as those of databases do, in order.
  private static func files(in folder: String) throws -> [(name: String, file: String)] {
    guard let directory = opendir(folder) else {
      throw ServerError.system("\(folder) cannot be read")
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let text = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard text.hasSuffix(DatabaseNames.suffix) else { continue }
      names.append(String(text.dropLast(DatabaseNames.suffix.count)))
    }
    return names.sorted().map { name in
      (name, file(of: name, in: folder))
    }
  }

  private static func file(of name: String, in folder: String) -> String {
    (folder.hasSuffix("/") ? folder : folder + "/") + name + DatabaseNames.suffix
  }

  private static func place(
    ofFile file: String, _ configuration: ServerConfiguration
  ) -> ServedPlace {
    .file(
      file,
      RulesFile(
        path: configuration.rulesFile ?? DatabaseNames.rulesFile(beside: file),
        isNamed: configuration.rulesFile != nil))
  }

  func open(
    _ name: String, _ place: ServedPlace, unmade: UnmadeFile? = nil
  ) throws -> OpenDatabase {
    let allowance = TreeAllowance(
      limits: configuration.tree, readBytesMax: configuration.rest.readBytesMax,
      metrics: world.metrics)
    let trial = try configuration.trialRulesFile.map { (file) throws(ServerError) in
      try RulesTrial(file: file, database: name, allowance, logger)
    }
    let database = try ServedDatabase(
      name: name, place: place, allowance: allowance, unmade: unmade,
      services: configuration.services.collections, trial: trial,
      logger: logger, metrics: world.metrics, reads: world.reads,
      readNotice: configuration.readNotice,
      calendar: world.calendar)
    let secretsFile = place.file.map { ServerSecrets.file(beside: $0) }
    let accountsFile = place.file.map { ServiceAccounts.file(beside: $0) }
    let verifier = TokenVerifier(
      TokenVerifier.Knowledge(
        secrets: try secretsFile.map { try ServerSecrets(file: $0) }
          ?? configuration.ownSecret.map { ServerSecrets(unstored: $0) }
          ?? database.storedAccess?.secrets ?? ServerSecrets(),
        accounts: try accountsFile.map { try ServiceAccounts(file: $0) }
          ?? database.storedAccess?.accounts ?? ServiceAccounts(),
        keys: keys.withLock { $0 }, project: configuration.project, issued: accounts?.tokens,
        administrators: accounts?.administrators, currency: accounts?.currency),
      isEmulator: configuration.isEmulator
    ) { [weak self] in self?.isKnown($0, elsewhereThan: name) ?? false }
    // A server with a secret of its own is one program's, which needs no others.
    if database.storedAccess != nil, configuration.ownSecret == nil {
      follow(database, verifier)
    }
    database.start(world.switchboard)
    if let trial { watched.watch([trial.file]) { trial.reload() } }
    guard let rulesFile = place.rulesFile, let secretsFile, let accountsFile else {
      return OpenDatabase(database: database, verifier: verifier)
    }
    watched.watch([rulesFile.path]) {
      database.submit(TreeJob(connection: 0, wish: .takeRules))
    }
    watch(secretsFile, of: name) { () throws(ServerError) in
      let secrets = try ServerSecrets(file: secretsFile)
      verifier.change { $0.secrets = secrets }
    }
    watch(accountsFile, of: name) { () throws(ServerError) in
      let accounts = try ServiceAccounts(file: accountsFile)
      verifier.change { $0.accounts = accounts }
    }
    return OpenDatabase(database: database, verifier: verifier, unmade: unmade)
  }

  /// The most databases that are asked for a credential that one refuses.
  private static let askedMax = 100

  /// True if a text is a credential of another database than that of a name.
  private func isKnown(_ text: String, elsewhereThan name: String) -> Bool {
    let others = state.withLock { state in
      let open = state.open.filter { $0.key != name }
      return open.values.prefix(ServedDatabases.askedMax).map(\.verifier)
    }
    return others.contains { $0.knows(text) }
  }

  /// Takes the secrets and service accounts of a namespace whenever they change in the store; clients
  /// without access lose it.
  private func follow(_ database: ServedDatabase, _ verifier: TokenVerifier) {
    database.accessReceiver.withLock { receiver in
      receiver = Receiver { [logger, world, name = database.name] access in
        verifier.change { ($0.secrets, $0.accounts) = (access.secrets, access.accounts) }
        world.switchboard.reviewCredentials()
        logger.info("\(name): the secrets and service accounts of the store were read")
      }
    }
  }

  /// Loads a file about the access to a database whenever it changes; clients without access lose
  /// it.
  func watch(
    _ file: String, of name: String, _ load: @escaping @Sendable () throws(ServerError) -> Void
  ) {
    watched.watch([file]) { [logger, world] in
      do throws(ServerError) {
        try load()
        world.switchboard.reviewCredentials()
        let isThere = access(file, F_OK) == 0
        logger.info(
          "\(name): \(file) \(isThere ? "was loaded" : "is not there: nobody has access by it")")
      } catch {
        logger.error("\(name): \(error)")
      }
    }
  }

  /// The access token for an assertion; nil if no service account of any database has the named
  /// key.
  func accessToken(
    for assertion: JSONWebToken, at hosts: Set<String>, now: Int64
  ) throws(ServiceAccounts.Refusal) -> String? {
    for open in all {
      let token = try open.verifier.accessToken(for: assertion, at: hosts, now: now)
      if let token { return token }
    }
    return try accounts?.administrators.accessToken(for: assertion, at: hosts, now: now)
  }

  // MARK: Keys

  /// The address of published keys; nil if they are in a file, or there are none.
  private static func keysAddress(
    _ configuration: ServerConfiguration
  ) throws(ServerError) -> WebAddress? {
    // The project is that of the server's own accounts, unless other keys are named.
    if configuration.keys == nil, configuration.accounts != nil { return nil }
    if configuration.project == nil {
      guard configuration.keys != nil else { return nil }
      throw ServerError(
        "Keys need the project whose tokens they sign: give --project.", isUsage: true)
    }
    let text = configuration.keys ?? PublishedKeys.google
    guard text.contains("://") else { return nil }
    guard let address = WebAddress(text), address.isSafe else {
      throw ServerError(
        "\(text) is not an address for keys: give https://HOST/PATH, or a file.", isUsage: true)
    }
    return address
  }

  private static func keys(inFile file: String) throws(ServerError) -> SigningKeys {
    guard let bytes = try ServerFile.bytes(of: file, max: WebFetcher.bytesMax) else {
      throw ServerError("\(file) does not exist: name the file of the keys.", isUsage: true)
    }
    return try SigningKeys(parsing: bytes, from: file)
  }

  private func watchKeys(_ file: String) {
    watched.watch([file]) { [weak self, logger] in
      do throws(ServerError) {
        let fresh = try ServedDatabases.keys(inFile: file)
        self?.take(fresh)
        logger.info("\(file) was loaded")
      } catch {
        logger.error("The old keys stay: \(error)")
      }
    }
  }

  /// Replaces the keys that sign tokens.
  private func take(_ fresh: SigningKeys) {
    keys.withLock { $0 = fresh }
    for open in all { open.verifier.change { $0.keys = fresh } }
    world.switchboard.reviewCredentials()
  }

  /// Fetches the published keys now and whenever they expire.
  func start() async {
    guard let address = keysAddress else { return }
    let published = PublishedKeys(address, logger: logger) { [weak self] in self?.take($0) }
    self.published.withLock { $0 = published }
    await published.start()
  }

  /// Fetches the published keys again, if there are any.
  func refreshKeys() { published.withLock(\.self)?.refresh() }

  // MARK: Finding

  /// The open databases, in the order of their names.
  var all: [OpenDatabase] {
    state.withLock { state in state.open.keys.sorted().compactMap { state.open[$0] } }
  }

  /// The database that a request names; nil if there is none.
  ///
  /// If requests may make databases, this makes it, unless `makes` is false. Its file comes with the first write, so
  /// that a request that is refused leaves none.
  ///
  /// Source: wire protocol, sections A1 and C1.
  func find(_ request: HTTPRequest, makes: Bool = true) -> OpenDatabase? {
    guard let name = ServedDatabases.parameter("ns", of: request.path ?? "") else {
      return findByHost(request, makes: makes)
    }
    return named(name, makes: makes)
  }

  /// The database that the host of a request names, or the only one; nil if there is none.
  func findByHost(_ request: HTTPRequest, makes: Bool = true) -> OpenDatabase? {
    let host = HostCheck.host(of: request.authority ?? "")
    let label = host.split(separator: ".").first.map(String.init) ?? ""
    if let found = state.withLock({ $0.open[label] }) { return found }
    return main.flatMap { main in state.withLock { $0.open[main] } }
      ?? named(DatabaseNames.fallback, makes: makes)
  }

  /// Whether a write would make the database that a request names.
  enum Prospect: Hashable {
    case makes
    /// The folder has as many as requests may make.
    case isFull
    /// Requests make no databases, or none of this name.
    case never
  }

  /// Whether a write would make the database that a request names, which does not exist.
  func prospect(of request: HTTPRequest, byHost: Bool) -> Prospect {
    let named = byHost ? nil : ServedDatabases.parameter("ns", of: request.path ?? "")
    guard folder != nil, configuration.creationsMax > 0,
      DatabaseNames.isValid(named ?? DatabaseNames.fallback)
    else { return .never }
    return state.withLock { isFull($0) } ? .isFull : .makes
  }

  /// True if requests may make no more databases, those that were there at the start included.
  private func isFull(_ state: State) -> Bool { state.open.count >= configuration.creationsMax }

  private func named(_ name: String, makes: Bool) -> OpenDatabase? {
    if let found = state.withLock({ $0.open[name] }) { return found }
    return makes || hasRules(name) ? create(name) : nil
  }

  /// True if rules stand beside a database that does not exist yet; they decide who may read nothing.
  private func hasRules(_ name: String) -> Bool {
    guard let folder, DatabaseNames.isValid(name) else { return false }
    let file = ServedDatabases.file(of: name, in: folder)
    return access(DatabaseNames.rulesFile(beside: file), F_OK) == 0
  }

  /// Creates a database, if that is allowed; its file comes with the first write.
  private func create(_ name: String) -> OpenDatabase? {
    guard let folder, DatabaseNames.isValid(name) else { return nil }
    // The lock makes other threads wait, so that it is created once.
    return state.withLock { state in
      if let found = state.open[name] { return found }
      if isFull(state) { return nil }
      do {
        let file = ServedDatabases.file(of: name, in: folder)
        let unmade = access(file, F_OK) == 0 ? nil : unmadeFile(of: name)
        let opened = try open(
          name, ServedDatabases.place(ofFile: file, configuration), unmade: unmade)
        state.open[name] = opened
        if unmade == nil { logger.info("\(name) was made") }
        return opened
      } catch {
        logger.error("\(name) cannot be made: \(error)")
        return nil
      }
    }
  }

  private func unmadeFile(of name: String) -> UnmadeFile {
    UnmadeFile { [logger] in logger.info("\(name) was made") }
  }

  /// The value of a parameter of an address; nil if there is none.
  ///
  /// Database names need no decoding.
  static func parameter(_ name: String, of target: String) -> String? {
    let halves = target.split(separator: "?", maxSplits: 1)
    guard halves.count == 2 else { return nil }
    for pair in halves[1].split(separator: "&") where pair.hasPrefix(name + "=") {
      return String(pair.dropFirst(name.count + 1))
    }
    return nil
  }

  /// True if a single database is served, which nobody has to name: `ns` in the query of a service is a field then.
  var isAlone: Bool { main != nil && state.withLock { $0.open.count < 2 } }

  /// A request as services read it: without the name of the database, if its address may have one.
  func serviceRequest(_ request: HTTPRequest) -> HTTPRequest {
    guard let path = request.path, let start = path.firstIndex(of: "?"), !isAlone else {
      return request
    }
    let pairs = path[path.index(after: start)...].split(separator: "&")
    let rest = pairs.filter { !$0.hasPrefix("ns=") }
    if rest.count == pairs.count { return request }
    var request = request
    request.path = path[..<start] + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    return request
  }

  /// Closes all databases, after their pending work.
  func close() {
    published.withLock { $0 }?.stop()
    for open in all { open.database.close() }
    for link in links { link.keeper.close() }
  }
}
