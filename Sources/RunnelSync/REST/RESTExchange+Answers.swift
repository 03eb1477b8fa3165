import RunnelTree
import RunnelBase

// The answers to requests, made of the results of operations. Source: wire protocol, sections C3 to
// C8.

extension RESTExchange {
  /// Takes the tree's answer.
  package mutating func answer(_ answer: RESTAnswer, now: WireTime) -> [Effect] {
    guard phase == .underWay, let call else { return [] }
    switch answer {
    case .refused(let error): refuse(refusal(error, call))
    case .stale(let node): respondStale(node, call)
    case .staleUpdate(let hashes): respondStale(hashes)
    case .content(let hash, let byteCount): beginContent(hash, byteCount, call)
    case .priority(let priority): respond(priority?.json ?? .null, call)
    case .written(let parts, let hash): respond(echo(of: parts), call, hash: hash)
    case .pushed(let key, let hash): respond(["name": .string(key.text)], call, hash: hash)
    case .streaming(let node): beginStream(json(of: node).jsonBytes(), now)
    case .streamingText(let text): beginStream(text, now)
    case .rules(let text): respondRules(text, call)
    case .rulesTaken: respond(["status": "ok"], call)
    case .rulesRefused(let text): refuse(RESTError(400, text))
    }
    return takeEffects()
  }

  private func refusal(_ error: TreeError, _ call: RESTCall) -> RESTError {
    error.code == .tooBig && call.method != .get ? .tooLarge : RESTError(error)
  }

  /// Takes the next piece of the export; nil at its end.
  package mutating func piece(_ bytes: [UInt8]?) -> [Effect] {
    guard phase == .sending else { return [] }
    if let bytes {
      sentBytes += bytes.count
      if sentBytes > limits.readBytesMax, !caller.isAdministrator {
        // The head has been sent, so the status cannot report this.
        effects.append(.note(.readBytes))
        return failed()
      }
      effects.append(.body(bytes))
    } else {
      if call?.style.callback != nil { effects.append(.body(Array(");".utf8))) }
      finish()
    }
    return takeEffects()
  }

  /// Takes the news that the export cannot go on; the answer sent so far is incomplete.
  package mutating func failed() -> [Effect] {
    guard phase == .sending || phase == .streaming else { return [] }
    phase = .ended
    effects.append(.abort)
    return takeEffects()
  }

  /// Takes the news that the client has disconnected.
  package mutating func closed() -> [Effect] {
    guard phase != .ended else { return [] }
    phase = .ended
    return [.cancel]
  }

  // MARK: Reading

  private mutating func beginContent(_ hash: String?, _ byteCount: Int?, _ call: RESTCall) {
    let tag = hash.map(RESTCall.tag)
    if let hash, let known = call.knownHash, hash == known {
      effects.append(.cancel)
      return respond(RESTHead(304, RESTHead.tag(tag)))
    }
    guard !call.style.isSilent, let export else {
      effects.append(.cancel)
      return respond(RESTHead(204, RESTHead.tag(tag)))
    }
    let head = RESTHead(200, RESTHead.content(call.style) + RESTHead.tag(tag))
    if let byteCount, call.style.callback == nil {
      send(head.with(length: byteCount))
    } else {
      send(head)
    }
    phase = .sending
    deadlineTime = nil
    if let callback = call.style.callback { effects.append(.body(Array("\(callback)(".utf8))) }
    effects.append(.readNext(export))
  }

  private mutating func respondRules(_ text: [UInt8], _ call: RESTCall) {
    guard call.target["format"] == "strict" else { return respond(text, call) }
    respond(RulesText.withoutComments(text), call)
  }

  // MARK: Writing

  /// The body of the answer to a write: the written value, with server values resolved.
  private func echo(of parts: [Assignment]) -> JSONValue {
    guard echo.holdsServerValue else { return echo }
    switch (call?.method, echo) {
    case (.patch?, .object(let members)):
      return .object(members.map { JSONMember($0.name, resolved($0, parts)) })
    default:
      switch parts.first?.target {
      case .node(let node)?: return node.exportJSON
      case .priority(let priority)?: return priority?.json ?? .null
      case nil: return echo
      }
    }
  }

  private func resolved(_ member: JSONMember, _ parts: [Assignment]) -> JSONValue {
    guard member.value.holdsServerValue, case .place(let path)? = call?.target.resource,
      let place = try? WirePlace(member.name), let whole = try? path.appending(place.path)
    else { return member.value }
    for part in parts where part.path == whole {
      switch part.target {
      case .node(let node) where !place.isPriority: return node.exportJSON
      case .priority(let priority) where place.isPriority: return priority?.json ?? .null
      default: break
      }
    }
    return member.value
  }

  private mutating func respondStale(_ node: Node, _ call: RESTCall) {
    let tag = RESTHead.tag(RESTCall.tag(of: node.contentHash))
    let json = node.json(coercingArrays: true)
    respond(json.jsonBytes(pretty: call.style.isPretty), RESTHead(412, RESTHead.json + tag))
  }

  /// The hashes tell the writer which of its places were changed.
  private mutating func respondStale(_ hashes: [String]) {
    let tag = RESTHead.tag(RESTCall.tag(of: UpdateHashes.tag(of: hashes)))
    let json = JSONValue.array(hashes.map { .string($0) })
    respond(json.jsonBytes(), RESTHead(412, RESTHead.json + tag))
  }

  // MARK: The answer

  mutating func respond(_ json: JSONValue, _ call: RESTCall, hash: String? = nil) {
    let tag = RESTHead.tag(hash.map(RESTCall.tag))
    if call.style.isSilent { return respond(RESTHead(204, tag)) }
    var bytes = json.jsonBytes(pretty: call.style.isPretty)
    if let callback = call.style.callback {
      bytes = Array("\(callback)(".utf8) + bytes + Array(");".utf8)
    }
    respond(bytes, RESTHead(200, RESTHead.content(call.style) + tag))
  }

  private mutating func respond(_ text: [UInt8], _ call: RESTCall) {
    respond(text, RESTHead(200, RESTHead.content(call.style)))
  }

  private mutating func respond(_ body: [UInt8], _ head: RESTHead) {
    send(head.with(length: body.count))
    effects.append(.body(body))
    finish()
  }

  /// Sends an answer without a body.
  mutating func respond(_ head: RESTHead) {
    send(head)
    finish()
  }

  mutating func refuse(_ error: RESTError) {
    if error.isTooDeep { effects.append(.note(.depth)) }
    let json: JSONValue = ["error": .string(error.message)]
    respond(json.jsonBytes(), RESTHead(error.status, RESTHead.json + RESTHead.limit(error.limit)))
  }

  mutating func send(_ head: RESTHead) {
    precondition(!hasHead, "I1: the head is sent once.")
    hasHead = true
    effects.append(.head(head))
  }

  mutating func finish() {
    phase = .ended
    deadlineTime = nil
    effects.append(.end)
  }
}

extension JSONValue {
  /// True if the value contains a `{".sv": …}`.
  fileprivate var holdsServerValue: Bool {
    switch self {
    case .null, .bool, .number, .string: false
    case .array(let elements): elements.contains(where: \.holdsServerValue)
    case .object(let members):
      members.contains { $0.name == ".sv" || $0.value.holdsServerValue }
    }
  }
}

/// The text of rules: JSON with comments.
enum RulesText {
  /// The text without comments, which is JSON.
  static func withoutComments(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    var isInString = false
    while index < text.count {
      let byte = text[index]
      let next = index + 1 < text.count ? text[index + 1] : 0
      if isInString {
        result.append(byte)
        if byte == UInt8(ascii: "\\"), index + 1 < text.count {
          result.append(next)
          index += 1
        }
        if byte == UInt8(ascii: "\"") { isInString = false }
        index += 1
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "/") {
        while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
        let start = index + 2
        index = start
        while index < text.count, !text[start..<index].suffix(2).elementsEqual("*/".utf8) {
          index += 1
        }
      } else {
        isInString = byte == UInt8(ascii: "\"")
        result.append(byte)
        index += 1
      }
    }
    return result
  }
}
