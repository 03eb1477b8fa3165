import RunnelBase
import RunnelServices
import RunnelTree

// Questions about the records of a service that fail: those that may succeed later are asked again.

/// How often the questions about the records of a service have failed in a row.
struct ServiceTrouble: Sendable {
  /// The longest pause before the next question, in milliseconds.
  static let pauseMax: Int64 = 60_000

  private(set) var count = 0
  /// When the service may be asked again; nil if it may be.
  private(set) var retryTime: Int64?

  /// Notes a failure: the pause grows with each.
  mutating func note(_ now: Int64) {
    retryTime =
      now + min(ServiceOrigin.retryPause << Int64(min(count, 10)), ServiceTrouble.pauseMax)
    count += 1
  }

  /// Ends the pause if it is over, also after a step back of the clock; returns true if it has ended.
  mutating func end(_ now: Int64) -> Bool {
    guard let retryTime, retryTime <= now || retryTime > now + ServiceTrouble.pauseMax else {
      return false
    }
    self.retryTime = nil
    return true
  }
}

extension ServiceOrigin {
  /// Returns the answer to a question for a list; an error if it is none, as that of a proxy.
  mutating func listed(
    _ answer: Result<JSONValue, FeathersError>, _ service: Key
  ) -> Result<JSONValue, FeathersError> {
    guard case .success(let json) = answer else { return answer }
    if json.array != nil || ServiceResult(json).page != nil { return answer }
    // Some services have one record only, and send it.
    if json.object != nil, mirror.key(of: json, in: service) != nil { return answer }
    return .failure(FeathersError(.generalError, "The answer is no list of records."))
  }

  /// A question about the records of a service failed.
  mutating func failed(_ service: Key, _ error: FeathersError, _ now: Int64) {
    if error.isPassing { return pause(now) }
    guard error.mayPass else { return refuse(error) { $0.query.path.keys == [service] } }
    // Who asks once is told; who listens keeps what is known, and waits.
    refuse(error) { ask in
      guard case .get = ask.kind else { return false }
      return ask.query.path.keys == [service]
    }
    guard isListened(service) else { return }
    services[service]?.trouble.note(now)
    let text = "\(error.message.withoutStop) (\(error.name)); it is asked again"
    effects.append(.troubled(path: ServiceMirror.path(of: service), text))
  }

  /// The records of a service were read.
  mutating func succeeded(_ service: Key) {
    guard let trouble = services[service]?.trouble, trouble.count > 0 else { return }
    services[service]?.trouble = ServiceTrouble()
    effects.append(.troubled(path: ServiceMirror.path(of: service), nil))
  }

  /// Has services asked again whose pause is over.
  mutating func endPauses(_ now: Int64) {
    for (service, state) in services where state.trouble.retryTime != nil {
      guard services[service]?.trouble.end(now) == true else { continue }
      // Nobody looks any more.
      if !isListened(service) { succeeded(service) }
    }
  }

  /// When the first service may be asked again.
  var troubleTime: Int64? { services.values.compactMap(\.trouble.retryTime).min() }

  /// True if somebody waits for the records of a service, as long as they are shown.
  private func isListened(_ service: Key) -> Bool {
    asks.values.contains { ask in
      guard case .listen = ask.kind else { return false }
      return !ask.isAnswered && ask.query.path.keys == [service]
    }
  }

  /// Refuses queries, which are then not asked any more.
  mutating func refuse(_ error: FeathersError, where isRefused: (Ask) -> Bool) {
    for (listener, ask) in asks.sorted(by: { $0.key < $1.key }) where isRefused(ask) {
      asks[listener] = nil
      engine.unlisten(listener)
      var refusal = refusal(error)
      refusal.path = ask.query.path.description
      switch ask.kind {
      case .get(let id): messages.append(.rejected(id: id, refusal))
      case .listen(_, _) where ask.isAnswered:
        messages.append(.listenRevoked(ask.query, refusal))
      case .listen(let id, _): messages.append(.listenRefused(id, refusal))
      }
    }
  }

  /// The error of a query that is refused: what the server said, and what the user can do.
  private func refusal(_ error: FeathersError) -> TreeError {
    var refusal = error.treeError
    switch (error.code, isSignedIn) {
    case (401, false):
      refusal.message += ": sign in (`runnel login`, or the accounts of the workspace)"
    case (403, true):
      refusal.message += ": somebody else may be allowed to, as whom you can sign in"
    default: break
    }
    return refusal
  }
}

extension FeathersError {
  /// True if the same question may be answered later, though nothing says when: the fault is the server's, or
  /// that of something before it.
  fileprivate var mayPass: Bool { code >= 500 && code != 501 }
}

extension String {
  /// The text without a full stop at its end.
  fileprivate var withoutStop: Substring { hasSuffix(".") ? dropLast() : self[...] }
}
