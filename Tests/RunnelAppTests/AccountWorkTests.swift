import AccountSimulation
import Foundation
import RunnelAccounts
import RunnelBase
import RunnelNetwork
import RunnelStore
import RunnelSync
import Synchronization
import TestSupport
import Testing

@testable import RunnelApp
@testable import RunnelDevices
@testable import RunnelWorkspace

/// What the workspace asks of accounts is done with an account service, and answered.
@Suite(.timeLimit(.minutes(2))) struct AccountWorkTests {
  private let service = FakeAccounts { 1_750_000_000_000 }
  private let clock = ManualClock()
  private let folder = NSTemporaryDirectory() + "runnel-accounts-\(UUID().uuidString)"
  private let home: AccountHome
  private let departures: Departures
  private let work: AccountWork
  private let wakes: AsyncStream<Void>

  init() {
    home = AccountHome(
      of: "home", IdentityToolkit.emulator("http://localhost:1", service.transport),
      service.transport, below: folder)
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    wakes = stream
    var options = AccountOptions()
    options.clock = clock.clock
    let removal = DeviceRemoval(
      ListedDevice(
        base: "http://localhost:1", namespace: "main", keys: ["user-devices"], folder: folder,
        service.transport))
    departures = Departures(home, removal, options: options)
    work = AccountWork(home, departures, options: options) { continuation.yield() }
    for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
  }

  /// Waits for news until one of them is the wanted value.
  private func wait<Value>(_ find: (AccountWork.News) -> Value?) async throws -> Value {
    for await _ in wakes {
      if let value = find(work.news()) { return value }
    }
    throw CancellationError()
  }

  private func facts(_ isWanted: (AccountFacts) -> Bool) async throws -> AccountFacts {
    try await wait { news in news.facts.flatMap { isWanted($0) ? $0 : nil } }
  }

  /// Carries out a request, and returns the user of its answer, or the refusal.
  private func ask(
    _ number: Int, _ request: AccountRequest
  ) async throws -> Result<String?, Refusal> {
    let id = AppRequestID(number)
    work.start(id, request)
    return try await wait { news in
      guard let answer = news.answers.first(where: { $0.id == id })?.answer else { return nil }
      switch answer {
      case .account(let user, _): return .success(user)
      case .refused(let refusal): return .failure(refusal)
      default: return nil
      }
    }
  }

  private func signIn(_ name: String, _ number: Int = 1) async throws -> Result<String?, Refusal> {
    try await ask(number, .signIn(email: "\(name)@x.org", Secret("secret-\(name)")))
  }

  @Test func accountSignsInAndIsKeptAsTheActiveOne() async throws {
    #expect(work.begin(as: nil) == AccountFacts())
    #expect(try await signIn("ana") == .success("ana"))
    #expect(try home.signedIn()?.user.id == "ana")
    let facts = work.begin(as: "ana")
    #expect(facts.session == .signedIn)
    #expect(facts.current?.title == "ana@x.org")
    let credential = try await work.access(of: "ana").provider?(false)
    #expect(credential != nil)
    #expect(work.access(of: nil).provider == nil)
  }

  @Test func refusalNamesTheFieldThatItIsAbout() async throws {
    _ = work.begin(as: nil)
    let wrong = try await ask(1, .signIn(email: "ana@x.org", Secret("nonsense")))
    #expect(fields(wrong) == ["password"])
    let unknown = try await ask(2, .signIn(email: "eve@x.org", Secret("nonsense")))
    #expect(fields(unknown) == ["email"])
    let used = try await ask(3, .signUp(email: "ana@x.org", Secret("long enough")))
    #expect(fields(used) == ["email"])
    let code = try await ask(4, .resetPassword(code: Secret("none"), Secret("long enough")))
    #expect(fields(code) == ["code"])
    service.set(.offline)
    #expect(fields(try await signIn("ana", 5)) == [])
    #expect(try home.all().isEmpty)
  }

  private func fields(_ result: Result<String?, Refusal>) -> [String]? {
    if case .failure(let refusal) = result { refusal.fields.map(\.name) } else { nil }
  }

  @Test func sessionThatEndedAtTheServiceIsToldAndSignedInAgain() async throws {
    _ = work.begin(as: nil)
    #expect(try await signIn("ana") == .success("ana"))
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    service.revoke("ana")
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(true)
    }
    let ended = try await facts { $0.reasonEnded != nil }
    #expect(ended.current?.title == "ana@x.org")
    #expect(ended.accounts.isEmpty)
    #expect(try await signIn("ana", 2) == .success("ana"))
    #expect(try await work.access(of: "ana").provider?(false) != nil)
  }

  @Test func endedSessionIsRememberedByTheNextRunUntilSomebodySignsIn() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    service.revoke("ana")
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(true)
    }
    let ended = try await facts { $0.reasonEnded != nil }
    let user = try #require(try home.ended()?.user.id)
    #expect(user == "ana")
    let next = AccountWork(home) {}
    #expect(next.begin(as: user) == ended)
    #expect(try await signIn("ana", 2) == .success("ana"))
    #expect(try home.ended() == nil)
  }

  @Test func endedAccountWhoseWritesWaitIsListedAndShownWhileAnotherIsActive() async throws {
    var user = AccountUser(id: "0ld")
    user.email = "ana@x.org"
    try home.folder(home.ownService).rememberEnd(of: user, AccountFailure(.sessionEnded, "Ended."))
    let work = AccountWork(
      home, replicas: WaitingReplicas(count: { $0 == "0ld" ? 2 : 0 }), wake: {})
    _ = self.work.begin(as: nil)
    #expect(try await signIn("ana") == .success("ana"))
    let account = AccountFacts.Account(id: "0ld", email: "ana@x.org")
    #expect(work.begin(as: "ana").waiting == [AccountFacts.Waiting(account, count: 2)])
    #expect(work.begin(as: "0ld").reasonEnded == "Ended.")
    #expect(work.begin(as: "0ld").waiting.isEmpty)
    #expect(try await ask(2, .use("0ld")) == .success("0ld"))
    #expect(try home.signedIn()?.user.id == "ana", "commands act as before")
  }

  @Test func writesOfAnotherAccountThatIsSignedInAreAmongTheFacts() async throws {
    let work = AccountWork(home, replicas: WaitingReplicas(count: { $0 == "bo" ? 2 : 0 }), wake: {})
    _ = self.work.begin(as: nil)
    #expect(try await signIn("ana") == .success("ana"))
    #expect(try await signIn("bo", 2) == .success("bo"))
    let waiting = work.begin(as: "ana").waiting
    #expect(waiting.map(\.account.id) == ["bo"] && waiting.map(\.count) == [2])
    #expect(work.begin(as: "bo").waiting.isEmpty)
  }

  @Test func writesOfUsersWhoAreSignedOutAreAmongTheFacts() async throws {
    var user = AccountUser(id: "left")
    user.email = "left@x.org"
    try home.noteSignOut(of: user, writesWait: true)
    let counts = Mutex(["left": 2, "lost": 1, "public": 4, "none": 0])
    let replicas = WaitingReplicas(
      count: { user in counts.withLock { $0[user] ?? 0 } },
      counts: { user in (counts.withLock { $0[user] ?? 0 }, user == "public" ? 3 : 0) },
      users: { counts.withLock { $0.keys.sorted() } },
      drop: { user in counts.withLock { $0[user] = nil } })
    let work = AccountWork(home, replicas: replicas, wake: {})
    let facts = work.begin(as: "ana")
    #expect(
      facts.waiting == [
        AccountFacts.Waiting(.init(id: "left", email: "left@x.org"), count: 2, .signedOut),
        AccountFacts.Waiting(.init(id: "lost"), count: 1, .signedOut),
      ])
    #expect(facts.nobodyCount == 4 && facts.nobodyRefusedCount == 3)
    #expect(work.countedUsers == ["left", "lost", "public"])
    // Those of nobody are shown then.
    #expect(work.begin(as: nil).nobodyCount == 0)
    try await work.giveUp("left")
    #expect(try home.left("left") == nil)
    #expect(work.begin(as: "ana").waiting.map(\.account.id) == ["lost"])
  }

  @Test func resetThatMadeANewAccountSaysTheAddress() async throws {
    _ = work.begin(as: nil)
    for (number, parts) in [(1, false), (3, true)] {
      service.change { $0.partsAccounts = parts }
      #expect(try await ask(number, .sendReset(email: "ana@x.org")) == .success(nil))
      let code = Secret(try #require(service.code("PASSWORD_RESET")))
      let answer = try await ask(number + 1, .resetPassword(code: code, Secret("long enough")))
      #expect(answer == .success(parts ? "ana@x.org" : nil))
    }
  }

  @Test func nobodyIsShownThatTheDeviceWasRevoked() async throws {
    let folder = home.folder(home.ownService)
    try folder.rememberEnd(of: AccountUser(id: "ana"), DeviceRevocation.failure)
    let facts = work.begin(as: nil)
    #expect(facts.session == .nobody && facts.isRevoked && facts.current == nil)
    let replicas = WaitingReplicas(count: { _ in 3 })
    let waiting = AccountWork(home, replicas: replicas, wake: {}).begin(as: nil).waiting
    #expect(waiting == [AccountFacts.Waiting(.init(id: "ana"), count: 3, .revoked)])
    // Its data is shown only after a sign-in.
    #expect(fields(try await ask(2, .use("ana"))) == [])
    _ = try await signIn("ana")
    #expect(!work.begin(as: "ana").isRevoked)
  }

  /// The user has signed in again by another window before this one shows nobody.
  @Test func windowOfARevokedDeviceKnowsWhoSignedInBeforeIt() async throws {
    _ = self.work.begin(as: nil)
    let window = AccountWork(home, wake: {})
    _ = window.begin(as: "ana")
    await window.publish(.ended(AccountUser(id: "ana"), DeviceRevocation.failure))
    #expect(try await signIn("ana") == .success("ana"))
    let facts = window.begin(as: nil)
    #expect(facts.session == .nobody && !facts.isRevoked)
    #expect(facts.revokedAccount?.id == "ana" && facts.accounts.map(\.id) == ["ana"])
    _ = window.begin(as: "ana")
    #expect(window.begin(as: nil).revokedAccount == nil)
  }

  @Test func endedSessionIsForgottenByASignOut() async throws {
    var user = AccountUser(id: "ana")
    user.email = "ana@x.org"
    let folder = home.folder(home.ownService)
    try folder.rememberEnd(of: user, AccountFailure(.sessionEnded, "It ended."))
    let facts = work.begin(as: "ana")
    #expect(facts.reasonEnded == "It ended." && facts.current?.title == "ana@x.org")
    #expect(try await ask(1, .signOut("ana")) == .success(nil))
    #expect(try home.ended() == nil)
  }

  /// Another program signs the user out.
  private func leaveElsewhere(writesWait: Bool) async throws -> AccountUser {
    _ = self.work.begin(as: nil)
    #expect(try await signIn("ana") == .success("ana"))
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    let user = try #require(try home.all().first?.user)
    try home.folder(home.ownService).forget("ana")
    try home.noteSignOut(of: user, writesWait: writesWait)
    work.follow()
    _ = try await facts { $0.reasonEnded != nil }
    return user
  }

  @Test func addressOfAUserWhoSignedOutElsewhereOutlivesASignOutHere() async throws {
    let (news, continuation) = AsyncStream.makeStream(of: Void.self)
    let user = try await leaveElsewhere(writesWait: true)
    #expect(try home.left("ana")?.email == user.email)
    // Another window signs out too, while writes wait.
    let window = AccountWork(
      home, replicas: WaitingReplicas(count: { _ in 2 }), wake: { continuation.yield() })
    _ = window.begin(as: "ana")
    window.start(AppRequestID(7), .signOut("ana"))
    for await _ in news where !window.news().answers.isEmpty { break }
    #expect(try home.left("ana")?.email == user.email)
  }

  @Test func addressOfAUserWhoSignedOutElsewhereIsKeptOnceWritesWait() async throws {
    let user = try await leaveElsewhere(writesWait: false)
    #expect(try home.left("ana") == nil)
    work.note(isLeftWithWrites: true)
    try await yieldUntil(stepsMax: 1_000_000) { try home.left("ana") != nil }
    #expect(try home.left("ana")?.email == user.email)
    // It is that of the user until a sign-in.
    #expect(try await signIn("ana", 2) == .success("ana"))
    #expect(try home.left("ana") == nil)
  }

  @Test(arguments: [false, true])
  func signOutTellsWhetherTheServerHasConfirmedIt(isOffline: Bool) async throws {
    _ = try enter("ana")
    _ = work.begin(as: nil)
    #expect(try await signIn("ana") == .success("ana"))
    if isOffline { service.set(.offline) }
    work.start(AppRequestID(2), .signOut("ana"))
    let answer = try await wait { news in news.answers.first?.answer }
    guard case .account(nil, let isLater) = answer else {
      Issue.record("It was answered: \(answer)")
      return
    }
    #expect(isLater == isOffline)
  }

  @Test func anonymousUserKeepsTheAccountWithAnAddress() async throws {
    _ = work.begin(as: nil)
    let user = try #require(try await ask(1, .signInAnonymously).get())
    #expect(work.begin(as: user).current?.isAnonymous == true)
    let used = try await ask(2, .upgrade(email: "ana@x.org", Secret("long enough")))
    #expect(fields(used) == ["email"])
    let upgraded = try await ask(3, .upgrade(email: "cy@x.org", Secret("long enough")))
    #expect(upgraded == .success(nil))
    let kept = try home.signedIn()?.user
    #expect(kept?.id == user && kept?.email == "cy@x.org" && kept?.isAnonymous == false)
  }

  @Test(arguments: [0, 1])
  func signOutOfAnAnonymousUserIsRememberedWhileWritesWait(_ count: Int) async throws {
    let (news, continuation) = AsyncStream.makeStream(of: Void.self)
    let work = AccountWork(
      home, replicas: WaitingReplicas(count: { _ in count }), wake: { continuation.yield() })
    _ = self.work.begin(as: nil)
    let user = try #require(try await ask(1, .signInAnonymously).get())
    _ = work.begin(as: user)
    work.start(AppRequestID(2), .signOut(user))
    for await _ in news where !work.news().answers.isEmpty { break }
    #expect(try home.all().isEmpty && home.ended() == nil)
    #expect(try home.ended(user)?.isFinal == (count > 0 ? true : nil))
    #expect(work.begin(as: nil).waiting.map(\.account.isAnonymous) == (count > 0 ? [true] : []))
  }

  /// The address is that of another account, and this device has not learnt before that the session ended.
  @Test func signInAsksWhetherTheEarlierAccountOfTheAddressHolds() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    service.change { $0.records["ana"] = nil }
    service.add("ana2", "ana@x.org", "secret-ana")
    #expect(try await signIn("ana", 2) == .success("ana2"))
    #expect(try home.all().map(\.user.id) == ["ana2"])
    #expect(try home.ended("ana") != nil && home.signedIn()?.user.id == "ana2")
    let next = AccountWork(home, replicas: WaitingReplicas(count: { _ in 1 }), wake: {})
    #expect(next.begin(as: "ana2").waiting.map(\.account.id) == ["ana"])
  }

  @Test func severalAccountsAreKeptAndEachIsUsedAndSignedOut() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = try await signIn("bo", 2)
    #expect(work.begin(as: "bo").accounts.map(\.id) == ["ana", "bo"])
    #expect(try await ask(3, .use("ana")) == .success("ana"))
    #expect(try home.signedIn()?.user.id == "ana")
    _ = work.begin(as: "ana")
    // Tokens are given only of the user whose data is shown.
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "bo").provider?(false)
    }
    #expect(try await ask(4, .signOut("ana")) == .success("bo"))
    #expect(try home.signedIn()?.user.id == "bo")
    _ = work.begin(as: "bo")
    #expect(try await ask(5, .signOut("bo")) == .success(nil))
    #expect(try home.all().isEmpty)
  }

  /// Lets this device stand in the list of a user; returns its id.
  private func enter(_ user: String) throws -> String {
    let identity = DeviceIdentity(folder: folder)
    try identity.remember([user], home.ownService.name)
    return try identity.id()
  }

  private var writes: [FakeAccounts.Write] { service.state.withLock { $0.writes } }

  /// Waits until all is done for the users who signed out.
  private func waitForDepartures() async throws {
    try await yieldUntil { try home.departing().isEmpty }
  }

  @Test func deviceIsRemovedLaterIfItsUserSignsOutOffline() async throws {
    let device = try enter("ana")
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    service.set(.offline)
    #expect(try await ask(2, .signOut("ana")) == .success(nil))
    #expect(try home.all().isEmpty && home.departing().map(\.user.id) == ["ana"])
    #expect(writes.isEmpty)
    service.set(.none)
    // The next workspace, as nobody.
    let next = AccountWork(home, departures) {}
    _ = next.begin(as: nil)
    try await waitForDepartures()
    let write = try #require(writes.first)
    #expect(write.target.hasPrefix("/user-devices/ana.json?print=silent&auth="))
    #expect(write.target.hasSuffix("&ns=main"))
    let entry = "\"devices/\(device)\":null"
    #expect(write.body == "{\(entry),\"deviceStates/\(device)\":null}")
    #expect(DeviceIdentity(folder: folder).holders(home.ownService.name).isEmpty)
  }

  @Test func userWhoSignsInAgainDepartsNoMore() async throws {
    _ = try enter("ana")
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    service.set(.offline)
    #expect(try await ask(2, .signOut("ana")) == .success(nil))
    #expect(try home.departing().map(\.user.id) == ["ana"])
    // The credential cannot be used before the sign-in.
    await departures.end()
    service.set(.none)
    #expect(try await signIn("ana", 3) == .success("ana"))
    #expect(try home.departing().isEmpty && home.signedIn()?.user.id == "ana")
  }

  @Test func credentialGoesAtOnceIfTheDeviceIsInNoList() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    service.set(.offline)
    #expect(try await ask(2, .signOut("ana")) == .success(nil))
    #expect(try home.departing().isEmpty && home.all().isEmpty)
    #expect(writes.isEmpty)
  }

  @Test func userWhoSignsOutOfflineIsShownByTheAddress() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    service.set(.offline)
    work.start(AppRequestID(2), .signOut("ana"))
    #expect(try await facts { $0.reasonEnded != nil }.current?.title == "ana@x.org")
  }

  @Test func stoppedRequestIsNotAnswered() async throws {
    let gate = Gate()
    service.hold { _ in await gate.pass() }
    _ = work.begin(as: nil)
    work.start(AppRequestID(1), .signIn(email: "ana@x.org", Secret("secret-ana")))
    await gate.arrived()
    work.stop(AppRequestID(1))
    gate.open()
    #expect(try await signIn("bo", 2) == .success("bo"))
    #expect(work.news().answers.isEmpty)
  }

  @Test func accountIsChangedAndDeleted() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    let old = Secret("secret-ana")
    let wrong = try await ask(2, .changePassword(Secret("new-secret"), current: Secret("no")))
    #expect(fields(wrong) == ["current"])
    #expect(
      try await ask(3, .changePassword(Secret("new-secret"), current: old)) == .success(nil))
    #expect(try await ask(4, .sendVerification) == .success(nil))
    let code = try #require(service.code("VERIFY_EMAIL"))
    #expect(try await ask(5, .applyCode(Secret(code))) == .success(nil))
    #expect(try home.signedIn()?.user.isEmailVerified == true)
    #expect(try await ask(6, .sendReset(email: "ana@x.org")) == .success(nil))
    let reset = try #require(service.code("PASSWORD_RESET"))
    #expect(
      try await ask(7, .resetPassword(code: Secret(reset), Secret("third-secret")))
        == .success(nil))
    _ = try await ask(8, .signIn(email: "ana@x.org", Secret("third-secret")))
    #expect(try await ask(9, .delete(current: Secret("third-secret"))) == .success(nil))
    #expect(try home.all().isEmpty)
  }

  @Test func deviceIsRemovedBeforeTheAccountIsDeletedUnlessThePasswordIsWrong() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    let device = try enter("ana")
    _ = work.begin(as: "ana")
    #expect(fields(try await ask(2, .delete(current: Secret("wrong")))) == ["current"])
    #expect(writes.isEmpty)
    #expect(try await ask(3, .delete(current: Secret("secret-ana"))) == .success(nil))
    #expect(writes.count == 1 && writes.first?.body.contains(device) == true)
    #expect(writes.first?.target.hasPrefix("/user-devices/ana.json") == true)
  }

  /// Another program signs a user out whose data is shown here, while nobody can be reached.
  private func signOutElsewhere(_ user: String) async throws {
    let service = home.ownService
    let storage = ChosenAccount(home.folder(service), user: user)
    var options = AccountOptions()
    options.clock = clock.clock
    let session = await AccountSession(service, storage: storage, options: options)
    await departures.take(session)
    self.service.set(.offline)
    await session.signOut()
    await session.close()
    self.service.set(.none)
  }

  @Test func noConnectionIsMadeAfterAnotherProgramSignedOut() async throws {
    _ = try enter("ana")
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    #expect(try await work.access(of: "ana").provider?(false) != nil)
    #expect(work.access(of: "ana").isAskedEachTime)
    try await signOutElsewhere("ana")
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(false)
    }
    let ended = try await facts { $0.reasonEnded != nil }
    #expect(ended.current?.id == "ana" && ended.accounts.isEmpty)
    // The device is removed by the workspace that runs.
    try await waitForDepartures()
    #expect(writes.first?.target.hasPrefix("/user-devices/ana.json") == true)
  }

  @Test func noCredentialIsGivenWhileItIsNotKnownWhetherTheDeviceWasRevoked() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    try DeviceIdentity(folder: folder).remember(["ana"], home.ownService.name)
    let answers = Mutex([500])
    let listed = ListedDevice(
      base: "http://localhost:1", namespace: "main", keys: ["user-devices"], folder: folder
    ) { (_: WebRequest) async throws(NetworkError) in
      let status = answers.withLock { $0.popLast() }
      return (status ?? 200, Array("null".utf8))
    }
    var options = AccountOptions()
    options.clock = clock.clock
    let other = AccountWork(home, nil, DeviceRevocation(listed), options: options) {}
    _ = other.begin(as: "ana")
    let access = other.access(of: "ana", checksDevice: true)
    let failure = await #expect(throws: AccountFailure.self) {
      _ = try await access.provider?(false)
    }
    #expect(failure?.isTemporary == true)
    #expect(try await access.provider?(false) != nil, "it is asked again")
  }

  @Test func openedListShowsThatAnotherProgramSignedOut() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    try await signOutElsewhere("ana")
    work.note(isListed: true, isInFront: true)
    #expect(try await facts { $0.reasonEnded != nil }.accounts.isEmpty)
  }

  /// Another program signs in as ana, beside the workspace.
  private func signInElsewhere() async throws {
    let storage = ChosenAccount(home.folder(home.ownService), user: nil)
    var options = AccountOptions()
    options.clock = clock.clock
    let session = await AccountSession(home.ownService, storage: storage, options: options)
    try await session.perform(.signIn(email: "ana@x.org", password: Secret("secret-ana")))
    await session.close()
  }

  @Test(arguments: [false, true])
  func sessionThatEndedGoesOnWhenAnotherProgramSignsTheUserIn(isListed: Bool) async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    service.revoke("ana")
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(true)
    }
    _ = try await facts { $0.reasonEnded != nil }
    try await signInElsewhere()
    if isListed {
      work.note(isListed: true, isInFront: false)
    } else {
      #expect(try await work.access(of: "ana").provider?(false) != nil)
    }
    #expect(try await facts { $0.session == .signedIn }.current?.id == "ana")
  }

  /// Another window of ana changes the account; this one is told by what is stored.
  private func change(
    _ body: (AccountSession) async throws -> Void
  ) async throws {
    let monitor = AccountMonitor(work, folder: home.path)
    let storage = ChosenAccount(home.folder(home.ownService), user: "ana")
    var options = AccountOptions()
    options.clock = clock.clock
    let session = await AccountSession(home.ownService, storage: storage, options: options)
    _ = work.news()
    try await body(session)
    await session.close()
    monitor.look()
  }

  @Test func windowFollowsWhatAnotherOneDoesWithTheAccount() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    let old = try await work.access(of: "ana").provider?(false)
    try await change { session in
      try await session.perform(.sendEmailVerification)
      try await session.perform(.applyCode(Secret(service.code("VERIFY_EMAIL") ?? "")))
      try await session.perform(.reload)
    }
    #expect(try await facts { $0.current?.isVerified == true }.session == .signedIn)
    let token = try #require(try home.signedIn()?.tokens.idToken.reveal())
    let new = try await work.access(of: "ana").provider?(false)
    #expect(new != old && new == Credential(token))
    try await change { session in
      try await session.perform(.verifyAndChangeEmail("new@x.org", current: nil))
      _ = try await session.idToken()
      let code = service.code("VERIFY_AND_CHANGE_EMAIL") ?? ""
      try await session.perform(.applyCode(Secret(code)))
      try await session.perform(.reload)
    }
    #expect(try await facts { $0.current?.email == "new@x.org" }.session == .signedIn)
  }

  @Test func windowFollowsTheEndOfTheSessionAndTheNextSignIn() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    let old = try await work.access(of: "ana").provider?(false)
    #expect(old != nil)
    var reason: String?
    try await change { session in
      service.revoke("ana")
      let token = try await session.idToken()
      let failure = await #expect(throws: AccountFailure.self) {
        _ = try await session.idToken(refused: token)
      }
      reason = failure?.message
    }
    #expect(try await facts { $0.reasonEnded != nil }.reasonEnded == reason)
    try await change { _ in try await signInElsewhere() }
    #expect(try await facts { $0.session == .signedIn }.current?.id == "ana")
  }

  @Test func windowSaysThatAnotherOneDeletedTheAccount() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    try await change { try await $0.perform(.delete(current: nil)) }
    let ended = try await facts { $0.reasonEnded != nil }
    #expect(ended.reasonEnded == "The account was deleted." && ended.isDeleted)
    #expect(ended.current?.title == "ana@x.org" && ended.accounts.isEmpty)
    let error = await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(false)
    }
    #expect(error?.code != .signedOutElsewhere)
    // The next run begins as nobody.
    #expect(try home.ended() == nil && home.ended("ana")?.isDeleted == true)
  }

  @Test func windowSaysThatTheAccountWasDeletedAlsoIfTheServerRefusedItFirst() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    service.revoke("ana")
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(true)
    }
    #expect(try await !facts { $0.reasonEnded != nil }.isDeleted)
    let user = try #require(try home.ended()?.user)
    try home.folder(home.ownService).rememberEnd(
      of: user, AccountFailure(.accountDeleted, "The account was deleted."))
    work.follow()
    #expect(try await facts(\.isDeleted).reasonEnded == "The account was deleted.")
  }

  @Test func windowsTellTheSameReasonWhileAnotherAccountIsTheActiveOne() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    _ = try await signIn("bo", 2)
    #expect(try home.signedIn()?.user.id == "bo")
    var reason: String?
    try await change { session in
      service.revoke("ana")
      let token = try await session.idToken()
      let failure = await #expect(throws: AccountFailure.self) {
        _ = try await session.idToken(refused: token)
      }
      reason = failure?.message
    }
    #expect(try await facts { $0.reasonEnded != nil }.reasonEnded == reason)
    #expect(reason?.contains("another program") == false)
    #expect(try home.signedIn()?.user.id == "bo" && home.ended() == nil)
  }

  @Test func windowFollowsASignOutOfAnotherProgram() async throws {
    let monitor = AccountMonitor(work, folder: home.path)
    #expect(monitor.fileDescriptors.isEmpty, "there is no folder yet")
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    monitor.look()
    #expect(monitor.fileDescriptors.count == 1)
    try await signOutElsewhere("ana")
    monitor.look()
    #expect(try await facts { $0.reasonEnded != nil }.accounts.isEmpty)
  }

  @Test func refusedWriteLetsTheServiceBeAskedWhetherTheAddressIsConfirmed() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    let old = try await work.access(of: "ana").provider?(false)
    service.change { $0.records["ana"]?.isVerified = true }
    work.note(refused: nil)
    work.note(refused: AppRequestID(7))
    #expect(try await facts { $0.current?.isVerified == true }.session == .signedIn)
    // The token that says so comes a little later.
    try await yieldUntil { try await work.access(of: "ana").provider?(false) != old }
    // The service is asked once for each refusal.
    _ = service.takeAsked()
    work.note(refused: AppRequestID(7))
    work.follow()
    #expect(!service.takeAsked().contains("lookup"))
  }

  @Test func addressThatALinkConfirmedIsKnownWhenTheListIsInFrontAgain() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    work.note(isListed: true, isInFront: true)
    #expect(try await ask(2, .sendVerification) == .success(nil))
    work.note(isListed: true, isInFront: false)
    service.change { $0.records["ana"]?.isVerified = true }
    work.note(isListed: true, isInFront: true)
    #expect(try await facts { $0.current?.isVerified == true }.session == .signedIn)
    // The token that says so is stored a little later.
    func isTold() throws -> Bool {
      let token = try #require(try home.signedIn()?.tokens.idToken.reveal())
      return FakeAccounts.State.claims(token)?["email_verified"] == true
    }
    try await yieldUntil { try isTold() }
  }

  @Test func noMessageIsSentForAnAddressThatIsConfirmed() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    service.change { $0.records["ana"]?.isVerified = true }
    #expect(try await ask(2, .sendVerification) == .success(nil))
    #expect(service.code("VERIFY_EMAIL") == nil)
    #expect(try home.signedIn()?.user.isEmailVerified == true)
  }

  @Test func whyASessionEndedIsKnownAlsoIfAnotherProgramLearntItFirst() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    _ = try await work.access(of: "ana").provider?(false)
    let folder = home.folder(home.ownService)
    try folder.forget("ana")
    try folder.rememberEnd(
      of: AccountUser(id: "ana"), AccountFailure(.sessionEnded, "It was ended there."))
    await #expect(throws: AccountFailure.self) {
      _ = try await work.access(of: "ana").provider?(false)
    }
    #expect(try await facts { $0.reasonEnded != nil }.reasonEnded == "It was ended there.")
  }

  @Test func confirmedAddressIsInTheNextTokenOfAConnection() async throws {
    _ = work.begin(as: nil)
    _ = try await signIn("ana")
    _ = work.begin(as: "ana")
    #expect(try await ask(2, .sendVerification) == .success(nil))
    let code = try #require(service.code("VERIFY_EMAIL"))
    #expect(try await ask(3, .applyCode(Secret(code))) == .success(nil))
    let token = try #require(try home.signedIn()?.tokens.idToken.reveal())
    #expect(FakeAccounts.State.claims(token)?["email_verified"] == true)
    #expect(try await work.access(of: "ana").provider?(false) == Credential(token))
  }

  @Test func accountsOfOtherProgramsAreSeenWhenTheAccountsAreListed() async throws {
    #expect(work.begin(as: nil) == AccountFacts())
    // Another program signs in.
    let storage = ChosenAccount(home.folder(home.ownService), user: nil)
    let session = await AccountSession(home.ownService, storage: storage)
    try await session.perform(.signIn(email: "ana@x.org", password: Secret("secret-ana")))
    await session.close()
    work.note(isListed: true, isInFront: true)
    #expect(try await facts { !$0.accounts.isEmpty }.accounts.map(\.id) == ["ana"])
    // It signs out, while the list is closed.
    work.note(isListed: false, isInFront: false)
    try home.folder(home.ownService).forget("ana")
    work.note(isListed: true, isInFront: true)
    #expect(try await facts(\.accounts.isEmpty).session == .nobody)
  }
}
