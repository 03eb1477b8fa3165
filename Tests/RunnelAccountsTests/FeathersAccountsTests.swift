import AccountSimulation
import Foundation
import RunnelBase
import RunnelServices
import RunnelStore
import Testing

@testable import RunnelAccounts

/// Sessions with the service `authentication` of a Feathers application in the same program.
@Suite(.timeLimit(.minutes(1))) struct FeathersAccountsTests {
  private let clock = ManualClock()
  private let host: FeathersHost

  init() async throws {
    host = try await FeathersHost { [clock] in clock.now }
  }

  private func session(_ storage: any AccountStorage = AccountMemory()) async -> AccountSession {
    var options = AccountOptions()
    (options.clock, options.seed) = (clock.clock, 1)
    let app = host.app
    let accounts = FeathersAccounts("feathers+test", clock: clock.clock) {
      InProcessProvider(server: app)
    }
    return await AccountSession(accounts, storage: storage, options: options)
  }

  private func signIn(_ session: AccountSession, _ name: String = "ana") async throws {
    try await session.signIn(email: "\(name)@x.org", password: Secret("secret-\(name)"))
  }

  @Test func theTokenIsInAFileOfTheUserAloneAndRestoredWithoutANetwork() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let storage = AccountFolder(for: "feathers+test", below: folder)
    let first = await session(storage)
    try await signIn(first)
    let user = try #require(await first.user)
    #expect(user.id == "ana" && user.email == "ana@x.org" && user.displayName == "ana")
    #expect(host.takeCalls() == ["sign in by local nobody"])
    await first.close()
    var files = 0
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let about = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      guard about[.type] as? FileAttributeType == .typeRegular else { continue }
      files += 1
      #expect(about[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    #expect(files > 0)
    host.change { $0.failure = FeathersError(.unavailable, "away") }
    let second = await session(storage)
    #expect(await second.user == user)
    #expect(try await !second.idToken().reveal().isEmpty)
    #expect(host.takeCalls().isEmpty)
    await second.close()
  }

  @Test func aWrongPasswordIsTold() async throws {
    let session = await session()
    let error = await #expect(throws: LogInError.self) {
      try await session.signIn(email: "ana@x.org", password: Secret("nonsense"))
    }
    if case .wrongCredentials? = error {} else { Issue.record("\(String(describing: error))") }
    #expect(await session.state == .signedOut)
    await session.close()
  }

  @Test(arguments: [
    FeathersError(.unavailable, "away"), FeathersError(.generalError, "broken"),
    FeathersError(.tooManyRequests, "slow"), FeathersError(.timeout, "late"),
  ])
  func aFailureThatPassesKeepsTheSession(failure: FeathersError) async throws {
    let memory = AccountMemory()
    let session = await session(memory)
    try await signIn(session)
    let token = try await session.idToken()
    host.change { $0.failure = failure }
    let error = await #expect(throws: AccountFailure.self) {
      try await session.idToken(refused: token)
    }
    #expect(error?.isTemporary == true, "\(String(describing: error))")
    #expect(await session.user?.id == "ana" && memory.signedIn() != nil)
    await session.close()
  }

  @Test func aTokenThatIsRefusedTwiceEndsTheSession() async throws {
    let memory = AccountMemory()
    let session = await session(memory)
    try await signIn(session)
    let token = try await session.idToken()
    // Refused by a service, but good for the service `authentication`.
    #expect(try await session.idToken(refused: token) == token)
    host.change { $0.revoked.insert(token.reveal()) }
    let error = await #expect(throws: AccountFailure.self) {
      try await session.idToken(refused: token)
    }
    #expect(error?.code == .sessionEnded)
    #expect(await session.user == nil && memory.signedIn() == nil)
    await session.close()
  }

  @Test func theSessionEndsWhenTheTokenExpires() async throws {
    let session = await session()
    try await signIn(session)
    for _ in 0..<200 {
      clock.advance(20_000)
      // The answer to what became due arrives before the time goes on.
      _ = try? await session.idToken()
      if await session.user == nil { break }
    }
    guard case .ended(let user, let failure) = await session.state else {
      Issue.record("\(await session.state)")
      return
    }
    #expect(user.id == "ana" && failure.message.contains("jwt expired"))
    await session.close()
  }

  @Test func aSignOutIsToldToTheServerAndForgetsTheTokenInAnyCase() async throws {
    let memory = AccountMemory()
    let session = await session(memory)
    try await signIn(session)
    _ = host.takeCalls()
    await session.signOut()
    #expect(host.takeCalls() == ["sign out ana"])
    #expect(memory.signedIn() == nil && memory.departing().isEmpty)
    try await signIn(session, "bo")
    host.change { $0.failure = FeathersError(.unavailable, "away") }
    await session.signOut()
    #expect(memory.signedIn() == nil && memory.departing().isEmpty)
    await session.close()
  }

  @Test func aSignUpCreatesAUserWhereTheServerAllowsIt() async throws {
    let session = await session()
    let user = try await session.signUp(email: "cy@x.org", password: Secret("secret-cy"))
    #expect(user.id == "cy")
    #expect(host.takeCalls() == ["sign up nobody", "sign in by local nobody"])
    let twice = await #expect(throws: SignUpError.self) {
      try await session.signUp(email: "ana@x.org", password: Secret("secret"))
    }
    if case .emailInUse? = twice {} else { Issue.record("\(String(describing: twice))") }
    host.change { $0.allowsSignUp = false }
    let closed = await #expect(throws: SignUpError.self) {
      try await session.signUp(email: "di@x.org", password: Secret("secret"))
    }
    if case .notAllowed? = closed {} else { Issue.record("\(String(describing: closed))") }
    await session.close()
  }

  @Test(arguments: [
    AccountOperation.sendPasswordReset(email: "ana@x.org"), .sendEmailVerification,
    .changeEmail("new@x.org", current: nil), .verifyAndChangeEmail("new@x.org", current: nil),
    .applyCode(Secret("code")), .resetPassword(code: Secret("code"), Secret("secret")),
    .changePassword(Secret("secret"), current: nil), .delete(current: nil),
  ])
  func whatFeathersHasNotIsNotOffered(operation: AccountOperation) async throws {
    let session = await session()
    try await signIn(session)
    _ = host.takeCalls()
    let error = await #expect(throws: AccountFailure.self) { try await session.perform(operation) }
    #expect(error?.code == .notOffered)
    #expect(host.takeCalls().isEmpty)
    #expect(await session.user?.id == "ana")
    await session.close()
  }

  @Test func eachConnectionSignsInAndNothingIsSentAsNobody() async throws {
    let session = await session()
    try await signIn(session)
    let token = try await session.idToken()
    _ = host.takeCalls()
    for _ in 0..<2 {
      let app = Feathers(provider: InProcessProvider(server: host.app))
      app.configure(auth: session.authentication(of: "ana"))
      _ = try await app.service("messages").find()
      #expect(host.takeCalls() == ["sign in by jwt nobody", "find ana"])
      app.close()
    }
    let app = Feathers(provider: InProcessProvider(server: host.app))
    app.configure(auth: session.authentication(of: "ana"))
    _ = try await app.service("messages").find()
    host.change { $0.revoked.insert(token.reveal()) }
    _ = host.takeCalls()
    for _ in 0..<2 {
      let error = await #expect(throws: FeathersError.self) {
        _ = try await app.service("messages").find()
      }
      #expect(error?.code == 401)
    }
    let calls = host.takeCalls()
    // The first was sent with the token that had been good.
    #expect(calls.count { $0.hasPrefix("find") } == 1, "\(calls)")
    #expect(await session.user == nil)
    app.close()
    await session.close()
  }
}
