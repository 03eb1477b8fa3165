public import RunnelTree

/// The talk of one client with its origin, over as many connections as it takes.
///
/// Responsibilities:
/// - It says when and where to connect, and does what is to be done before anything else: the handshake,
///   who one is.
/// - It sends what the replica wants sent, and tells it what the origin says and answers.
/// - It finds out that a connection is dead, and makes another one.
///
/// It opens nothing and sends nothing itself, and knows no time but what it is given: it returns
/// effects, which are to be carried out in order.
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
/// Invariants:
/// - I1. Between `connected` and `disconnected` the replica's commands of this connection, and no others,
///   are sent, each once, in the order in which they were given.
/// - I2. After `close` nothing of that connection is told any more.
/// - I3. A write that was sent and not answered is pending at the replica, which gives it again at the
///   next connection. Where the origin does not know writes by name, one that adds to a number is not
///   sent again by itself.
///
/// Source: wire protocol, sections A1, A6, A7 and A9.
public struct ClientSession: Sendable {
  /// What is to be done, in order.
  public enum Effect: Hashable, Sendable {
    /// Open a connection; `opened` or `closed` is told of it under the number.
    case connect(ClientTarget, connection: Int64)
    /// Send the text of a frame, in UTF-8.
    case send([UInt8])
    /// Close the connection, or give up the attempt; `closed` need not be told.
    case close(CloseReason)
    /// Tell the replica.
    case tell(ReplicaNews)
    /// Get the credential; `setCredential` is told. `isRefresh` if the origin refused the last one: it
    /// must be another one.
    case askCredential(isRefresh: Bool)
    /// The link is in another state.
    case link(LinkState)
    /// The origin answered a query without an index, by all that is at its place.
    case indexMissing(Query)
    /// A write that adds to a number was sent and not answered, and this origin knows no write by
    /// name: it is sent again by `resend` only.
    case writeOutcomeUnknown(Int64)
    /// Something for the log.
    case log(String)
  }

  enum Phase: Hashable, Sendable {
    case offline(ClientOfflineReason)
    case waiting(until: Int64, String?)
    case connecting
    case awaitingHandshake
    /// The handshake came; the credential did not.
    case awaitingCredential
    case authenticating
    case live
  }

  /// What an answer is for.
  enum Outstanding: Hashable, Sendable {
    case listen(AskID, Query)
    case unlisten(AskID)
    case write(Int64)
    case compareAndSet(Int64, Path)
    case get(Int64, Path)
    case onDisconnect(Int64)
    /// The credential of a connection that is not live yet, or another one.
    case credential
    case nothing
  }

  /// What the session was made of.
  public let configuration: ClientConfiguration
  let limits: ClientLimits

  var phase = Phase.offline(.asked)
  var effects: [Effect] = []
  var backoff: Backoff
  /// The number of the last connection.
  var connection: Int64 = 0
  var assembler: FrameAssembler
  /// The host that the origin named last; nil for that of the configuration.
  var namedHost: String?
  var redirectCount = 0
  /// The last session's name, which the origin ends.
  var sessionName: String?
  var takesWriteNames = false
  var originTime: Int64 = 0
  /// When the last attempt began, when the connection became live, and when something was heard and
  /// sent last; all on the clock that never goes back.
  var attemptTime: Int64 = 0
  var liveTime: Int64?
  var lastHeard: Int64 = 0
  var lastSent: Int64 = 0
  var isAwaitingSign = false
  /// When the attempt, or finding out who one is, has taken too long.
  var patienceEnd: Int64 = 0

  var credential: Credential?
  /// True once `setCredential` was told after the last question.
  var knowsCredential = false
  /// True if the last credential was asked for because one had been refused.
  var isRefreshed = false

  /// Counts from 1, and on over connections.
  var lastNumber: Int64 = 0
  var outstanding: [Int64: Outstanding] = [:]
  /// What the replica wants sent and that waits for answers to writes.
  var waiting: [OriginCommand] = []
  var unansweredWrites = 0
  /// The bytes of each of them, by the number of its request.
  var unansweredBytes: [Int64: Int] = [:]
  var unansweredBytesSum = 0
  var hasSentStatistics = false
  /// Writes that add to a number and that were sent, on any connection.
  var sentIncrements: Set<Int64> = []
  /// Those whose outcome is unknown, with what is to be sent if somebody wants that.
  var unknownWrites: [Int64: Write] = [:]

  /// Makes a session that is offline.
  ///
  /// - Parameters:
  ///   - configuration: where to connect to, and as whom.
  ///   - limits: times and numbers.
  ///   - seed: where random waits begin: another number for each client.
  public init(
    _ configuration: ClientConfiguration, limits: ClientLimits = ClientLimits(), seed: UInt64
  ) {
    self.configuration = configuration
    self.limits = limits
    backoff = Backoff(limits, seed: seed)
    assembler = FrameAssembler(bytesMax: limits.messageBytesMax)
  }

  /// The state of the link, for people.
  public var link: LinkState {
    switch phase {
    case .offline(let reason): .offline(reason)
    case .waiting(let end, let reason): .waiting(until: end, reason)
    case .connecting, .awaitingHandshake: .connecting
    case .awaitingCredential, .authenticating: .authenticating
    case .live: .live
    }
  }

  /// The requests that were sent and not answered.
  public var outstandingCount: Int { outstanding.count }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  mutating func enter(_ phase: Phase) {
    let before = link
    self.phase = phase
    if link != before { effects.append(.link(link)) }
  }
}

// MARK: What people ask for

extension ClientSession {
  /// Connect, and stay connected.
  ///
  /// It also lifts a shutdown and a refusal: somebody wants to try again.
  public mutating func start(now: WireTime) -> [Effect] {
    if case .offline = phase {
      backoff.reset()
      (isRefreshed, redirectCount) = (false, 0)
      connect(now)
    }
    return takeEffects()
  }

  /// Do not connect, until `start`.
  public mutating func stop(now: WireTime) -> [Effect] {
    if case .offline = phase {
      enter(.offline(.asked))
    } else {
      hangUp(.normal("The client goes offline."), now)
      enter(.offline(.asked))
    }
    return takeEffects()
  }

  /// The network is back, or somebody does not want to wait: the next attempt is made at once.
  public mutating func hurry(now: WireTime) -> [Effect] {
    if case .waiting = phase {
      backoff.reset()
      connect(now)
    }
    return takeEffects()
  }

  /// Takes the credential to use from now on, nil for none; this also answers `askCredential`.
  ///
  /// A refusal of the one before it is forgotten.
  public mutating func setCredential(_ credential: Credential?, now: WireTime) -> [Effect] {
    let isAnother = credential != self.credential
    (self.credential, knowsCredential) = (credential, true)
    switch phase {
    case .awaitingCredential: authenticate(now)
    case .live where isAnother:
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

  /// A write whose outcome is unknown is sent again; it may be done twice.
  public mutating func resend(_ write: Int64, now: WireTime) -> [Effect] {
    guard let what = unknownWrites.removeValue(forKey: write) else { return [] }
    sentIncrements.remove(write)
    if phase == .live { take(.write(id: write, what), now) }
    return takeEffects()
  }

  /// A write whose outcome is unknown was given up.
  public mutating func forget(_ write: Int64) { unknownWrites[write] = nil }

  /// The writes whose outcome is unknown.
  public var writesOfUnknownOutcome: [Int64] { unknownWrites.keys.sorted() }
}

// MARK: Time

extension ClientSession {
  /// When `advance` is to be called next, on the clock that never goes back; nil if it need not be.
  public func deadline() -> Int64? {
    switch phase {
    case .offline: return nil
    case .waiting(let end, _): return end
    case .connecting, .awaitingHandshake, .awaitingCredential, .authenticating: return patienceEnd
    case .live: return min(keepAliveTime, silenceTime)
    }
  }

  private var keepAliveTime: Int64 { max(lastHeard, lastSent) + limits.keepAliveMilliseconds }

  private var silenceTime: Int64 {
    lastHeard + limits.silenceMilliseconds + (isAwaitingSign ? limits.signMilliseconds : 0)
  }

  /// Time went on.
  public mutating func advance(now: WireTime) -> [Effect] {
    switch phase {
    case .offline: break
    case .waiting(let end, _): if end <= now.uptime { connect(now) }
    case .connecting, .awaitingHandshake, .awaitingCredential, .authenticating:
      if patienceEnd <= now.uptime { fail("It took too long to connect.", now) }
    case .live:
      if silenceTime <= now.uptime, isAwaitingSign {
        fail("The origin gave no sign of life.", now)
      } else if silenceTime <= now.uptime {
        isAwaitingSign = true
        send(ClientMessage.ping.bytes, now)
      } else if keepAliveTime <= now.uptime {
        send(ClientMessage.keepAlive, now)
      }
    }
    return takeEffects()
  }
}
