import Glibc
public import RunnelAccounts
import RunnelStore
import Synchronization

/// Keeps this device in the list of devices of whoever is signed in.
///
/// Responsibilities:
/// - After `subscribe`, the device stands in the list of the user who is signed in, with its token for
///   notices; a new token replaces the old one, and another user moves the device to their list.
/// - A name that the user gave the device stays, also if the entry is made again.
/// - Before a user's credential is forgotten, the device is removed from the list; offline, that is
///   done later.
/// - A device that the user takes away signs out.
///
/// Any task may call it. What is decided is in `DeviceMachine`; here are its effects.
///
/// Source: FirebaseDeviceStore.
public actor DeviceStore {
  /// The session whose user has the device.
  public nonisolated let session: AccountSession
  /// The id of this device.
  public nonisolated let deviceID: String
  nonisolated let storage: any DeviceStorage
  private nonisolated let tokenProvider: any DeviceTokenProvider
  private nonisolated let clock: AccountClock
  private nonisolated let lastID = Mutex(0)
  private let identity: DeviceIdentity
  private var machine: DeviceMachine
  /// The name for users who gave no other one.
  private let defaultName: String
  /// The names that users gave the device.
  private var names: [String: String]
  private var waiting: [Int: CheckedContinuation<Result<DepartureResult, DeviceFailure>, Never>] =
    [:]
  private var tasks: [Task<Void, Never>] = []
  private var tokenTask: Task<Void, Never>?
  private var watchTask: Task<Void, Never>?
  private var timer: DeadlineTimer
  private(set) var listed: String?
  /// The newest revocation after which the user signed in.
  var outweighed: Int64?
  /// True if the newest list has this device no more.
  private var isMissing = false
  private var signInCount: Int?
  private var failureReaders: [Int: AsyncStream<DeviceFailure>.Continuation] = [:]
  private var newDeviceReaders: [Int: AsyncStream<Device>.Continuation] = [:]
  private var isClosed = false

  /// Makes a store; it does nothing until `subscribe`, except for users who sign out.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - storage: keeps the lists.
  ///   - tokens: gives the addresses for notices.
  ///   - options: the options.
  ///   - environment: the environment variables of the process, which name the state folder.
  /// - Throws: `DeviceFailure` (`files`) if the device's id cannot be read or made.
  public init(
    session: AccountSession, storage: any DeviceStorage,
    tokens: any DeviceTokenProvider = NoDeviceTokens(), options: DeviceOptions = DeviceOptions(),
    environment: [String: String]
  ) async throws(DeviceFailure) {
    let folder: String
    if let given = options.stateFolder {
      folder = given
    } else {
      do throws(AccountFailure) {
        folder = try AccountFolder.stateFolder(environment)
      } catch {
        throw DeviceFailure(.files, error.message)
      }
    }
    identity = DeviceIdentity(folder: folder)
    deviceID = try identity.id()
    (self.session, self.storage, tokenProvider) = (session, storage, tokens)
    clock = options.clock
    timer = DeadlineTimer(options.clock)
    defaultName = options.name
    names = identity.names(session.provider.name)
    var device = Device(
      id: deviceID, token: "", name: options.name, os: options.os, type: options.type)
    device.status.version = options.version
    machine = DeviceMachine(
      device, holders: identity.holders(session.provider.name), seed: options.seed)
    await session.beforeForgetting { [weak self] user in
      await self?.depart(user) ?? .later
    }
    let states = session.states
    tasks = [
      Task { [weak self] in
        for await state in states { await self?.look(at: state) }
      }
    ]
    await lookAtAccount()
  }

  /// Ends the store in this process; what stands in the list stays.
  public func close() async {
    if isClosed { return }
    isClosed = true
    for task in tasks { task.cancel() }
    tokenTask?.cancel()
    watchTask?.cancel()
    timer.cancel()
    tasks = []
    for (_, continuation) in waiting.sorted(by: { $0.key < $1.key }) {
      continuation.resume(returning: .failure(.cancelled))
    }
    waiting = [:]
    for reader in failureReaders.values { reader.finish() }
    for reader in newDeviceReaders.values { reader.finish() }
    (failureReaders, newDeviceReaders) = ([:], [:])
    if let user = listed { await storage.endPresence(of: deviceID, user: user) }
  }
}

// MARK: What the program asks

extension DeviceStore {
  /// Keeps the device in the list of whoever is signed in, from now on; calling it twice is the same.
  ///
  /// It returns when the device stands in the list, or when there is nothing to wait for: nobody is
  /// signed in, no token came within two seconds, or the storage cannot be reached.
  ///
  /// - Throws: `DeviceFailure`: `permissionDenied` if the user permits no notices; what the storage
  ///   refused. In the latter case the device stays subscribed for the next user or token.
  public func subscribe() async throws(DeviceFailure) {
    await lookAtAccount()
    _ = try await request { .subscribe($0) }
  }

  /// Stops keeping the device in a list; what stands there stays.
  public func unsubscribe() { handle(.unsubscribe) }

  /// Removes the device from the list of the user who is signed in.
  ///
  /// `AccountSession.signOut` does that too. Offline, it returns at once, and the device is removed
  /// later, before the credential is forgotten. `subscribe` puts the device back.
  ///
  /// - Throws: `DeviceFailure` (`notSignedIn`) if nobody is signed in.
  public func signOut() async throws(DeviceFailure) {
    await lookAtAccount()
    _ = try await request { .withdraw($0) }
  }

  /// The devices of the user who is signed in, the one seen last first.
  ///
  /// - Throws: `DeviceFailure`.
  public func devices() async throws(DeviceFailure) -> [Device] {
    try await storage.devices(of: user()).sorted {
      ($1.status.lastSeen ?? 0, $0.id) < ($0.status.lastSeen ?? 0, $1.id)
    }
  }

  /// Gives a device of the user another name.
  ///
  /// - Throws: `DeviceFailure`; `unknownDevice` if there is no such device.
  public func rename(_ device: String, to name: String) async throws(DeviceFailure) {
    try DeviceLimits.check(name: name)
    let user = try await user()
    try await storage.rename(device, to: name, of: user)
    if device == deviceID { remember(name: name, of: user) }
  }

  /// Takes a device away from the user: it signs out as soon as it is connected, and stands in the list
  /// again only after a new sign-in.
  ///
  /// Limit: a program that is not connected, or does not look, is not stopped by this. If a device was
  /// stolen, change the password too, which ends its session.
  ///
  /// - Throws: `DeviceFailure`.
  public func revoke(_ device: String) async throws(DeviceFailure) {
    try await storage.revoke(device, of: user())
  }

  /// Removes the devices of the user that were not seen for some days; this one stays.
  ///
  /// - Parameter days: the number of days.
  /// - Returns: the devices that were removed.
  /// - Throws: `DeviceFailure`; devices before the failure were removed.
  @discardableResult
  public func prune(unseenForDays days: Int) async throws(DeviceFailure) -> [Device] {
    let user = try await user()
    let first = clock.now() - Int64(days) * 86_400_000
    var removed: [Device] = []
    for device in try await storage.devices(of: user)
    where device.id != deviceID && device.status.isOnline != true {
      // Entries of programs that store no times are never old.
      guard let seen = device.status.lastSeen ?? device.status.created, seen < first else {
        continue
      }
      try await storage.remove(device.id, of: user)
      removed.append(device)
    }
    return removed
  }

  private func user() async throws(DeviceFailure) -> String {
    guard let user = await session.user else { throw .notSignedIn }
    return user.id
  }

  /// What went wrong beside the requests, such as an entry that was refused later.
  public nonisolated var failures: AsyncStream<DeviceFailure> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      Task { await self.add(failures: continuation) }
    }
  }

  private func add(failures continuation: AsyncStream<DeviceFailure>.Continuation) {
    if isClosed { return continuation.finish() }
    let id = newID()
    failureReaders[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(reader: id) } }
  }

  /// Devices that the user signs in on from now on, for a notice; if the storage tells of changes.
  public nonisolated var newDevices: AsyncStream<Device> {
    AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      Task { await self.add(newDevices: continuation) }
    }
  }

  private func add(newDevices continuation: AsyncStream<Device>.Continuation) {
    if isClosed { return continuation.finish() }
    let id = newID()
    newDeviceReaders[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.forget(reader: id) } }
  }

  private func forget(reader id: Int) {
    failureReaders[id] = nil
    newDeviceReaders[id] = nil
  }
}

// MARK: Completion handlers

extension DeviceStore {
  /// Calls `subscribe`, and then the handler, on a thread of the concurrency runtime.
  public nonisolated func subscribe(
    completion: @escaping @Sendable (DeviceFailure?) -> Void
  ) {
    Task {
      completion(
        await DeviceStore.failure { () throws(DeviceFailure) in try await self.subscribe() })
    }
  }

  /// Calls `unsubscribe`, and then the handler.
  public nonisolated func unsubscribe(completion: @escaping @Sendable () -> Void) {
    Task {
      await self.unsubscribe()
      completion()
    }
  }

  /// Calls `signOut`, and then the handler, on a thread of the concurrency runtime.
  public nonisolated func signOut(
    completion: @escaping @Sendable (DeviceFailure?) -> Void
  ) {
    Task {
      completion(await DeviceStore.failure { () throws(DeviceFailure) in try await self.signOut() })
    }
  }

  private static func failure(
    _ body: () async throws(DeviceFailure) -> Void
  ) async -> DeviceFailure? {
    do throws(DeviceFailure) {
      try await body()
      return nil
    } catch {
      return error
    }
  }
}

// MARK: Requests and the account

extension DeviceStore {
  private nonisolated func newID() -> Int {
    lastID.withLock { id in
      id += 1
      return id
    }
  }

  private func request(
    _ event: (Int) -> DeviceEvent
  ) async throws(DeviceFailure) -> DepartureResult {
    let id = newID()
    let event = event(id)
    let result: Result<DepartureResult, DeviceFailure> = await withCheckedContinuation {
      continuation in
      if isClosed { return continuation.resume(returning: .failure(DeviceFailure.cancelled)) }
      waiting[id] = continuation
      handle(event)
    }
    return try result.get()
  }

  /// Removes the device from the list of a user who signed out.
  private func depart(_ user: String) async -> DepartureResult {
    await lookAtAccount()
    // A store that is closed leaves it to the next one.
    return (try? await request { .remove($0, user: user) }) ?? .later
  }

  private func look(at state: AccountState) async {
    // Another program removes the device, maybe before this one knows: a status must not be written again.
    if case .ended(let user, let failure) = state,
      [.signedOutElsewhere, .accountDeleted].contains(failure.code),
      let tree = storage as? TreeDeviceStorage
    {
      await tree.leaveWithConnection(deviceID, of: user.id)
    }
    await lookAtAccount()
  }

  private func lookAtAccount() async {
    let account = await session.snapshot
    // A user in whose list the device is not known to stand has signed in since it was taken away.
    let isFresh =
      signInCount.map { $0 != account.signInCount }
      ?? account.user.map { !identity.holders(session.provider.name).contains($0) } ?? false
    signInCount = account.signInCount
    handle(
      .account(account.user, isFresh: isFresh, departing: Set(account.departing)))
  }
}

// MARK: Effects

extension DeviceStore {
  func handle(_ event: DeviceEvent) {
    if isClosed { return }
    for effect in machine.handle(event, now: clock.now()) { carryOut(effect) }
    setTimer()
  }

  private func carryOut(_ effect: DeviceEffect) {
    let storage = storage
    switch effect {
    case .askPermission: askPermission()
    case .watchTokens: watchTokens()
    case .ignoreTokens:
      tokenTask?.cancel()
      tokenTask = nil
    case .renewToken:
      Task { [tokenProvider] in self.handle(.renewed(await tokenProvider.renew())) }
    case .put(let id, var device, let user, let isFresh):
      device.name = names[user] ?? device.name
      Task { [device] in
        let failure = await self.failure(putting: device, of: user, isFresh: isFresh)
        self.handle(.answered(id, failure))
      }
    case .remove(let id, let user):
      let device = deviceID
      Task {
        let failure = await DeviceStore.failure { () throws(DeviceFailure) in
          try await storage.remove(device, of: user)
        }
        self.handle(.answered(id, failure))
      }
    case .remember(let users): remember(users)
    case .finish(let id, let result): waiting.removeValue(forKey: id)?.resume(returning: result)
    case .standsAt(let user): show(user)
    case .revoked: Task { [session] in await session.end(DeviceRevocation.failure) }
    case .report(let failure): report(failure)
    }
  }

  private func report(_ failure: DeviceFailure) {
    for reader in failureReaders.values { reader.yield(failure) }
  }

  private func askPermission() {
    let provider = tokenProvider
    Task {
      let failure = await DeviceStore.failure { () throws(DeviceFailure) in
        try await provider.askPermission()
      }
      self.handle(.permission(failure))
    }
  }

  private func watchTokens() {
    tokenTask?.cancel()
    let provider = tokenProvider
    tokenTask = Task { [weak self] in
      for await token in await provider.tokens() {
        if Task.isCancelled { return }
        await self?.handle(.token(token))
      }
    }
  }

  private func remember(_ users: [String]) {
    do throws(DeviceFailure) {
      try identity.remember(users, session.provider.name)
    } catch {
      report(error)
    }
  }

  private func remember(name: String, of user: String) {
    if name.isEmpty || name == names[user] ?? defaultName { return }
    names[user] = name
    do throws(DeviceFailure) {
      try identity.remember(name: name, of: user, session.provider.name)
    } catch {
      report(error)
    }
  }

  /// Writes the name of this device, whose entry has none: it was removed at the origin while the device was put,
  /// and only the rest was written.
  private func putName(of user: String) {
    let (storage, id, name) = (storage, deviceID, names[user] ?? defaultName)
    if name.isEmpty { return }
    Task {
      do throws(DeviceFailure) {
        try await storage.rename(id, to: name, of: user)
      } catch  where !error.isTemporary {
        self.report(error)
      } catch {
        // The next start writes it.
      }
    }
  }

  /// Shows that the device is connected, and watches the list of its user.
  private func show(_ user: String?) {
    if user == listed { return }
    let (storage, id, old) = (storage, deviceID, listed)
    (listed, isMissing) = (user, false)
    watchTask?.cancel()
    let earlier = watchTask
    watchTask = Task { [weak self] in
      await earlier?.value
      if let old { await storage.endPresence(of: id, user: old) }
      guard let user, !Task.isCancelled else { return }
      await storage.beginPresence(of: id, user: user)
      guard let lists = await storage.changes(of: user) else { return }
      var known: Set<String>?
      for await devices in lists {
        if Task.isCancelled { return }
        await self?.look(at: devices, known, of: user)
        known = Set(devices.map(\.id)).union(known ?? [])
      }
    }
  }

  /// Notices that this device was taken away, and that there are new ones.
  private func look(at devices: [Device], _ known: Set<String>?, of user: String) async {
    guard listed == user else { return }
    if let time = devices.first(where: { $0.id == deviceID })?.status.revoked {
      return await take(revocation: time, of: user)
    }
    if let here = devices.first(where: { $0.id == deviceID }) {
      remember(name: here.name, of: user)
      if here.name.isEmpty { putName(of: user) }
    }
    guard let known else { return }
    let wasMissing = isMissing
    isMissing = known.contains(deviceID) && !devices.contains { $0.id == deviceID }
    if isMissing, !wasMissing {
      // Another program has signed the user out, or the list was deleted: the end of the connection must
      // not write a status. The device is not put back at once, as it may be the former.
      await storage.endPresence(of: deviceID, user: user)
      if listed == user { report(DeviceStore.removedElsewhere) }
    }
    for device in devices where !known.contains(device.id) && device.status.revoked == nil {
      for reader in newDeviceReaders.values { reader.yield(device) }
    }
  }

  private static let removedElsewhere = DeviceFailure(
    .unknownDevice,
    "It was removed elsewhere. Unless you signed out there, the next start puts it back.")

  /// Sets the timer to the machine's deadline.
  private func setTimer() {
    timer.set(machine.deadline) { [weak self] time in await self?.timeIsUp(time) }
  }

  private func timeIsUp(_ time: Int64) {
    guard timer.take(time) else { return }
    handle(.time)
  }
}
