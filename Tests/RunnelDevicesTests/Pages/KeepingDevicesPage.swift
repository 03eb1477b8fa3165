// The examples of Sources/RunnelDevices/RunnelDevices.docc/KeepingDevices.md, and their test.

import AccountSimulation
import RunnelClient
import RunnelDatabase
import RunnelStore
import Testing

// example begin
import RunnelDevices

func openDevices(
  _ session: AccountSession, _ database: Database, home: String
) async throws -> DeviceStore {
  let storage = TreeDeviceStorage { user in
    // On a tree of one's own, all users have one database; a server's has a replica for each.
    database
  }
  return try await DeviceStore(session: session, storage: storage, environment: ["HOME": home])
}

func useDevices(_ devices: DeviceStore) async {
  do throws(DeviceFailure) {
    try await devices.subscribe()
    for device in try await devices.devices() {
      show("\(device.name), \(device.os), seen \(device.status.lastSeen ?? 0)")
    }
  } catch {
    show(error.description)
  }
}
// example end

// example begin
func careForDevices(_ devices: DeviceStore) async throws(DeviceFailure) {
  try await devices.rename(devices.deviceID, to: "Ana's desk")
  try await devices.prune(unseenForDays: 90)
  for device in try await devices.devices() where device.name == "Lost laptop" {
    try await devices.revoke(device.id)
  }
}
// example end

private func show(_ text: String) {}

/// The page's examples do what it says.
@Suite(.timeLimit(.minutes(1))) struct KeepingDevicesPage {
  @Test func theExamplesDoWhatThePageSays() async throws {
    let folder = try temporaryFolder()
    let database = try await Database.open(file: folder + "/tree.db")
    let device = try await TestDevice("desk", accountService(), folder: folder) { _ in
      TreeDeviceStorage { _ in database }
    }
    try await device.signIn("ana")
    await useDevices(device.store)
    try await careForDevices(device.store)
    #expect(try await device.store.devices().map(\.name) == ["Ana's desk"])
    let second = try await openDevices(device.session, database, home: folder + "/second")
    await useDevices(second)
    #expect(try await second.devices().count == 2)
    await second.close()
    await device.close()
  }
}
