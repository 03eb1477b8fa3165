import AccountSimulation
import Foundation
import Logging
import RunnelAccounts
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServer
import RunnelStore
import RunnelSync
import RunnelTree
import Synchronization
import TestSupport
import Testing

@testable import RunnelDevices

/// Stores of devices on a tree of one's own.
@Suite(.timeLimit(.minutes(1))) struct DeviceStoreTests {
  private let folder: String
  private let database: Database
  private let ahead = Ahead()
  private let service: FakeAccounts

  init() async throws {
    service = accountService(ahead)
    folder = try temporaryFolder()
    database = try await Database.open(file: folder + "/tree.db")
  }

  private func device(_ name: String, isDenied: Bool = false) async throws -> TestDevice {
    let database = database
    return try await TestDevice(name, service, folder: folder, isDenied: isDenied) { _ in
      TreeDeviceStorage(clock: .patient) { _ in database }
    }
  }

  private func wait(_ path: String, _ isReached: (JSONValue) -> Bool) async throws {
    for try await snapshot in try database.reference(withPath: path).values
    where isReached(snapshot.value) {
      return
    }
    throw NotReached()
  }

  @Test func aDeviceStandsInTheListOfItsUser() async throws {
    let device = try await device("desk")
    try await device.store.subscribe()
    #expect(try await database.reference(withPath: "user-devices").get().exists == false)
    try await device.signIn("ana")
    let id = device.store.deviceID
    let expected: JSONValue = [
      "deviceId": .string(id), "fcmToken": "desk-0", "name": "desk", "os": "TestOS 1",
      "type": "Linux",
    ]
    try await wait("user-devices/ana/devices/\(id)") { value in
      Set(value.object ?? []) == Set(expected.object ?? [])
    }
    try await wait("user-devices/ana/deviceStates/\(id)") { value in
      value["online"] == true && value["version"] == "1.2" && value["created"]?.int != nil
        && value["lastSeen"]?.int != nil
    }
    #expect(try await database.reference(withPath: "user-devices/ana/userId").get().value == "ana")
    await device.close()
    try await wait("user-devices/ana/deviceStates/\(id)") { $0["online"] == false }
  }

  @Test func nothingIsLeftOfADeviceThatSignsOut() async throws {
    for number in 0..<5 {
      let device = try await device("desk-\(number)")
      try await device.signIn("ana")
      try await device.store.subscribe()
      let id = device.store.deviceID
      try await wait("user-devices/ana/deviceStates/\(id)") { $0["online"] == true }
      await device.session.signOut()
      try await wait("user-devices/ana/devices/\(id)") { $0.isNull }
      await device.close()
      let state = try database.reference(withPath: "user-devices/ana/deviceStates/\(id)")
      #expect(try await state.get().value.isNull)
    }
  }

  @Test func theEndOfAPresenceWritesNothingForADeviceThatAnotherProgramRemoved() async throws {
    let database = database
    let storage = TreeDeviceStorage(clock: .patient) { _ in database }
    let device = Device(id: "d", token: "t", name: "desk", os: "Linux", type: "Linux")
    try await storage.put(device, of: "ana", isFresh: true)
    await storage.beginPresence(of: "d", user: "ana")
    try await wait("user-devices/ana/deviceStates/d") { $0["online"] == true }
    let lists = try #require(await storage.changes(of: "ana"))
    let list = try database.reference(withPath: "user-devices/ana")
    try await list.updateChildValues(["devices/d": JSONValue.null, "deviceStates/d": .null])
    for await devices in lists where devices.isEmpty { break }
    await storage.endPresence(of: "d", user: "ana")
    #expect(try await list.child("deviceStates").get().value.isNull)
    // It stands in the list again after the next sign-in.
    try await storage.put(device, of: "ana", isFresh: true)
    await storage.beginPresence(of: "d", user: "ana")
    try await wait("user-devices/ana/deviceStates/d") { $0["online"] == true }
    await storage.endPresence(of: "d", user: "ana")
    try await wait("user-devices/ana/deviceStates/d") { $0["online"] == false }
  }

  @Test func aDeviceThatWasDeletedElsewhereIsToldAndPutBackAtTheNextStart() async throws {
    let device = try await device("desk")
    var failures = device.store.failures.makeAsyncIterator()
    var news = device.store.newDevices.makeAsyncIterator()
    try await device.store.subscribe()
    try await device.signIn("ana")
    let id = device.store.deviceID
    try await wait("user-devices/ana/deviceStates/\(id)") { $0["online"] == true }
    // Whoever tells of another device has read the list.
    let other = Device(id: "other", token: "", name: "laptop", os: "Linux", type: "Linux")
    try await device.storage.put(other, of: "ana", isFresh: true)
    #expect(await news.next()?.id == "other")
    try await database.reference(withPath: "user-devices").setValue(JSONValue.null)
    #expect(await failures.next()?.code == .unknownDevice)
    await device.close()
    #expect(try await database.reference(withPath: "user-devices").get().exists == false)

    let again = try await self.device("desk")
    try await again.store.subscribe()
    #expect(again.store.deviceID == id)
    try await wait("user-devices/ana") {
      $0["devices"]?[id]?["name"] == "desk" && $0["deviceStates"]?[id]?["created"]?.int != nil
        && $0["userId"] == "ana"
    }
    await again.close()
  }

  @Test func aDenialIsAnError() async throws {
    let device = try await device("desk", isDenied: true)
    try await device.signIn("ana")
    let error = await #expect(throws: DeviceFailure.self) { try await device.store.subscribe() }
    #expect(error?.code == .permissionDenied)
    let told = await withCheckedContinuation { continuation in
      device.store.subscribe { continuation.resume(returning: $0) }
    }
    #expect(told?.code == .permissionDenied)
    #expect(try await database.reference(withPath: "user-devices").get().exists == false)
    await device.close()
  }

  @Test func aNewTokenAndANewUserMoveTheDevice() async throws {
    let device = try await device("desk")
    let id = device.store.deviceID
    try await device.signIn("ana")
    try await device.store.subscribe()
    device.tokens.next()
    try await wait("user-devices/ana/devices/\(id)/fcmToken") { $0 == "desk-1" }
    try await device.signIn("bo")
    try await wait("user-devices/bo/devices/\(id)/fcmToken") { $0 == "desk-1" }
    #expect(
      try await database.reference(withPath: "user-devices/ana/devices").get().exists == false)
    await device.session.signOut()
    try await wait("user-devices/bo/devices") { $0.isNull }
    await device.close()
  }

  @Test func theDevicesOfAUserAreListedNamedRevokedAndPruned() async throws {
    let (desk, laptop) = (try await device("desk"), try await device("laptop"))
    try await desk.signIn("ana")
    try await desk.store.subscribe()
    var news = desk.store.newDevices.makeAsyncIterator()
    // The list is watched by now.
    try await wait("user-devices/ana/deviceStates/\(desk.store.deviceID)/online") { $0 == true }
    try await laptop.signIn("ana")
    try await laptop.store.subscribe()
    #expect(await news.next()?.id == laptop.store.deviceID)
    #expect(try await Set(desk.store.devices().map(\.name)) == ["desk", "laptop"])
    try await desk.store.rename(laptop.store.deviceID, to: "Ana's laptop")
    #expect(try await desk.store.devices().contains { $0.name == "Ana's laptop" })
    for name in ["", "a\nb", String(repeating: "x", count: 300)] {
      await #expect(throws: DeviceFailure.self) {
        try await desk.store.rename(laptop.store.deviceID, to: name)
      }
    }
    let unknown = await #expect(throws: DeviceFailure.self) {
      try await desk.store.rename("none", to: "x")
    }
    #expect(unknown?.code == .unknownDevice)
    let old: JSONValue = [
      "deviceId": "old", "fcmToken": "t", "name": "old", "os": "o", "type": "t",
    ]
    try await database.reference(withPath: "user-devices/ana/devices/old").setValue(old)
    try await database.reference(withPath: "user-devices/ana/deviceStates/old/lastSeen").setValue(1)
    #expect(try await desk.store.prune(unseenForDays: 30).map(\.id) == ["old"])
    try await desk.store.revoke(laptop.store.deviceID)
    for await state in laptop.session.states {
      guard case .ended(_, let failure) = state else { continue }
      #expect(failure.code == .revoked)
      break
    }
    let list = try await desk.store.devices()
    #expect(list.first { $0.id == laptop.store.deviceID }?.status.revoked != nil)
    #expect(
      try await database.reference(
        withPath: "user-devices/ana/devices/\(laptop.store.deviceID)"
      ).get().exists == false)
    // Nothing but the mark stays of it.
    let gone = try await database.reference(
      withPath: "user-devices/ana/deviceStates/\(laptop.store.deviceID)/version"
    ).get()
    #expect(!gone.exists)
    // A new sign-in brings it back.
    try await laptop.signIn("ana")
    // It may have seen its new name, before it was taken away.
    try await wait("user-devices/ana/devices/\(laptop.store.deviceID)/name") {
      $0 == "laptop" || $0 == "Ana's laptop"
    }
    try await wait("user-devices/ana/deviceStates/\(laptop.store.deviceID)/revoked") { $0.isNull }
    await desk.close()
    await laptop.close()
  }

  /// It was revoked while its program was closed, and then `runnel login` signed in there.
  @Test func deviceComesBackIfItsUserSignedInAfterTheRevocation() async throws {
    let device = try await device("desk")
    let id = device.store.deviceID
    try await device.store.subscribe()
    try await device.signIn("ana")
    try await wait("user-devices/ana/deviceStates/\(id)") { $0["online"] == true }
    await device.close()
    try await device.storage.revoke(id, of: "ana")
    ahead.add(2000)
    try await signInElsewhere("ana", on: "desk", service, folder: folder)
    let again = try await self.device("desk")
    try await again.store.subscribe()
    try await wait("user-devices/ana") { list in
      let state = list["deviceStates"]?[id]
      return list["devices"]?[id]?["name"] == "desk" && state?["online"] == true
        && state?["revoked"] == nil
    }
    #expect(await again.session.user?.id == "ana")
    await again.close()
  }

  @Test func theNameThatAUserGaveOutlivesTheProgramAndTheEntry() async throws {
    var device = try await device("desk")
    let id = device.store.deviceID
    let name = try database.reference(withPath: "user-devices/ana/devices/\(id)/name")
    try await device.signIn("ana")
    try await device.store.subscribe()
    try await device.store.rename(id, to: "Werkbank")
    await device.close()
    device = try await self.device("desk")
    try await device.store.subscribe()
    #expect(try await name.get().value == "Werkbank")
    #expect(try await device.store.devices().map(\.os) == ["TestOS 1"])
    // The entry is removed with the user, and made again.
    try await device.signIn("bo")
    try await wait("user-devices/bo/devices/\(id)/name") { $0 == "desk" }
    #expect(try await name.get().exists == false)
    try await device.signIn("ana")
    try await wait("user-devices/ana/devices/\(id)/name") { $0 == "Werkbank" }
    await device.close()
    // Another device gives a name while this one is off.
    try await name.setValue(JSONValue.string("Hive"))
    device = try await self.device("desk")
    try await device.store.subscribe()
    #expect(try await name.get().value == "Hive")
    await device.close()
  }

  @Test func aNameThatIsMissingIsWrittenAgain() async throws {
    let device = try await device("desk")
    let place = "user-devices/ana/devices/\(device.store.deviceID)/name"
    try await device.signIn("ana")
    try await device.store.subscribe()
    try await wait(place) { $0 == "desk" }
    try await database.reference(withPath: place).removeValue()
    try await wait(place) { $0 == "desk" }
    await device.close()
  }

  @Test func signingOutOfTheListCanBeTakenBack() async throws {
    let device = try await device("desk")
    let place = "user-devices/ana/devices/\(device.store.deviceID)"
    try await device.signIn("ana")
    try await device.store.subscribe()
    try await device.store.signOut()
    #expect(try await database.reference(withPath: place).get().exists == false)
    #expect(await device.session.user?.id == "ana")
    try await device.store.subscribe()
    #expect(try await database.reference(withPath: place).get().exists)
    await device.store.unsubscribe()
    device.tokens.next()
    try await device.signIn("bo")
    #expect(try await database.reference(withPath: "user-devices/bo").get().exists == false)
    await device.close()
    await #expect(throws: DeviceFailure.self) { try await device.store.subscribe() }
  }
}

/// Stores of devices on replicas of a server's database.
@Suite(.timeLimit(.minutes(2))) struct DeviceReplicaTests {
  private let folder: String
  private let ahead = Ahead()
  private let service: FakeAccounts

  init() throws {
    service = accountService(ahead)
    folder = try temporaryFolder()
  }

  private func server(port: Int = 0) async throws -> (DatabaseServer, Int) {
    let rules: JSONValue = ["rules": DeviceRules.tree()]
    try Data(rules.jsonText().utf8).write(
      to: URL(fileURLWithPath: folder + "/test.rules.json"))
    var configuration = ServerConfiguration(.file(folder + "/test.db", name: nil))
    configuration.listen = ["localhost:\(port)"]
    configuration.isEmulator = true
    configuration.stopDuration = .seconds(2)
    let server = try DatabaseServer(
      configuration, lines: LogLines { _ in },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let announcement = try await server.start()
    return (server, announcement.addresses.first?.port ?? 0)
  }

  /// The open replicas of a device, one for each user.
  private actor Replicas {
    private var databases: [String: Database] = [:]
    private let folder: String
    private let port: Int
    private let session: AccountSession

    init(_ folder: String, _ port: Int, _ session: AccountSession) {
      (self.folder, self.port, self.session) = (folder, port, session)
    }

    func database(of user: String) async throws -> Database {
      if let database = databases[user] { return database }
      var options = OriginOptions(environment: [:])
      options.limits.delayMin = 20
      options.limits.delayMax = 100
      let database = try await Database.connect(
        to: "http://localhost:\(port)/?ns=test", in: session, user: user,
        file: "\(folder)/\(user).db", options: options)
      if let other = databases[user] {
        database.close()
        return other
      }
      databases[user] = database
      return database
    }

    func close() {
      for database in databases.values { database.close() }
      databases = [:]
    }
  }

  private func device(
    _ name: String, _ port: Int
  ) async throws -> (TestDevice, Replicas) {
    let made = Mutex<Replicas?>(nil)
    let path = "\(folder)/\(name)"
    let device = try await TestDevice(name, service, folder: folder) { session in
      let replicas = Replicas(path, port, session)
      made.withLock { $0 = replicas }
      return TreeDeviceStorage { try await replicas.database(of: $0) }
    }
    guard let replicas = made.withLock({ $0 }) else { throw NotReached() }
    return (device, replicas)
  }

  private func wait(
    _ database: Database, _ path: String, _ isReached: (JSONValue) -> Bool
  ) async throws {
    for try await snapshot in try database.reference(withPath: path).values
    where isReached(snapshot.value) {
      return
    }
    throw NotReached()
  }

  /// The origin promises to take the mark back, and the program ends before it answers the mark.
  @Test func whatWaitsAfterTheEndOfAProgramDoesNotSayThatTheDeviceIsConnected() async throws {
    let file = folder + "/replica.db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    let database = try await Database.open(file: file)
    let (commands, added) = AsyncStream.makeStream(of: OriginCommand.self)
    await database.sendCommands { for command in $0 { added.yield(command) } }
    database.submit(.connectOrigin())
    let storage = TreeDeviceStorage(clock: .patient) { _ in database }
    await storage.beginPresence(of: "d", user: "ana")
    var hasPromise = false
    for await command in commands {
      if case .onDisconnect(let id, _) = command {
        database.submit(.receive(.acknowledged(id: id)))
        hasPromise = true
      }
      if case .compareAndSet = command { break }
      if case .write = command { break }
    }
    #expect(hasPromise)
    database.close()
    let next = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    #expect(next.pendingWrites.isEmpty)
    try next.close()
  }

  /// The connection may end at any moment while a presence ends.
  @Test func promiseToTakeThePresenceBackStaysUntilItWasTakenBack() async throws {
    let file = folder + "/replica.db"
    let session = try DatabaseSession(file: file, environment: .system)
    try session.becomeReplica(ofOrigin: "home")
    try session.close()
    let database = try await Database.open(file: file)
    let (stream, added) = AsyncStream.makeStream(of: OriginCommand.self)
    await database.sendCommands { for command in $0 { added.yield(command) } }
    database.submit(.connectOrigin())
    var commands = stream.makeAsyncIterator()
    let storage = TreeDeviceStorage(clock: .patient) { _ in database }
    await storage.beginPresence(of: "d", user: "ana")
    var shownCount = 0
    while shownCount < 2, let command = await commands.next() {
      switch command {
      case .onDisconnect(let id, _): database.submit(.receive(.acknowledged(id: id)))
      case .compareAndSet(let id, _, _, _):
        database.submit(.receive(.acknowledged(id: id)))
        shownCount += 1
      default: break
      }
    }
    let ending = Task { await storage.endPresence(of: "d", user: "ana") }
    search: while let command = await commands.next() {
      switch command {
      case .onDisconnect, .write:
        Issue.record("\(command) came before the presence was taken back.")
        break search
      case .compareAndSet(_, let path, let json, _):
        #expect(path.keys.last?.text == "online" && json == false)
        break search
      default: break
      }
    }
    database.close()
    await ending.value
    let next = try DatabaseSession(file: file, isReadOnly: true, environment: .system)
    #expect(next.pendingWrites.isEmpty)
    try next.close()
  }

  /// As when the workspace changes to another account.
  @Test func noDeviceStaysConnectedWhoseDatabaseIsClosedAtOnce() async throws {
    let (server, port) = try await server()
    let (desk, deskReplicas) = try await device("desk", port)
    try await desk.signIn("ana")
    try await desk.store.subscribe()
    let database = try await deskReplicas.database(of: "ana")
    let online = "user-devices/ana/deviceStates/d/online"
    for _ in 0..<5 {
      let (laptop, replicas) = try await device("laptop", port)
      if await laptop.session.user == nil { try await laptop.signIn("ana") }
      let storage = try await shown(replicas)
      try await wait(database, online) { $0 == true }
      async let ending: Void = storage.endPresence(of: "d", user: "ana")
      await replicas.close()
      await ending
      try await wait(database, online) { $0 == false }
      await laptop.close()
    }
    await desk.close()
    await deskReplicas.close()
    await server.stop()
  }

  @Test(arguments: [false, true])
  func noStatusIsLeftOfADeviceThatSignedOutInAnotherProgram(isRevoked: Bool) async throws {
    let (server, port) = try await server()
    let (desk, deskReplicas) = try await device("desk", port)
    let (laptop, replicas) = try await device("laptop", port)
    for device in [desk, laptop] { try await device.signIn("ana") }
    try await desk.store.subscribe()
    let database = try await deskReplicas.database(of: "ana")
    let states = "user-devices/ana/deviceStates/d"
    let storage = try await shown(replicas)
    try await wait(database, states) { $0["online"] == true }
    if isRevoked { try await desk.store.revoke("d") }
    await storage.leaveWithConnection("d", of: "ana")
    await replicas.close()
    // The mark of a revocation stays.
    try await wait(database, states) { status in
      isRevoked ? status.object?.map(\.name) == ["revoked"] : status.isNull
    }
    for device in [desk, laptop] { await device.close() }
    await deskReplicas.close()
    await server.stop()
  }

  /// Puts a device `d` into the list of ana, and shows that it is connected.
  private func shown(_ replicas: Replicas) async throws -> TreeDeviceStorage {
    let replica = try await replicas.database(of: "ana")
    let storage = TreeDeviceStorage { _ in replica }
    let device = Device(id: "d", token: "t", name: "laptop", os: "Linux", type: "Linux")
    try await storage.put(device, of: "ana", isFresh: true)
    await storage.beginPresence(of: "d", user: "ana")
    return storage
  }

  @Test func offlineSigningOutRemovesTheDeviceLaterAlsoAfterARestart() async throws {
    let (first, port) = try await server()
    var (device, replicas) = try await device("desk", port)
    let id = device.store.deviceID
    try await device.signIn("ana")
    try await device.store.subscribe()
    let watched = try await replicas.database(of: "ana")
    try await wait(watched, "user-devices/ana/devices/\(id)/fcmToken") { $0 == "desk-0" }
    try await wait(watched, "user-devices/ana/deviceStates/\(id)/online") { $0 == true }
    await first.stop()
    // The link has noticed.
    for await status in try #require(await watched.originLink).statuses where !status.isLive {
      break
    }
    await device.session.signOut()
    #expect(await device.session.user == nil)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder + "/desk/accounts/test")
    #expect(names.contains("ana.departing") && !names.contains("ana.json"))
    await device.close()
    await replicas.close()
    let (second, _) = try await server(port: port)
    (device, replicas) = try await self.device("desk", port)
    let restarted = device.session
    try await yieldUntil(stepsMax: 200_000) {
      await restarted.retryDepartures()
      let left = try FileManager.default.contentsOfDirectory(
        atPath: folder + "/desk/accounts/test")
      return !left.contains("ana.departing")
    }
    // Another client of the same user sees the list without the device.
    let session = await AccountSession(
      IdentityToolkit.server("https://accounts.test", service.transport),
      storage: AccountMemory())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let other = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/other.db")
    for await status in try #require(await other.originLink).statuses where status.isLive {
      break
    }
    #expect(
      try await other.reference(withPath: "user-devices/ana/devices").get(from: .origin).exists
        == false)
    other.close()
    await session.close()
    await device.close()
    await replicas.close()
    await second.stop()
  }

  @Test func revokedDeviceComesBackByOneSignInUnderTheRules() async throws {
    let (server, port) = try await server()
    let (desk, deskReplicas) = try await device("desk", port)
    var (laptop, laptopReplicas) = try await device("laptop", port)
    let id = laptop.store.deviceID
    for device in [desk, laptop] {
      try await device.signIn("ana")
      try await device.store.subscribe()
    }
    let database = try await deskReplicas.database(of: "ana")
    try await wait(database, "user-devices/ana/devices/\(id)/name") { $0 == "laptop" }
    await laptop.close()
    await laptopReplicas.close()
    try await desk.store.revoke(id)
    ahead.add(2000)
    try await signInElsewhere("ana", on: "laptop", service, folder: folder)
    (laptop, laptopReplicas) = try await device("laptop", port)
    try await laptop.store.subscribe()
    try await wait(database, "user-devices/ana") { list in
      list["devices"]?[id]?["name"] == "laptop" && list["deviceStates"]?[id]?["revoked"] == nil
        // What the laptop kept of its status is from before.
        && list["deviceStates"]?[id]?["created"] != nil
    }
    #expect(await laptop.session.user?.id == "ana")
    for device in [desk, laptop] { await device.close() }
    await deskReplicas.close()
    await laptopReplicas.close()
    await server.stop()
  }

  @Test func aRevokedDeviceThatWasOfflineDoesNotBringItselfBack() async throws {
    let (server, port) = try await server()
    let (desk, deskReplicas) = try await device("desk", port)
    var (laptop, laptopReplicas) = try await device("laptop", port)
    let id = laptop.store.deviceID
    for device in [desk, laptop] {
      try await device.signIn("ana")
      try await device.store.subscribe()
    }
    let database = try await deskReplicas.database(of: "ana")
    try await wait(database, "user-devices/ana/devices/\(id)/name") { $0 == "laptop" }
    await laptop.close()
    await laptopReplicas.close()
    try await desk.store.revoke(id)
    (laptop, laptopReplicas) = try await device("laptop", port)
    #expect(await laptop.session.user?.id == "ana", "it does not know yet")
    // It may be told at once, or by the list.
    _ = try? await laptop.store.subscribe()
    for await state in laptop.session.states {
      if case .ended(_, let failure) = state {
        #expect(failure.code == .revoked)
        break
      }
    }
    #expect(
      try await database.reference(withPath: "user-devices/ana/devices/\(id)").get(from: .origin)
        .exists == false)
    for device in [desk, laptop] { await device.close() }
    await deskReplicas.close()
    await laptopReplicas.close()
    await server.stop()
  }
}
