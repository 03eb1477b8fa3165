import RunnelBase
import RunnelTree

// The tree's answers and pushes. Source: wire protocol, sections A4 and A5.

extension ServerSession {
  /// Takes the tree's answer to an operation; answers after the end are ignored.
  package mutating func answer(_ id: Int64, _ answer: ServedAnswer) -> [Effect] {
    guard isOpen, let done = underWay.removeValue(forKey: id) else { return [] }
    finish(done, answer)
    if isOpen { carryOutWaiting() }
    endIfDone()
    return takeEffects()
  }

  private mutating func finish(_ done: UnderWay, _ answer: ServedAnswer) {
    switch done.operation {
    case .listen(let listen, _, _): finish(listen, done.number, answer)
    case .keepForDisconnect:
      isHolding = false
      if let held, answer == .done { disconnects = held }
      held = nil
      finish(done.number, answer)
    case .compareAndSet(let path, _, _, _):
      if case .stale(let node) = answer {
        send(EncodedPush(.put(path, .node(node))).message(tag: nil))
      }
      finish(done.number, answer)
    case .writeIf:
      if case .changed(let current) = answer {
        for place in current {
          send(EncodedPush(.put(place.path, .node(place.node))).message(tag: nil))
        }
      }
      finish(done.number, answer)
    case .get, .write, .review, .unlisten, .doDisconnects, .leave: finish(done.number, answer)
    }
  }

  private mutating func finish(_ number: Int64?, _ answer: ServedAnswer) {
    if case .reviewed(let revoked) = answer {
      for listen in revoked.sorted() { revoke(listen) }
    }
    guard let number, isOpen else { return }
    switch answer {
    case .done, .listening, .reviewed: respond(number, .ok, "")
    case .refused(let error): refuse(number, error)
    case .stale: respond(number, .stale, "Transaction hash does not match")
    case .changed: respond(number, .stale, "A hash does not match")
    case .value(let node):
      var writer = JSONWriter()
      node.writeExport(to: &writer)
      send(ServerMessage.bytes(answering: number, text: writer.takeBytes()))
    case .text(let text): send(ServerMessage.bytes(answering: number, text: text))
    }
  }

  private mutating func finish(
    _ listen: ListenNumber, _ number: Int64?, _ answer: ServedAnswer
  ) {
    guard case .listening(let told, let isIndexed) = answer else {
      if let asked = listens.removeValue(forKey: listen)?.asked { numbers[asked] = nil }
      return finish(number, answer)
    }
    // A listen that has ended meanwhile gets no data.
    if let asked = listens[listen] {
      listens[listen]?.isAnswered = true
      if let push = EncodedPush(told, of: asked.asked.query) {
        send(frames: push.frames(tag: asked.tag))
      }
    }
    guard let number else { return }
    let warnings: JSONValue =
      isIndexed ? .object([]) : [WireName.warnings: [.string(WireName.noIndex)]]
    respond(number, .ok, warnings)
  }

  /// Sends a change of a query that the connection listens to.
  ///
  /// A listen that has ended meanwhile gets nothing.
  package mutating func tell(_ listen: ListenNumber, _ push: EncodedPush) -> [Effect] {
    guard isOpen, let asked = listens[listen], asked.isAnswered else { return [] }
    send(frames: push.frames(tag: asked.tag))
    return takeEffects()
  }

  /// Sends several changes of a query that the connection listens to, as `tell` does one by one.
  package mutating func tell(_ listen: ListenNumber, _ run: PushRun) -> [Effect] {
    guard isOpen, let asked = listens[listen], asked.isAnswered else { return [] }
    if asked.tag == nil, unsent.countedBytes + run.byteCount <= limits.unsentBytesMax {
      unsent.add(run.byteCount)
      effects.append(.sendRun(run))
    } else {
      for push in run.pushes where isOpen { send(frames: push.frames(tag: asked.tag)) }
    }
    return takeEffects()
  }

  /// Ends a listen because the rules do not allow it any more.
  private mutating func revoke(_ listen: ListenNumber) {
    guard isOpen, let asked = listens.removeValue(forKey: listen)?.asked else { return }
    numbers[asked] = nil
    var body = [JSONMember(WireName.path, .string(asked.query.path.description))]
    if let object = asked.object { body.append(JSONMember(WireName.query, .array([object]))) }
    send(.push(action: PushAction.revokedListen, body: .object(body)))
  }
}
