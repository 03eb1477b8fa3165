import RunnelTree
import RunnelBase

// Changes as server-sent events. Source: wire protocol, section D.

extension RESTExchange {
  /// Begins the stream with the JSON of what is there.
  mutating func beginStream(_ text: [UInt8], _ now: WireTime) {
    send(RESTHead(200, RESTHead.events))
    phase = .streaming
    deadlineTime = now.uptime + limits.keepAliveMilliseconds
    let start = Array("event: put\ndata: {\"path\":\"/\",\"data\":".utf8)
    effects.append(.body(start + text + Array("}\n\n".utf8)))
  }

  /// Sends a change of the streamed place as an event.
  package mutating func tell(_ change: AudienceChange, now: WireTime) -> [Effect] {
    guard phase == .streaming else { return [] }
    deadlineTime = now.uptime + limits.keepAliveMilliseconds
    switch change {
    case .put(let path, let target):
      sendEvent("put", path: relative(path, target), json(of: target))
    case .patch(let base, let parts):
      let members = parts.map { JSONMember($0.wireName, json(of: $0.target)) }
      sendEvent("patch", path: relative(base, .node(.empty)), .object(members))
    }
    return takeEffects()
  }

  /// Ends the stream because the rules do not allow it any more.
  package mutating func revoked() -> [Effect] {
    guard phase == .streaming else { return [] }
    sendEvent("cancel", data: "null")
    finish()
    return takeEffects()
  }

  /// Ends the stream because the credential was revoked before its expiry.
  package mutating func credentialRevoked() -> [Effect] {
    guard phase == .streaming else { return [] }
    // One client compares this text, which has no quotes; others look at the name of the event
    // alone.
    sendEvent("auth_revoked", data: "credential is no longer valid")
    effects.append(.cancel)
    finish()
    return takeEffects()
  }

  /// The time of the next call of `advance`, on the monotonic clock, or nil if none is needed.
  package func deadline(now: WireTime) -> Int64? {
    let end = phase == .streaming ? expiry.map { now.uptime + max(0, $0 - now.calendar) } : nil
    return [deadlineTime, end].compactMap { $0 }.min()
  }

  /// Carries out what is due at this time.
  package mutating func advance(now: WireTime) -> [Effect] {
    if phase == .streaming, let expiry, expiry <= now.calendar { return credentialRevoked() }
    guard let deadlineTime, deadlineTime <= now.uptime else { return [] }
    switch phase {
    case .streaming:
      self.deadlineTime = now.uptime + limits.keepAliveMilliseconds
      sendEvent("keep-alive", data: "null")
    case .underWay where call?.method == .get:
      effects += [.note(.readTime), .cancel]
      refuse(
        RESTError(
          400,
          "The read took longer than allowed (--read-time): ask for less, or for more time.",
          limit: .readTime))
    case .new, .verifying, .receiving, .underWay, .sending, .ended: self.deadlineTime = nil
    }
    return takeEffects()
  }

  private mutating func sendEvent(_ name: String, path: String, _ json: JSONValue) {
    let data: JSONValue = ["path": .string(path), "data": json]
    sendEvent(name, data: data.jsonText())
  }

  private mutating func sendEvent(_ name: String, data: String) {
    effects.append(.body(Array("event: \(name)\ndata: \(data)\n\n".utf8)))
  }

  /// The path of a change relative to the streamed place.
  private func relative(_ path: Path, _ target: Assignment.Target) -> String {
    let keys = path.relative(to: streamed)?.keys ?? []
    return "/" + Assignment(path: Path(unchecked: keys), target: target).wireName
  }

  private func json(of target: Assignment.Target) -> JSONValue {
    switch target {
    case .node(let node): json(of: node)
    case .priority(let priority): priority?.json ?? .null
    }
  }

  func json(of node: Node) -> JSONValue {
    call?.form == .export ? node.exportJSON : node.json(coercingArrays: true)
  }
}
