public import RunnelBase

/// A call on its way through the hooks.
///
/// The hooks change it in place; one value is passed through all of them.
public struct HookContext: Sendable {
  /// Which hooks are running.
  public enum Kind: String, Hashable, Sendable {
    /// Those around the call.
    case around
    /// Those before the call.
    case before
    /// Those after the call.
    case after
    /// Those after a failure.
    case error
  }

  /// The application.
  public let app: Feathers
  /// The service, with its hooks.
  public let service: ServiceHandle
  /// The method.
  public let method: ServiceMethod
  /// Which hooks are running.
  public internal(set) var type = Kind.around
  /// The record; nil for several, or where the method has none.
  public var id: ServiceID?
  /// The data; nil where the method has none.
  public var data: JSONValue?
  /// The parameters, with the query.
  public var params: ServiceParams
  /// The result; one that is set before the call is made takes the call's place, and one that is set
  /// after a failure makes the call succeed.
  public var result: JSONValue?
  /// The failure, in hooks after one; what they leave here is thrown.
  public var error: FeathersError?
  /// What remote callers and listeners get instead of the result; nil for the result.
  public var dispatch: JSONValue?
  /// The event to raise; nil for none.
  public var event: ServiceEvent?
  /// Status and headers of an answer over HTTP.
  public var http = ServiceHTTP()
  /// What hooks tell each other.
  public var values: [String: any Sendable] = [:]

  init(_ service: ServiceHandle, _ request: ServiceRequest, _ params: ServiceParams) {
    (app, self.service, method) = (service.app, service, request.method)
    (id, data) = (request.id, request.data)
    self.params = params
    event = request.method.event
  }

  /// The path of the service.
  public var path: String { service.path }

  /// The query.
  public var query: ServiceQuery {
    get { params.query }
    set { params.query = newValue }
  }

  /// The result as a page or records.
  public var response: ServiceResult? { result.map { ServiceResult($0) } }

  /// The records of the result: those of its page or array, or the single one.
  public var records: [JSONValue] { response?.records ?? [] }

  /// Changes each record of the result: those of its page or array, or the single one.
  public mutating func mapRecords(_ change: (JSONValue) throws -> JSONValue) rethrows {
    guard let result else { return }
    self.result = try result.mappingRecords(change)
  }
}

extension JSONValue {
  /// Returns the value with each of its records changed.
  func mappingRecords(_ change: (JSONValue) throws -> JSONValue) rethrows -> JSONValue {
    if ServicePage(json: self) != nil, let records = self["data"]?.array {
      return setting("data", to: .array(try records.map(change)))
    }
    switch self {
    case .array(let records): return .array(try records.map(change))
    case .null: return self
    default: return try change(self)
    }
  }
}

/// Status and headers of an answer over HTTP, as hooks set them.
public struct ServiceHTTP: Hashable, Sendable {
  /// The status; nil for that of the method.
  public var status: Int?
  /// Further headers.
  public var headers: [String: String] = [:]
  /// The address that the answer leads to; nil for none.
  public var location: String?
}

/// A hook before or after a call, or after a failure.
public struct Hook: Sendable {
  /// What it does; a failure ends the call.
  public let run: @Sendable (inout HookContext) async throws -> Void

  /// Makes a hook of a function.
  public init(_ run: @escaping @Sendable (inout HookContext) async throws -> Void) {
    self.run = run
  }
}

/// A hook around a call.
public struct AroundHook: Sendable {
  /// The rest of the call; it is called once, or not at all.
  public typealias Next = (inout HookContext) async throws -> Void

  /// What it does: it calls `next` for the rest.
  public let run: @Sendable (inout HookContext, Next) async throws -> Void

  /// Makes a hook of a function.
  public init(_ run: @escaping @Sendable (inout HookContext, Next) async throws -> Void) {
    self.run = run
  }
}

/// Hooks for all methods and for single ones.
public struct HookLists<Element: Sendable>: Sendable {
  /// The hooks for all methods.
  public var all: [Element]
  /// The hooks for single methods.
  public var methods: [ServiceMethod: [Element]]

  /// Makes lists.
  public init(
    all: [Element] = [], find: [Element] = [], get: [Element] = [], create: [Element] = [],
    update: [Element] = [], patch: [Element] = [], remove: [Element] = [],
    custom: [String: [Element]] = [:]
  ) {
    self.all = all
    methods = [
      .find: find, .get: get, .create: create, .update: update, .patch: patch, .remove: remove,
    ]
    for (name, hooks) in custom { methods[ServiceMethod(name), default: []] += hooks }
    methods = methods.filter { !$0.value.isEmpty }
  }

  /// True if there is no hook.
  public var isEmpty: Bool { all.isEmpty && methods.isEmpty }

  mutating func append(_ other: HookLists) {
    all += other.all
    for (method, hooks) in other.methods { methods[method, default: []] += hooks }
  }
}

/// Hooks before or after calls, or after failures.
public typealias HookSet = HookLists<Hook>
/// Hooks around calls.
public typealias AroundSet = HookLists<AroundHook>

/// All hooks of a service or of an application.
public struct ServiceHooks: Sendable {
  /// The hooks around calls.
  public var around: AroundSet
  /// The hooks before calls.
  public var before: HookSet
  /// The hooks after calls.
  public var after: HookSet
  /// The hooks after failures.
  public var error: HookSet

  /// Makes hooks.
  public init(
    around: AroundSet = AroundSet(), before: HookSet = HookSet(), after: HookSet = HookSet(),
    error: HookSet = HookSet()
  ) {
    (self.around, self.before, self.after, self.error) = (around, before, after, error)
  }

  mutating func append(_ other: ServiceHooks) {
    around.append(other.around)
    before.append(other.before)
    after.append(other.after)
    error.append(other.error)
  }
}
