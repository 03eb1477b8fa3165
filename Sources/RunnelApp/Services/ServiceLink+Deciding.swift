import RunnelBase
import RunnelClient
import RunnelNetwork
import RunnelServices
import RunnelServicesNetwork
import RunnelServicesTree
import RunnelSync

// What the user decides: to send a write again whose outcome is unknown, to give it up, and to read anew; and
// what is due at a time.

extension ServiceLink {
  /// Sends a write of unknown outcome again.
  nonisolated func sendAgain(_ write: Int64) {
    executor.submit { [weak self] in
      self?.assumeIsolated { $0.decide { $0.sendAgain(write, now: $1) } }
    }
  }

  /// Reads everything again, once no write is under way.
  nonisolated func readAgain() {
    executor.submit { [weak self] in
      self?.assumeIsolated { link in
        guard link.isConnected else { return }
        link.isToReload = true
        link.reloadIfQuiet()
      }
    }
  }

  /// Reads everything again if that is wanted, and no write would be cut off.
  func reloadIfQuiet() {
    if isToReload, isConnected, !origin.isWriting { reload() }
  }

  /// Carries out what the user has decided about a write of unknown outcome, also without a connection.
  func decide(_ change: (inout ServiceOrigin, Int64) -> [ServiceOrigin.Effect]) {
    if isConnected { return step(change) }
    for case .save(let sent) in change(&origin, now) { carryOut(.save(sent)) }
    set(status.state)
  }

  /// Who takes the answer to a call that comes after its time limit.
  func lateAnswer(to number: Int) -> SocketProvider.LateAnswer {
    let (generation, executor) = (generation, executor)
    return SocketProvider.LateAnswer { [weak self] answer in
      executor.submit { [weak self] in
        self?.assumeIsolated { link in
          if generation != link.generation { return }
          link.step { $0.answeredLate(number, answer, now: $1) }
        }
      }
    }
  }

  /// Has the origin do what is due, at its time.
  func setTimer() {
    guard isConnected, let deadline = origin.deadline else { return }
    // A timer that is due earlier sets the next one.
    if let timerTime, timerTime <= deadline { return }
    timerTime = deadline
    executor.submit(afterMilliseconds: Int(clamping: max(0, deadline - now))) { [weak self] in
      self?.assumeIsolated { link in
        link.timerTime = nil
        link.step { $0.tick(now: $1) }
      }
    }
  }

  /// Notes that the server is silent although it owes something, or no longer.
  func setSilent(_ isSilent: Bool) {
    if self.isSilent == isSilent || !isConnected { return }
    self.isSilent = isSilent
    showProgress()
  }

  /// Ends the connection, and makes another one after a pause.
  func reconnectLater(_ reason: String) {
    disconnect()
    usesREST = false
    set(
      .link(
        .waiting(
          until: NetworkClock.uptimeMilliseconds + Int64(ServiceLink.restPause), reason)))
    executor.submit(afterMilliseconds: ServiceLink.restPause) { [weak self] in
      self?.assumeIsolated { if $0.isActive, !$0.isConnected { $0.connect() } }
    }
  }
}

extension ServiceHandle {
  /// Makes a call, and returns what became of it.
  func result(of request: ServiceRequest) async -> Result<JSONValue, FeathersError> {
    do throws(FeathersError) {
      return .success(try await self.request(request).json)
    } catch {
      return .failure(error)
    }
  }
}
