import RunnelBase
import RunnelClient
import RunnelDatabase
import Synchronization

// Which devices are connected: each shows it by itself, and the origin takes it back.
//
// The origin is asked to take it back before it is shown, and that request stays until the origin has confirmed
// that it was taken back by a write. So a connection that ends at any moment leaves no device that is shown as
// connected.

extension TreeDeviceStorage {
  /// How long it is waited for the origin to confirm that a device is not connected any more.
  private static let endMilliseconds: Int64 = 2000

  /// Shows that a device is connected: after each connection, the origin is asked to take that back
  /// when the connection is lost.
  public func beginPresence(of device: String, user: String) async {
    await endWatching(device, user)
    guard let status = try? await status(of: device, user),
      let connected = try? status.root.child(".info/connected")
    else { return }
    let name = TreeDeviceStorage.name(device, user)
    state.withLock { state in
      if state.leaving.contains(name) { return }
      state.presences[name] = Task { [weak self] in
        // A presence that cannot be shown is no failure of what the user wants.
        _ = try? await {
          for try await snapshot in connected.values where snapshot.value == true {
            // Another window signed out, and this one has the connection now: the device is gone.
            if await self?.isGone(device, user) == true { continue }
            do {
              try await TreeDeviceStorage.showPresence(at: status)
            } catch is CancellationError {
              return
            } catch {
              // The connection was lost meanwhile: the next one shows it.
            }
          }
        }()
      }
    }
  }

  /// Shows that a device is connected, after the origin has promised to take that back.
  ///
  /// Both are transactions: a write that was not answered would wait in the replica, also
  /// after the end of the program, and be sent by another connection, which has no such promise.
  private static func showPresence(at status: Reference) async throws {
    let time: JSONValue = [".sv": "timestamp"]
    try await status.onDisconnectUpdateChildValues([
      DeviceField.isOnline: false, DeviceField.lastSeen: time,
    ])
    try await status.child(DeviceField.lastSeen).runTransaction { _ in .success(time) }
    // This comes last: who sees that it is connected may remove it.
    try await status.child(DeviceField.isOnline).runTransaction { _ in .success(true) }
  }

  /// Shows that a device is not connected any more.
  ///
  /// Of a device that is not in the list any more, nothing is written. If the connection ends meanwhile, the origin
  /// shows it.
  public func endPresence(of device: String, user: String) async {
    let name = TreeDeviceStorage.name(device, user)
    let ending = state.withLock { state -> Task<Void, Never>? in
      if state.leaving.contains(name) { return nil }
      let earlier = state.endings[name]
      let task = Task {
        await earlier?.value
        await self.showEnd(of: device, user)
      }
      state.endings[name] = task
      return task
    }
    await ending?.value
  }

  /// Whether a device is in the list of a user, as far as that is known.
  private func isListed(_ device: String, _ user: String) -> Bool {
    state.withLock { $0.listed[user]?.contains(device) } != false
  }

  /// Whether a device is known to be gone from the list of a user.
  private func isGone(_ device: String, _ user: String) async -> Bool {
    if isListed(device, user) { return false }
    // What was just written here may be told later.
    guard let entry = try? await place(of: user).child("\(DeviceField.devices)/\(device)"),
      let kept = try? await entry.get(from: .cache)
    else { return false }
    return !kept.exists
  }

  private func showEnd(of device: String, _ user: String) async {
    guard await endWatching(device, user), let status = try? await status(of: device, user) else {
      return
    }
    // Without a connection, the origin has shown it.
    if isListed(device, user), await TreeDeviceStorage.isLive(status.database) {
      let isWritten = try? await isDone(within: TreeDeviceStorage.endMilliseconds) {
        try await TreeDeviceStorage.writeEnd(at: status)
      }
      guard isWritten == true else { return }
    }
    if state.withLock({ $0.leaving.contains(TreeDeviceStorage.name(device, user)) }) { return }
    _ = try? await status.cancelDisconnectOperations()
  }

  /// Writes that a device is not connected any more; as transactions, which never wait for another connection: by
  /// then the device may have been removed.
  private static func writeEnd(at status: Reference) async throws {
    let time: JSONValue = [".sv": "timestamp"]
    try await status.child(DeviceField.isOnline).runTransaction { _ in .success(false) }
    try await status.child(DeviceField.lastSeen).runTransaction { _ in .success(time) }
  }

  /// Has the origin remove what is known of a device when the connection ends, which is about to: the user signed
  /// out in another program, which removes the device.
  ///
  /// Otherwise the end of the connection could write a status of a device that is gone. The mark of a revocation stays.
  package func leaveWithConnection(_ device: String, of user: String) async {
    state.withLock { _ = $0.leaving.insert(TreeDeviceStorage.name(device, user)) }
    await endWatching(device, user)
    guard let status = try? await status(of: device, user) else { return }
    // A connection that is closed before the answer may end before the origin hears of it. If it cannot be asked, a
    // status stays that no list shows.
    _ = try? await isDone(within: TreeDeviceStorage.endMilliseconds) {
      try await TreeDeviceStorage.askRemoval(of: status)?.acknowledgement()
    }
  }

  /// Asks the origin to remove a status when the connection ends, in place of what it was asked before.
  ///
  /// - Returns: the receipt; nil if there is no connection.
  @discardableResult
  static func askRemoval(of status: Reference) async throws -> WriteReceipt? {
    guard await isLive(status.database) else {
      // What was asked before, and not sent, must not be sent by the next connection.
      _ = try await status.cancelDisconnectOperations()
      return nil
    }
    return try await status.onDisconnectUpdateChildValues([
      DeviceField.created: .null, DeviceField.lastSeen: .null, DeviceField.version: .null,
      DeviceField.isOnline: .null,
    ])
  }

  /// Whether this process is connected to the origin; an own tree is.
  private static func isLive(_ database: Database) async -> Bool {
    guard let link = await database.originLink else { return true }
    return await link.currentStatus.isLive
  }

  /// Ends the watch of the connection; returns false if there was none.
  @discardableResult
  func endWatching(_ device: String, _ user: String) async -> Bool {
    let name = TreeDeviceStorage.name(device, user)
    let task = state.withLock { $0.presences.removeValue(forKey: name) }
    task?.cancel()
    await task?.value
    return task != nil
  }

  private func status(of device: String, _ user: String) async throws -> Reference {
    try await place(of: user).child("\(DeviceField.states)/\(device)")
  }
}
