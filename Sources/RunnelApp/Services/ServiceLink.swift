import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelSync
import RunnelTree
import RunnelWorkspace
import Synchronization

/// The link between a replica and the services of a Feathers server: it carries out the effects of a
/// `ServiceOrigin`, on the tree's thread.
///
/// One of the processes that have the replica open holds the connection, for all of them, as with
/// `OriginLink`.
///
/// Invariants:
/// - S1. The origin and the database's steps run on the tree's thread; calls and events are passed
///   to it in the order in which they come.
/// - S2. What was sent is on disk before the call is made.
/// - S3. Answers and events of an earlier connection are ignored.
actor ServiceLink {
  /// The most events that wait; with more, everything is read again.
  private static let eventsMax = 20_000
  /// The pause before a server that does not call back is asked again, in milliseconds.
  static let restPause = 5_000

  /// The tree's thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  nonisolated let executor: TreeExecutor
  let plan: ServicePlan
  let lock: SpeakerLock
  private let file: SentFile
  private let show: @Sendable (OriginStatus) -> Void
  let note: @Sendable (String) -> Void
  private let follow: @Sendable ([Path: Path]) -> Void
  // Tree executor only:
  private weak var database: Database?
  var origin: ServiceOrigin
  var app: Feathers?
  private(set) var socket: SocketProvider?
  private var follower: Task<Void, Never>?
  private(set) var calls: [Int: Task<Void, Never>] = [:]
  private var listeners: [String: [ServiceListener]] = [:]
  /// The turns of the last creations, by the paths of services.
  private var turns: [String: CallTurn] = [:]
  /// The number of the connection: reading anew counts as one.
  private var connection = 0
  /// The number of the application that is used; what comes from earlier ones is ignored.
  var generation = 0
  private var lockWatch: TreeExecutor.Subscription?
  private var (isWanted, isEnded) = (false, false)
  private(set) var isActive = false
  private(set) var isConnected = false
  var usesREST = false
  /// Which roads to the server are there.
  var roads = ServiceRoads()
  /// Looks for Socket.IO while the server is asked over REST; nil while nobody does.
  var probing: Task<Void, Never>?
  /// The number of times that Socket.IO was looked for in vain.
  var probeCount = 0
  /// What limits the records of the services, by their paths.
  private var limits: [String: String] = [:]
  /// Why the records of services are not read yet, by their paths.
  private var troubles: [String: String] = [:]
  /// True if everything is to be read again, and if the server can be asked over Socket.IO from now on.
  var (isToReload, isToSwitch) = (false, false)
  var timerTime: Int64?
  /// True while the server owes something and nothing comes.
  var isSilent = false
  private(set) var status = OriginStatus(.link(.offline(.asked)))
  private var isSignedOut: String?
  private nonisolated let events: EventBuffer
  private nonisolated let answers = AnswerBuffer()

  /// Makes a link for a database; `begin` starts it.
  ///
  /// - Parameters:
  ///   - database: the replica.
  ///   - plan: how the server is asked.
  ///   - note: called with what is for the log.
  ///   - follow: called with the places of new records and those that the server gave them.
  ///   - show: called with each new status, on the tree's thread.
  /// - Throws: `DatabaseError` if the lock file cannot be made.
  init(
    _ database: Database, _ plan: ServicePlan, note: @escaping @Sendable (String) -> Void,
    follow: @escaping @Sendable ([Path: Path]) -> Void = { _ in },
    show: @escaping @Sendable (OriginStatus) -> Void
  ) throws {
    self.database = database
    (self.plan, self.note, self.follow, self.show) = (plan, note, follow, show)
    executor = database.executor
    lock = try SpeakerLock(database: database.file)
    file = SentFile(database: database.file)
    origin = ServiceOrigin(sent: file.read())
    events = EventBuffer(max: ServiceLink.eventsMax)
  }

  var now: Int64 { LocalTime.now() }

  // MARK: Starting and ending

  /// Starts the link; it connects as soon as no other process is connected.
  nonisolated func begin() {
    // The closure keeps the link alive until it is attached to the database.
    executor.submit { self.assumeIsolated { $0.attach() } }
  }

  /// Connects anew: another token is at hand.
  nonisolated func retry() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        guard link.isWanted, link.isActive, !link.isEnded else { return }
        link.disconnect()
        link.usesREST = false
        link.connect()
      }
    }
  }

  private func attach() {
    guard let database else { return }
    var sink = OriginSink()
    sink.send = { [weak self] commands in
      self?.assumeIsolated { $0.send(commands) }
    }
    sink.setOffline = { [weak self] isOffline in
      self?.assumeIsolated { isOffline ? $0.goOffline() : $0.goOnline() }
    }
    sink.dropped = { [weak self] write in
      self?.assumeIsolated { $0.decide { $0.dropped(write, now: $1) } }
    }
    sink.end = { [weak self] in self?.assumeIsolated { $0.end() } }
    sink.link = self
    database.assumeIsolated { $0.setOriginSink(sink) }
    show(status)
    goOnline()
  }

  private func goOnline() {
    if isEnded { return }
    isWanted = true
    if isActive { connect() } else { takeOver() }
  }

  /// Connects if no other process holds the lock; otherwise waits until it is released.
  private func takeOver() {
    guard isWanted, !isActive, !isEnded else { return }
    guard lock.take() else {
      set(.elsewhere)
      if lockWatch == nil {
        lockWatch = lock.watch(on: executor) { [weak self] in
          self?.assumeIsolated { $0.takeOver() }
        }
        // The lock may have been released before the watch began.
        takeOver()
      }
      return
    }
    lockWatch?.cancel()
    lockWatch = nil
    // Another process may have sent writes meanwhile.
    origin = ServiceOrigin(sent: file.read())
    isActive = true
    connect()
  }

  private func goOffline() {
    isWanted = false
    lockWatch?.cancel()
    lockWatch = nil
    disconnect()
    if isActive { lock.release() }
    isActive = false
    set(.link(.offline(.asked)))
  }

  private func end() {
    if isEnded { return }
    goOffline()
    isEnded = true
    set(.closed)
  }

  func set(_ state: OriginStatus.State) {
    var shown = OriginStatus(state)
    shown.unknownWrites = origin.unknownWrites
    let told = state == .elsewhere ? lock.stateOfHolder.flatMap { SpeakerState($0) } : nil
    shown.speaker = told?.link
    if shown.isLive {
      shown.hasEvents = !usesREST
      let limits = limits.merging(troubles) { $1 }.sorted { $0.key < $1.key }
      shown.limits =
        limits.isEmpty ? nil : limits.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
    } else if let told {
      (shown.hasEvents, shown.limits) = (told.hasEvents, told.limits)
    }
    if shown.link?.hasConnection != true {
      shown.offlineSince = told?.offlineSince ?? status.offlineSince ?? now
    }
    if shown == status { return }
    if let own = SpeakerState(shown) { lock.tell(state: own.text) }
    if isActive, shown.isLive != status.isLive { lock.noteContact(isConnected: shown.isLive) }
    status = shown
    show(shown)
  }
}

// MARK: The connection

extension ServiceLink {
  func connect() {
    if app != nil { return }
    generation += 1
    roads.begin()
    let generation = generation
    set(.link(.connecting))
    if usesREST {
      app = plan.application(plan.restProvider())
      connected(generation)
      return probeLater(generation)
    }
    let provider = plan.socketProvider()
    socket = provider
    app = plan.application(provider)
    let states = provider.states
    follower = Task { [weak self, executor] in
      for await state in states {
        executor.submit { [weak self] in
          self?.assumeIsolated { $0.take(state, generation) }
        }
      }
    }
    provider.connect()
  }

  func disconnect() {
    lost()
    follower?.cancel()
    probing?.cancel()
    app?.close()
    (app, socket, follower, probing) = (nil, nil, nil, nil)
    isToSwitch = false
    generation += 1
  }

  func connected(_ generation: Int) {
    guard generation == self.generation, !isConnected, isActive, let database else { return }
    isConnected = true
    connection += 1
    isSignedOut = nil
    do {
      let pending = try database.assumeIsolated { Set(try $0.pendingWrites().map(\.id)) }
      origin.connected(pending: pending)
      (origin.isTextual, origin.isSignedIn) = (usesREST, plan.isSignedIn)
      plan.reach.noteConnection(isTextual: usesREST)
      set(.link(.catchingUp))
      // The database gives its commands within the call.
      let time = now
      try database.assumeIsolated { try $0.connectOrigin(originTime: time) }
      showProgress()
    } catch {
      // Without another attempt nothing would ever be asked.
      note("The replica cannot be read, so the connection is closed: \(error)")
      reconnectLater("\(error)")
    }
  }

  /// The connection is lost: nothing that was asked is answered any more.
  func lost() {
    guard isConnected else { return }
    (isConnected, isSilent, isToReload) = (false, false, false)
    (limits, troubles) = ([:], [:])
    calls.values.forEach { $0.cancel() }
    listeners.values.joined().forEach { $0.cancel() }
    (calls, listeners, turns) = ([:], [:], [:])
    // What came before the loss tells what became of writes.
    let came = answers.take().filter { $0.generation == generation }
    let told = origin.disconnected(
      after: events.take().records.map { ($0.path, $0.event, $0.data) },
      came.map { (number: $0.number, answer: $0.result) })
    do {
      // Another process may go on.
      if let sent = origin.takeUnsaved() { try file.write(sent) }
      try database?.assumeIsolated { database in
        if !told.isEmpty { try database.carryOut { try $0.receive(told) } }
        try database.carryOut { try $0.disconnectOrigin() }
      }
    } catch {
      note("The replica cannot be written: \(error)")
    }
  }

  /// Reads everything again, since something may be missing.
  func reload() {
    let isSilent = isSilent
    lost()
    connected(generation)
    setSilent(isSilent)
  }
}

// MARK: Effects

extension ServiceLink {
  /// Changes the origin, and carries out what follows.
  func step(_ change: (inout ServiceOrigin, Int64) -> [ServiceOrigin.Effect]) {
    guard isConnected else { return }
    let connection = connection
    let effects = change(&origin, now)
    // Who shows a record has to know its new place before the record goes from the old one.
    if !origin.newPlaces.isEmpty {
      let places = origin.newPlaces
      origin.newPlaces = [:]
      database?.assumeIsolated { $0.note(moves: places) }
      follow(places)
    }
    for effect in effects {
      // What was meant for an earlier connection is not done on the next one.
      guard isConnected, connection == self.connection else { return }
      carryOut(effect)
    }
    setTimer()
    showProgress()
    reloadIfQuiet()
    switchIfQuiet()
  }

  private func send(_ commands: [OriginCommand]) {
    guard let database else { return }
    let (bases, done) = database.assumeIsolated { $0.grounds(ofWritesIn: commands) }
    step { $0.send(commands, bases: bases, done: done, now: $1) }
  }

  func showProgress() {
    guard isConnected else { return }
    if let isSignedOut {
      set(.link(.offline(.refused(CredentialRefusal(.permissionDenied, isSignedOut)))))
    } else {
      set(.link(isSilent ? .notAnswering : origin.isSettled ? .live : .catchingUp))
    }
  }

  func carryOut(_ effect: ServiceOrigin.Effect) {
    switch effect {
    case .call(let number, let path, let request): call(number, path, request)
    case .tell(let messages):
      if messages.contains(where: \.isAcknowledgement) { isSignedOut = nil }
      do {
        try database?.assumeIsolated { database in
          try database.carryOut { try $0.receive(messages) }
        }
      } catch {
        note("The replica cannot be written, so the connection is closed: \(error)")
        reconnectLater("\(error)")
      }
    case .save(let sent):
      do {
        try file.write(sent)
      } catch {
        note("\(error)")
        reconnectLater("\(error)")
      }
    case .listen(let path): listen(path)
    case .signedOut(let reason): setSignedOut(reason)
    case .note(let text): note(text)
    case .asked(let path, let predicate): plan.reach.note(asked: predicate, of: path)
    case .declined(let path, let predicate): plan.reach.note(declined: predicate, by: path)
    case .limited(let path, let text):
      note("\(path): \(text)")
      limits[path] = text
    case .troubled(let path, let text):
      if let text { note("\(path): \(text)") }
      troubles[path] = text
    case .doubled(let path, let text):
      note("\(path): \(text)")
      limits[path] = text
    }
  }

  private func setSignedOut(_ reason: String) {
    let advice = plan.hasAccounts ? "A s signs in" : "sign in, and open it again"
    isSignedOut = "\(reason.hasSuffix(".") ? String(reason.dropLast()) : reason): \(advice)."
  }

  private func call(_ number: Int, _ path: String, _ request: ServiceRequest) {
    guard let app else { return reconnectLater("there is no connection") }
    let (generation, isRead) = (generation, [.find, .get].contains(request.method))
    if usesREST { watch(number) }
    let late = lateAnswer(to: number)
    let turn = request.method == .create ? CallTurn() : nil
    let previous = turn == nil ? nil : turns[path]
    if let turn { turns[path] = turn }
    calls[number] = Task { [weak self, executor, answers] in
      await previous?.wait()
      let result = await SocketProvider.answer(to: late, placed: { turn?.end() }) {
        await app.service(path).result(of: request)
      }
      turn?.end()
      let answer = AnswerBuffer.Answer(
        number: number, result: result, isRead: isRead, generation: generation)
      guard answers.add(answer) else { return }
      executor.submit { [weak self] in self?.assumeIsolated { $0.takeAnswers() } }
    }
  }

  private func takeAnswers() {
    let taken = answers.take().filter {
      $0.generation == generation && calls.removeValue(forKey: $0.number) != nil
    }
    if taken.isEmpty { return }
    noteHeard(taken)
    let given = taken.map { (number: $0.number, answer: noted($0)) }
    takeEvents()
    step { $0.answered(given, now: $1) }
    guard usesREST, isConnected else { return }
    for case .failure(let error) in given.map(\.answer) where error.code == 503 {
      // Over REST only a call tells that the server is gone.
      return reconnectLater(error.message)
    }
  }

  /// Notes what an answer says about who is signed in; returns what the origin is told.
  private func noted(_ answer: AnswerBuffer.Answer) -> Result<JSONValue, FeathersError> {
    if plan.tokens == nil { return answer.result }
    switch answer.result {
    case .success: isSignedOut = nil
    case .failure(let error) where error.code == 401 && answer.isRead:
      setSignedOut(error.message)
      // What is shown of the user's data stays, and is asked for again.
      return .failure(FeathersError(.tooManyRequests, error.message))
    case .failure: break
    }
    return answer.result
  }

  // MARK: Events

  private func listen(_ path: String) {
    guard let app, listeners[path] == nil else { return }
    let generation = generation
    let handler: @Sendable (ServiceEventRecord) -> Void = { [weak self, executor, events] record in
      guard events.add(record) else { return }
      executor.submit { [weak self] in
        self?.assumeIsolated { link in
          if generation == link.generation { link.takeEvents() }
        }
      }
    }
    let service = app.service(path)
    listeners[path] = [ServiceEvent.created, .updated, .patched, .removed].map {
      service.on($0, handler)
    }
  }

  private func takeEvents() {
    let (records, isOverflown) = events.take()
    if isOverflown { return reload() }
    if records.isEmpty { return }
    step { origin, now in
      origin.take(records.map { ($0.path, $0.event, $0.data) }, now: now)
    }
  }
}

extension OriginMessage {
  /// True if a write was done.
  fileprivate var isAcknowledgement: Bool { if case .acknowledged = self { true } else { false } }
}
