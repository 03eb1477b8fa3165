package import RunnelTree
import RunnelBase

// The replica's requests, and the origin's answers to them. Source: wire protocol, sections A4, A5,
// A9.

extension ClientSession {
  /// Sends the replica's commands on a connection.
  ///
  /// Commands meant for an earlier connection are dropped, because the replica gives them again.
  package mutating func send(
    _ commands: [OriginCommand], on connection: Int64, now: WireTime
  ) -> [Effect] {
    for command in commands where connection == self.connection && phase == .live {
      take(command, now)
    }
    return takeEffects()
  }

  /// Takes the news that the replica has given all commands with which it begins this connection.
  ///
  /// From now on the link is live as soon as no listen is open.
  package mutating func asked(on connection: Int64) -> [Effect] {
    guard connection == self.connection, phase == .live else { return [] }
    hasAsked = true
    noteCaughtUp()
    return takeEffects()
  }

  /// Sends a command, or lets it wait until earlier writes are answered.
  mutating func take(_ command: OriginCommand, _ now: WireTime) {
    if case .listen = command { openListens += 1 }
    guard waiting.isEmpty, mayWrite else { return waiting.append(command) }
    sendNow(command, now)
  }

  /// True if another write may be sent before those that were sent are answered.
  private var mayWrite: Bool {
    !awaitsEarlierWrites && unansweredWrites < limits.unansweredWritesMax
      && unansweredBytesSum < limits.unansweredBytesMax
  }

  private mutating func sendWaiting(_ now: WireTime) {
    while let next = waiting.first, mayWrite, phase == .live {
      waiting.removeFirst()
      sendNow(next, now)
    }
    // Frees what the slice still holds of the removed ones.
    if waiting.isEmpty { waiting = [] }
  }

  private mutating func sendNow(_ command: OriginCommand, _ now: WireTime) {
    switch command {
    case .listen(let ask, let query, let tag, let known):
      perform(.listen(ask, query), now) { () throws(TreeError) in
        .listen(try AskedQuery(query), tag: tag, known: known)
      }
    case .unlisten(let ask, let query, let tag):
      perform(.unlisten(ask), now) { () throws(TreeError) in
        .unlisten(try AskedQuery(query), tag: tag)
      }
    case .write(let id, let write): sendWrite(id, write, if: [], now)
    case .writeIf(let id, let write, let hashes): sendWrite(id, write, if: hashes, now)
    case .compareAndSet(let id, let path, let json, let hash):
      request(
        .compareAndSet(path, json, hash: hash, name: name(of: id)), .compareAndSet(id, path), now)
    case .get(let id, let query):
      perform(.get(id, query.path), now) { () throws(TreeError) in .get(try AskedQuery(query)) }
    case .onDisconnect(let id, let request):
      self.request(.onDisconnect(request), .onDisconnect(id), now)
    }
  }

  private mutating func sendWrite(
    _ id: Int64, _ write: Write, if hashes: [PlaceHash], _ now: WireTime
  ) {
    if !takesWriteNames, !configuration.resendsIncrements, write.holdsIncrement {
      // A write that was sent and not answered may have been done.
      if sentIncrements.contains(id) || id <= configuration.lastEarlierWrite {
        if unknownWrites.updateValue(write, forKey: id) == nil {
          effects.append(.writeOutcomeUnknown(id))
        }
        return
      }
      sentIncrements.insert(id)
    }
    request(wireRequest(id, write, if: hashes), .write(id), now)
  }

  /// The request for a write; of other servers, only one that sets a place compares.
  private func wireRequest(_ id: Int64, _ write: Write, if hashes: [PlaceHash]) -> WireRequest {
    let name = name(of: id)
    if hashes.count == 1, let (path, json) = write.onlyValue, hashes[0].path == path,
      path.isRoot || !takesWriteHashes
    {
      return .compareAndSet(path, json, hash: hashes[0].hash, name: name)
    }
    if hashes.isEmpty || !takesWriteHashes { return .write(write, name: name) }
    return .writeIf(write, hashes: hashes, name: name)
  }

  /// The name under which the origin does a write once; nil if it takes no names.
  private func name(of id: Int64) -> WriteID? {
    takesWriteNames ? configuration.writers.name(of: id) : nil
  }

  /// Sends a request; one that the wire format cannot express is refused here.
  private mutating func perform(
    _ outstanding: Outstanding, _ now: WireTime,
    _ make: () throws(TreeError) -> WireRequest
  ) {
    do throws(TreeError) {
      request(try make(), outstanding, now)
    } catch {
      tellRefusal(of: outstanding, error)
    }
  }

  mutating func request(_ request: WireRequest, _ kind: Outstanding, _ now: WireTime) {
    let body: JSONValue
    do throws(TreeError) {
      body = try request.body()
    } catch {
      return tellRefusal(of: kind, error)
    }
    lastNumber += 1
    outstanding[lastNumber] = kind
    let message = ClientMessage.request(lastNumber, action: request.action, body: body)
    let bytes = message.bytes
    switch kind {
    case .write, .compareAndSet:
      unansweredWrites += 1
      unansweredBytes[lastNumber] = bytes.count
      unansweredBytesSum += bytes.count
    case .listen, .unlisten, .get, .onDisconnect, .credential, .nothing: break
    }
    if owingTime == nil { owingTime = now.uptime }
    send(bytes, now)
  }

  mutating func send(_ message: [UInt8], _ now: WireTime) {
    lastSent = now.uptime
    for frame in FrameSplitter.frames(of: message) { effects.append(.send(frame)) }
  }
}

// MARK: Answers

extension ClientSession {
  mutating func take(
    _ number: Int64, _ status: WireStatus, _ data: JSONValue, _ now: WireTime
  ) throws(TreeError) {
    // An answer to an unknown request is ignored.
    guard let kind = outstanding.removeValue(forKey: number) else { return }
    var text = ""
    if case .string(let given) = data { text = given }
    switch kind {
    case .nothing: break
    case .credential: takeCredentialAnswer(status, text, now)
    case .write, .compareAndSet:
      unansweredWrites -= 1
      if unansweredWrites == 0 { awaitsEarlierWrites = false }
      unansweredBytesSum -= unansweredBytes.removeValue(forKey: number) ?? 0
      if status == .unavailable {
        // The origin decided nothing: the write stays pending, and the replica gives it again.
        return fail(text.isEmpty ? "The origin cannot write now." : text, now)
      }
      tell(kind, status, text)
      sendWaiting(now)
    case .get(let id, let path) where status == .ok:
      tell(.answer(id: id, try Node(json: data, at: path)))
    case .listen(_, let query) where status == .ok:
      if warnsOfIndex(data) { effects.append(.indexMissing(query)) }
      tell(kind, status, text)
    case .listen, .unlisten, .get, .onDisconnect: tell(kind, status, text)
    }
  }

  /// Takes an answer or a push that is one node.
  mutating func take(_ message: NodeMessage) {
    switch message {
    case .answer(let number, let node):
      if case .get(let id, _)? = outstanding.removeValue(forKey: number) {
        tell(.answer(id: id, node))
      }
    case .push(let node, let path, let tag):
      if phase == .live { tell(.push(.set(node), path, tag: tag)) }
    }
  }

  private func warnsOfIndex(_ data: JSONValue) -> Bool {
    guard case .array(let warnings)? = data[WireName.warnings] else { return false }
    return warnings.contains(.string(WireName.noIndex))
  }

  private mutating func tell(_ kind: Outstanding, _ status: WireStatus, _ text: String) {
    if case .unlisten(let ask) = kind { return tell(.unlistened(ask)) }
    switch kind {
    case .listen(let ask, _) where status == .ok:
      tell(.listenComplete(ask))
      endListen()
    case .write(let id) where status == .ok:
      sentIncrements.remove(id)
      tell(.acknowledged(id: id))
    case .write(let id) where status == .stale:
      sentIncrements.remove(id)
      tell(.stale(id: id))
    case .compareAndSet(let id, _) where status == .ok, .onDisconnect(let id) where status == .ok:
      tell(.acknowledged(id: id))
    case .compareAndSet(let id, _) where status == .stale: tell(.stale(id: id))
    default: tellRefusal(of: kind, status.error(text))
    }
  }

  private mutating func tellRefusal(of kind: Outstanding, _ error: TreeError) {
    switch kind {
    case .listen(let ask, let query):
      let path = error.path ?? query.path.description
      tell(.listenRefused(ask, TreeError(error.code, error.message, path: path)))
      endListen()
    case .unlisten(let ask): tell(.unlistened(ask))
    case .write(let id):
      sentIncrements.remove(id)
      tell(.rejected(id: id, error))
    case .compareAndSet(let id, _), .get(let id, _), .onDisconnect(let id):
      tell(.rejected(id: id, error))
    case .credential, .nothing: break
    }
  }

  private mutating func endListen() {
    let wasLong = receivedBytes > 0
    openListens -= 1
    if wasLong, openListens == 0 { effects.append(.received) }
    noteCaughtUp()
  }

  private mutating func tell(_ message: OriginMessage) {
    effects.append(.tell(.message(message)))
  }
}

// MARK: Pushes

extension ClientSession {
  mutating func takePush(
    _ action: String, _ body: JSONValue, _ now: WireTime
  ) throws(TreeError) {
    let decoder = PushDecoder()
    switch action {
    case PushAction.revokedAuthentication:
      let push = try WireBody(body, "The push \"\(action)\"")
      let status = WireStatus(rawValue: try push.string(WireName.status))
      refuseCredential(
        CredentialRefusal(status, try push.optionalString(WireName.data) ?? ""), now)
    case PushAction.debug:
      effects.append(.log(try WireBody(body, "The push \"\(action)\"").string(WireName.message)))
    case _ where decoder.reads(action):
      guard phase == .live else { return }
      for message in try decoder.messages(action: action, body: body) { tell(message) }
    default: effects.append(.log("The origin pushed \"\(action.prefix(20))\", which is not known."))
    }
  }
}

extension Write {
  /// The value and its place, if the write puts one; nil for several, and for a priority.
  fileprivate var onlyValue: (path: Path, json: JSONValue)? {
    switch self {
    case .set(let path, let json): return (path, json)
    case .update(let path, let members):
      // The name of a priority is no path.
      guard members.count == 1, let below = try? Path(members[0].name),
        let place = try? path.appending(below)
      else { return nil }
      return (place, members[0].value)
    case .copy, .move: return nil
    }
  }
}

extension AskedQuery {
  /// Makes the query in the form in which it is sent.
  ///
  /// - Throws: `TreeError` (`invalidQuery`) for a query that the wire format cannot express.
  init(_ query: Query) throws(TreeError) {
    self.init(query.loadsAllData ? nil : try query.wireJSON(), showing: query)
  }
}
