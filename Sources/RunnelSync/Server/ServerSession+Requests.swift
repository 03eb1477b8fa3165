import RunnelBase
import RunnelTree

// What a client asks for. Source: wire protocol, section A4.

extension ServerSession {
  /// Takes the text of a frame, in UTF-8.
  ///
  /// Frames that arrive after the end are ignored.
  public mutating func receive(_ frame: [UInt8], now: WireTime) -> [Effect] {
    guard isOpen else { return [] }
    heard(now: now)
    // The clock may have jumped since the deadline was set: nothing is asked for in a time that is over.
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

  /// Something arrived that cannot be answered.
  private mutating func complain(_ error: TreeError) {
    if error.code == .tooBig { effects.append(.note(.messageBytes)) }
    send(.error(error.description))
    guard isOpen else { return }
    end(
      error.code == .tooBig
        ? .tooBig("A message is too long.") : .protocolError("A message cannot be read."))
  }

  private mutating func take(_ message: [UInt8]) throws(TreeError) {
    if JSONDepth.exceeds(limits.jsonDepthMax, in: message) {
      effects.append(.note(.jsonDepth))
      throw TreeError(
        .invalidMessage, "A message is nested deeper than \(limits.jsonDepthMax) levels.")
    }
    switch try ClientMessage(message) {
    case .ping: send(.pong)
    case .control: break
    case .request(let number, let action, let body):
      do throws(TreeError) {
        let request = try WireRequest(action: action, body: body)
        take(Waiting(number: number, request: request, bytes: message.count))
      } catch {
        refuse(number, error)
      }
    }
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

  /// Pauses reading while too much is under way or was sent, and goes on when half of it is done.
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

  /// Carries out what waited and need not wait any more.
  mutating func carryOutWaiting() {
    var done = 0
    while isOpen, !isHolding, underWay.count < limits.requestsMax, done < waiting.count {
      let next = waiting[done]
      done += 1
      waitingBytes -= next.bytes
      carryOut(next.number, next.request)
    }
    // The end emptied what waited.
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
      let text = "One connection listens to \(limits.listensMax) queries at most: end some first."
      return respond(number, .failed, .string(text))
    }
    end(asked)
    lastListen += 1
    let listen = ListenNumber(lastListen)
    listens[listen] = Listen(asked: asked, tag: tag)
    numbers[asked] = listen
    ask(.listen(listen, asked.query, known: known), number: number)
  }

  /// Listens to a query no more; one that is not listened to is ignored.
  private mutating func end(_ asked: AskedQuery) {
    guard let listen = numbers.removeValue(forKey: asked) else { return }
    listens[listen] = nil
    ask(.unlisten(listen), number: nil)
  }

  private mutating func keep(_ number: Int64, _ request: DisconnectRequest) {
    // What is registered into an empty list is what the rules are asked about.
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
      let text = "What is to be done at the end may have \(limits.disconnectBytesMax) bytes in all."
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

  /// The credential that was to be verified speaks for somebody, or for nobody.
  ///
  /// What is refused changes nothing: the connection speaks for whom it spoke before.
  public mutating func verified(
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
    case .failure(let refusal): respond(number, refusal.status, .string(refusal.text))
    }
    carryOutWaiting()
    return takeEffects()
  }

  /// Speaks for whom a credential names, or for whom an administrator wants to.
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

  /// The credential is valid no more, for another reason than its time.
  public mutating func revokeCredential() -> [Effect] {
    guard isOpen, credential != nil else { return [] }
    endCredential(.revoked)
    return takeEffects()
  }

  /// The credential is valid no more: the client is told, and what it allowed ends.
  mutating func endCredential(_ refusal: CredentialRefusal) {
    let body: JSONValue = [
      WireName.status: .string(refusal.status.rawValue), WireName.data: .string(refusal.text),
    ]
    send(.push(action: PushAction.revokedAuthentication, body: body))
    if isOpen { change(to: .nobody) }
  }

  /// The rules, or what they are asked about, have changed: what is listened to is checked again.
  public mutating func review() -> [Effect] {
    guard isOpen, !listens.isEmpty else { return [] }
    ask(.review, number: nil)
    return takeEffects()
  }
}

/// For whom a credential speaks.
public struct VerifiedCredential: Hashable, Sendable {
  /// For whom.
  public var caller: Caller
  /// When that ends, in milliseconds since 1970; nil for never.
  public var expiry: Int64?

  /// Makes the result of a verification.
  public init(_ caller: Caller, expiry: Int64? = nil) {
    self.caller = caller
    self.expiry = expiry
  }
}

/// Why a credential speaks for nobody.
public struct CredentialRefusal: Error, Hashable, Sendable {
  /// The word for it.
  public var status: WireStatus
  /// What is said of it.
  public var text: String

  /// Makes a refusal.
  public init(_ status: WireStatus, _ text: String) {
    self.status = status
    self.text = text
  }

  /// It cannot be read, or is signed by nobody who is known.
  public static let invalid = CredentialRefusal(.invalidToken, "Could not parse auth token.")
  /// Its time is over.
  public static let expired = CredentialRefusal(.expiredToken, "Auth token is expired")
  /// It was valid, and was taken back.
  public static let revoked = CredentialRefusal(.invalidToken, "Auth token was taken back")
  /// It wants to speak for another one, and is none of an administrator.
  public static let onlyForAdministrators = CredentialRefusal(
    .permissionDenied, "Only administrators speak for others.")
}

/// Tells for whom a credential speaks; how tokens are checked is the business of who conforms.
///
/// A verifier that has to ask the network first answers later: `ServerSession` waits for it.
public protocol CredentialVerifier {
  /// For whom a credential speaks.
  ///
  /// `now` is in milliseconds since 1970.
  ///
  /// - Throws: `CredentialRefusal`.
  func verify(_ credential: Credential, now: Int64) throws(CredentialRefusal) -> VerifiedCredential
}
