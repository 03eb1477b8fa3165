import AccountSimulation
import Foundation
import Logging
import RunnelBase
import RunnelClient
import RunnelDatabase
import RunnelNetwork
import RunnelServer
import RunnelStore
import RunnelSync
import RunnelTree
import TestSupport
import Testing

@testable import RunnelAccounts

/// Replicas whose connections are authenticated by a session, with a real server.
@Suite(.timeLimit(.minutes(1))) struct AccountLinkTests {
  private static let rules = """
    {"rules":{"$user":{".read":"auth.uid === $user",".write":"auth.uid === $user"}}}
    """

  private static let rulesOfConfirmed = """
    {"rules":{"$user":{".read":"auth.uid === $user",".write":"auth.token.email_verified === true"}}}
    """

  /// Starts a server, which takes the unsigned tokens of the test's account service.
  private func server(
    _ folder: String, port: Int = 0, rules: String = AccountLinkTests.rules
  ) async throws -> (DatabaseServer, Int) {
    try Data(rules.utf8).write(
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

  private func session(
    _ service: FakeAccounts, _ storage: any AccountStorage = AccountMemory()
  ) async -> AccountSession {
    await AccountSession(
      IdentityToolkit.server("https://accounts.test", service.transport), storage: storage)
  }

  private var options: OriginOptions {
    var options = OriginOptions(environment: [:])
    options.limits.delayMin = 20
    options.limits.delayMax = 100
    return options
  }

  private func service() -> FakeAccounts {
    let service = FakeAccounts { AccountClock.system.now() }
    for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
    return service
  }

  @Test func theConnectionIsAuthenticatedBeforeItListensAlsoAfterReconnecting() async throws {
    let folder = try temporaryFolder()
    let (first, port) = try await server(folder)
    let session = await session(service())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    let place = try database.reference(withPath: "ana/n")
    var values = place.values.makeAsyncIterator()
    try await place.setValue(1).acknowledgement()
    await first.stop()
    // If it listened before it is authenticated, the listener would be refused and end.
    let receipt = try await place.setValue(2)
    let (second, _) = try await server(folder, port: port)
    try await receipt.acknowledgement()
    while let snapshot = try await values.next(), snapshot.value != 2 {}
    database.close()
    await session.close()
    await second.stop()
  }

  @Test func aNewTokenIsGivenToTheOpenConnection() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder)
    let service = service()
    let session = await session(service)
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    let place = try database.reference(withPath: "ana/n")
    try await place.setValue(1).acknowledgement()
    for _ in 0..<5 {
      let old = try await session.idToken()
      _ = try await session.idToken(refused: old)
      try await place.setValue(2).acknowledgement()
    }
    #expect(await database.originLink?.currentStatus.isLive == true)
    database.close()
    await session.close()
    await server.stop()
  }

  /// As after a change of the address, before which the user signs in again.
  @Test func aRefusedTokenIsExchangedAlsoIfTheConnectionDidNotAskForIt() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder)
    let session = await session(service())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    try await database.reference(withPath: "ana/n").setValue(1).acknowledgement()
    let new = try await session.idToken(refused: try await session.idToken())
    try await yieldUntil { session.given["ana"] == new }
    let next = try await session.access(of: "ana").provider?(true)
    #expect(next != nil && next != Credential(new.reveal()))
    database.close()
    await session.close()
    await server.stop()
  }

  @Test func anAddressThatAnotherProgramConfirmedIsKnownToTheOpenConnection() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder, rules: AccountLinkTests.rulesOfConfirmed)
    let (service, storage) = (service(), AccountFolder(for: "test", below: folder))
    let session = await session(service, storage)
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    let place = try database.reference(withPath: "ana/n")
    await #expect(throws: (any Error).self) { try await place.setValue(1).acknowledgement() }
    let other = await self.session(service, storage)
    service.change { $0.records["ana"]?.isVerified = true }
    try await other.reload()
    _ = try await session.checkedToken(of: "ana")
    // The token is given to the connection a little later.
    try await yieldUntil(stepsMax: 100_000) {
      (try? await place.setValue(2).acknowledgement()) != nil
    }
    database.close()
    await session.close()
    await other.close()
    await server.stop()
  }

  @Test func aConnectionThatIsGivenUpIsMadeAgainWithACredential() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder)
    let session = await session(service())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    let place = try database.reference(withPath: "ana/n")
    try await place.setValue(1).acknowledgement()
    let link = try #require(await database.originLink)
    let statuses = link.statuses
    link.endConnection("there is no credential: a test")
    for await status in statuses {
      if case .link(.waiting(_, let reason)) = status.state {
        #expect(reason == "there is no credential: a test")
        break
      }
    }
    try await place.setValue(2).acknowledgement()
    database.close()
    await session.close()
    await server.stop()
  }

  @Test func nothingIsWrittenUnderTheCredentialOfAnotherUser() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder)
    let address = "http://localhost:\(port)/?ns=test"
    let session = await session(service())
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: address, in: session, user: "ana", file: folder + "/ana.db", options: options)
    try await database.reference(withPath: "ana/n").setValue(1).acknowledgement()
    try await database.goOffline()
    let receipt = try await database.reference(withPath: "ana/n").setValue(2)
    try await session.signIn(email: "bo@x.org", password: Secret("secret-bo"))
    try await database.goOnline()
    let other = try await Database.connect(
      to: address, in: session, user: "bo", file: folder + "/bo.db", options: options)
    try await other.reference(withPath: "bo/n").setValue(3).acknowledgement()
    #expect(receipt.isPending, "bo's credential sends nothing of ana")
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    try await receipt.acknowledgement()
    database.close()
    other.close()
    await session.close()
    await server.stop()
  }

  @Test func aReplicaIsReadableWhenTheSessionHasEnded() async throws {
    let folder = try temporaryFolder()
    let (server, port) = try await server(folder)
    let service = service()
    let session = await session(service)
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    let database = try await Database.connect(
      to: "http://localhost:\(port)/?ns=test", in: session, user: "ana",
      file: folder + "/replica.db", options: options)
    let place = try database.reference(withPath: "ana/n")
    try await place.setValue(1).acknowledgement()
    try await database.goOffline()
    service.revoke("ana")
    let old = try await session.idToken()
    await #expect(throws: AccountFailure.self) { try await session.idToken(refused: old) }
    try await database.goOnline()
    let receipt = try await place.setValue(2)
    #expect(try await place.get(from: .cache).value == 2)
    #expect(receipt.isPending)
    try await session.signIn(email: "ana@x.org", password: Secret("secret-ana"))
    try await receipt.acknowledgement()
    database.close()
    await session.close()
    await server.stop()
  }
}
