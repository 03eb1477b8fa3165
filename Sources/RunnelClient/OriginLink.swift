import Glibc
import RunnelDatabase
import RunnelNetwork
public import RunnelSync
import RunnelTree

/// The link between a replica and its origin: it carries out the effects of a `ClientSession`, on
/// the tree's thread.
///
/// Responsibilities:
/// - One of the processes that have the replica open holds the connection to the origin, for all of
///   them. When it ends, another one takes over.
/// - The messages of the origin are passed to the database in order, and the commands of the
///   database are passed to the session.
///
/// ```
///   new --begin--> waiting for the lock --taken--> active --end--> ended
///                        ^-- goOffline, no credential ---^
/// ```
///
/// Invariants:
/// - L1. The session, the timers and the database's steps run on the tree's thread; sockets only
///   pass events to it.
/// - L2. Effects are carried out in order, and the database handles a message within the effect
///   that delivers it. So its commands belong to the connection that it knows of.
/// - L3. If the database cannot handle a message, the connection is closed, and the data is
///   requested again on the next one.
/// - L4. Only the process that holds the lock has a connection. It tells the others its state.
/// - L5. A process without a valid credential does not hold the lock while it waits.
public actor OriginLink {
  /// How much later than due a quiet connection is kept alive: a server that does so at that time comes first.
  private static let graceMilliseconds: Int64 = 1000

  /// The tree's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// The origin.
  public nonisolated let address: OriginAddress
  nonisolated let executor: TreeExecutor
  private let access: OriginAccess
  private let options: OriginOptions
  let lock: SpeakerLock
  private let dialer: SocketDialer
  // Tree executor only:
  private weak var database: Database?
  var session: ClientSession
  private var (socket, handover): (DialedSocket?, SocketHandover?)
  /// The number of the socket's connection, and of the connection that the database knows of.
  private var (connection, knownConnection) = (Int64(0), Int64(0))
  /// True after the connection was given up: its remaining messages are ignored.
  private var ignoresMessages = false
  private var waiting: [ClientSession.Effect] = []
  private var outgoing: [[UInt8]] = []
  private var timer: LinkTimer
  private var lockWatch: TreeExecutor.Subscription?
  private var (isWanted, isEnded, isCarryingOut) = (false, false, false)
  private(set) var isActive = false
  /// The number of the last credential request; results of earlier ones are ignored.
  private var credentialRequest = 0
  /// The state without a valid credential, and when to try again; nil for when it is asked for.
  ///
  /// Meanwhile the lock is left to a process that may have one; nil if it is not.
  private var lack: (state: LinkState, until: Int64?)?
  /// The number of attempts in a row that found no credential.
  private var lackCount = 0
  var status = OriginStatus(.link(.offline(.asked)))
  var observers: [Int: @Sendable (OriginStatus) -> Void] = [:]
  var lastObserver = 0

  /// Makes a link for a database; `begin` starts it.
  ///
  /// - Throws: `DatabaseError` if the lock file cannot be made.
  init(
    _ database: Database, _ address: OriginAddress, _ access: OriginAccess,
    _ options: OriginOptions
  ) throws {
    self.database = database
    (self.address, self.access, self.options) = (address, access, options)
    executor = database.executor
    timer = LinkTimer(on: executor)
    lock = try SpeakerLock(database: database.file)
    status.offlineSince = lock.lastContact
    dialer = options.dialer
    let configuration = ClientConfiguration(
      host: address.host, isSecure: address.isSecure, writers: WriterNames("none"))
    session = ClientSession(configuration, limits: options.limits, seed: 0)
  }

  deinit { socket?.close(code: 1000, text: "The client is closing.") }

  var now: WireTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WireTime(
      calendar: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000,
      uptime: NetworkClock.uptimeMilliseconds)
  }
}

// MARK: Starting and ending

extension OriginLink {
  /// Starts the link; it connects as soon as no other process is connected.
  nonisolated func begin() {
    // The closure keeps the link alive until it is attached to the database.
    executor.submit { self.assumeIsolated { $0.attach() } }
  }

  private func attach() {
    guard let database else { return }
    var sink = OriginSink()
    sink.send = { [weak self] commands in self?.assumeIsolated { $0.send(commands) } }
    sink.setOffline = { [weak self] isOffline in
      self?.assumeIsolated { isOffline ? $0.goOffline() : $0.goOnline() }
    }
    sink.end = { [weak self] in self?.assumeIsolated { $0.end() } }
    sink.link = self
    database.assumeIsolated { $0.setOriginSink(sink) }
    goOnline()
  }

  /// Connects to the origin, or waits for the lock.
  private func goOnline() {
    if isEnded { return }
    isWanted = true
    if isActive { perform(session.start(now: now)) } else { takeOver() }
  }

  /// Connects if no other process holds the lock; otherwise waits until the lock is released.
  ///
  /// - Parameter credential: the credential to begin with; nil to ask for one.
  private func takeOver(with credential: Credential?? = nil) {
    guard isWanted, !isActive, !isEnded, let database else { return }
    lack = nil
    guard lock.take() else {
      if watchLock() { return takeOver(with: credential) }
      return showElsewhere()
    }
    lockWatch?.cancel()
    lockWatch = nil
    // Another process was connected meanwhile.
    if let time = lock.lastContact { status.offlineSince = time }
    lock.noteStart()
    do {
      let configuration = try self.configuration(database)
      session = ClientSession(configuration, limits: options.limits, seed: .random(in: 0...(.max)))
      isActive = true
      if let credential { perform(session.setCredential(credential, now: now)) }
      perform(session.start(now: now))
    } catch {
      lock.release()
      options.notice(.log("The replica cannot be read: \(error)"))
    }
  }

  /// Begins to watch the lock; true if it was not watched, so that it may have been released before.
  private func watchLock() -> Bool {
    if lockWatch != nil { return false }
    lockWatch = lock.watch(on: executor) { [weak self] in
      self?.assumeIsolated { $0.lookAtLock() }
    }
    return true
  }

  /// The lock may be free, or its holder has told another state.
  private func lookAtLock() {
    guard isWanted, !isActive, !isEnded else { return }
    guard let lack, lack.until.map({ $0 > now.uptime }) ?? true else { return takeOver() }
    if lock.isHeldElsewhere {
      showElsewhere()
      // Who is live has a credential of the same user.
      if status.speaker?.hasConnection == true { self.lack = nil }
    } else {
      show(.link(lack.state))
    }
  }

  /// Leaves the connection to a process that may have a valid credential.
  ///
  /// - Parameter state: the state of the session, which has no connection.
  private func leaveLock(_ state: LinkState) {
    isActive = false
    lackCount += 1
    lack = (state, nil)
    if case .waiting(let end, let reason) = state {
      let limits = options.limits
      let pause = min(limits.delayMax, limits.delayMin << Int64(min(lackCount, 16)))
      let until = max(end, now.uptime + pause)
      lack = (.waiting(until: until, reason), until)
    }
    if let lack { show(.link(lack.state)) }
    _ = watchLock()
    lock.release()
    setTimer()
  }

  private func configuration(_ database: Database) throws -> ClientConfiguration {
    let (writers, newest) = try database.assumeIsolated {
      (try $0.beginWriter(), try $0.pendingWrites().last?.id)
    }
    var configuration = ClientConfiguration(
      host: address.host, isSecure: address.isSecure, namespace: address.namespace,
      writers: writers)
    configuration.hasCredential = access.provider != nil
    configuration.asksEachTime = access.isAskedEachTime
    configuration.lastSession = lock.lastSession
    configuration.resendsIncrements = options.resendsIncrements
    configuration.lastEarlierWrite = lock.newestSentWrite ?? newest ?? .min
    return configuration
  }

  /// Closes the connection, and releases the lock for other processes.
  private func goOffline() {
    isWanted = false
    lockWatch?.cancel()
    lockWatch = nil
    lack = nil
    guard isActive else {
      setTimer()
      return show(.link(.offline(.asked)))
    }
    perform(session.stop(now: now))
    isActive = false
    lock.release()
  }

  private func end() {
    if isEnded { return }
    goOffline()
    isEnded = true
    show(.closed)
    observers = [:]
  }
}

// MARK: Requests of the program

extension OriginLink {
  /// Connects now instead of after the pause, and tries again after a refusal.
  public nonisolated func retry() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        if !link.isActive, link.lack != nil { link.takeOver() }
        guard link.isActive else { return }
        link.perform(link.session.hurry(now: link.now))
        link.perform(link.session.start(now: link.now))
      }
    }
  }

  /// Replaces the credential, for example before the present one expires; nil for none.
  ///
  /// An earlier refusal is forgotten.
  public func setCredential(_ credential: Credential?) {
    if isActive {
      perform(session.setCredential(credential, now: now))
    } else if lack != nil {
      takeOver(with: credential)
    }
  }

  /// Sends a write of unknown outcome again; it may then be done twice.
  public func resend(_ write: Int64) { perform(session.resend(write, now: now)) }
}

// MARK: The session and the database

extension OriginLink {
  private func send(_ commands: [OriginCommand]) {
    perform(session.send(commands, on: knownConnection, now: now))
  }

  /// Carries out effects, after those already in progress (L2).
  func perform(_ effects: [ClientSession.Effect]) {
    waiting += effects
    if isCarryingOut { return }
    isCarryingOut = true
    while !waiting.isEmpty {
      let next = waiting
      waiting = []
      // Messages that came together are handled together.
      var messages: [OriginMessage] = []
      for effect in next {
        switch effect {
        case .tell(.message(let message)): messages.append(message)
        // What is sent leaves before them: an answer that lets another write be sent parts no messages.
        case .send(let frame): outgoing.append(frame)
        default:
          deliver(messages)
          messages = []
          carryOut(effect)
        }
      }
      deliver(messages)
    }
    flush()
    isCarryingOut = false
    setTimer()
  }

  private func carryOut(_ effect: ClientSession.Effect) {
    switch effect {
    case .connect(let target, let connection): connect(target, connection)
    case .send(let frame): outgoing.append(frame)
    case .close(let reason):
      flush()
      hangUp(code: reason.code, reason.text)
    case .tell(let news): deliver(news)
    case .askCredential(let isRefresh): askCredential(isRefresh: isRefresh)
    case .link(let state):
      show(.link(state))
      if case .offline(.refused) = state { leaveLock(state) }
    case .indexMissing(let query): options.notice(OriginNotice(missingIndexOf: query))
    case .writeOutcomeUnknown, .received: show(status.state)
    case .latency(let milliseconds): show(status.state, latency: milliseconds)
    case .log(let text): options.notice(.log(text))
    }
  }

  private func flush() {
    if outgoing.isEmpty { return }
    socket?.send(outgoing)
    outgoing = []
  }

  private func deliver(_ news: ReplicaNews) {
    guard let database else { return }
    switch news {
    case .connected(let connection, _):
      (knownConnection, ignoresMessages, lackCount) = (connection, false, 0)
      // This also removes the note of what was sent last, before anything is sent.
      lock.noteSession(session.sessionName ?? "")
    case .disconnected: break
    case .message(let message): return deliver([message])
    }
    do {
      try database.assumeIsolated { database in
        switch news {
        case .connected(_, let originTime): try database.connectOrigin(originTime: originTime)
        case .disconnected: try database.carryOut { try $0.disconnectOrigin() }
        case .message: break
        }
      }
    } catch {
      return giveUpConnection(error)
    }
    if case .disconnected = news { noteParting(database) }
    // The database has given its commands within the call (L2).
    if case .connected(let connection, _) = news { perform(session.asked(on: connection)) }
  }

  /// Notes which writes may have been sent: those made from now on were not, even after a restart.
  private func noteParting(_ database: Database) {
    // If they cannot be read, all that are pending at the next start may have been sent.
    let newest = try? database.assumeIsolated { try $0.pendingWrites().last?.id ?? Int64.min }
    if let newest { lock.noteParting(newestWrite: newest) }
  }

  /// Hands messages to the database, for one transaction; meanwhile the origin does what it is sent.
  private func deliver(_ messages: [OriginMessage]) {
    guard let database, !messages.isEmpty, !ignoresMessages else { return }
    flush()
    do {
      try database.assumeIsolated { try $0.carryOut { try $0.receive(messages) } }
    } catch {
      giveUpConnection(error)
    }
  }

  /// Closes the connection after the database could not handle a message (L3).
  private func giveUpConnection(_ error: any Error) {
    ignoresMessages = true
    options.notice(.log("The connection is closed: \(error)"))
    hangUp(code: 1011, "The client cannot continue.")
    perform(session.closed(connection, "the replica cannot be written: \(error)", now: now))
  }

  private func askCredential(isRefresh: Bool) {
    credentialRequest += 1
    guard let provider = access.provider else { return }
    Task { [weak self, credentialRequest] in
      do {
        self?.answer(.success(try await provider(isRefresh)), credentialRequest)
      } catch {
        self?.answer(.failure(error), credentialRequest)
      }
    }
  }

  private nonisolated func answer(_ result: Result<Credential?, any Error>, _ request: Int) {
    executor.submit { [weak self] in self?.assumeIsolated { $0.take(result, request) } }
  }

  private func take(_ result: Result<Credential?, any Error>, _ request: Int) {
    guard request == credentialRequest, isActive else { return }
    switch result {
    case .success(let found):
      if let remark = access.remark?() { options.notice(.credential(remark)) }
      perform(session.setCredential(found, isAnswer: true, now: now))
    case .failure(let lack as NoCredential): perform(session.refuse(lack.refusal, now: now))
    case .failure(let error): leaveConnection("there is no credential: \(error)")
    }
  }

  /// Ends the connection, and leaves the next one to a process that may have a valid credential.
  func leaveConnection(_ reason: String) {
    guard isActive else { return }
    hangUp(code: 1000, "The client has no credential.")
    perform(session.closed(connection, reason, now: now))
    leaveLock(session.link)
  }
}

// MARK: The network

extension OriginLink {
  private func connect(_ target: ClientTarget, _ connection: Int64) {
    self.connection = connection
    let scheme = target.isSecure ? "https" : "http"
    guard let place = WebAddress("\(scheme)://\(target.host)\(target.request)") else {
      let reason = "\(target.host) is not the address of a host"
      return perform(session.closed(connection, reason, now: now))
    }
    let handover = SocketHandover { [weak self, executor] handover in
      executor.submit { [weak self] in
        // Each session counts its connections from 1.
        self?.assumeIsolated {
          if handover === $0.handover { $0.take(handover.next(), of: connection) }
        }
      }
    }
    self.handover = handover
    socket = dialer.dial(place, userAgent: options.userAgent, handover)
  }

  private func hangUp(code: UInt16, _ text: String) {
    outgoing = []
    socket?.close(code: code, text: text)
    (socket, handover) = (nil, nil)
  }

  private func take(_ events: [SocketHandover.Event], of connection: Int64) {
    guard connection == self.connection, isActive else { return }
    // The session may replace `socket` meanwhile.
    let socket = socket
    var effects: [ClientSession.Effect] = []
    var taken = (bytes: 0, messages: 0)
    for event in events {
      switch event {
      case .opened: effects += session.opened(connection, now: now)
      case .received(let text):
        taken = (taken.bytes + text.count, taken.messages + 1)
        effects += session.receive(text, of: connection, now: now)
      case .heard(let time):
        effects += session.heard(connection, now: WireTime(calendar: now.calendar, uptime: time))
      case .closed(let reason):
        self.socket = nil
        effects += session.closed(connection, advised(reason), now: now)
      }
    }
    perform(effects)
    if taken.messages > 0 { socket?.taken(taken.bytes, messages: taken.messages) }
  }

  private func setTimer() {
    handover?.wakesWhenHeard = session.awaitsSign
    let grace = session.isQuiet ? OriginLink.graceMilliseconds : 0
    let time = isActive ? session.deadline().map { $0 + grace } : lack?.until
    timer.set(time, now: now.uptime) { [weak self] in
      self?.assumeIsolated { $0.timeIsUp() }
    }
  }

  private func timeIsUp() {
    timer.stop()
    guard isActive else {
      if let until = lack?.until { until <= now.uptime ? takeOver() : setTimer() }
      return
    }
    if let handover { take(handover.next(), of: connection) }
    if let deadline = session.deadline(), deadline <= now.uptime {
      perform(session.advance(now: now))
    }
    setTimer()
    database?.assumeIsolated { $0.lookRegularly() }
  }
}
