package import RunnelBase
import RunnelStore
import RunnelStreams
import RunnelTree

// The answers of the database, as recorded sessions have them.

extension Answer {
  package var log: JSONValue {
    switch self {
    case .written(let key, let entry):
      [
        "written": key.map { .string($0.text) } ?? .null,
        "entry": entry.map { .number(JSONNumber($0)) } ?? .null,
      ]
    case .undonePartly(let entry, let partial):
      [
        "undonePartly": partial.log, "entry": entry.map { .number(JSONNumber($0)) } ?? .null,
      ]
    case .performed(let performed): ["performed": performed.log]
    case .value(let node): ["value": node.exportJSON]
    case .excerpt(let excerpt): ["excerpt": excerpt.log]
    case .records(let rows): ["records": .array(rows.map(\.log))]
    case .history(let page): ["history": page.log]
    case .orders(let orders): ["orders": .strings(orders)]
    case .count(let count, let hasMore): ["count": .int(count), "more": .bool(hasMore)]
    case .clients(let page): ["clients": page.log]
    case .disconnected(let wasThere): ["disconnected": .bool(wasThere)]
    case .devices(let outcome): ["devices": outcome.log]
    case .account(let user, let isLater):
      ["account": user.map { .string($0) } ?? .null, "later": .bool(isLater)]
    case .result(let json): ["result": json]
    case .refused(let refusal): ["refused": refusal.log]
    }
  }

  package init(log json: JSONValue) throws {
    let fields = LogFields(json)
    guard case .object(let members) = json, let name = members.first?.name else {
      throw ActionLogError(.malformed, "An answer is an object with a name.")
    }
    switch name {
    case "written":
      let (key, entry) = (try fields.value(name), try fields.value("entry"))
      self = .written(
        key: key == .null ? nil : try RunnelTree.Key(fields.string(name)),
        entry: entry == .null ? nil : try fields.int64("entry"))
    case "undonePartly":
      let entry = try fields.value("entry")
      self = .undonePartly(
        entry: entry == .null ? nil : try fields.int64("entry"),
        try PartialUndo(log: fields.value(name)))
    case "performed": self = .performed(try Performed(log: fields.value(name)))
    case "value": self = .value(try RunnelTree.Node(json: fields.value(name)))
    case "excerpt": self = .excerpt(try NodeExcerpt(log: fields.value(name)))
    case "records": self = .records(try fields.array(name).map { try TreeRow(log: $0) })
    case "history": self = .history(try HistoryPage(log: fields.value(name)))
    case "orders": self = .orders(try fields.strings(name))
    case "count": self = .count(try fields.int(name), hasMore: try fields.bool("more"))
    case "clients": self = .clients(try ClientPage(log: fields.value(name)))
    case "disconnected": self = .disconnected(try fields.bool(name))
    case "devices": self = .devices(try DeviceOutcome(log: fields.value(name)))
    case "account":
      let user = try fields.value(name)
      // Earlier recordings do not say whether the server is told later.
      self = .account(
        user: user == .null ? nil : try fields.string(name),
        isLater: json["later"] == true)
    case "result": self = .result(try fields.value(name))
    case "refused": self = .refused(try Refusal(log: fields.value(name)))
    default: throw ActionLogError(.malformed, "There is no answer `\(name)`.")
    }
  }
}

extension Performed {
  fileprivate var log: JSONValue {
    [
      "path": .string(path.description), "resource": .string(resource),
      "kind": kind.map { .string($0.rawValue) } ?? .null,
      "changes": .array(changes.map(\.log)),
    ]
  }

  fileprivate init(log json: JSONValue) throws {
    let fields = LogFields(json)
    let name = try fields.value("kind")
    self.init(
      path: try fields.path("path"), resource: try fields.string("resource"),
      kind: name == .null ? nil : ResourceChangeKind(rawValue: try fields.string("kind")),
      changes: try fields.array("changes").map { try RunnelStreams.ActionLogEntry(log: $0) })
  }
}

extension Refusal {
  fileprivate var log: JSONValue {
    [
      "message": .string(message),
      "fields": .array(
        fields.map { ["name": .string($0.name), "message": .string($0.message)] }),
      "cause": .string(cause.rawValue),
      "places": .strings(places.map(\.description)),
    ]
  }

  fileprivate init(log json: JSONValue) throws {
    let reader = LogFields(json)
    self.init(
      try reader.string("message"),
      fields: try reader.array("fields").map { field in
        let reader = LogFields(field)
        return Field(name: try reader.string("name"), message: try reader.string("message"))
      })
    cause = Cause(rawValue: try reader.string("cause")) ?? .refused
    places = try reader.stringsIfAny("places").map { try Path($0) }
  }
}
