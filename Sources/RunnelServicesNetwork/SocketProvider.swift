public import RunnelBase
public import RunnelNetwork
public import RunnelServices
import Synchronization

/// Asks the services of a server over Socket.IO, and tells of their events.
///
/// It carries out the effects of a `SocketSession`. The version of the protocol is found out. The
/// connection is made at the first call or by `connect`, and is made again when it is lost.
///
/// Invariants:
/// - P1. Effects are carried out one after the other, in their order, by one thread at a time.
/// - P2. Reports about a connection name the attempt that it belongs to.
public final class SocketProvider: ServiceProvider {
  private typealias Answer = Result<JSONValue, FeathersError>

  private struct Values {
    var session: SocketSession
    var effects: [SocketSession.Effect] = []
    var isCarryingOut = false
    var link: ProviderLink?
    var socket: DialedSocket?
    /// Requests under way, by a number of their own.
    var tasks: [Int: Task<Void, Never>] = [:]
    var calls: [Int: CheckedContinuation<Answer, Never>] = [:]
    /// Who is told of an answer that comes after the time limit of a call.
    var late: [Int: @Sendable (Answer) -> Void] = [:]
    var cookies: [(name: String, value: String)] = []
    var observers: [Int: @Sendable (SocketSession.State) -> Void] = [:]
    var lastNumber = 0
    var timer: Task<Void, Never>?
    var timerTime: Int64?

    mutating func number() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  /// Takes the answer to a call that comes after its time limit.
  package final class LateAnswer: Sendable {
    package let take: @Sendable (Result<JSONValue, FeathersError>) -> Void

    package init(_ take: @escaping @Sendable (Result<JSONValue, FeathersError>) -> Void) {
      self.take = take
    }
  }

  /// Who is told if a call that is made now is answered after its time limit, on the same connection.
  @TaskLocal private static var lateAnswer: LateAnswer?
  /// A function in a local value of tasks: the optimizer makes of a bare one a call without a type, which crashes.
  private final class Placing: Sendable {
    let tell: @Sendable () -> Void

    init(_ tell: @escaping @Sendable () -> Void) { self.tell = tell }
  }

  /// Told once a call that is made now has its place: what is called later is sent after it.
  @TaskLocal private static var placing: Placing?

  /// Makes a call, and has it told if it is answered after its time limit, and when it has its place among
  /// the calls of its connection.
  package static func answer(
    to late: LateAnswer, placed: @escaping @Sendable () -> Void,
    _ call: @Sendable () async -> Result<JSONValue, FeathersError>
  ) async -> Result<JSONValue, FeathersError> {
    await $placing.withValue(Placing(placed)) { await $lateAnswer.withValue(late, operation: call) }
  }

  private let base: String
  private let access: ServiceAccess
  private let client: WebClient
  private let dialer: SocketDialer
  private let values: Mutex<Values>

  /// Makes a provider for the services of a host; a path in the address is ignored.
  public init(_ address: WebAddress, _ access: ServiceAccess = ServiceAccess()) {
    base = address.bare + access.socketPath
    self.access = access
    client = access.client()
    dialer = SocketDialer(trustedFile: access.trustedFile, proxies: access.proxies)
    values = Mutex(
      Values(session: SocketSession(access.socket, seed: .random(in: 0...(.max)))))
  }

  /// True: the server tells of the events that it publishes to this connection.
  public var hasEvents: Bool { true }

  /// Gets what the provider reports to.
  public func attach(_ link: ProviderLink) { values.withLock { $0.link = link } }

  /// Connects, if there is no connection, so that events arrive before the first call.
  public func connect() { perform { $0.start(now: $1) } }

  /// Ends the connection; calls that are under way fail.
  public func close() {
    perform { session, _ in session.stop() }
    let (tasks, timer) = values.withLock { values in
      defer { (values.tasks, values.timer, values.timerTime) = ([:], nil, nil) }
      return (Array(values.tasks.values), values.timer)
    }
    tasks.forEach { $0.cancel() }
    timer?.cancel()
  }

  // MARK: The state

  /// The state of the connection.
  public var state: SocketSession.State { values.withLock { $0.session.state } }

  /// The states of the connection: the present one, and those that follow.
  public var states: AsyncStream<SocketSession.State> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let number = onState { continuation.yield($0) }
      continuation.onTermination = { [weak self] _ in
        self?.values.withLock { $0.observers[number] = nil }
      }
    }
  }

  /// Calls a function with the present state and with those that follow, before anything else is told of them.
  @discardableResult
  package func onState(_ tell: @escaping @Sendable (SocketSession.State) -> Void) -> Int {
    values.withLock { values in
      let number = values.number()
      values.observers[number] = tell
      tell(values.session.state)
      return number
    }
  }

  // MARK: Calls

  /// Makes a call.
  public func call(_ call: ProviderCall) async throws(FeathersError) -> JSONValue {
    let (event, arguments) = SocketProvider.packet(call, joined: access.usesJoinedNames)
    let late = SocketProvider.lateAnswer
    let key = values.withLock { values in
      let key = values.number()
      if let late { values.late[key] = late.take }
      return key
    }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
        values.withLock { $0.calls[key] = continuation }
        perform {
          $0.call(
            key, event, arguments, isSignIn: call.isSignIn, isRenewal: call.isRenewal, now: $1)
        }
        if !call.isSignIn { SocketProvider.placing?.tell() }
        if Task.isCancelled { perform { session, _ in session.cancel(key) } }
      }
    } onCancel: {
      perform { session, _ in session.cancel(key) }
    }
    return try answer.get()
  }

  /// Returns the event of a call, and what is sent with it.
  private static func packet(
    _ call: ProviderCall, joined: Bool
  ) -> (event: String, arguments: [JSONValue]) {
    let request = call.request
    var arguments: [JSONValue] = joined ? [] : [.string(call.path)]
    if request.method.hasID { arguments.append(request.id?.json ?? .null) }
    if request.method.hasData, request.method != .remove {
      arguments.append(request.data ?? .null)
    }
    arguments.append(request.query.json)
    return (joined ? "\(call.path)::\(request.method.name)" : request.method.name, arguments)
  }
}

// MARK: - Effects

extension SocketProvider {
  /// Changes the session, and carries out what follows from that.
  private func perform(_ change: (inout SocketSession, Int64) -> [SocketSession.Effect]) {
    let isMine = values.withLock { values in
      values.effects += change(&values.session, NetworkClock.uptimeMilliseconds)
      defer { values.isCarryingOut = true }
      return !values.isCarryingOut
    }
    if !isMine { return }
    while let effects = nextEffects() { effects.forEach(carryOut) }
  }

  /// Takes the waiting effects; nil if there are none, and then sets the timer.
  private func nextEffects() -> [SocketSession.Effect]? {
    values.withLock { values in
      if !values.effects.isEmpty {
        defer { values.effects = [] }
        return values.effects
      }
      values.isCarryingOut = false
      setTimer(&values)
      return nil
    }
  }

  private func setTimer(_ values: inout Values) {
    guard let deadline = values.session.deadline else { return }
    // An earlier timer sets the next one when it is over.
    if let time = values.timerTime, time <= deadline { return }
    values.timer?.cancel()
    values.timerTime = deadline
    values.timer = Task { [weak self] in
      let wait = max(1, deadline - NetworkClock.uptimeMilliseconds)
      guard (try? await NetworkTasks.sleep(milliseconds: wait)) != nil, let self else { return }
      self.values.withLock { values in
        if values.timerTime == deadline { (values.timer, values.timerTime) = (nil, nil) }
      }
      self.perform { $0.tick(now: $1) }
    }
  }

  private func carryOut(_ effect: SocketSession.Effect) {
    switch effect {
    case .engine(let attempt, let effect): carryOut(effect, attempt)
    case .event(let name, let data):
      guard let space = name.lastIndex(of: " ") else { return }
      let event = ServiceEvent(String(name[name.index(after: space)...]))
      values.withLock(\.link)?.events(String(name[..<space]), event, data)
    case .answered(let key, let answer):
      let isLate = if case .failure(let error) = answer { error.code == 408 } else { false }
      values.withLock { values in
        if !isLate { values.late[key] = nil }
        return values.calls.removeValue(forKey: key)
      }?.resume(returning: answer)
    case .answeredLate(let key, let answer):
      values.withLock { $0.late.removeValue(forKey: key) }?(answer)
    case .signIn:
      let (link, attempt) = values.withLock { ($0.link, $0.session.attempt) }
      run { provider in
        await link?.signIn()
        let refusal = link?.refusal()
        provider()?.perform { $0.signedIn(attempt: attempt, refusal: refusal, now: $1) }
      }
    case .sessionEnded: values.withLock(\.link)?.refused()
    case .state(let state):
      if case .waiting = state { values.withLock { $0.late = [:] } }
      for observer in values.withLock({ Array($0.observers.values) }) { observer(state) }
    }
  }

  /// Runs a task that is cancelled when the provider is closed.
  private func run(_ body: @escaping @Sendable (() -> SocketProvider?) async -> Void) {
    values.withLock { values in
      if values.session.state == .stopped {
        // The last word to the server.
        Task { await body { nil } }
        return
      }
      let number = values.number()
      values.tasks[number] = Task { [weak self] in
        await body { self }
        _ = self?.values.withLock { $0.tasks.removeValue(forKey: number) }
      }
    }
  }

  private func carryOut(_ effect: EngineLink.Effect, _ attempt: Int) {
    switch effect {
    case .openSocket(let query): dial(query, attempt)
    case .sendText(let text): values.withLock(\.socket)?.send([text])
    case .sendBinary(let bytes): values.withLock(\.socket)?.send(binary: bytes)
    case .closeSocket:
      values.withLock(\.socket)?.close(code: 1000, text: "")
      values.withLock { $0.socket = nil }
    case .get(let query): send("GET", query, nil, attempt)
    case .post(let query, let body): send("POST", query, body, attempt)
    // These are the session's own.
    case .opened, .message, .binary, .ended: break
    }
  }

  private func report(
    _ attempt: Int, _ change: (inout EngineLink, Int64) -> [EngineLink.Effect]
  ) {
    perform { session, now in
      session.report(attempt: attempt, now: now) { change(&$0, now) }
    }
  }
}

// MARK: - Requests and web sockets

extension SocketProvider {
  private func send(_ method: String, _ query: String, _ body: [UInt8]?, _ attempt: Int) {
    guard let address = WebAddress(base + "?" + query) else {
      return report(attempt) { link, _ in link.pollFailed("the address is not valid") }
    }
    var headers = self.headers
    if body != nil { headers.append(("Content-Type", "text/plain;charset=UTF-8")) }
    let request = WebRequest(method, address, headers: headers, body: body)
    let (client, isPost) = (client, body != nil)
    run { provider in
      do throws(NetworkError) {
        let answer = try await client.answer(to: request, bytesMax: ServiceAccess.answerBytesMax)
        guard let provider = provider() else { return }
        provider.keep(answer.headers("Set-Cookie"))
        provider.report(attempt) { link, now in
          isPost
            ? link.postAnswered(answer.status, answer.body, now: now)
            : link.pollAnswered(answer.status, answer.body, now: now)
        }
      } catch {
        provider()?.report(attempt) { link, _ in
          isPost ? link.postFailed(error.message) : link.pollFailed(error.message)
        }
      }
    }
  }

  /// The headers of each request: a load balancer may need its cookies back.
  private var headers: [(name: String, value: String)] {
    var headers = access.headers.map { (name: $0.key, value: $0.value) }
    let cookies = values.withLock(\.cookies)
    if !cookies.isEmpty {
      let text = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
      headers.append(("Cookie", text))
    }
    return headers
  }

  private static let cookiesMax = 50

  private func keep(_ cookies: [String]) {
    if cookies.isEmpty { return }
    values.withLock { values in
      for cookie in cookies {
        let pair = cookie.prefix { $0 != ";" }.split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, let name = pair.first.map(String.init), !name.isEmpty else {
          continue
        }
        values.cookies.removeAll { $0.name == name }
        if values.cookies.count < SocketProvider.cookiesMax {
          values.cookies.append((name, String(pair[1])))
        }
      }
    }
  }

  private func dial(_ query: String, _ attempt: Int) {
    guard let address = WebAddress(base + "?" + query) else {
      return report(attempt) { link, _ in link.socketClosed("the address is not valid") }
    }
    let handover = SocketHandling(attempt) { [weak self] in self }
    let socket = dialer.dial(
      address, userAgent: access.userAgent, headers: headers, handover)
    handover.hold(socket)
    values.withLock { $0.socket = socket }
  }

  /// Passes the events of a web socket on.
  private final class SocketHandling: DialedSocketHandling {
    private let attempt: Int
    private let provider: @Sendable () -> SocketProvider?
    private let socket = Mutex<DialedSocket?>(nil)

    init(_ attempt: Int, _ provider: @escaping @Sendable () -> SocketProvider?) {
      (self.attempt, self.provider) = (attempt, provider)
    }

    func hold(_ socket: DialedSocket) { self.socket.withLock { $0 = socket } }

    private func taken(_ count: Int) { socket.withLock(\.self)?.taken(count) }

    func opened() { provider()?.report(attempt) { link, _ in link.socketOpened() } }

    func received(_ text: [UInt8]) {
      provider()?.report(attempt) { $0.socketText(text, now: $1) }
      taken(text.count)
    }

    func received(binary: [UInt8]) -> Bool {
      provider()?.report(attempt) { $0.socketBinary(binary, now: $1) }
      taken(binary.count)
      return true
    }

    func heard() {}

    func closed(_ reason: String) {
      provider()?.report(attempt) { link, _ in link.socketClosed(reason) }
    }
  }
}
