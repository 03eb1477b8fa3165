public import RunnelBase
import RunnelTree

// Logs of the actions about requests.

/// The names of the members of actions.
enum FieldName {
  static let request = "request"
  static let id = "id"
  static let kind = "kind"
  static let path = "path"
  static let error = "error"
  static let code = "code"
  static let message = "message"
  static let awaitsOrigin = "awaitsOrigin"
  static let object = "object"
  static let objects = "objects"
  static let malformed = "malformed"
  static let query = "query"
  static let previous = "previous"
  static let event = "event"
  static let isSubscribed = "isSubscribed"
  static let isConnected = "isConnected"
}

extension RequestSummary {
  fileprivate var json: JSONValue {
    [
      FieldName.id: .string(id.text), FieldName.kind: .string(kind.rawValue),
      FieldName.path: .string(path.description),
    ]
  }

  fileprivate init(_ json: JSONValue) throws {
    let fields = ActionFields(try ActionFields(json).value(FieldName.request))
    guard let kind = Kind(rawValue: try fields.string(FieldName.kind)) else {
      throw fields.misfit(FieldName.kind, "a kind of request")
    }
    self.init(
      id: RequestID(try fields.string(FieldName.id)), kind: kind,
      path: try Path(fields.string(FieldName.path)))
  }
}

extension TreeError {
  var json: JSONValue {
    var members = [
      JSONMember(FieldName.code, .string(code.rawValue)),
      JSONMember(FieldName.message, .string(message)),
    ]
    if let path { members.append(JSONMember(FieldName.path, .string(path))) }
    return .object(members)
  }

  init(_ json: JSONValue) throws {
    let fields = ActionFields(json)
    let path = json[FieldName.path] == nil ? nil : try fields.string(FieldName.path)
    self.init(
      Code(rawValue: try fields.string(FieldName.code)),
      try fields.string(FieldName.message), path: path)
  }
}

extension RequestPending: LoggableAction {
  /// `RequestPending/` and the name of the object type.
  public static var kind: String { "RequestPending/" + Object.objectName }

  /// The request.
  public func json() -> JSONValue { [FieldName.request: request.json] }

  /// Reads the request.
  public init(json: JSONValue) throws { self.init(try RequestSummary(json)) }
}

extension RequestAcknowledged: LoggableAction {
  /// `RequestAcknowledged/` and the name of the object type.
  public static var kind: String { "RequestAcknowledged/" + Object.objectName }

  /// The request.
  public func json() -> JSONValue { [FieldName.request: request.json] }

  /// Reads the request.
  public init(json: JSONValue) throws { self.init(try RequestSummary(json)) }
}

extension RequestCancelled: LoggableAction {
  /// `RequestCancelled/` and the name of the object type.
  public static var kind: String { "RequestCancelled/" + Object.objectName }

  /// The request.
  public func json() -> JSONValue { [FieldName.request: request.json] }

  /// Reads the request.
  public init(json: JSONValue) throws { self.init(try RequestSummary(json)) }
}

extension RequestFailed: LoggableAction {
  /// `RequestFailed/` and the name of the object type.
  public static var kind: String { "RequestFailed/" + Object.objectName }

  /// The request and the reason why it failed.
  public func json() -> JSONValue {
    [FieldName.request: request.json, FieldName.error: error.json]
  }

  /// Reads the request and the reason why it failed.
  public init(json: JSONValue) throws {
    self.init(
      try RequestSummary(json), error: try TreeError(ActionFields(json).value(FieldName.error)))
  }
}

extension RequestSucceeded: LoggableAction {
  /// `RequestSucceeded/` and the name of the object type.
  public static var kind: String { "RequestSucceeded/" + Object.objectName }

  /// The request and its answer.
  public func json() throws -> JSONValue {
    let answer: [JSONMember] =
      switch answer {
      case .written(let awaitsOrigin):
        [JSONMember(FieldName.awaitsOrigin, .bool(awaitsOrigin))]
      case .object(let object):
        [JSONMember(FieldName.object, try object?.json() ?? .null)]
      case .objects(let entries, let malformed):
        [
          JSONMember(FieldName.objects, .array(try entries.map { try $0.json() })),
          JSONMember(FieldName.malformed, .array(malformed.map(\.json))),
        ]
      }
    return .object([JSONMember(FieldName.request, request.json)] + answer)
  }

  /// Reads the request and its answer.
  public init(json: JSONValue) throws {
    let request = try RequestSummary(json)
    self.init(request, answer: try Answer(ActionFields(json), of: request))
  }
}

extension RequestSucceeded.Answer {
  fileprivate init(_ fields: ActionFields, of request: RequestSummary) throws {
    switch request.kind {
    case .create, .update, .merge, .remove:
      self = .written(awaitsOrigin: try fields.bool(FieldName.awaitsOrigin))
    case .get:
      self = .object(try Object(optional: fields.value(FieldName.object), at: request.path))
    case .search:
      self = .objects(
        try fields.array(FieldName.objects).map { try ObjectEntry($0) },
        malformed: try fields.array(FieldName.malformed).map { try TreeError($0) })
    }
  }
}

// MARK: Objects

extension ObjectEntry {
  func json() throws -> JSONValue {
    [FieldName.id: .string(id.text), FieldName.object: try object.json()]
  }

  init(_ json: JSONValue) throws {
    let fields = ActionFields(json)
    let id = try Key(fields.string(FieldName.id))
    let node = try Node(json: fields.value(FieldName.object))
    self.init(id: id, object: try Object(id: id, node: node))
  }
}

extension TreeObject {
  /// Reads an object at a place; null is nil.
  init?(optional json: JSONValue, at path: Path) throws {
    guard json != .null else { return nil }
    guard let id = path.lastKey else {
      throw ActionLogError(.malformed, "An object stands under a key, not at the root.")
    }
    try self.init(id: id, node: Node(json: json))
  }
}
