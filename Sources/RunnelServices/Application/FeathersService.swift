public import RunnelBase

/// A service: what it does for each method.
///
/// A service implements the methods that it has; the others are refused. One that hands calls on as
/// they are, such as a proxy, implements `perform` alone.
public protocol FeathersService: Sendable {
  /// Finds the records that match the query of the parameters.
  func find(_ params: ServiceParams) async throws -> JSONValue
  /// Gets one record.
  func get(_ id: ServiceID, _ params: ServiceParams) async throws -> JSONValue
  /// Creates a record, or several if the data is an array.
  func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue
  /// Replaces a record.
  func update(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws
    -> JSONValue
  /// Changes fields of a record, or with nil of all that match the query.
  func patch(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws
    -> JSONValue
  /// Removes a record, or with nil all that match the query.
  func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue
  /// Does what a method beyond the six does.
  func call(_ name: String, _ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue
  /// Does what a request asks for, whatever its method.
  func perform(_ request: ServiceRequest, _ params: ServiceParams) async throws -> JSONValue
  /// Prepares the service, when the application is set up or the service is added to one that is.
  func setup(_ app: Feathers, path: String) async throws
  /// Ends the service, when the application is torn down or the service is removed.
  func teardown(_ app: Feathers, path: String) async throws
}

extension FeathersService {
  /// Refuses the call.
  public func find(_ params: ServiceParams) async throws -> JSONValue { throw refusal(.find) }
  /// Refuses the call.
  public func get(_ id: ServiceID, _ params: ServiceParams) async throws -> JSONValue {
    throw refusal(.get)
  }
  /// Refuses the call.
  public func create(_ data: JSONValue, _ params: ServiceParams) async throws -> JSONValue {
    throw refusal(.create)
  }
  /// Refuses the call.
  public func update(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws
    -> JSONValue
  { throw refusal(.update) }
  /// Refuses the call.
  public func patch(
    _ id: ServiceID?, _ data: JSONValue, _ params: ServiceParams
  ) async throws
    -> JSONValue
  { throw refusal(.patch) }
  /// Refuses the call.
  public func remove(_ id: ServiceID?, _ params: ServiceParams) async throws -> JSONValue {
    throw refusal(.remove)
  }
  /// Refuses the call.
  public func call(
    _ name: String, _ data: JSONValue, _ params: ServiceParams
  ) async throws
    -> JSONValue
  { throw refusal(.custom(name)) }

  /// Calls the function for the method.
  public func perform(_ request: ServiceRequest, _ params: ServiceParams) async throws -> JSONValue
  {
    switch request.method {
    case .find: return try await find(params)
    case .get:
      guard let id = request.id else {
        throw FeathersError(.badRequest, "id for 'get' can not be undefined")
      }
      return try await get(id, params)
    case .create: return try await create(request.data ?? .null, params)
    case .update: return try await update(request.id, request.data ?? .null, params)
    case .patch: return try await patch(request.id, request.data ?? .null, params)
    case .remove: return try await remove(request.id, params)
    case .custom(let name): return try await call(name, request.data ?? .null, params)
    }
  }

  /// Does nothing.
  public func setup(_ app: Feathers, path: String) async throws {}
  /// Does nothing.
  public func teardown(_ app: Feathers, path: String) async throws {}

  private func refusal(_ method: ServiceMethod) -> FeathersError {
    FeathersError(.methodNotAllowed, "Method `\(method.name)` is not supported by this endpoint.")
  }
}

/// What is known of a call besides its arguments.
///
/// A remote caller chooses the query only; the rest is the server's.
public struct ServiceParams: Sendable {
  /// The query.
  public var query: ServiceQuery
  /// The name of the transport that a remote call came by; nil for a call of the program itself.
  public var provider: String?
  /// Who calls, as the authentication tells; null for nobody.
  public var user: JSONValue = .null
  /// What is known of the authentication; null for nothing.
  public var authentication: JSONValue = .null
  /// The headers of a remote call, by lower-case name.
  public var headers: [String: String] = [:]
  /// The values of the placeholders in the path of the service.
  public var route: [String: String] = [:]
  /// The connection of a remote call.
  public var connection: ServiceConnection?
  /// True if `find` returns all records as an array, which only the program itself can ask for.
  public var isUnpaged = false
  /// What hooks tell each other.
  public var values: [String: any Sendable] = [:]

  /// Makes parameters.
  public init(query: ServiceQuery = ServiceQuery(), provider: String? = nil) {
    (self.query, self.provider) = (query, provider)
  }
}

/// How an application offers a service.
public struct ServiceOptions: Sendable {
  /// The methods that remote callers may use.
  public var methods: [ServiceMethod]
  /// Events that the service raises itself; a standard event among them is not raised for it.
  public var events: [ServiceEvent]

  /// Makes options; without arguments remote callers may use the six methods.
  public init(
    methods: [ServiceMethod] = ServiceMethod.standard, events: [ServiceEvent] = []
  ) {
    (self.methods, self.events) = (methods, events)
  }
}
