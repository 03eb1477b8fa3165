package import RunnelBase

extension SocketSession {
  /// Makes a call: it is sent when a connection is there and signed in.
  ///
  /// - Parameters:
  ///   - key: the name under which the answer is given.
  ///   - event: the name of the event that is sent.
  ///   - arguments: what is sent with it.
  ///   - isSignIn: true for a call that signs in, which does not wait for that.
  ///   - isRenewal: true for one that the sign-in of each connection shares, so that it is sent as soon as
  ///     there is a connection.
  ///   - now: the time.
  /// - Returns: what has to be done.
  package mutating func call(
    _ key: Int, _ event: String, _ arguments: [JSONValue], isSignIn: Bool = false,
    isRenewal: Bool = false, now: Int64
  ) -> [Effect] {
    if state == .stopped {
      return [
        .answered(
          key,
          .failure(
            FeathersError(
              .unavailable, "The connection was closed by the program.", data: ["isSent": false])))
      ]
    }
    if waiting.count >= SocketSession.waitingMax {
      return [
        .answered(
          key,
          .failure(
            FeathersError(
              .unavailable, "Too many calls wait for a connection.", data: ["isSent": false])))
      ]
    }
    waiting.append(
      Call(
        key: key, event: event, arguments: arguments, isSignIn: isSignIn, isRenewal: isRenewal,
        deadline: now + options.waitMilliseconds))
    // Whoever calls does not wait for the end of a pause.
    return start(now: now) + flush(now)
  }

  /// The connection is signed in, or need not be: the waiting calls are sent.
  ///
  /// With a refusal they are answered with it, and so are others until a call signs in.
  package mutating func signedIn(
    attempt: Int, refusal: FeathersError? = nil, now: Int64
  ) -> [Effect] {
    guard attempt == self.attempt, phase == .signingIn else { return [] }
    phase = .ready
    self.refusal = refusal
    return flush(now)
  }

  /// Gives a call up; an answer to it is ignored.
  package mutating func cancel(_ key: Int) -> [Effect] {
    let error = FeathersError(.cancelled, "The call was cancelled.")
    if let index = waiting.firstIndex(where: { $0.key == key }) {
      waiting.remove(at: index)
      return [.answered(key, .failure(error))]
    }
    guard let id = sent.first(where: { $0.value.key == key })?.key else { return [] }
    _ = take(sent: id)
    return [.answered(key, .failure(error))]
  }

  /// Sends the calls that need not wait; of a connection that was just made, only the sign-in that was
  /// begun before.
  mutating func flush(_ now: Int64, isSigningIn: Bool = false) -> [Effect] {
    guard phase == .ready || phase == .signingIn, let link else { return [] }
    var effects: [Effect] = []
    var packets: [EnginePacket] = []
    let calls = waiting
    let isReady = phase == .ready
    let isDue = { (call: Call) in isReady || (isSigningIn ? call.isRenewal : call.isSignIn) }
    waiting = calls.filter { !isDue($0) }
    for var call in calls where isDue(call) {
      if let refusal, !call.isSignIn {
        effects.append(.answered(call.key, .failure(SocketSession.unsent(refusal))))
        continue
      }
      let packet = SocketPacket(
        .event, id: nextID, payload: .array([.string(call.event)] + call.arguments))
      let text = packet.text
      if text.count + 2 > link.payloadMax {
        // Feathers has no name for it; nothing was wrong with what was asked.
        var error = FeathersError(
          .badRequest,
          "The call has \(text.count) bytes, and the server takes \(link.payloadMax) at once over "
            + "Socket.IO, so nothing was sent; a call over REST may take it.",
          data: ["isSent": false])
        (error.name, error.code, error.className) = (
          "PayloadTooLarge", 413, "payload-too-large"
        )
        effects.append(.answered(call.key, .failure(error)))
        continue
      }
      call.deadline = now + options.callMilliseconds
      sent[nextID] = call
      sentOrder.append(nextID)
      nextID += 1
      packets.append(EnginePacket(.message, text))
    }
    if packets.isEmpty { return effects }
    return effects + advance(now) { $0.send(packets) }
  }

  /// The call that was sent first of those that are not answered.
  var oldestSent: Call? {
    sentStart < sentOrder.count ? sent[sentOrder[sentStart]] : nil
  }

  /// Takes the call with an id out of those that are sent.
  mutating func take(sent id: Int) -> Call? {
    guard let call = sent.removeValue(forKey: id) else { return nil }
    while sentStart < sentOrder.count, sent[sentOrder[sentStart]] == nil { sentStart += 1 }
    if sentStart > 1024, sentStart * 2 > sentOrder.count {
      sentOrder.removeFirst(sentStart)
      sentStart = 0
    }
    return call
  }

  /// Fails the calls whose time is over.
  mutating func expire(_ now: Int64) -> [Effect] {
    var effects: [Effect] = []
    while let call = waiting.first, call.deadline <= now {
      waiting.removeFirst()
      effects.append(.answered(call.key, .failure(unreachable())))
    }
    while let call = oldestSent, call.deadline <= now {
      let id = sentOrder[sentStart]
      _ = take(sent: id)
      if late.count < SocketSession.waitingMax { late[id] = call.key }
      let error = FeathersError(
        .timeout,
        "The server did not answer \(call.event) within \(options.callMilliseconds / 1000) s.",
        data: ["isSent": true])
      effects.append(.answered(call.key, .failure(SocketSession.error(error, of: call))))
    }
    return effects
  }

  mutating func failSent(_ error: FeathersError) -> [Effect] {
    let calls = sent.sorted { $0.key < $1.key }
    (sent, sentOrder, sentStart, late) = ([:], [], 0, [:])
    return calls.map { _, call in
      .answered(call.key, .failure(SocketSession.error(error, of: call)))
    }
  }

  /// The error of a call that was sent and got no answer: of a write it says that its outcome is not known.
  private static func error(_ error: FeathersError, of call: Call) -> FeathersError {
    let method = call.event.split(separator: ":").last ?? ""
    if method == "find" || method == "get" || call.isSignIn { return error }
    var error = error
    error.message = error.message.dropLast() + ": what became of the call is not known."
    return error
  }

  /// The error of a call that is not sent, as the sign-in before it failed.
  private static func unsent(_ refusal: FeathersError) -> FeathersError {
    var error = refusal
    // Of these it could be thought that the call was sent.
    if error.data?["isSent"] != nil || [408, 502, 503, 504].contains(error.code) {
      error.data = ["isSent": false]
    }
    return error
  }

  mutating func failWaiting(_ error: FeathersError) -> [Effect] {
    let calls = waiting
    waiting = []
    return calls.map { .answered($0.key, .failure(error)) }
  }
}
