import RunnelClient
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelSync

// REST, as long as there is no Socket.IO: it may be that the server has none, or that it has just no way to
// it, as while it is started. So Socket.IO is looked for again and again.

extension ServiceLink {
  /// The longest pause before Socket.IO is looked for again, in milliseconds.
  private static let probePauseMax = 60_000

  /// How long a call over REST may wait before the server counts as silent, in milliseconds.
  private static let answerMilliseconds = 8_000

  // MARK: Silence

  /// Notes that the server is silent if a call over REST waits for long.
  func watch(_ call: Int) {
    executor.submit(afterMilliseconds: ServiceLink.answerMilliseconds) { [weak self] in
      self?.assumeIsolated { link in
        if link.usesREST, link.calls[call] != nil { link.setSilent(true) }
      }
    }
  }

  /// Notes that something came over REST, if it is from the server; of a socket, its states tell.
  func noteHeard(_ answers: [AnswerBuffer.Answer]) {
    guard usesREST, isSilent, answers.contains(where: \.isFromServer) else { return }
    setSilent(false)
    if let waiting = calls.keys.min() { watch(waiting) }
  }

  // MARK: Which road

  /// Takes a state of the connection over Socket.IO.
  func take(_ state: SocketSession.State, _ generation: Int) {
    guard generation == self.generation else { return }
    switch state {
    case .idle, .stopped: break
    case .connecting:
      lost()
      roads.socketBegins()
      if case .link(.waiting) = status.state { break }
      set(.link(.connecting))
    case .connected:
      roads.socketAnswers()
      probeCount = 0
      connected(generation)
      setSilent(false)
    case .silent: setSilent(true)
    case .waiting(let milliseconds, let reason):
      lost()
      set(.link(.waiting(until: NetworkClock.uptimeMilliseconds + milliseconds, reason)))
      carryOut(roads.socketFailed(reason), generation)
    case .refused(let reason):
      lost()
      setRefused(reason)
    case .absent(let reason):
      lost()
      carryOut(roads.socketFailed(reason, isAbsent: true), generation)
    }
  }

  private func setRefused(_ reason: String) {
    set(.link(.offline(.refused(CredentialRefusal(.permissionDenied, reason)))))
  }

  private func carryOut(_ step: ServiceRoads.Step, _ generation: Int) {
    switch step {
    case .none: break
    case .askREST: askREST(generation)
    case .trySocket: socket?.connect()
    case .useREST: useREST(generation)
    case .later(let reason): reconnectLater(reason)
    case .refuse(let reason): setRefused(reason)
    }
  }

  /// Asks over REST whether the server is there.
  private func askREST(_ generation: Int) {
    let app = plan.application(plan.restProvider())
    let path = plan.services.first ?? "authentication"
    Task { [weak self, executor] in
      var failure: FeathersError?
      do throws(FeathersError) {
        _ = try await app.service(path).find(ServiceQuery().limit(1))
      } catch {
        failure = error
      }
      app.close()
      let found = failure
      executor.submit { [weak self] in
        self?.assumeIsolated { link in
          guard generation == link.generation else { return }
          link.carryOut(link.roads.restAnswered(found), generation)
        }
      }
    }
  }

  private func useREST(_ generation: Int) {
    guard generation == self.generation, !isConnected else { return }
    usesREST = true
    note("There is no Socket.IO: the server is asked over REST, and tells of no changes of others.")
    disconnect()
    connect()
  }

  // MARK: Socket.IO again

  /// Looks for Socket.IO after a pause that grows.
  func probeLater(_ generation: Int) {
    let pause = min(2_000 << min(probeCount, 10), ServiceLink.probePauseMax)
    probeCount += 1
    executor.submit(afterMilliseconds: pause) { [weak self] in
      self?.assumeIsolated { $0.probe(generation) }
    }
  }

  private func probe(_ generation: Int) {
    guard usesREST, isActive, generation == self.generation, probing == nil else { return }
    let provider = plan.socketProvider()
    let states = provider.states
    probing = Task { [weak self, executor] in
      var isFound = false
      for await state in states {
        if state == .idle || state == .connecting { continue }
        if case .connected = state { isFound = true }
        break
      }
      provider.close()
      if Task.isCancelled { return }
      let found = isFound
      executor.submit { [weak self] in
        self?.assumeIsolated { $0.probed(found, generation) }
      }
    }
    provider.connect()
  }

  private func probed(_ isFound: Bool, _ generation: Int) {
    guard usesREST, isActive, generation == self.generation else { return }
    probing = nil
    if !isFound { return probeLater(generation) }
    isToSwitch = true
    switchIfQuiet()
  }

  /// Asks over Socket.IO, once it is there and no write would be cut off.
  func switchIfQuiet() {
    guard isToSwitch, !(isConnected && origin.isWriting) else { return }
    note("There is Socket.IO now.")
    disconnect()
    usesREST = false
    connect()
  }
}
