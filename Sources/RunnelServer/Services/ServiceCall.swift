import RunnelBase
import RunnelServices
import RunnelSync
import RunnelTree

/// A call of a service by a client.
///
/// Source: services protocol, sections 2, 3.1 and 6.1.
struct ServiceCall: Hashable, Sendable {
  /// The most values in a query; a query in an address has no more either.
  private static let queryValuesMax = 1000
  /// The most comparisons of values with records in one call.
  private static let comparisonsMax = 20_000_000

  var method: ServiceMethod
  /// The record; nil for all that match the query.
  var id: ServiceID?
  var data = JSONValue.null
  var query = ServiceQuery()
  /// True if all values of the query are texts.
  var isTextual = false

  /// Reads the arguments of a call over a socket, after the method and the path.
  ///
  /// - Throws: `FeathersError` for too many arguments, or wrong ones.
  init(_ method: ServiceMethod, _ arguments: ArraySlice<JSONValue>) throws(FeathersError) {
    self.method = method
    var rest = arguments
    if method.hasID {
      switch rest.popFirst() ?? .null {
      case .null: break
      case let json:
        guard let id = ServiceID(json: json) else {
          throw FeathersError(.badRequest, "An id is a text or a number.")
        }
        self.id = id
      }
    }
    if method.hasData { data = rest.popFirst() ?? .null }
    if rest.count > 1 {
      throw FeathersError(.badRequest, "Too many arguments for '\(method)' method")
    }
    switch rest.first {
    case nil, .null?: break
    case let json?:
      guard let query = ServiceQuery(json: json) else {
        throw FeathersError(.badRequest, "A query is an object.")
      }
      self.query = query
    }
  }

  /// Makes a call over REST.
  init(_ method: ServiceMethod, id: ServiceID?, data: JSONValue, textual query: ServiceQuery) {
    (self.method, self.id, self.data, self.query) = (method, id, data, query)
    isTextual = true
  }

  /// True if the call may write.
  var isWriting: Bool {
    switch method {
    case .create, .update, .patch, .remove: true
    case .find, .get, .custom: false
    }
  }

  /// Reads the query.
  ///
  /// - Throws: `BadRequest` if it has too many values, or what is not understood.
  func reading(_ rules: QueryRules) throws(FeathersError) -> QueryReading {
    let count = query.json.leafCount
    if count > ServiceCall.queryValuesMax {
      throw FeathersError(
        .badRequest,
        "The query has \(count) values, and at most \(ServiceCall.queryValuesMax) are allowed.")
    }
    return try QueryReading(query, rules: rules)
  }

  /// The most records with which the query may be compared.
  var recordsMax: Int { ServiceCall.comparisonsMax / max(1, query.json.leafCount) }

  /// - Throws: `BadRequest` if the query is compared with too many records.
  func checkCompared(_ count: Int, max: Int) throws(FeathersError) {
    if count <= max { return }
    throw FeathersError(
      .badRequest, "The query has too many values for more than \(max) records: ask for less.")
  }
}

extension JSONValue {
  /// The number of values that are neither objects nor arrays.
  fileprivate var leafCount: Int {
    switch self {
    case .null, .bool, .number, .string: 1
    case .array(let elements): elements.reduce(0) { $0 + $1.leafCount }
    case .object(let members): members.reduce(0) { $0 + $1.value.leafCount }
    }
  }
}

/// A call of a service that a tree carries out.
struct ServiceTask: Sendable {
  /// The number by which the answer is found.
  var number: Int
  var collection: ServedCollection
  var call: ServiceCall
  var caller: Caller
  var rules: QueryRules
}

extension ServerMetrics {
  /// Counts a call that the rules denied.
  func noteDenial<Value>(in result: Result<Value, FeathersError>) {
    guard case .failure(let error) = result,
      [401, 403].contains(error.code)
    else { return }
    denied(over: .service)
  }
}

extension FeathersError {
  /// The error for a caller whom a tree refused.
  init(_ error: TreeError, for caller: Caller) {
    switch error.code {
    case .permissionDenied:
      if caller.auth.isNull {
        self.init(.notAuthenticated, "Not authenticated")
      } else {
        self.init(.forbidden, "The rules of the database do not allow this.")
      }
    case .unavailable, .storage: self.init(.unavailable, error.message)
    default: self.init(.badRequest, error.message)
    }
  }
}
