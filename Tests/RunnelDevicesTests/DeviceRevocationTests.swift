import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelNetwork
import RunnelStore
import Synchronization
import Testing

@testable import RunnelDevices

/// A session asks whether its device was taken away.
@Suite(.timeLimit(.minutes(1))) struct DeviceRevocationTests {
  /// The questions that were asked.
  private final class Asked: Sendable {
    private let targets = Mutex<[String]>([])

    var all: [String] { targets.withLock { $0 } }

    func add(_ target: String) { targets.withLock { $0.append(target) } }
  }

  private static let signIn: Int64 = 1_750_000_000_000

  private let service = FakeAccounts { DeviceRevocationTests.signIn }
  private let folder: String
  private let asked = Asked()

  init() throws {
    folder = try temporaryFolder()
    service.add("ana", "ana@x.org", "secret-ana")
  }

  /// A session of a user in whose list the device stands.
  private func session() async throws -> AccountSession {
    let session = await AccountSession(
      IdentityToolkit.emulator("http://localhost:1", service.transport), storage: AccountMemory())
    try await session.perform(.signIn(email: "ana@x.org", password: Secret("secret-ana")))
    try identity.remember(["ana"], session.provider.name)
    return session
  }

  private var identity: DeviceIdentity { DeviceIdentity(folder: folder) }

  /// A check at a server that answers this; nil for one that cannot be reached.
  private func revocation(_ answer: String?) -> DeviceRevocation {
    revocation([answer.map { (200, $0) }])
  }

  /// A check at a server that gives these answers, the last one from then on; nil for none.
  private func revocation(_ answers: [(status: Int, body: String)?]) -> DeviceRevocation {
    let listed = ListedDevice(
      base: "http://localhost:1", namespace: "main", keys: ["lists"], folder: folder
    ) { [asked] (request: WebRequest) async throws(NetworkError) in
      let count = asked.all.count
      asked.add(request.address.target)
      guard let answer = answers[min(count, answers.count - 1)] else {
        throw NetworkError("it cannot be reached")
      }
      return (answer.status, Array(answer.body.utf8))
    }
    return DeviceRevocation(listed)
  }

  @Test func sessionOfARevokedDeviceEnds() async throws {
    let session = try await session()
    // The mark wins within the second of the sign-in, too.
    let mark = "\(Self.signIn + 1)"
    await #expect(throws: DeviceRevocation.failure) { try await revocation(mark).check(session) }
    #expect(await session.state == .ended(try await endedUser(session), DeviceRevocation.failure))
    let path = "/lists/ana/deviceStates/\(try identity.id())/revoked.json?auth="
    #expect(asked.all.count == 1 && asked.all[0].hasPrefix(path))
    #expect(asked.all[0].hasSuffix("&ns=main"))
    #expect(identity.holders(session.provider.name).isEmpty, "the next sign-in is a new one")
  }

  private func endedUser(_ session: AccountSession) async throws -> AccountUser {
    guard case .ended(let user, _) = await session.state else { throw NotReached() }
    return user
  }

  @Test(arguments: ["null", "\(DeviceRevocationTests.signIn - 1)", "0"])
  func sessionGoesOnWithoutAMarkThatIsNewerThanTheSignIn(answer: String) async throws {
    let session = try await session()
    try await revocation(answer).check(session)
    #expect(await session.user?.id == "ana")
    #expect(identity.holders(session.provider.name) == ["ana"])
  }

  /// Answers that do not tell whether the device was taken away, and whether a later one may.
  private static let useless: [(status: Int, body: String, isTemporary: Bool)] = [
    (200, "<html>", true), (200, "", true), (200, "{}", true), (200, "\"yes\"", true),
    (500, "null", true), (503, "", true), (429, "null", true), (302, "null", true),
    (401, "", true), (403, "<html>", true),
    (401, "{\"error\":\"Permission denied\"}", false),
    (403, "{\"error\":\"Permission denied.\"}", false), (404, "Not Found", false),
    (405, "", false),
  ]

  @Test(arguments: DeviceRevocationTests.useless.indices)
  func connectionIsNotMadeWithoutAnAnswer(index: Int) async throws {
    let (status, body, isTemporary) = Self.useless[index]
    let session = try await session()
    let failure = await #expect(throws: AccountFailure.self) {
      try await revocation([(status, body)]).check(session)
    }
    #expect(failure?.isTemporary == isTemporary)
    #expect(failure?.message.hasPrefix("It is not known whether this device was revoked: ") == true)
    #expect(await session.user?.id == "ana", "the session has not ended")
    #expect(identity.holders(session.provider.name) == ["ana"], "it is asked again")
    // With a credential that is refused, it is asked once more.
    let refused = [401, 403].contains(status) && isTemporary
    #expect(asked.all.count == (refused ? 2 : 1))
  }

  @Test func connectionIsNotMadeIfTheServerCannotBeReached() async throws {
    let session = try await session()
    let failure = await #expect(throws: AccountFailure.self) {
      try await revocation(nil).check(session)
    }
    #expect(failure?.code == .offline)
    #expect(await session.user?.id == "ana")
  }

  @Test func refusedTokenIsExchangedBeforeItIsAskedAgain() async throws {
    let session = try await session()
    try await revocation([(401, "{\"error\":\"Auth token is expired\"}"), (200, "null")])
      .check(session)
    #expect(asked.all.count == 2 && asked.all[0] != asked.all[1])
  }

  @Test func markOfTheSecondOfTheSignInWinsEverywhere() async throws {
    let session = try await session()
    for (time, isAfter) in [(-1, true), (0, false), (999, false)] as [(Int64, Bool)] {
      #expect(await session.hasSignedIn("ana", after: Self.signIn + time) == isAfter)
      let token = try await session.idToken()
      #expect(TokenClaims(token)?.isSignIn(after: Self.signIn + time) == isAfter)
    }
    #expect(await !session.hasSignedIn("bo", after: 0))
  }

  @Test func revokedDeviceIsToldWithTheExchangedTokenToo() async throws {
    let session = try await session()
    let mark = "\(Self.signIn + 1000)"
    await #expect(throws: DeviceRevocation.failure) {
      try await revocation([(401, ""), (200, mark)]).check(session)
    }
    #expect(await session.user == nil)
  }

  @Test func deviceThatStandsInNoListIsNotAskedAbout() async throws {
    let session = try await session()
    try identity.remember([], session.provider.name)
    try await revocation("\(Self.signIn + 1000)").check(session)
    #expect(await session.user?.id == "ana")
    #expect(asked.all.isEmpty)
  }
}
