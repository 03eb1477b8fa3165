public import RunnelBase

/// A service of an application: calls of it run through the hooks.
///
/// A call is a function that is awaited: nothing happens before, it ends once, by a result or an
/// error, and it is cancelled with the task that awaits it.
public struct ServiceHandle: Sendable {
  /// The application.
  public let app: Feathers
  let entry: ServiceEntry

  /// The path.
  public var path: String { entry.path }
}

// MARK: - Calls

extension ServiceHandle {
  /// Makes a call.
  public func request(
    _ request: ServiceRequest, _ params: ServiceParams = ServiceParams()
  ) async throws(FeathersError) -> ServiceResult {
    var params = params
    params.query = request.query
    return ServiceResult(try await app.call(self, request, params).result ?? .null)
  }

  /// Finds the records that match a query.
  public func find(
    _ query: ServiceQuery = ServiceQuery()
  ) async throws(FeathersError)
    -> ServiceResult
  { try await request(.find(query: query)) }

  /// Gets one record.
  public func get(
    _ id: ServiceID, _ query: ServiceQuery = ServiceQuery()
  )
    async throws(FeathersError) -> JSONValue
  { try await request(.get(id: id, query: query)).json }

  /// Creates a record, or several if the data is an array.
  @discardableResult
  public func create(
    _ data: JSONValue, _ query: ServiceQuery = ServiceQuery()
  )
    async throws(FeathersError) -> JSONValue
  { try await request(.create(data: data, query: query)).json }

  /// Replaces a record.
  @discardableResult
  public func update(
    _ id: ServiceID?, _ data: JSONValue, _ query: ServiceQuery = ServiceQuery()
  )
    async throws(FeathersError) -> JSONValue
  { try await request(.update(id: id, data: data, query: query)).json }

  /// Changes fields of a record, or with nil of all that match the query.
  @discardableResult
  public func patch(
    _ id: ServiceID?, _ data: JSONValue, _ query: ServiceQuery = ServiceQuery()
  )
    async throws(FeathersError) -> JSONValue
  { try await request(.patch(id: id, data: data, query: query)).json }

  /// Removes a record, or with nil all that match the query.
  @discardableResult
  public func remove(
    _ id: ServiceID?, _ query: ServiceQuery = ServiceQuery()
  )
    async throws(FeathersError) -> JSONValue
  { try await request(.remove(id: id, query: query)).json }

  /// Calls a method that the service has besides the six.
  @discardableResult
  public func call(
    _ name: String, _ data: JSONValue = .null, _ query: ServiceQuery = ServiceQuery()
  ) async throws(FeathersError) -> JSONValue {
    try await request(.call(name, data: data, query: query)).json
  }
}

// MARK: - Hooks

extension ServiceHandle {
  /// Adds hooks, behind those that the service has.
  public func hooks(_ hooks: ServiceHooks) { entry.append(hooks) }

  /// Adds hooks before and after calls, and after failures.
  public func hooks(
    before: HookSet = HookSet(), after: HookSet = HookSet(), error: HookSet = HookSet()
  ) {
    entry.append(ServiceHooks(before: before, after: after, error: error))
  }

  /// Adds hooks before calls.
  public func before(_ hooks: HookSet) { entry.append(ServiceHooks(before: hooks)) }

  /// Adds hooks after calls.
  public func after(_ hooks: HookSet) { entry.append(ServiceHooks(after: hooks)) }

  /// Adds hooks after failures.
  public func error(_ hooks: HookSet) { entry.append(ServiceHooks(error: hooks)) }

  /// Adds hooks around calls.
  public func around(_ hooks: AroundSet) { entry.append(ServiceHooks(around: hooks)) }

  /// The hooks of a kind; nil if there are none.
  public func hooks(for kind: HookContext.Kind) -> HookSet? {
    let hooks = entry.hooks
    let set: HookSet
    switch kind {
    case .before: set = hooks.before
    case .after: set = hooks.after
    case .error: set = hooks.error
    case .around: return nil
    }
    return set.isEmpty ? nil : set
  }
}

// MARK: - Events

extension ServiceHandle {
  /// The most events that wait for a slow reader of `events`; the oldest are dropped then.
  private static let waitingMax = 4096

  /// Calls a function for each event of a kind, until the listener is cancelled.
  ///
  /// The function is called on the thread that raises the event, and must not block.
  @discardableResult
  public func on(
    _ event: ServiceEvent, _ handler: @escaping @Sendable (ServiceEventRecord) -> Void
  ) -> ServiceListener {
    entry.emitter.add(event, once: false, handler)
  }

  /// Calls a function for the next event of a kind.
  @discardableResult
  public func once(
    _ event: ServiceEvent, _ handler: @escaping @Sendable (ServiceEventRecord) -> Void
  ) -> ServiceListener {
    entry.emitter.add(event, once: true, handler)
  }

  /// Ends a listener; others go on.
  public func off(_ listener: ServiceListener) { listener.cancel() }

  /// The events of a kind as they happen, from this call on; nil for all kinds.
  public func events(_ event: ServiceEvent? = nil) -> AsyncStream<ServiceEventRecord> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ServiceEventRecord.self, bufferingPolicy: .bufferingNewest(ServiceHandle.waitingMax))
    let listener = entry.emitter.add(event, once: false) { continuation.yield($0) }
    continuation.onTermination = { _ in listener.cancel() }
    return stream
  }

  /// Raises an event: one of the service's own, or one that it raises itself.
  ///
  /// With the context of a call it is published to the connections of remote clients too.
  public func emit(_ event: ServiceEvent, _ data: JSONValue, from context: HookContext? = nil) {
    app.raise(event, data, entry, context)
  }

  /// Sets who gets an event; nil for all events that have no publisher of their own.
  public func publish(_ event: ServiceEvent? = nil, _ publisher: @escaping ServicePublisher) {
    entry.publish(event, publisher)
  }

  /// The number of listeners.
  var listenerCount: Int { entry.emitter.count }
}
