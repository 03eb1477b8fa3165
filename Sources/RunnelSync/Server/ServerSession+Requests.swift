import RunnelBase
import RunnelTree

// The client's requests. Source: wire protocol, section A4.

extension ServerSession {
  /// Takes the text of a frame, in UTF-8.
  ///
  /// Frames that arrive after the end, or when it was announced, are ignored.
  package mutating func receive(_ frame: [UInt8], now: WireTime) -> [Effect] {
    guard isOpen, ending == nil else { return [] }
    heard(now: now)
    // The clock may have jumped past the expiry: the credential ends before the frame is handled.
    if let expiry, expiry <= now.calendar { endCredential(.expired) }
    byteAllowance.spend(frame.count, now: now.uptime)
    do throws(TreeError) {
      let message = try assembler.take(frame)
      messageStart = assembler.isAwaitingPieces ? messageStart ?? now.uptime : nil
      if let message {
        requestAllowance.spend(1, now: now.uptime)
        try take(message)
      }
    } catch {
      complain(error)
    }
    let ready = max(requestAllowance.readyTime, byteAllowance.readyTime)
    if ready > now.uptime {
      if allowedTime == nil {
        let isRate = requestAllowance.readyTime == ready
        effects.append(.note(isRate ? .requestRate : .byteRate))
      }
      allowedTime = ready
    }
    updateReading()
    return takeEffects()
  }

  /// Reports a message that cannot be answered, and ends the connection.
  private mutating func complain(_ error: TreeError) {
    if error.code == .tooBig { effects.append(.note(.messageBytes)) }
    send(.error(error.description))
    guard isOpen else { return }
    end(
      error.code == .tooBig
        ? .tooBig("A message has more than \(limits.messageBytesMax) bytes (--max-message).")
        : .protocolError("A message cannot be read."))
  }

  private mutating func take(_ message: [UInt8]) throws(TreeError) {
    if JSONDepth.exceeds(limits.jsonDepthMax, in: message) {
      effects.append(.note(.jsonDepth))
      throw TreeError(
        .invalidMessage,
        "A message is nested deeper than \(limits.jsonDepthMax) levels (--max-json-depth).")
    }
    switch try ClientMessage(message) {
    case .ping: send(.pong)
    case .control: break
    case .request(let number, let action, let body):
      do throws(TreeError) {
        let request = try WireRequest(action: action, body: body)
        try checkSize(request, of: message.count)
        take(Waiting(number: number, request: request, bytes: message.count))
      } catch {
        if error.isOfDepth { effects.append(.note(.depth)) }
        refuse(number, error)
      }
    }
  }

  /// Refuses a write that is larger than one over HTTP may be; administrators may set more at once there
  /// too.
  ///
  /// O(1), unless the message is that large.
  private mutating func checkSize(_ request: WireRequest, of count: Int) throws(TreeError) {
    guard count > limits.writeBytesMax, let (values, isSet) = request.writtenValues,
      !(isSet && caller.isAdministrator), values.jsonBytes().count > limits.writeBytesMax
    else { return }
    effects.append(.note(.writeBytes))
    throw TreeError(
      .tooBig,
      RESTError.tooLarge.message
        + " A write has \(limits.writeBytesMax) bytes at most (--max-write)."
    )
  }

  private mutating func take(_ request: Waiting) {
    if waiting.isEmpty, !isHolding, underWay.count < limits.requestsMax {
      carryOut(request.number, request.request)
    } else {
      waiting.append(request)
      waitingBytes += request.bytes
      if waitingBytes > limits.waitingBytesMax {
        effects.append(.note(.waitingBytes))
        return end(.policyViolation("Too much waits for earlier requests."))
      }
    }
  }

  /// True if the connection may be read: reading pauses while too much is under way or unsent, and
  /// resumes when half of it is done.
  func mayRead(underWayMax: Int) -> Bool {
    allowedTime == nil && !isHolding && waiting.isEmpty && underWay.count < underWayMax
  }

  mutating func updateReading() {
    guard isOpen else { return }
    if !isPaused, !mayRead(underWayMax: limits.requestsMax) {
      isPaused = true
      if underWay.count >= limits.requestsMax { effects.append(.note(.requests)) }
      effects.append(.pauseReading)
    } else if isPaused, mayRead(underWayMax: limits.requestsMax / 2 + 1) {
      isPaused = false
      effects.append(.resumeReading)
    }
  }

  /// Carries out the requests that need not wait any more.
  mutating func carryOutWaiting() {
    var done = 0
    while isOpen, !isHolding, underWay.count < limits.requestsMax, done < waiting.count {
      let next = waiting[done]
      done += 1
      waitingBytes -= next.bytes
      carryOut(next.number, next.request)
    }
    // The end of the session has emptied the queue.
    guard isOpen else { return }
    waiting.removeFirst(done)
    updateReading()
  }

  private mutating func carryOut(_ number: Int64, _ request: WireRequest) {
    precondition(!isHolding, "I1: nothing is asked for while the session holds.")
    switch request {
    case .listen(let asked, let tag, let known): listen(number, asked, tag, known)
    case .unlisten(let asked, _):
      end(asked)
      respond(number, .ok, "")
    case .get(let asked): ask(.get(asked.query), number: number)
    case .write(let write, let name): ask(.write(write, name: name), number: number)
    case .writeIf(let write, let hashes, let name):
      ask(.writeIf(write, hashes: hashes, name: name), number: number)
    case .compareAndSet(let path, let json, let hash, let name):
      ask(.compareAndSet(path, json, hash: hash, name: name), number: number)
    case .onDisconnect(let request): keep(number, request)
    case .authenticate(let credential): authenticate(number, credential)
    case .unauthenticate:
      change(to: .nobody)
      respond(number, .ok, "")
    case .appCheck: respond(number, .ok, .object([]))
    case .statistics: respond(number, .ok, "")
    }
  }

  private mutating func listen(
    _ number: Int64, _ asked: AskedQuery, _ tag: Int?, _ known: KnownHash
  ) {
    if numbers[asked] == nil, listens.count >= limits.listensMax {
      effects.append(.note(.listens))
      let text =
        "One connection listens to \(limits.listensMax) queries at most (--listens-per-connection): end some "
        + "first."
      return respond(number, .failed, .string(text))
    }
    end(asked)
    lastListen += 1
    let listen = ListenNumber(lastListen)
    listens[listen] = Listen(asked: asked, tag: tag)
    numbers[asked] = listen
    ask(.listen(listen, asked.query, known: known), number: number)
  }

  /// Ends a listen; a query that is not listened to is ignored.
  private mutating func end(_ asked: AskedQuery) {
    guard let listen = numbers.removeValue(forKey: asked) else { return }
    listens[listen] = nil
    ask(.unlisten(listen), number: nil)
  }

  private mutating func keep(_ number: Int64, _ request: DisconnectRequest) {
    // The new requests are also collected in an empty list, for the check by the rules.
    var (changed, added) = (disconnects, OnDisconnect())
    do throws(TreeError) {
      try changed.register(request)
      try added.register(request)
    } catch {
      return refuse(number, error)
    }
    let all = changed
    let writes = changed.execute()
    guard ServerSession.bytes(of: writes) <= limits.disconnectBytesMax else {
      effects.append(.note(.disconnectBytes))
      let text =
        "The onDisconnect writes may have \(limits.disconnectBytesMax) bytes in all (--max-disconnect)."
      return respond(number, .tooBig, .string(text))
    }
    isHolding = true
    held = all
    ask(.keepForDisconnect(added.execute(), all: writes), number: number)
  }

  private static func bytes(of writes: [Write]) -> Int {
    writes.reduce(0) { sum, write in
      switch write {
      case .set(let path, let json): sum + path.description.utf8.count + json.jsonBytes().count
      case .update(let path, let members):
        sum + path.description.utf8.count + JSONValue.object(members).jsonBytes().count
      case .copy, .move: sum
      }
    }
  }
}

// MARK: Credentials

extension ServerSession {
  private mutating func authenticate(_ number: Int64, _ credential: Credential) {
    isHolding = true
    verifying = (number, credential)
    effects.append(.verify(credential))
  }

  /// Takes the result of verifying a credential.
  ///
  /// A refused credential changes nothing: the connection keeps its caller.
  package mutating func verified(
    _ result: Result<VerifiedCredential, CredentialRefusal>, now: WireTime
  ) -> [Effect] {
    guard isOpen, let (number, credential) = verifying else { return [] }
    (verifying, isHolding) = (nil, false)
    switch result {
    case .success(let verified):
      if let refusal = adopt(verified, credential, now) {
        respond(number, refusal.status, .string(refusal.text))
      } else {
        respond(number, .ok, answer(verified))
      }
    case .failure(let refusal):
      respond(number, refusal.status, .string(refusal.text))
      // The client connects again, and offers the same credential.
      if refusal.status == .unavailable { end(.goingAway(refusal.text)) }
    }
    carryOutWaiting()
    endIfDone()
    return takeEffects()
  }

  /// Changes the caller to that of the credential, or to the one that an administrator chose.
  private mutating func adopt(
    _ verified: VerifiedCredential, _ credential: Credential, _ now: WireTime
  ) -> CredentialRefusal? {
    if let expiry = verified.expiry, expiry <= now.calendar { return .expired }
    var caller = verified.caller
    if credential.isUnauthenticated || credential.authVariable != nil {
      guard caller.isAdministrator else { return .onlyForAdministrators }
      caller = Caller(
        auth: credential.isUnauthenticated ? .null : credential.authVariable ?? .null)
    }
    change(to: caller, by: credential, expiry: verified.expiry)
    return nil
  }

  private func answer(_ verified: VerifiedCredential) -> JSONValue {
    var members = [JSONMember(WireName.auth, caller.auth)]
    if let expiry = verified.expiry {
      members.append(JSONMember(WireName.expires, .number(JSONNumber(expiry / 1000))))
    }
    return .object(members)
  }

  private mutating func change(
    to caller: Caller, by credential: Credential? = nil, expiry: Int64? = nil
  ) {
    (self.credential, self.expiry) = (credential, expiry)
    if caller == self.caller { return }
    self.caller = caller
    if !listens.isEmpty { ask(.review, number: nil) }
  }

  /// Ends the credential, which was revoked before its expiry.
  package mutating func revokeCredential() -> [Effect] {
    guard isOpen, credential != nil else { return [] }
    endCredential(.revoked)
    return takeEffects()
  }

  /// Tells the client that its credential has ended, and ends what it allowed.
  ///
  /// What it asked for on its disconnection is done now, for its user: later, as nobody, it would be
  /// denied, and who is gone would seem to be there.
  mutating func endCredential(_ refusal: CredentialRefusal) {
    let body: JSONValue = [
      WireName.status: .string(refusal.status.rawValue), WireName.data: .string(refusal.text),
    ]
    send(.push(action: PushAction.revokedAuthentication, body: body))
    guard isOpen else { return }
    // What the tree is about to keep was asked for by the same user.
    var asked = held ?? disconnects
    let writes = asked.execute()
    if !writes.isEmpty { ask(.doDisconnects(writes), number: nil) }
    (disconnects, held) = (OnDisconnect(), nil)
    change(to: .nobody)
  }

  /// Checks all listens again because the rules, or the data that they depend on, have changed.
  package mutating func review() -> [Effect] {
    guard isOpen, !listens.isEmpty else { return [] }
    ask(.review, number: nil)
    return takeEffects()
  }
}

/// The result of verifying a credential.
package struct VerifiedCredential: Hashable, Sendable {
  /// The caller that the credential identifies.
  package var caller: Caller
  /// When the credential expires, in milliseconds since 1970; nil for never.
  package var expiry: Int64?

  /// Makes the result of a verification.
  package init(_ caller: Caller, expiry: Int64? = nil) {
    self.caller = caller
    self.expiry = expiry
  }
}

/// The reason why a credential is refused.
public struct CredentialRefusal: Error, Hashable, Sendable {
  /// The status for the client.
  public var status: WireStatus
  /// The message for the client.
  public var text: String

  /// Makes a refusal.
  public init(_ status: WireStatus, _ text: String) {
    self.status = status
    self.text = text
  }

  /// The credential cannot be read, or its signer is unknown.
  public static let invalid = CredentialRefusal(.invalidToken, "Could not parse auth token.")
  /// The credential has expired.
  public static let expired = CredentialRefusal(.expiredToken, "Auth token is expired")
  /// The credential was valid and has been revoked.
  public static let revoked = CredentialRefusal(
    .invalidToken, "Auth token was taken back: sign in again, or use another token")
  /// The credential asks to act for another user, and is not an administrator's.
  public static let onlyForAdministrators = CredentialRefusal(
    .permissionDenied, "Only administrators speak for others.")
}

/// A verifier of credentials; conforming types decide how tokens are checked.
///
/// A verifier that has to ask the network first answers later: `ServerSession` waits for it.
package protocol CredentialVerifier {
  /// Verifies a credential and returns its caller.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// - Throws: `CredentialRefusal`.
  func verify(_ credential: Credential, now: Int64) throws(CredentialRefusal) -> VerifiedCredential
}
