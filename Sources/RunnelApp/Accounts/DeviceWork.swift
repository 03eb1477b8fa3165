import Foundation
import RunnelAccounts
import RunnelDatabase
import RunnelDevices
import RunnelTree
import RunnelWorkspace
import Synchronization

/// Keeps this device in the list of the devices of the user whose data is shown, watches the list, and
/// does what the workspace asks about it; what became of that is kept until the application's loop
/// takes it.
actor DeviceWork {
  /// What happened since the last look.
  struct News {
    var facts: DeviceFacts?
    var answers: [(id: AppRequestID, answer: Answer)] = []
    /// What the user must know.
    var problem: String?
  }

  private nonisolated let place: Path
  private nonisolated let user: String
  private nonisolated let storage: TreeDeviceStorage
  private nonisolated let options: DeviceOptions
  private nonisolated let environment: [String: String]
  private nonisolated let news = Mutex(News())
  private nonisolated let wake: @Sendable () -> Void
  private var session: AccountSession?
  private var store: DeviceStore?
  private var tasks: [Task<Void, Never>] = []
  private var isEnded = false

  /// Makes the work; it begins when there is a session.
  ///
  /// - Parameters:
  ///   - database: the replica of the user.
  ///   - place: the place of the lists of users' devices.
  ///   - user: the id of the user.
  ///   - options: what is told of this device.
  ///   - environment: the environment variables of the process, which name the state folder.
  ///   - wake: called on any thread when there is something to take.
  init(
    _ database: Database, at place: Path, of user: String, options: DeviceOptions,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    wake: @escaping @Sendable () -> Void
  ) {
    (self.place, self.user, self.options) = (place, user, options)
    (self.environment, self.wake) = (environment, wake)
    storage = TreeDeviceStorage(collectionPath: place.description) { wanted in
      guard wanted == user else {
        throw DeviceFailure(.unavailable, "The replica of another user is not open.")
      }
      return database
    }
  }
}

// MARK: The application's loop

extension DeviceWork {
  /// Keeps the device in the list of the user of a session from now on.
  nonisolated func use(_ session: AccountSession) { Task { await self.begin(session) } }

  /// Ends the work; the device stays in the list.
  nonisolated func end() { Task { await self.stop() } }

  /// Starts a request; its answer is among the news.
  nonisolated func start(_ id: AppRequestID, _ request: DeviceRequest) {
    Task {
      let answer = await self.answer(request)
      self.news.withLock { $0.answers.append((id, answer)) }
      self.wake()
    }
  }

  /// Returns and removes the news since the last call.
  nonisolated func takeNews() -> News {
    news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}

// MARK: The list

extension DeviceWork {
  private func begin(_ session: AccountSession) {
    guard !isEnded, session !== self.session else { return }
    let old = store
    (self.session, store) = (session, nil)
    for task in tasks { task.cancel() }
    tasks = [Task { await self.subscribe(session, after: old) }]
  }

  /// Removes the device from the list of the user, as far as that can be done now.
  func leave() async { try? await store?.signOut() }

  /// Has the server remove the status of the device with the end of the connection, which is about to come: the user
  /// signed out in another program, which removes the device.
  func leaveWithConnection() async {
    if let store { await storage.leaveWithConnection(store.deviceID, of: user) }
  }

  /// Puts the device back.
  func comeBack() async { try? await store?.subscribe() }

  private func stop() async {
    isEnded = true
    for task in tasks { task.cancel() }
    let old = store
    (tasks, store) = ([], nil)
    await old?.close()
  }

  private func subscribe(_ session: AccountSession, after old: DeviceStore?) async {
    do throws(DeviceFailure) {
      let store = try await DeviceStore(
        session: session, storage: storage, options: options, environment: environment)
      guard !isEnded, session === self.session else { return await store.close() }
      self.store = store
      tasks += [
        Task { await self.watch(session, here: store.deviceID) },
        Task { for await failure in store.failures { self.report(failure) } },
      ]
      // The end of the earlier store must not follow the beginning of this one.
      await old?.close()
      try await store.subscribe()
    } catch {
      report(error)
    }
  }

  private func watch(_ session: AccountSession, here: String) async {
    if let lists = await storage.changes(of: user) {
      for await devices in lists {
        if Task.isCancelled { return }
        show(devices, here: here)
      }
    }
    guard !Task.isCancelled, await session.user?.id == user else { return }
    tell("Your devices are not shown: the server's rules do not let you read \(place)/\(user).")
  }

  private nonisolated func show(_ devices: [Device], here: String) {
    let listed = devices.filter { $0.status.revoked == nil }.map { DeviceFacts.Device($0) }
    let facts = DeviceFacts(listed, here: here)
    news.withLock { $0.facts = facts }
    wake()
  }

  private nonisolated func report(_ failure: DeviceFailure) {
    switch failure.code {
    // The end of the session is told by the account; the others are no failures to the user.
    case .revoked, .notSignedIn, .cancelled, .queued, .unavailable: return
    default: tell("This device is not in the list of your devices: \(failure.message)")
    }
  }

  private nonisolated func tell(_ problem: String) {
    news.withLock { $0.problem = problem }
    wake()
  }
}

// MARK: Requests

extension DeviceWork {
  private func answer(_ request: DeviceRequest) async -> Answer {
    do throws(DeviceFailure) {
      guard let store else {
        throw DeviceFailure(.notSignedIn, "The list is not ready yet: try again in a moment.")
      }
      var outcome = DeviceOutcome()
      switch request {
      case .rename(let device, let name): try await store.rename(device, to: name)
      case .revoke(let device): try await store.revoke(device)
      case .prune(let days): outcome.removed = try await store.prune(unseenForDays: days).count
      }
      return .devices(outcome)
    } catch {
      if error.code == .queued { return .devices(DeviceOutcome(isLater: true)) }
      return .refused(Refusal(error.message))
    }
  }
}

extension DeviceFacts.Device {
  fileprivate init(_ device: Device) {
    self.init(id: device.id, name: device.name, os: device.os, type: device.type)
    (version, created, lastSeen) = (
      device.status.version, device.status.created, device.status.lastSeen
    )
    isOnline = device.status.isOnline == true
  }
}
