import RunnelAccounts
import RunnelStore

// The deletion of the account whose data is shown.

extension AccountWork {
  /// Deletes the account; before, this device is removed from the list of its devices, as nobody can do it later.
  func delete(current: Secret<String>?) async throws(AccountFailure) {
    guard let departures, let opened = await session(), let user = await opened.session.user else {
      return try await perform(.delete(current: current))
    }
    // A wrong password must not remove the device.
    if user.email != nil, let current { try await perform(.reauthenticate(password: current)) }
    let devices = devices
    await devices?.leave()
    // By a request, if the list is not kept here.
    await departures.removeDevice(of: user.id, in: opened.session)
    do throws(AccountFailure) {
      try await perform(.delete(current: current))
    } catch {
      await devices?.comeBack()
      throw error
    }
  }
}
