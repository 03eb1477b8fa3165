import Foundation
import Testing

@testable import RunnelDevices

/// The files of a device.
@Suite(.timeLimit(.minutes(1))) struct DeviceFileTests {
  private let folder: String

  init() throws { folder = try temporaryFolder() }

  @Test func theIdIsMadeOnce() throws {
    let identity = DeviceIdentity(folder: folder + "/a/b")
    let id = try identity.id()
    #expect(id.utf8.count == 20)
    #expect(try identity.id() == id)
    #expect(try DeviceIdentity(folder: folder + "/c").id() != id)
    let mode = try FileManager.default.attributesOfItem(atPath: folder + "/a/b/device")
    #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test func ofManyProcessesOneMakesTheId() async throws {
    let identity = DeviceIdentity(folder: folder)
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try identity.id() } }
      var ids: Set<String> = []
      for try await id in group { ids.insert(id) }
      return ids
    }
    #expect(ids.count == 1)
  }

  @Test(arguments: ["", "short\n", "0123456789012345678Ü\n", "../../../etc/passwd00\n"])
  func aDamagedIdIsReported(text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/device"))
    let error = #expect(throws: DeviceFailure.self) { try DeviceIdentity(folder: folder).id() }
    #expect(error?.code == .files)
  }

  @Test func holdersAreRemembered() throws {
    let identity = DeviceIdentity(folder: folder)
    #expect(identity.holders("https://a.test").isEmpty)
    try identity.remember(["ana", "bo"], "https://a.test")
    #expect(identity.holders("https://a.test") == ["ana", "bo"])
    #expect(identity.holders("https://b.test").isEmpty)
    try identity.remember([], "https://a.test")
    #expect(identity.holders("https://a.test").isEmpty)
  }

  @Test func namesAreRemembered() throws {
    let identity = DeviceIdentity(folder: folder)
    #expect(identity.names("https://a.test").isEmpty)
    try identity.remember(name: "Werkbank", of: "ana", "https://a.test")
    try identity.remember(name: "the desk", of: "bo", "https://a.test")
    try identity.remember(name: "two\nlines", of: "cy", "https://a.test")
    try identity.remember(name: "Hive", of: "ana", "https://a.test")
    #expect(identity.names("https://a.test") == ["ana": "Hive", "bo": "the desk"])
    #expect(identity.names("https://b.test").isEmpty)
  }

  @Test func anEndpointIsKeptAndReplaced() async throws {
    let file = folder + "/endpoint"
    let provider = try UnifiedPushTokens(server: "https://ntfy.test/", file: file)
    var tokens = await provider.tokens().makeAsyncIterator()
    let first = try #require(await tokens.next())
    #expect(first.hasPrefix("https://ntfy.test/up") && first.hasSuffix("?up=1"))
    var again = try await UnifiedPushTokens(server: "https://ntfy.test", file: file).tokens()
      .makeAsyncIterator()
    #expect(await again.next() == first)
    #expect(await provider.renew())
    let second = await tokens.next()
    #expect(second != nil && second != first)
    #expect(throws: DeviceFailure.self) {
      try UnifiedPushTokens(server: "http://ntfy.test", file: file)
    }
    let unwritable = try UnifiedPushTokens(server: "https://ntfy.test", file: "/proc/none/x")
    #expect(await unwritable.renew() == false)
  }
}
