import RunnelClient
import RunnelServicesTree

// What the user decides: to send a write again whose outcome is unknown, to give it up, and to read anew.

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
}
