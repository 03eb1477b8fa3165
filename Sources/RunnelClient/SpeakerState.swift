import RunnelBase
package import RunnelSync

/// What the process that holds the connection of a replica tells the others about it.
package struct SpeakerState: Hashable, Sendable {
  /// The state of its link.
  package var link: LinkState
  /// Since when the replica has no connection, in milliseconds since 1970; nil while it has one.
  package var offlineSince: Int64?
  /// True if the server tells of changes by others.
  package var hasEvents = true
  /// What the server does not do, in words for the user; nil if there is nothing to say.
  package var limits: String?

  /// Makes what a process tells of its status; nil if it does not hold the connection.
  package init?(_ status: OriginStatus) {
    guard case .link(let link) = status.state else { return nil }
    (self.link, offlineSince) = (link, status.offlineSince)
    (hasEvents, limits) = (status.hasEvents, status.limits)
  }

  /// The text for the others.
  package var text: String {
    var members: [JSONMember] = []
    func add(_ name: String, _ value: String?) {
      if let value { members.append(JSONMember(name, .string(value))) }
    }
    func add(_ name: String, _ value: Int64) {
      members.append(JSONMember(name, .number(JSONNumber(value))))
    }
    switch link {
    case .connecting: add("link", "connecting")
    case .authenticating: add("link", "authenticating")
    case .catchingUp: add("link", "catchingUp")
    case .live: add("link", "live")
    case .notAnswering: add("link", "notAnswering")
    case .waiting(let time, let reason):
      add("link", "waiting")
      add("until", time)
      add("reason", reason)
    case .offline(.asked): add("link", "offline")
    case .offline(.shutDown(let reason)):
      add("link", "shutDown")
      add("reason", reason)
    case .offline(.refused(let refusal)):
      add("link", "refused")
      add("status", refusal.status.rawValue)
      add("reason", refusal.text)
    }
    if let offlineSince { add("since", offlineSince) }
    if !hasEvents { members.append(JSONMember("events", .bool(false))) }
    add("limits", limits)
    return JSONValue.object(members).jsonText()
  }

  /// Reads what `text` wrote; nil if it is something else.
  package init?(_ text: String) {
    guard let json = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
    let reason = json["reason"]?.string
    switch json["link"]?.string {
    case "connecting": link = .connecting
    case "authenticating": link = .authenticating
    case "catchingUp": link = .catchingUp
    case "live": link = .live
    case "notAnswering": link = .notAnswering
    case "waiting": link = .waiting(until: Int64(json["until"]?.int ?? 0), reason)
    case "offline": link = .offline(.asked)
    case "shutDown": link = .offline(.shutDown(reason ?? ""))
    case "refused":
      let status = WireStatus(rawValue: json["status"]?.string ?? "")
      link = .offline(.refused(CredentialRefusal(status, reason ?? "")))
    default: return nil
    }
    offlineSince = json["since"]?.int.map { Int64($0) }
    hasEvents = json["events"]?.bool ?? true
    limits = json["limits"]?.string
  }
}
