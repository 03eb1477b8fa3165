package import RunnelTree

/// The client's side of the protocol with its origin, over as many connections as it takes.
///
/// Responsibilities:
/// - It says when and where to connect, and first completes the handshake and authentication.
/// - It sends the replica's commands, and passes the origin's pushes and answers to the replica.
/// - It notices that a connection is dead, and makes another one.
///
/// The session opens nothing, sends nothing and reads no clock: it returns effects, which the
/// caller carries out in order.
///
/// ```
///   offline --start, resume--> connecting --opened--> awaiting the handshake
///      ^                          ^    |                     | handshake
///      |                          |    +--- redirect --------+
///    stop, shutdown,              |                          v
///    refused twice             the wait is over         authenticating --ok--> live
///      |                          |                          |                  |
///      +--------------------------+-- waiting <-- failed, closed, silent -------+
/// ```
///
/// A live connection *catches up* at first: until the origin has answered the listens that the
/// replica gave at the beginning of the connection (`asked`), and those that came meanwhile.
///
/// Invariants:
/// - I1. Between `connected` and `disconnected` the replica's commands of this connection, and no others,
///   are sent, each once, in the order in which they were given.
/// - I2. After `close` nothing more of that connection is reported.
/// - I3. A write that was sent and not answered is pending at the replica, which gives it again at
///   the next connection. A write that adds to a number is not sent again automatically where the
///   origin does not know writes by name.
/// - I4. Under another credential nothing is written before the writes under the last one are answered. The
///   origin may have refused those for lack of a credential, and would do them, sent again, after later ones.
///
/// Source: wire protocol, sections A1, A6, A7 and A9.
package struct ClientSession: Sendable {
  /// An effect for the caller to carry out; effects are carried out in order.
  package enum Effect: Hashable, Sendable {
    /// Open a connection; report `opened` or `closed` with this number.
    case connect(ClientTarget, connection: Int64)
    /// Send the text of a frame, in UTF-8.
    case send([UInt8])
    /// Close the connection, or give up the attempt; `closed` need not be reported.
    case close(CloseReason)
    /// Tell the replica.
    case tell(ReplicaNews)
    /// Get the credential and give it to `setCredential`. `isRefresh` is true if the origin refused
    /// the last one, so that another one is needed.
    case askCredential(isRefresh: Bool)
    /// Report the new state of the link.
    case link(LinkState)
    /// Report that a query has no index, so that the origin answered with everything at its place.
    case indexMissing(Query)
    /// Report that a write that adds to a number was sent and not answered, and that this origin
    /// does not know writes by name: only `resend` sends it again.
    case writeOutcomeUnknown(Int64)
    /// Report that more of long answers was received; see `receivedBytes`.
    case received
    /// Report the milliseconds that the origin took to answer `ping`.
    case latency(Int64)
    /// Write a line to the log.
    case log(String)
  }

  enum Phase: Hashable, Sendable {
    case offline(ClientOfflineReason)
    case waiting(until: Int64, String?)
    case connecting
    case awaitingHandshake
    /// The handshake has arrived, and the credential has not.
    case awaitingCredential
    case authenticating
    case live
  }

  /// The purpose of a request that awaits its answer.
  enum Outstanding: Hashable, Sendable {
    case listen(AskID, Query)
    case unlisten(AskID)
    case write(Int64)
    case compareAndSet(Int64, Path)
    case get(Int64, Path)
    case onDisconnect(Int64)
    /// The credential of a connection that is not live yet, or a replacement on a live one.
    case credential
    case nothing
  }

  /// The configuration that the session was made with.
  package let configuration: ClientConfiguration
  let limits: ClientLimits

  var phase = Phase.offline(.asked)
  var effects: [Effect] = []
  var backoff: Backoff
  /// The number of the last connection.
  var connection: Int64 = 0
  var assembler: FrameAssembler
  /// The host that the origin named last; nil for the host of the configuration.
  var namedHost: String?
  var redirectCount = 0
  /// The name of the last session, which the origin ends at the next handshake; so nothing that was sent on
  /// its connection is done after what is sent on the next one.
  package internal(set) var sessionName: String?
  var takesWriteNames = false
  var takesWriteHashes = false
  var originTime: Int64 = 0
  /// When the last attempt began, when the connection became live, and when something was received
  /// and sent last; in milliseconds on the monotonic clock.
  var attemptTime: Int64 = 0
  var liveTime: Int64?
  var lastHeard: Int64 = 0
  var lastSent: Int64 = 0
  /// When the origin was asked for a sign of life that it has not given; nil if it was not asked.
  var signAskedTime: Int64?
  /// Since when the origin owes an answer without having been heard, on the monotonic clock; nil if it
  /// owes none.
  var owingTime: Int64?
  /// True if the origin has not given the sign of life for which it was asked.
  var isSilent = false
  /// When the latency began to be measured, on the monotonic clock; nil if it is not measured.
  var pingTime: Int64?
  /// When the attempt or the authentication times out, on the monotonic clock.
  var patienceEnd: Int64 = 0

  var credential: Credential?
  /// True once `setCredential` was called after the last `askCredential`.
  var knowsCredential = false
  /// True if the last credential was requested because the previous one had been refused.
  var isRefreshed = false

  /// The number of the last request; counts from 1, and on across connections.
  var lastNumber: Int64 = 0
  var outstanding: [Int64: Outstanding] = [:]
  /// The replica's commands that wait until earlier writes are answered.
  ///
  /// A slice, so that the first ones are removed without moving the others, of which there may be thousands.
  var waiting: ArraySlice<OriginCommand> = []
  var unansweredWrites = 0
  /// True from when the credential changed until the writes sent before are answered.
  var awaitsEarlierWrites = false
  /// The bytes of each of them, by the number of its request.
  var unansweredBytes: [Int64: Int] = [:]
  var unansweredBytesSum = 0
  /// The listens of this connection that were given and not answered.
  var openListens = 0
  /// The bytes that were received since all listens were answered last.
  var listenBytes = 0
  /// True from when the connection became live until the origin has answered all open listens.
  var isCatchingUp = false
  /// True once the replica has given the listens with which the connection begins.
  var hasAsked = false
  var hasSentStatistics = false
  /// The writes that add to a number and were sent, on any connection.
  var sentIncrements: Set<Int64> = []
  /// The increments whose outcome is unknown, with the write that `resend` sends.
  var unknownWrites: [Int64: Write] = [:]

  /// Makes a session that is offline.
  ///
  /// - Parameters:
  ///   - configuration: the address and the identity of the client.
  ///   - limits: times and numbers.
  ///   - seed: the seed of the random waits: another number for each client.
  package init(
    _ configuration: ClientConfiguration, limits: ClientLimits = ClientLimits(), seed: UInt64
  ) {
    self.configuration = configuration
    self.limits = limits
    sessionName = configuration.lastSession
    backoff = Backoff(limits, seed: seed)
    assembler = FrameAssembler(bytesMax: limits.messageBytesMax)
  }

  /// The state of the link, for people.
  package var link: LinkState {
    switch phase {
    case .offline(let reason): .offline(reason)
    case .waiting(let end, let reason): .waiting(until: end, reason)
    case .connecting, .awaitingHandshake: .connecting
    case .awaitingCredential, .authenticating: .authenticating
    case .live: isSilent ? .notAnswering : isCatchingUp ? .catchingUp : .live
    }
  }

  /// The milliseconds since the origin was last heard.
  package func silenceMilliseconds(now: WireTime) -> Int64 { max(0, now.uptime - lastHeard) }

  /// The steps in which the bytes of long answers are reported.
  package static let receivedStep = 1_048_576

  /// The bytes that were received while listens wait for their answers, in whole steps of 1 MiB; 0 if none
  /// waits.
  package var receivedBytes: Int {
    openListens == 0 ? 0 : listenBytes / ClientSession.receivedStep * ClientSession.receivedStep
  }

  /// The number of requests that were sent and not answered.
  package var outstandingCount: Int { outstanding.count }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  mutating func enter(_ phase: Phase) {
    let before = link
    self.phase = phase
    if link != before { effects.append(.link(link)) }
  }

  /// Notes that the connection has caught up, once no listen is open.
  mutating func noteCaughtUp() {
    guard isCatchingUp, hasAsked, openListens == 0 else { return }
    isCatchingUp = false
    if phase == .live { effects.append(.link(link)) }
  }
}

// MARK: Requests of the program

extension ClientSession {
  /// Connects, and stays connected.
  ///
  /// This also lifts a shutdown and a refusal, because the user wants to try again.
  package mutating func start(now: WireTime) -> [Effect] {
    if case .offline = phase {
      backoff.reset()
      (isRefreshed, redirectCount) = (false, 0)
      connect(now)
    }
    return takeEffects()
  }

  /// Disconnects, and makes no attempt until `start`.
  package mutating func stop(now: WireTime) -> [Effect] {
    if case .offline = phase {
      enter(.offline(.asked))
    } else {
      hangUp(.normal("The client goes offline."), now)
      enter(.offline(.asked))
    }
    return takeEffects()
  }

  /// Makes the next attempt at once, because the network is back or the user does not want to wait.
  package mutating func hurry(now: WireTime) -> [Effect] {
    if case .waiting = phase {
      backoff.reset()
      connect(now)
    }
    return takeEffects()
  }

  /// Asks the origin for a sign of life, to measure the latency; does nothing without a connection.
  package mutating func ping(now: WireTime) -> [Effect] {
    guard phase == .live else { return [] }
    pingTime = now.uptime
    send(ClientMessage.ping.bytes, now)
    return takeEffects()
  }

  /// Asks an origin that was not heard for a while for a sign of life, because somebody uses its data.
  package mutating func attend(now: WireTime) -> [Effect] {
    guard phase == .live, signAskedTime == nil,
      now.uptime - lastHeard >= limits.attentionMilliseconds
    else { return [] }
    signAskedTime = now.uptime
    send(ClientMessage.ping.bytes, now)
    return takeEffects()
  }

  /// Takes the credential to use from now on, nil for none; this also answers `askCredential`, unless the session
  /// asks each time: then only an answer does.
  ///
  /// An earlier refusal is forgotten.
  package mutating func setCredential(
    _ credential: Credential?, isAnswer: Bool = false, now: WireTime
  ) -> [Effect] {
    if phase == .awaitingCredential, configuration.asksEachTime, !isAnswer { return [] }
    let isAnother = credential != self.credential
    (self.credential, knowsCredential) = (credential, true)
    switch phase {
    case .awaitingCredential: authenticate(now)
    case .live where isAnother:
      awaitsEarlierWrites = unansweredWrites > 0
      if let credential {
        request(.authenticate(credential), .credential, now)
      } else {
        request(.unauthenticate, .nothing, now)
      }
    case .offline(.refused) where isAnother:
      isRefreshed = false
      backoff.reset()
      connect(now)
    case .offline, .waiting, .connecting, .awaitingHandshake, .authenticating, .live: break
    }
    return takeEffects()
  }

  /// Takes that there is no credential but the one that the origin refused: this also answers `askCredential`.
  package mutating func refuse(_ refusal: CredentialRefusal, now: WireTime) -> [Effect] {
    guard phase == .awaitingCredential else { return [] }
    isRefreshed = true
    refuseCredential(refusal, now)
    return takeEffects()
  }

  /// Sends a write whose outcome is unknown again; it may be done twice.
  package mutating func resend(_ write: Int64, now: WireTime) -> [Effect] {
    guard let what = unknownWrites.removeValue(forKey: write) else { return [] }
    sentIncrements.remove(write)
    if phase == .live { take(.write(id: write, what), now) }
    return takeEffects()
  }

  /// Gives up a write whose outcome is unknown.
  package mutating func forget(_ write: Int64) { unknownWrites[write] = nil }

  /// The writes whose outcome is unknown, in ascending order.
  package var writesOfUnknownOutcome: [Int64] { unknownWrites.keys.sorted() }
}

// MARK: Time

extension ClientSession {
  /// The time of the next call of `advance`, on the monotonic clock, or nil if none is needed.
  package func deadline() -> Int64? {
    switch phase {
    case .offline: return nil
    case .waiting(let end, _): return end
    case .connecting, .awaitingHandshake, .awaitingCredential, .authenticating: return patienceEnd
    case .live: return min(keepAliveTime, silenceTime)
    }
  }

  /// True while the origin was asked for a sign of life that it has not given.
  package var awaitsSign: Bool { signAskedTime != nil }

  /// True on a live connection on which nobody waits for anything.
  package var isQuiet: Bool { phase == .live && owingTime == nil && signAskedTime == nil }

  private var keepAliveTime: Int64 { max(lastHeard, lastSent) + limits.keepAliveMilliseconds }

  /// When the next step of a silence is due: to ask the origin for a sign, to say that it does not answer, or
  /// to give it up.
  private var silenceTime: Int64 {
    guard let signAskedTime else {
      let end = lastHeard + limits.silenceMilliseconds
      return owingTime.map { min($0 + limits.answerMilliseconds, end) } ?? end
    }
    let end = lastHeard + limits.silenceMilliseconds + limits.signMilliseconds
    return isSilent ? end : min(signAskedTime + limits.doubtMilliseconds, end)
  }

  /// Carries out what is due at this time.
  package mutating func advance(now: WireTime) -> [Effect] {
    switch phase {
    case .offline: break
    case .waiting(let end, _): if end <= now.uptime { connect(now) }
    case .connecting, .awaitingHandshake, .awaitingCredential, .authenticating:
      if patienceEnd <= now.uptime { fail("It took too long to connect.", now) }
    case .live:
      if silenceTime <= now.uptime {
        breakSilence(now)
      } else if keepAliveTime <= now.uptime {
        send(ClientMessage.keepAlive, now)
      }
    }
    return takeEffects()
  }

  private mutating func breakSilence(_ now: WireTime) {
    let end = lastHeard + limits.silenceMilliseconds + limits.signMilliseconds
    if signAskedTime == nil {
      signAskedTime = now.uptime
      send(ClientMessage.ping.bytes, now)
    } else if end <= now.uptime {
      fail("The origin gave no sign of life.", now)
    } else {
      isSilent = true
      effects.append(.link(link))
    }
  }

  /// Notes that the origin gave a sign of life.
  mutating func noteSign(_ now: WireTime) {
    (lastHeard, signAskedTime) = (now.uptime, nil)
    owingTime = outstanding.isEmpty ? nil : now.uptime
    if isSilent {
      isSilent = false
      effects.append(.link(link))
    }
  }
}
