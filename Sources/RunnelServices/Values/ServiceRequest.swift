public import RunnelBase

/// A method of a service.
public enum ServiceMethod: Hashable, Sendable, CustomStringConvertible {
  /// Finds the records that match a query.
  case find
  /// Gets one record.
  case get
  /// Creates a record, or several.
  case create
  /// Replaces a record.
  case update
  /// Changes fields of a record, or of all that match a query.
  case patch
  /// Removes a record, or all that match a query.
  case remove
  /// A method that the service has besides the six.
  case custom(String)

  /// The six methods that Feathers knows.
  public static let standard: [ServiceMethod] = [.find, .get, .create, .update, .patch, .remove]

  /// Names that can be no methods: they have a meaning of their own in Feathers.
  static let protectedNames: Set<String> = [
    "all", "around", "before", "after", "error", "hooks", "setup", "teardown", "publish",
    "constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf",
    "propertyIsEnumerable", "on", "once", "off", "emit", "addListener", "removeListener",
    "removeAllListeners", "listeners", "listenerCount", "eventNames", "rawListeners",
    "prependListener", "prependOnceListener", "setMaxListeners", "getMaxListeners",
  ]

  /// Makes the method with a name.
  public init(_ name: String) {
    self = ServiceMethod.standard.first { $0.name == name } ?? .custom(name)
  }

  /// The name on the wire.
  public var name: String {
    switch self {
    case .find: "find"
    case .get: "get"
    case .create: "create"
    case .update: "update"
    case .patch: "patch"
    case .remove: "remove"
    case .custom(let name): name
    }
  }

  /// True if calls name a record, or null for several.
  public var hasID: Bool {
    switch self {
    case .get, .update, .patch, .remove: true
    default: false
    }
  }

  /// True if calls carry data.
  public var hasData: Bool {
    switch self {
    case .create, .update, .patch, .custom: true
    default: false
    }
  }

  /// The event that a call raises; nil for none.
  public var event: ServiceEvent? {
    switch self {
    case .create: .created
    case .update: .updated
    case .patch: .patched
    case .remove: .removed
    default: nil
    }
  }

  /// The name.
  public var description: String { name }
}

/// An event of a service.
public struct ServiceEvent: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name on the wire, without the path.
  public let rawValue: String

  /// Makes an event of its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes an event of its name.
  public init(_ name: String) { rawValue = name }

  /// Makes an event of its name.
  public init(stringLiteral value: String) { rawValue = value }

  /// A record was created.
  public static let created = ServiceEvent("created")
  /// A record was replaced.
  public static let updated = ServiceEvent("updated")
  /// Fields of a record were changed.
  public static let patched = ServiceEvent("patched")
  /// A record was removed.
  public static let removed = ServiceEvent("removed")
}

/// A call that a program makes: the method and its arguments.
public struct ServiceRequest: Hashable, Sendable {
  /// The method.
  public var method: ServiceMethod
  /// The record; nil for several, or where the method has none.
  public var id: ServiceID?
  /// The data; nil where the method has none.
  public var data: JSONValue?
  /// The query.
  public var query: ServiceQuery

  /// Makes a request.
  public init(
    _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil,
    query: ServiceQuery = ServiceQuery()
  ) {
    (self.method, self.id, self.data, self.query) = (method, id, data, query)
  }

  /// Finds the records that match a query.
  public static func find(query: ServiceQuery = ServiceQuery()) -> ServiceRequest {
    ServiceRequest(.find, query: query)
  }

  /// Gets one record.
  public static func get(id: ServiceID, query: ServiceQuery = ServiceQuery()) -> ServiceRequest {
    ServiceRequest(.get, id: id, query: query)
  }

  /// Creates a record, or several if the data is an array.
  public static func create(
    data: JSONValue, query: ServiceQuery = ServiceQuery()
  ) -> ServiceRequest {
    ServiceRequest(.create, data: data, query: query)
  }

  /// Replaces a record.
  public static func update(
    id: ServiceID?, data: JSONValue, query: ServiceQuery = ServiceQuery()
  ) -> ServiceRequest {
    ServiceRequest(.update, id: id, data: data, query: query)
  }

  /// Changes fields of a record, or with nil of all that match the query.
  public static func patch(
    id: ServiceID?, data: JSONValue, query: ServiceQuery = ServiceQuery()
  ) -> ServiceRequest {
    ServiceRequest(.patch, id: id, data: data, query: query)
  }

  /// Removes a record, or with nil all that match the query.
  public static func remove(
    id: ServiceID?, query: ServiceQuery = ServiceQuery()
  ) -> ServiceRequest {
    ServiceRequest(.remove, id: id, query: query)
  }

  /// Calls a method that the service has besides the six.
  public static func call(
    _ name: String, data: JSONValue = .null, query: ServiceQuery = ServiceQuery()
  ) -> ServiceRequest {
    ServiceRequest(.custom(name), data: data, query: query)
  }
}
