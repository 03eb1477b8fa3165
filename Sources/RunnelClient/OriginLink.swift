import Glibc
import RunnelDatabase
import RunnelNetwork
public import RunnelSync
import RunnelTree

/// The link between a replica and its origin: it carries out what a `ClientSession` wants, on the thread of the
/// tree.
///
/// Responsibilities:
/// - Of the processes on a replica one talks to the origin, for all of them; where that one ends, another takes
///   over.
/// - What the origin says is given to the database step by step, and what the database wants sent is given to
///   the session.
///
/// ```
///   new --begin--> waiting for the lock --taken--> talking --end--> ended
///                        ^------ goOffline, goOnline ----^
/// ```
///
/// Invariants:
/// - L1. Session, timers and steps of the database run on the tree's thread; sockets only hand over.
/// - L2. Effects are carried out in order, and a step of the database within the effect that tells it. So
///   commands belong to the connection that the database knows.
/// - L3. If the database cannot take a message, the connection ends: what was said is asked for again.
/// - L4. Who has no lock has no connection.
public actor OriginLink {
  /// The tree's thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// The origin.
  public nonisolated let address: OriginAddress
  private nonisolated let executor: TreeExecutor
  private let access: OriginAccess
  private let options: OriginOptions
  private let lock: SpeakerLock
  private let dialer: SocketDialer
  // Tree executor only:
  private weak var database: Database?
  private var session: ClientSession
  private var socket: DialedSocket?
  /// The connection of the socket, and the one that the database knows.
  private var (connection, knownConnection) = (Int64(0), Int64(0))
  /// True when the connection is given up, and what it still said is not told.
  private var isDeaf = false
  private var waiting: [ClientSession.Effect] = []
  private var isCarryingOut = false
  private var outgoing: [[UInt8]] = []
  /// When the timer that comes next is due; nil if there is none.
  private var timerTime: Int64?
  private var lockWatch: TreeExecutor.Subscription?
  private var (isWanted, isTalking, isEnded) = (false, false, false)
  /// The questions for a credential that were asked; an answer to an earlier one is ignored.
  private var credentialQuestion = 0
  private var status = OriginStatus(.link(.offline(.asked)))
  private var observers: [Int: @Sendable (OriginStatus) -> Void] = [:]
  private var lastObserver = 0

  /// Makes a link for a database, which `begin` starts.
  ///
  /// - Throws: `DatabaseError` if the file of the lock cannot be made.
  init(
    _ database: Database, _ address: OriginAddress, _ access: OriginAccess,
    _ options: OriginOptions
  ) throws {
    self.database = database
    (self.address, self.access, self.options) = (address, access, options)
    executor = database.executor
    lock = try SpeakerLock(database: database.file)
    dialer = SocketDialer(trustedFile: options.trustedFile, proxies: options.proxies)
    let configuration = ClientConfiguration(
      host: address.host, isSecure: address.isSecure, writer: "")
    session = ClientSession(configuration, limits: options.limits, seed: 0)
  }

  deinit { socket?.close(code: 1000, text: "The client ends.") }

  /// The present time.
  private var now: WireTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WireTime(
      calendar: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000,
      uptime: NetworkClock.uptimeMilliseconds)
  }
}

// MARK: Starting and ending

extension OriginLink {
  /// Begins to talk to the origin, as soon as no other process does.
  nonisolated func begin() {
    // Until it is attached, nobody else keeps it.
    executor.submit { self.assumeIsolated { $0.attach() } }
  }

  private func attach() {
    guard let database else { return }
    var sink = OriginSink()
    sink.send = { [weak self] commands in self?.assumeIsolated { $0.send(commands) } }
    sink.setOffline = { [weak self] isOffline in
      self?.assumeIsolated { isOffline ? $0.rest() : $0.goOn() }
    }
    sink.end = { [weak self] in self?.assumeIsolated { $0.end() } }
    sink.link = self
    database.assumeIsolated { $0.setOriginSink(sink) }
    goOn()
  }

  /// Talks to the origin from now on.
  private func goOn() {
    if isEnded { return }
    isWanted = true
    if isTalking { perform(session.start(now: now)) } else { takeOver() }
  }

  /// Talks to the origin if no other process does, and else when that one ends.
  private func takeOver() {
    guard isWanted, !isTalking, !isEnded, let database else { return }
    guard lock.take() else {
      show(.elsewhere)
      if lockWatch == nil {
        lockWatch = lock.watch(on: executor) { [weak self] in
          self?.assumeIsolated { $0.takeOver() }
        }
        // It may have been let go of before anybody watched.
        takeOver()
      }
      return
    }
    lockWatch?.cancel()
    lockWatch = nil
    do {
      let configuration = try self.configuration(database)
      session = ClientSession(configuration, limits: options.limits, seed: .random(in: 0...(.max)))
      isTalking = true
      perform(session.start(now: now))
    } catch {
      lock.release()
      options.notice(.log("The replica cannot be read: \(error)"))
    }
  }

  private func configuration(_ database: Database) throws -> ClientConfiguration {
    let (writer, newest) = try database.assumeIsolated {
      (try $0.writerName(), try $0.pendingWrites().last?.id)
    }
    var configuration = ClientConfiguration(
      host: address.host, isSecure: address.isSecure, namespace: address.namespace, writer: writer)
    configuration.hasCredential = access.provider != nil
    configuration.resendsIncrements = options.resendsIncrements
    configuration.lastEarlierWrite = newest ?? .min
    return configuration
  }

  /// Ends the talk, and lets another process have it.
  private func rest() {
    isWanted = false
    lockWatch?.cancel()
    lockWatch = nil
    guard isTalking else { return show(.link(.offline(.asked))) }
    perform(session.stop(now: now))
    isTalking = false
    lock.release()
  }

  private func end() {
    if isEnded { return }
    rest()
    isEnded = true
    show(.closed)
    observers = [:]
  }
}

// MARK: What people ask for

extension OriginLink {
  /// What is known of the link.
  public var currentStatus: OriginStatus { status }

  /// The status now, and whenever it changes, until the database is closed.
  ///
  /// Of states that are not taken in time, the newest are kept.
  public nonisolated var statuses: AsyncStream<OriginStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      executor.submit { [weak self] in
        guard let self else { return continuation.finish() }
        self.assumeIsolated { link in
          let id = link.observe { status in
            continuation.yield(status)
            if status.state == .closed { continuation.finish() }
          }
          continuation.onTermination = { [weak link] _ in link?.forget(observer: id) }
        }
      }
    }
  }

  /// Calls `tell` with the status now, and whenever it changes, on the tree's thread.
  package nonisolated func onStatus(_ tell: @escaping @Sendable (OriginStatus) -> Void) {
    executor.submit { [weak self] in self?.assumeIsolated { _ = $0.observe(tell) } }
  }

  private nonisolated func forget(observer id: Int) {
    executor.submit { [weak self] in self?.assumeIsolated { $0.observers[id] = nil } }
  }

  private func observe(_ tell: @escaping @Sendable (OriginStatus) -> Void) -> Int {
    lastObserver += 1
    observers[lastObserver] = tell
    tell(status)
    return lastObserver
  }

  /// Makes the next attempt to connect now, and one again after a refusal.
  public nonisolated func retry() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        guard link.isTalking else { return }
        link.perform(link.session.hurry(now: link.now))
        link.perform(link.session.start(now: link.now))
      }
    }
  }

  /// Talks to the origin with another credential from now on, nil for none, for example before one ends; a refusal
  /// is forgotten.
  public func setCredential(_ credential: Credential?) {
    if isTalking { perform(session.setCredential(credential, now: now)) }
  }

  /// Sends a write again of which nobody knows whether it was done; it may then be done twice.
  public func resend(_ write: Int64) { perform(session.resend(write, now: now)) }
}

// MARK: Between session and database

extension OriginLink {
  private func send(_ commands: [OriginCommand]) {
    perform(session.send(commands, on: knownConnection, now: now))
  }

  /// Carries out effects, after those that are being carried out (L2).
  private func perform(_ effects: [ClientSession.Effect]) {
    waiting += effects
    if isCarryingOut { return }
    isCarryingOut = true
    while !waiting.isEmpty {
      let next = waiting
      waiting = []
      for effect in next { carryOut(effect) }
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
    case .tell(let news): tell(news)
    case .askCredential(let isRefresh): askCredential(isRefresh: isRefresh)
    case .link(let state): show(.link(state))
    case .indexMissing(let query): options.notice(OriginLink.advice(query))
    case .writeOutcomeUnknown: show(status.state)
    case .log(let text): options.notice(.log(text))
    }
  }

  private func flush() {
    if outgoing.isEmpty { return }
    socket?.send(outgoing)
    outgoing = []
  }

  private func tell(_ news: ReplicaNews) {
    guard let database else { return }
    switch news {
    case .connected(let connection, _): (knownConnection, isDeaf) = (connection, false)
    case .disconnected: break
    case .message: if isDeaf { return }
    }
    do {
      try database.assumeIsolated { database in
        switch news {
        case .connected(_, let originTime): try database.connectOrigin(originTime: originTime)
        case .disconnected: try database.carryOut { try $0.disconnectOrigin() }
        case .message(let message): try database.carryOut { try $0.receive(message) }
        }
      }
    } catch {
      lose(error)
    }
  }

  /// The database could not take what the origin said (L3).
  private func lose(_ error: any Error) {
    isDeaf = true
    options.notice(.log("The connection is given up: \(error)"))
    hangUp(code: 1011, "The client cannot go on.")
    perform(session.closed(connection, "the replica cannot be written: \(error)", now: now))
  }

  private func askCredential(isRefresh: Bool) {
    credentialQuestion += 1
    let question = credentialQuestion
    guard let provider = access.provider else { return }
    Task { [weak self] in
      do {
        self?.answer(.success(try await provider(isRefresh)), question)
      } catch {
        self?.answer(.failure(error), question)
      }
    }
  }

  private nonisolated func answer(_ result: Result<Credential?, any Error>, _ question: Int) {
    executor.submit { [weak self] in self?.assumeIsolated { $0.take(result, question) } }
  }

  private func take(_ result: Result<Credential?, any Error>, _ question: Int) {
    guard question == credentialQuestion, isTalking else { return }
    switch result {
    case .success(let credential): perform(session.setCredential(credential, now: now))
    case .failure(let error):
      hangUp(code: 1000, "The client has no credential.")
      perform(session.closed(connection, "there is no credential: \(error)", now: now))
    }
  }

  private static func advice(_ query: Query) -> OriginNotice {
    let name: String
    switch query.index {
    case .value: name = ".value"
    case .child(let path): name = path.keys.map(\.text).joined(separator: "/")
    case .key, .priority, .compound: return .log("\(query) has no index at the origin.")
    }
    return .indexMissing(place: query.path.description, line: "\".indexOn\": [\"\(name)\"]")
  }

  private func show(_ state: OriginStatus.State) {
    var shown = OriginStatus(state, unknownWrites: session.writesOfUnknownOutcome)
    if !shown.isLive { shown.offlineSince = status.offlineSince ?? now.calendar }
    if shown == status { return }
    status = shown
    for (_, tell) in observers.sorted(by: { $0.key < $1.key }) { tell(shown) }
  }
}

// MARK: The network

extension OriginLink {
  private func connect(_ target: ClientTarget, _ connection: Int64) {
    self.connection = connection
    let scheme = target.isSecure ? "https" : "http"
    guard let place = WebAddress("\(scheme)://\(target.host)\(target.request)") else {
      let reason = "\(target.host) is no address of a host"
      return perform(session.closed(connection, reason, now: now))
    }
    let handover = SocketHandover { [weak self, executor] event in
      executor.submit { [weak self] in
        self?.assumeIsolated { $0.take(event, of: connection) }
      }
    }
    socket = dialer.dial(place, userAgent: options.userAgent, handover)
  }

  private func hangUp(code: UInt16, _ text: String) {
    outgoing = []
    socket?.close(code: code, text: text)
    socket = nil
  }

  private func take(_ event: SocketHandover.Event, of connection: Int64) {
    guard connection == self.connection, isTalking else { return }
    switch event {
    case .opened: perform(session.opened(connection, now: now))
    case .received(let text):
      // Another one may have taken its place afterwards.
      let socket = socket
      perform(session.receive(text, of: connection, now: now))
      socket?.taken(text.count)
    case .heard:
      session.heard(connection, now: now)
      setTimer()
    case .closed(let reason):
      socket = nil
      perform(session.closed(connection, reason, now: now))
    }
  }

  private func setTimer() {
    guard isTalking, let deadline = session.deadline() else { return }
    // One that is due earlier finds out when the next one is.
    if let timerTime, timerTime <= deadline { return }
    timerTime = deadline
    let delay = Int(clamping: max(0, deadline - now.uptime))
    executor.submit(afterMilliseconds: delay) { [weak self] in
      self?.assumeIsolated { $0.timeIsUp() }
    }
  }

  private func timeIsUp() {
    timerTime = nil
    guard isTalking else { return }
    if let deadline = session.deadline(), deadline <= now.uptime {
      perform(session.advance(now: now))
    }
    setTimer()
  }
}

/// Hands what happens on a socket to the thread of the link.
private final class SocketHandover: DialedSocketHandling {
  enum Event: Sendable {
    case opened
    case received([UInt8])
    case heard
    case closed(String)
  }

  private let tell: @Sendable (Event) -> Void

  init(_ tell: @escaping @Sendable (Event) -> Void) { self.tell = tell }

  func opened() { tell(.opened) }
  func received(_ text: [UInt8]) { tell(.received(text)) }
  func heard() { tell(.heard) }
  func closed(_ reason: String) { tell(.closed(reason)) }
}
