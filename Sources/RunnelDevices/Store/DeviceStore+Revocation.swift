import RunnelAccounts

// A revocation is of the sign-in before it: who signs in afterwards, by this program or another one, has the device
// again.

extension DeviceStore {
  /// Puts this device into the list of a user; one that was taken away before the user signed in comes back.
  ///
  /// - Returns: what went wrong; nil for nothing.
  func failure(
    putting device: Device, of user: String, isFresh: Bool
  ) async -> DeviceFailure? {
    do throws(DeviceFailure) {
      try await storage.put(device, of: user, isFresh: isFresh)
      return nil
    } catch {
      guard error.code == .revoked, !isFresh, await hasSignedInSinceRevocation(user) else {
        return error
      }
      return await failure(putting: device, of: user, isFresh: true)
    }
  }

  private func hasSignedInSinceRevocation(_ user: String) async -> Bool {
    // What cannot be read outweighs nothing.
    guard storage.marksByServerTime, let list = try? await storage.devices(of: user),
      let time = list.first(where: { $0.id == deviceID })?.status.revoked
    else { return false }
    return await session.hasSignedIn(user, after: time)
  }

  /// Signs the user out, unless the user signed in after this device was taken away: then it is put again.
  func take(revocation time: Int64, of user: String) async {
    let hasSignedIn = await session.hasSignedIn(user, after: time)
    let account = await session.snapshot
    guard listed == user, account.user == user else { return }
    guard hasSignedIn, storage.marksByServerTime else { return handle(.takenAway(user: user)) }
    // The mark stands until that is written.
    if time == outweighed { return }
    outweighed = time
    handle(.account(user, isFresh: true, departing: Set(account.departing)))
  }
}
