public import RunnelBase
import Synchronization

/// An application: services by path, with hooks and events.
///
/// An application with a provider asks a server for the services that it has not itself; one
/// without is complete in itself. Any task may use it.
///
/// ```
///   let app = Feathers(provider: provider)
///   let messages = app.service("messages")
///   messages.on(.created) { print($0.data) }
///   let page = try await messages.find(["$limit": 10])
/// ```
public final class Feathers: Sendable {
  private struct State {
    var services: [String: ServiceEntry] = [:]
    var makeDefault: (@Sendable (String) -> (any FeathersService)?)?
    var hooks = ServiceHooks()
    var hooksVersion = 0
    var publishers = PublisherTable()
    var settings: [String: any Sendable] = [:]
    var setupHooks: [LifeHook] = []
    var teardownHooks: [LifeHook] = []
    var isSetUp = false

    var sortedServices: [ServiceEntry] { services.values.sorted { $0.path < $1.path } }
  }

  /// A hook around the setup or the teardown of an application: it calls the function for the rest.
  public typealias LifeHook = @Sendable (Feathers, () async throws -> Void) async throws -> Void

  /// What asks the server; nil if the application is complete in itself.
  public let provider: (any ServiceProvider)?
  /// Who is signed in at the server.
  public let authentication: ServiceAuthentication
  private let state = Mutex(State())
  private let channels = ChannelTable()
  private let connections = ConnectionObservers()

  /// Makes an application that asks a server.
  public init(provider: any ServiceProvider) {
    self.provider = provider
    authentication = ServiceAuthentication(provider)
    var link = ProviderLink(
      events: { [weak self] in self?.received($0, $1, $2) },
      signIn: { [authentication, connections] in
        await authentication.connected()
        connections.tell()
      },
      refused: { [authentication] in authentication.isRefused() })
    link.refusal = { [authentication] in authentication.refusal }
    provider.attach(link)
  }

  /// Makes an application that is complete in itself.
  public init() {
    provider = nil
    authentication = ServiceAuthentication(nil)
  }

  deinit { provider?.close() }

  /// Calls a function whenever the provider has connected and signed in, until the listener is
  /// cancelled; events may be missing since the connection before.
  public func onConnection(_ tell: @escaping @Sendable () -> Void) -> ServiceListener {
    connections.add(tell)
  }

  /// Closes the connection to the server; calls that wait for it fail.
  public func close() { provider?.close() }

  /// Calls a function with the application, so that parts of its configuration can have names.
  @discardableResult
  public func configure(_ change: (Feathers) throws -> Void) rethrows -> Feathers {
    try change(self)
    return self
  }

  /// A setting of the program, by name.
  public subscript(setting name: String) -> (any Sendable)? {
    get { state.withLock { $0.settings[name] } }
    set { state.withLock { $0.settings[name] = newValue } }
  }
}

// MARK: - Services

extension Feathers {
  /// Returns the service at a path.
  ///
  /// With a provider it is the server's, if none was added here. Each call returns the same service
  /// with its hooks and listeners. A service that is nowhere refuses all calls with `NotFound`.
  public func service(_ path: String) -> ServiceHandle {
    ServiceHandle(app: self, entry: entry(path))
  }

  /// Returns the service at a path.
  public func service(path: String) -> ServiceHandle { service(path) }

  /// The paths of the services that were added or used.
  public var paths: [String] { state.withLock { $0.services.keys.sorted() } }

  private func entry(_ path: String) -> ServiceEntry {
    let path = ServicePath.trimmed(path)
    return state.withLock { state in
      if let entry = state.services[path] { return entry }
      let service: any FeathersService
      if let made = state.makeDefault?(path) {
        service = made
      } else if let provider {
        service = ProviderService(path, provider, authentication)
      } else {
        return ServiceEntry(path, MissingService(path: path), ServiceOptions())
      }
      let entry = ServiceEntry(path, service, ServiceOptions())
      state.services[path] = entry
      return entry
    }
  }

  /// Adds a service at a path.
  ///
  /// - Throws: `Conflict` if there is one already, `BadRequest` for a name that cannot be a method's.
  @discardableResult
  public func use(
    _ path: String, _ service: some FeathersService, options: ServiceOptions = ServiceOptions()
  ) async throws(FeathersError) -> ServiceHandle {
    let path = ServicePath.trimmed(path)
    for method in options.methods where ServiceMethod.protectedNames.contains(method.name) {
      throw FeathersError(
        .badRequest, "'\(method.name)' on service '\(path)' is not a method name that can be used.")
    }
    let entry = ServiceEntry(path, service, options)
    let (isNew, isSetUp) = state.withLock { state in
      let isNew = state.services[path] == nil
      if isNew { state.services[path] = entry }
      return (isNew, state.isSetUp)
    }
    if !isNew {
      throw FeathersError(.conflict, "Path '\(path)' already has a service: unuse it first.")
    }
    if isSetUp { try await entry.setUp(self) }
    return ServiceHandle(app: self, entry: entry)
  }

  /// Removes the service at a path; returns false if there is none.
  @discardableResult
  public func unuse(_ path: String) async throws(FeathersError) -> Bool {
    let path = ServicePath.trimmed(path)
    guard let entry = state.withLock({ $0.services.removeValue(forKey: path) }) else {
      return false
    }
    try await entry.tearDown(self)
    return true
  }

  /// Sets what makes the services that were not added, when they are first used.
  public func useDefault(_ make: @escaping @Sendable (String) -> (any FeathersService)?) {
    state.withLock { $0.makeDefault = make }
  }

  /// Sets up all services, inside the hooks for that.
  public func setup() async throws(FeathersError) {
    let (hooks, entries) = state.withLock { state in
      defer { state.isSetUp = true }
      return (state.setupHooks, state.isSetUp ? [] : state.sortedServices)
    }
    try await run(hooks[...]) {
      for entry in entries { try await entry.setUp(self) }
    }
  }

  /// Tears down all services, inside the hooks for that.
  public func teardown() async throws(FeathersError) {
    let (hooks, entries) = state.withLock { state in
      defer { state.isSetUp = false }
      return (state.teardownHooks, state.isSetUp ? state.sortedServices : [])
    }
    try await run(hooks[...]) {
      for entry in entries { try await entry.tearDown(self) }
    }
  }

  /// Adds a hook around the setup.
  public func aroundSetup(_ hook: @escaping LifeHook) {
    state.withLock { $0.setupHooks.append(hook) }
  }

  /// Adds a hook around the teardown.
  public func aroundTeardown(_ hook: @escaping LifeHook) {
    state.withLock { $0.teardownHooks.append(hook) }
  }

  private func run(
    _ hooks: ArraySlice<LifeHook>, _ body: () async throws -> Void
  ) async throws(FeathersError) {
    do {
      guard let hook = hooks.first else { return try await body() }
      try await hook(self) { try await run(hooks.dropFirst(), body) }
    } catch {
      throw FeathersError.from(error)
    }
  }
}

extension ServiceEntry {
  fileprivate func setUp(_ app: Feathers) async throws(FeathersError) {
    do { try await service.setup(app, path: path) } catch { throw FeathersError.from(error) }
  }

  fileprivate func tearDown(_ app: Feathers) async throws(FeathersError) {
    do { try await service.teardown(app, path: path) } catch { throw FeathersError.from(error) }
  }
}

// MARK: - Hooks and calls

extension Feathers {
  /// Adds hooks for all services; they run around those of the service.
  public func hooks(_ hooks: ServiceHooks) {
    state.withLock { state in
      state.hooks.append(hooks)
      state.hooksVersion += 1
    }
  }

  /// Makes a call inside the hooks, and raises its event.
  func call(
    _ handle: ServiceHandle, _ request: ServiceRequest, _ params: ServiceParams
  ) async throws(FeathersError) -> HookContext {
    let version = state.withLock(\.hooksVersion)
    let chain = handle.entry.chain(
      request.method, { state.withLock(\.hooks) }, version: version)
    var context = HookContext(handle, request, params)
    do {
      try await chain.run(&context)
    } catch {
      throw FeathersError.from(error)
    }
    raise(context)
    return context
  }

  /// Makes several calls, one after the other; one that fails does not keep the others from being made.
  public func batch(
    _ calls: [(path: String, request: ServiceRequest)]
  ) async -> [Result<ServiceResult, FeathersError>] {
    var results: [Result<ServiceResult, FeathersError>] = []
    for call in calls {
      do {
        results.append(.success(try await service(call.path).request(call.request)))
      } catch {
        results.append(.failure(error))
      }
    }
    return results
  }
}

// MARK: - Events and channels

extension Feathers {
  /// Returns channels by name; they come into being when a connection joins.
  public func channel(_ names: String...) -> ServiceChannel { ServiceChannel(channels, names) }

  /// The names of the channels that have connections.
  public var channelNames: [String] { channels.names }

  /// Sets who gets an event of services that have no publisher themselves; nil for all events.
  public func publish(_ event: ServiceEvent? = nil, _ publisher: @escaping ServicePublisher) {
    state.withLock { $0.publishers.set(event, publisher) }
  }

  /// Raises the event of a call: one for each record.
  private func raise(_ context: HookContext) {
    guard let event = context.event, let result = context.dispatch ?? context.result else { return }
    let entry = context.service.entry
    if entry.options.events.contains(event) { return }
    // A server that tells of events tells of this one too.
    if entry.service is ProviderService, provider?.hasEvents == true { return }
    let records = ServiceResult(result).records
    for record in records { raise(event, record, entry, context) }
  }

  func raise(
    _ event: ServiceEvent, _ data: JSONValue, _ entry: ServiceEntry, _ context: HookContext?
  ) {
    entry.emitter.emit(
      ServiceEventRecord(
        path: entry.path, event: event, data: data, origin: .local, context: context))
    guard let context,
      let publisher = entry.publisher(for: event)
        ?? state.withLock({ $0.publishers.publisher(for: event) })
    else { return }
    var told: Set<ServiceConnection> = []
    for channel in publisher(data, context) {
      for connection in channel.connections where told.insert(connection).inserted {
        connection.send(entry.path, event, channel.data ?? data)
      }
    }
  }

  /// Passes on an event of the server.
  private func received(_ path: String, _ event: ServiceEvent, _ data: JSONValue) {
    guard let entry = state.withLock({ $0.services[ServicePath.trimmed(path)] }) else { return }
    entry.emitter.emit(
      ServiceEventRecord(path: entry.path, event: event, data: data, origin: .remote, context: nil))
  }

  /// Removes a connection of a remote client from all channels.
  public func disconnect(_ connection: ServiceConnection) {
    connection.close()
    channels.leave(nil) { $0 == connection }
  }
}

// MARK: - Remote callers

extension Feathers {
  /// Answers a call of a remote client, which gets the external form of the result.
  ///
  /// - Throws: `NotFound` if there is no such service, `MethodNotAllowed` if it does not offer the
  ///   method, or the error of the call.
  public func answer(
    path: String, _ request: ServiceRequest, _ params: ServiceParams
  ) async throws(FeathersError) -> JSONValue {
    let path = ServicePath.trimmed(path)
    let found = state.withLock { state -> (ServiceEntry, [String: String])? in
      if let entry = state.services[path] { return (entry, [:]) }
      for (pattern, entry) in state.services.sorted(by: { $0.key < $1.key }) {
        if let route = ServicePath.match(pattern, path) { return (entry, route) }
      }
      return nil
    }
    guard let (entry, route) = found else {
      throw FeathersError(.notFound, "Service '\(path)' not found")
    }
    guard entry.options.methods.contains(request.method) else {
      throw FeathersError(
        .methodNotAllowed, "Method '\(request.method.name)' not allowed on service '\(path)'")
    }
    var params = params
    params.query = request.query
    params.route = route
    if let connection = params.connection {
      (params.user, params.authentication) = (connection.user, connection.authentication)
    }
    let handle = ServiceHandle(app: self, entry: entry)
    let context = try await call(handle, request, params)
    return context.dispatch ?? context.result ?? .null
  }
}
