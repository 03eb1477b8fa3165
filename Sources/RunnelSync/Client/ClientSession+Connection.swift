import RunnelBase
import RunnelTree

// Connections, the handshake and authentication. Source: wire protocol, sections A1, A3, A4.5 and
// A7.

extension ClientSession {
  /// Starts an attempt to connect now.
  mutating func connect(_ now: WireTime) {
    connection += 1
    attemptTime = now.uptime
    patienceEnd = now.uptime + limits.handshakeMilliseconds
    assembler = FrameAssembler(bytesMax: limits.messageBytesMax)
    enter(.connecting)
    effects.append(.connect(target, connection: connection))
  }

  private var target: ClientTarget {
    var parameters = ["v=\(WireName.protocolVersion)"]
    if let sessionName { parameters.append("ls=\(sessionName)") }
    if let appID = configuration.appID { parameters.append("p=\(appID)") }
    if let namespace = configuration.namespace { parameters.append("ns=\(namespace)") }
    return ClientTarget(
      host: namedHost ?? configuration.host, isSecure: configuration.isSecure,
      request: "/.ws?" + parameters.joined(separator: "&"))
  }

  /// Takes the news that the connection with this number is open; the handshake is awaited.
  package mutating func opened(_ connection: Int64, now: WireTime) -> [Effect] {
    guard connection == self.connection, phase == .connecting else { return [] }
    lastSent = now.uptime
    noteSign(now)
    enter(.awaitingHandshake)
    return takeEffects()
  }

  /// Takes the news that the connection with this number ended or could not be made; `reason` is
  /// for people.
  package mutating func closed(_ connection: Int64, _ reason: String, now: WireTime) -> [Effect] {
    guard connection == self.connection else { return [] }
    switch phase {
    case .offline, .waiting: return []
    case .connecting, .awaitingHandshake:
      // The host that the origin named may be gone, so the next attempt goes to the first one.
      namedHost = nil
    case .awaitingCredential, .authenticating, .live: break
    }
    loseConnection(now)
    wait(reason, now)
    return takeEffects()
  }

  /// Takes the news that a ping or another frame without text arrived.
  @discardableResult
  package mutating func heard(_ connection: Int64, now: WireTime) -> [Effect] {
    if connection == self.connection { noteSign(now) }
    return takeEffects()
  }

  /// Forgets the requests that will not be answered any more, and tells the replica.
  mutating func loseConnection(_ now: WireTime) {
    let wasLive = phase == .live
    if let liveTime, now.uptime - liveTime > limits.goodMilliseconds { backoff.reset() }
    liveTime = nil
    outstanding = [:]
    (owingTime, isSilent, pingTime) = (nil, false, nil)
    waiting = []
    (unansweredWrites, openListens, listenBytes) = (0, 0, 0)
    awaitsEarlierWrites = false
    (unansweredBytes, unansweredBytesSum) = ([:], 0)
    if wasLive { effects.append(.tell(.disconnected)) }
  }

  /// Closes the connection from this side.
  mutating func hangUp(_ reason: CloseReason, _ now: WireTime) {
    switch phase {
    case .offline, .waiting: return
    default: effects.append(.close(reason))
    }
    loseConnection(now)
  }

  /// Closes a connection that went wrong; the next attempt is made after a wait.
  mutating func fail(_ reason: String, _ now: WireTime) {
    hangUp(.goingAway(reason), now)
    wait(reason, now)
  }

  private mutating func wait(_ reason: String?, _ now: WireTime) {
    let wait = backoff.next(sinceLast: now.uptime - attemptTime)
    enter(.waiting(until: now.uptime + wait, reason))
  }
}

// MARK: Control messages

extension ClientSession {
  /// Takes the text of a frame of a connection, in UTF-8.
  package mutating func receive(
    _ frame: [UInt8], of connection: Int64, now: WireTime
  ) -> [Effect] {
    guard connection == self.connection, hasConnection else { return [] }
    noteSign(now)
    noteReceived(frame.count)
    do throws(TreeError) {
      if let message = try assembler.take(frame) {
        let node = NodeMessage.read(message) { number in
          if case .get(_, let path)? = outstanding[number] { path } else { nil }
        }
        if let node { take(node) } else { try take(try ServerMessage(message), now) }
      }
    } catch {
      effects.append(.log(error.description))
      fail(error.description, now)
    }
    if outstanding.isEmpty { owingTime = nil }
    return takeEffects()
  }

  /// Counts bytes that may be those of a long answer, and reports each step.
  private mutating func noteReceived(_ byteCount: Int) {
    guard openListens > 0 else { return listenBytes = 0 }
    let before = receivedBytes
    listenBytes += byteCount
    if receivedBytes != before { effects.append(.received) }
  }

  private var hasConnection: Bool {
    switch phase {
    case .offline, .waiting, .connecting: false
    case .awaitingHandshake, .awaitingCredential, .authenticating, .live: true
    }
  }

  private mutating func take(_ message: ServerMessage, _ now: WireTime) throws(TreeError) {
    switch message {
    case .handshake(let handshake): take(handshake, now)
    case .redirect(let host): follow(host, now)
    case .shutdown(let reason):
      effects.append(.log("The origin ended the connection for good: \(reason)"))
      hangUp(.normal("The origin shut down."), now)
      enter(.offline(.shutDown(reason)))
    case .error(let text): effects.append(.log("The origin complains: \(text)"))
    case .pong:
      if let time = pingTime.take() { effects.append(.latency(now.uptime - time)) }
    case .control: break
    case .response(let number, let status, let data): try take(number, status, data, now)
    case .push(let action, let body): try takePush(action, body, now)
    }
  }

  private mutating func follow(_ host: String, _ now: WireTime) {
    redirectCount += 1
    namedHost = host
    hangUp(.normal("The origin named another host."), now)
    if redirectCount > limits.redirectsMax {
      (redirectCount, namedHost) = (0, nil)
      wait("The origin names one host after another.", now)
    } else {
      connect(now)
    }
  }

  private mutating func take(_ handshake: Handshake, _ now: WireTime) {
    guard phase == .awaitingHandshake else { return }
    sessionName = handshake.nameToTell
    namedHost = handshake.host.isEmpty ? namedHost : handshake.host
    takesWriteNames = handshake.takesWriteNames
    takesWriteHashes = handshake.takesWriteHashes
    originTime = handshake.timestamp
    redirectCount = 0
    backoff.noteConnection()
    patienceEnd = now.uptime + limits.authenticationMilliseconds
    sendStatistics(now)
    if configuration.hasCredential, configuration.asksEachTime || !knowsCredential {
      enter(.awaitingCredential)
      effects.append(.askCredential(isRefresh: isRefreshed))
    } else {
      authenticate(now)
    }
  }

  private mutating func sendStatistics(_ now: WireTime) {
    guard let statistic = configuration.statistic, !hasSentStatistics else { return }
    hasSentStatistics = true
    request(.statistics(.object([JSONMember(statistic, 1)])), .nothing, now)
  }

  /// Authenticates before anything else is sent, so that nothing is refused for lack of a
  /// credential.
  mutating func authenticate(_ now: WireTime) {
    guard let credential else { return goLive(now) }
    enter(.authenticating)
    request(.authenticate(credential), .credential, now)
  }

  private mutating func goLive(_ now: WireTime) {
    (isCatchingUp, hasAsked) = (true, false)
    enter(.live)
    liveTime = now.uptime
    effects.append(.tell(.connected(connection: connection, originTime: originTime)))
  }

  /// Takes the origin's answer to the credential.
  mutating func takeCredentialAnswer(_ status: WireStatus, _ text: String, _ now: WireTime) {
    if status == .ok {
      isRefreshed = false
      if phase == .authenticating { goLive(now) }
    } else if status == .unavailable {
      // The origin cannot tell for now whether it is valid.
      fail(text, now)
    } else {
      refuseCredential(CredentialRefusal(status, text), now)
    }
  }

  /// Asks once for another credential because the origin does not accept this one (any longer).
  mutating func refuseCredential(_ refusal: CredentialRefusal, _ now: WireTime) {
    hangUp(.normal("The credential was refused."), now)
    knowsCredential = false
    if isRefreshed {
      enter(.offline(.refused(refusal)))
    } else {
      isRefreshed = true
      // What is to be done by the user is said if the next one is refused, too.
      wait("The credential is not valid any more: another one is asked for.", now)
    }
  }
}
