import RunnelDatabase
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree

// REST, as long as there is no Socket.IO: it may be that the server has none, or that it has just no way to
// it, as while it is started. So Socket.IO is looked for again and again.

extension ServiceLink {
  /// The longest pause before Socket.IO is looked for again, in milliseconds.
  private static let probePauseMax = 60_000

  /// How long a call over REST may wait before the server counts as silent, in milliseconds.
  private static let answerMilliseconds = 8_000

  /// Notes that the server is silent if a call over REST waits for long.
  func watch(_ call: Int) {
    executor.submit(afterMilliseconds: ServiceLink.answerMilliseconds) { [weak self] in
      self?.assumeIsolated { link in
        if link.usesREST, link.calls[call] != nil { link.setSilent(true) }
      }
    }
  }

  /// Asks over REST whether the server is there, since it may have no Socket.IO.
  func tryREST(_ generation: Int) {
    if hasSocket || isTryingREST { return }
    isTryingREST = true
    let app = plan.application(plan.restProvider())
    let path = plan.services.first ?? "authentication"
    Task { [weak self, executor] in
      var failure: FeathersError?
      do throws(FeathersError) {
        _ = try await app.service(path).find(ServiceQuery().limit(1))
      } catch {
        // What is no Feathers server has no such page.
        if [404, 502, 503].contains(error.code) { failure = error }
      }
      app.close()
      let found = failure
      executor.submit { [weak self] in
        self?.assumeIsolated { link in
          link.isTryingREST = false
          if let found {
            if let reason = link.absence { link.takeAbsence(reason, found, generation) }
          } else {
            link.useREST(generation)
          }
        }
      }
    }
  }

  /// Neither Socket.IO nor a service is at the address: asks again later, unless the server says so.
  private func takeAbsence(_ reason: String, _ failure: FeathersError, _ generation: Int) {
    guard generation == self.generation, !isConnected else { return }
    if failure.code == 404 {
      return setRefused("there is no Socket.IO (\(reason)), and over REST: \(failure.message)")
    }
    reconnectLater(failure.message)
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
