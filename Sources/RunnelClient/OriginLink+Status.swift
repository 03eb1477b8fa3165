import RunnelDatabase
package import RunnelSync

// The status of a link, and those who want to know it.

extension OriginLink {
  /// Calls `resend` later, on the link's executor.
  package nonisolated func sendAgain(_ write: Int64) {
    executor.submit { [weak self] in self?.assumeIsolated { $0.resend(write) } }
  }

  /// Ends the connection, because the session of its user has ended; later a credential is asked for again.
  package nonisolated func endConnection(_ reason: String) {
    executor.submit { [weak self] in self?.assumeIsolated { $0.leaveConnection(reason) } }
  }

  /// Returns why a connection failed, with a hint if the server is none of trees, but may be one of services.
  func advised(_ reason: String) -> String {
    let mark = "status 404 instead of a WebSocket"
    guard let range = reason.firstRange(of: mark) else { return reason }
    let answer = reason[range.upperBound...]
    // Servers of trees say why, in words of their own.
    let isOther = [": {", ": <"].contains { answer.hasPrefix($0) } || answer.contains("Not Found")
    if !answer.isEmpty, !isOther { return reason }
    let scheme = address.isSecure ? "https" : "http"
    return "\(reason[..<range.upperBound]); if it is a Feathers server, open "
      + "feathers+\(scheme)://\(address.host)"
  }

  /// The present status of the link.
  public var currentStatus: OriginStatus { status }

  /// A stream of the status now and after each change, until the database is closed.
  ///
  /// A slow reader gets only the newest 16 statuses.
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

  /// Calls `tell` with the status now and after each change, on the tree's thread.
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

  /// Shows a state of this process, and tells it to the others on the replica.
  func show(_ state: OriginStatus.State, latency: Int64? = nil) {
    var shown = OriginStatus(state, unknownWrites: session.writesOfUnknownOutcome)
    (shown.latencyMilliseconds, shown.receivedBytes) = (latency, session.receivedBytes)
    if !shown.isLive { shown.offlineSince = status.offlineSince ?? lastContact(state) }
    if shown == status { return }
    if shown.isLive != status.isLive { lock.noteContact(isConnected: shown.isLive) }
    if let told = SpeakerState(shown) { lock.tell(state: told.text) }
    tell(shown)
  }

  /// Shows that another process holds the connection, with the state that it tells.
  func showElsewhere() {
    var shown = OriginStatus(.elsewhere, unknownWrites: session.writesOfUnknownOutcome)
    let speaker = lock.stateOfHolder.flatMap { SpeakerState($0) }
    shown.speaker = speaker?.link
    if speaker?.link.hasConnection != true {
      shown.offlineSince = speaker?.offlineSince ?? status.offlineSince ?? lastContact(.elsewhere)
    }
    if shown != status { tell(shown) }
  }

  private func tell(_ shown: OriginStatus) {
    status = shown
    for (_, tell) in observers.sorted(by: { $0.key < $1.key }) { tell(shown) }
  }

  /// When the replica last had contact with the origin, in milliseconds since 1970.
  private func lastContact(_ state: OriginStatus.State) -> Int64 {
    let silence = state == .link(.notAnswering) ? session.silenceMilliseconds(now: now) : 0
    return now.calendar - silence
  }
}

extension LinkState {
  /// True while there is a connection that answers, also while it is catching up.
  package var hasConnection: Bool { self == .live || self == .catchingUp }
}
