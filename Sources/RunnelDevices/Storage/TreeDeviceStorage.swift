public import RunnelAccounts
import RunnelBase
import RunnelClient
public import RunnelDatabase
import RunnelTree
import Synchronization

/// Keeps the lists of devices in a tree: an own one, or the replica of a server's database.
///
/// Writes go through the replica of their user. Without a connection they are stored there, and sent
/// in order under the credential of this user when the origin can be reached, also after a restart.
public final class TreeDeviceStorage: DeviceStorage {
  /// Opens the database of a user, or returns the one that is open already.
  ///
  /// It is called with users who are signed in, and with those who signed out and whose device is still
  /// to be removed: `AccountSession.access(of:)` gives tokens for both.
  public typealias Opening = @Sendable (_ user: String) async throws -> Database

  struct State {
    /// The removals that wait for the origin, so that none is written twice.
    var removals: [String: WriteReceipt] = [:]
    var presences: [String: Task<Void, Never>] = [:]
    /// What shows the ends of presences.
    var endings: [String: Task<Void, Never>] = [:]
    /// The devices that were removed: no status of theirs is written any more.
    var leaving: Set<String> = []
    /// The devices in the newest list of each user whose list is watched.
    var listed: [String: Set<String>] = [:]
  }

  private static let waitMilliseconds: Int64 = 5000

  private let collectionPath: String
  private let opening: Opening
  let clock: AccountClock
  let state = Mutex(State())

  /// Makes a storage.
  ///
  /// - Parameters:
  ///   - collectionPath: the place of the lists.
  ///   - clock: measures how long an answer of the origin is waited for.
  ///   - opening: opens the database of a user.
  public init(
    collectionPath: String = "user-devices", clock: AccountClock = .system,
    opening: @escaping Opening
  ) {
    (self.collectionPath, self.clock, self.opening) = (collectionPath, clock, opening)
  }

  // MARK: Writing

  /// Puts a device into the list of a user; one that stands there already keeps its name.
  public func put(
    _ device: Device, of user: String, isFresh: Bool
  ) async throws(DeviceFailure) {
    let place = try await place(of: user)
    let name = TreeDeviceStorage.name(device.id, user)
    let wasLeaving = state.withLock { state in
      state.listed[user]?.insert(device.id)
      return state.leaving.remove(name) != nil
    }
    do {
      // The end of the connection must not remove the status any more.
      if wasLeaving {
        try await place.child("\(DeviceField.states)/\(device.id)").cancelDisconnectOperations()
      }
      if try await !putKeepingName(device, user, isFresh: isFresh, at: place) {
        try await put(device, user, isFresh: isFresh, keepsName: false, at: place)
      }
    } catch {
      let failure = TreeDeviceStorage.failure(error)
      // The rules refuse the entry of a device that was taken away.
      guard failure.code == .refused else { throw failure }
      let path = "\(DeviceField.states)/\(device.id)/\(DeviceField.revoked)"
      // Without an answer, it stays a refusal.
      let revoked = try? await place.child(path).get().value
      if let revoked, !revoked.isNull {
        throw DeviceFailure(.revoked, "This device was taken away from the user's devices.")
      }
      throw failure
    }
  }

  /// Puts a device that stands in the list already, whose name is not written: the user may have
  /// given it another one, also without this device knowing it.
  ///
  /// - Returns: false if the device does not stand there.
  private func putKeepingName(
    _ device: Device, _ user: String, isFresh: Bool, at place: Reference
  ) async throws -> Bool {
    let name = try place.child("\(DeviceField.devices)/\(device.id)/\(DeviceField.name)")
    // Who signed in just now is connected.
    var known = isFresh ? nil : try await name.get(from: .cache).value.string
    // What cannot be read is written.
    if known == nil { known = try? await name.get().value.string }
    if known?.isEmpty != false { return false }
    do {
      try await put(device, user, isFresh: isFresh, keepsName: true, at: place)
      return true
    } catch let error where TreeDeviceStorage.failure(error).code == .refused {
      // The entry may have been removed at the origin: without a name it is refused.
      return false
    }
  }

  private func put(
    _ device: Device, _ user: String, isFresh: Bool, keepsName: Bool, at place: Reference
  ) async throws {
    let entry = "\(DeviceField.devices)/\(device.id)"
    let states = "\(DeviceField.states)/\(device.id)"
    let time: JSONValue = [".sv": "timestamp"]
    var values: [String: JSONValue] = [
      DeviceField.userID: .string(user), "\(states)/\(DeviceField.lastSeen)": time,
    ]
    if keepsName {
      for field in device.entry.object ?? [] where field.name != DeviceField.name {
        values["\(entry)/\(field.name)"] = field.value
      }
    } else {
      values[entry] = device.entry
    }
    // Of one that comes back, what is kept here may be from before it was removed.
    let status = try place.child(states)
    var known: JSONValue?
    if !keepsName || isFresh { known = try? await status.get(from: .origin).value }
    if known == nil { known = try await status.get(from: .cache).value }
    if known?[DeviceField.created] == nil { values["\(states)/\(DeviceField.created)"] = time }
    if let version = device.status.version {
      values["\(states)/\(DeviceField.version)"] = .string(version)
    }
    if isFresh { values["\(states)/\(DeviceField.revoked)"] = .null }
    let receipt = try await place.updateChildValues(values)
    state.withLock { $0.removals[user] = nil }
    try await settle(receipt, place.database)
  }

  /// Removes a device from the list of a user.
  public func remove(_ device: String, of user: String) async throws(DeviceFailure) {
    let place = try await place(of: user)
    let name = TreeDeviceStorage.name(device, user)
    let ending = state.withLock { state in
      state.leaving.insert(name)
      return state.endings.removeValue(forKey: name)
    }
    await ending?.value
    await endWatching(device, user)
    do {
      let status = try place.child("\(DeviceField.states)/\(device)")
      var receipt = state.withLock { $0.removals[user] }
      if receipt == nil {
        // What the origin was to do when the connection is lost would write a status again.
        try await TreeDeviceStorage.askRemoval(of: status)
        receipt = try await place.updateChildValues([
          "\(DeviceField.devices)/\(device)": .null, "\(DeviceField.states)/\(device)": .null,
        ])
        state.withLock { $0.removals[user] = receipt }
      }
      if let receipt { try await settle(receipt, place.database) }
      state.withLock { $0.removals[user] = nil }
      // If the user signs in again, this connection goes on.
      _ = try? await status.cancelDisconnectOperations()
    } catch {
      let failure = TreeDeviceStorage.failure(error)
      if failure.code != .queued { state.withLock { $0.removals[user] = nil } }
      throw failure
    }
  }

  /// Returns true: the origin sets the time.
  public var marksByServerTime: Bool { true }

  /// Removes a device, and marks it as taken away; the mark is all that stays.
  public func revoke(_ device: String, of user: String) async throws(DeviceFailure) {
    try await write(user) { place in
      try await place.updateChildValues([
        "\(DeviceField.devices)/\(device)": .null,
        "\(DeviceField.states)/\(device)/\(DeviceField.created)": .null,
        "\(DeviceField.states)/\(device)/\(DeviceField.lastSeen)": .null,
        "\(DeviceField.states)/\(device)/\(DeviceField.version)": .null,
        "\(DeviceField.states)/\(device)/\(DeviceField.isOnline)": .null,
        "\(DeviceField.states)/\(device)/\(DeviceField.revoked)": [".sv": "timestamp"],
      ])
    }
  }

  /// Gives a device another name.
  public func rename(
    _ device: String, to name: String, of user: String
  ) async throws(DeviceFailure) {
    let list = try await devices(of: user)
    guard list.contains(where: { $0.id == device && $0.status.revoked == nil }) else {
      throw DeviceFailure(.unknownDevice, "There is no device \(device).")
    }
    try await write(user) { place in
      try await place.child("\(DeviceField.devices)/\(device)/\(DeviceField.name)")
        .setValue(JSONValue.string(name))
    }
  }

  private func write(
    _ user: String, _ body: (Reference) async throws -> WriteReceipt
  ) async throws(DeviceFailure) {
    let place = try await place(of: user)
    do {
      try await settle(try await body(place), place.database)
    } catch {
      throw TreeDeviceStorage.failure(error)
    }
  }

  /// Waits for the origin's answer to a write, for a while.
  ///
  /// - Throws: `DeviceFailure` (`queued`) if the write waits for a connection.
  private func settle(_ receipt: WriteReceipt, _ database: Database) async throws {
    let queued = DeviceFailure(
      .queued, "The server cannot be reached: this is done when it can be again.")
    if receipt.isPending, let link = await database.originLink,
      await link.currentStatus.link?.hasConnection != true
    {
      throw queued
    }
    guard
      try await isDone(
        within: TreeDeviceStorage.waitMilliseconds, { try await receipt.acknowledgement() })
    else { throw queued }
  }

  /// Waits for something, for a while; what takes longer is cancelled.
  ///
  /// - Returns: whether it was done in time.
  /// - Throws: the error of `body`.
  func isDone(
    within milliseconds: Int64, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> Bool {
    let (ends, end) = AsyncStream.makeStream(of: Result<Bool, any Error>.self)
    let work = Task {
      do {
        try await body()
        end.yield(.success(true))
      } catch {
        end.yield(.failure(error))
      }
    }
    let limit = Task { [clock] in
      // A cancelled wait ends it too.
      try? await clock.sleep(milliseconds)
      end.yield(.success(false))
    }
    defer {
      work.cancel()
      limit.cancel()
    }
    for await result in ends { return try result.get() }
    return false
  }

  // MARK: Reading

  /// Returns the list of a user.
  public func devices(of user: String) async throws(DeviceFailure) -> [Device] {
    let place = try await place(of: user)
    do {
      return Device.list(try await place.get().value)
    } catch {
      throw TreeDeviceStorage.failure(error)
    }
  }

  /// Returns the list of a user now and after each change.
  public func changes(of user: String) async -> AsyncStream<[Device]>? {
    guard let place = try? await place(of: user) else { return nil }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        do {
          for try await snapshot in place.values {
            let list = Device.list(snapshot.value)
            let ids = list.filter { $0.status.revoked == nil }.map(\.id)
            self.state.withLock { $0.listed[user] = Set(ids) }
            continuation.yield(list)
          }
        } catch {
          // The user may not read the list any more.
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  // MARK: Places and failures

  static func name(_ device: String, _ user: String) -> String { "\(user) \(device)" }

  func place(of user: String) async throws(DeviceFailure) -> Reference {
    do {
      return try await opening(user).reference(withPath: collectionPath).child(user)
    } catch {
      throw TreeDeviceStorage.failure(error)
    }
  }

  private static func failure(_ error: any Error) -> DeviceFailure {
    switch error {
    case let error as DeviceFailure: return error
    case let error as AccountFailure:
      return DeviceFailure(error.isTemporary ? .unavailable : .notSignedIn, error.message)
    case let error as DatabaseError:
      let isRefusal = error.code.rawValue.uppercased() == "PERMISSION_DENIED"
      return DeviceFailure(isRefusal ? .refused : .unavailable, error.message)
    case let error as TreeError: return DeviceFailure(.malformed, error.message)
    default: return DeviceFailure(.unavailable, "\(error)")
    }
  }
}

extension Device {
  /// The entry of the device, with exactly its five fields.
  var entry: JSONValue {
    [
      DeviceField.deviceID: .string(id), DeviceField.token: .string(token),
      DeviceField.name: .string(name), DeviceField.os: .string(os),
      DeviceField.type: .string(type),
    ]
  }

  /// Reads a list: the entries, and the devices that were taken away; entries that cannot be read are
  /// left out.
  static func list(_ json: JSONValue) -> [Device] {
    let states = json[DeviceField.states]
    var devices: [Device] = []
    for member in json[DeviceField.devices]?.object ?? [] {
      guard let token = member.value[DeviceField.token]?.string else { continue }
      let text = { (name: String) in member.value[name]?.string ?? "" }
      var device = Device(
        id: member.name, token: token, name: text(DeviceField.name), os: text(DeviceField.os),
        type: text(DeviceField.type))
      device.status = DeviceStatus(states?[member.name])
      devices.append(device)
    }
    for member in states?.object ?? [] where !devices.contains(where: { $0.id == member.name }) {
      let status = DeviceStatus(member.value)
      if status.revoked == nil { continue }
      var device = Device(id: member.name, token: "", name: "", os: "", type: "")
      device.status = status
      devices.append(device)
    }
    return devices
  }
}

extension DeviceStatus {
  init(_ json: JSONValue?) {
    let time = { (name: String) in json?[name]?.int.map { Int64($0) } }
    created = time(DeviceField.created)
    lastSeen = time(DeviceField.lastSeen)
    revoked = time(DeviceField.revoked)
    version = json?[DeviceField.version]?.string
    isOnline = json?[DeviceField.isOnline]?.bool
  }
}
