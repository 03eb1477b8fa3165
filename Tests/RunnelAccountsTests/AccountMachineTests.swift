import AccountSimulation
import RunnelBase
import RunnelNetwork
import RunnelStore
import Synchronization
import Testing

@testable import RunnelAccounts

/// A machine with its surroundings: the service, the kept accounts, and what is under way.
private final class World {
  let clock = ManualClock()
  let service: FakeAccounts
  let memory = AccountMemory()
  var machine: AccountMachine
  var random: SeededRandom
  var calls: [Int: AccountCall] = [:]
  var reads: [String] = []
  /// The requests that are not finished: of whom a token was requested, or nil.
  var open: [Int: String?] = [:]
  var finishedCount: [Int: Int] = [:]
  var lastID = 0
  var log: [String] = []

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    machine = AccountMachine(seed: seed)
    service = FakeAccounts { [clock] in clock.now }
    for name in ["ana", "bo"] { service.add(name, "\(name)@x.org", "secret-\(name)") }
    service.change { $0.rotates = seed % 2 == 0 }
  }

  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  func handle(_ event: AccountEvent) {
    log.append("\(event)")
    for effect in machine.handle(event, now: clock.now) { carryOut(effect, of: event) }
  }

  private func carryOut(_ effect: AccountEffect, of event: AccountEvent) {
    switch effect {
    case .call(let id, let call):
      if case .refresh(let token) = call {
        // A4
        let isTwice = calls.values.contains { $0 == .refresh(refreshToken: token) }
        #expect(!isTwice, "two refreshes")
      }
      calls[id] = call
    case .abandon(let id): calls[id] = nil
    case .read(let user): reads.append(user)
    case .keep(let account, let isSignIn): memory.keep(account, isSignIn: isSignIn)
    case .forget(let user):
      #expect(mayForget(event), "\(user) was forgotten by \(event)")
      memory.forget(user)
    case .depart(let account): memory.depart(account)
    case .forgetDeparting(let user): memory.forgetDeparting(user)
    case .finish(let id, let result):
      finishedCount[id, default: 0] += 1
      guard let user = open.removeValue(forKey: id) else { return }
      if let user, case .success(let outcome) = result, let token = outcome.token {
        // A5
        #expect(FakeAccounts.State.claims(token.reveal())?["user_id"]?.string == user)
      }
    case .show, .remember: break
    }
  }

  /// Returns whether an account may be forgotten after an event (A3).
  private func mayForget(_ event: AccountEvent) -> Bool {
    switch event {
    case .signOut, .end, .read, .gone, .unreadable: true
    case .answered(_, .success): true
    case .answered(_, .failure(let failure)): failure.refusesUser
    default: false
    }
  }

  // MARK: Random events

  func request(_ operation: AccountOperation) {
    lastID += 1
    open[lastID] = .some(nil)
    handle(.ask(lastID, operation))
  }

  func wantToken(of user: String?) {
    lastID += 1
    let named = user ?? machine.state.user?.id
    open[lastID] = .some(named)
    // Without a name it is whoever is signed in when the token comes.
    if user == nil, named == nil { open[lastID] = .some(nil) }
    let refused = chance(20) ? machine.keeper?.account.tokens.idToken : nil
    handle(.wantToken(lastID, of: user, refused: refused, isChecked: chance(40)))
  }

  func answerOne() {
    guard let id = calls.keys.sorted().randomElement(using: &random),
      let call = calls.removeValue(forKey: id)
    else { return }
    handle(.answered(id, answer(call)))
  }

  private func answer(_ call: AccountCall) -> Result<AccountReply, AccountFailure> {
    let trouble = service.state.withLock { $0.trouble }
    if trouble == .offline { return .failure(AccountFailure(.offline, "offline")) }
    if case .status(let status) = trouble {
      return AccountWire.reply(to: call, status: status, body: [], service: "test")
    }
    let question = AccountWire.question(call)
    let target =
      question.operation.map { "/identitytoolkit.googleapis.com/v1/accounts:\($0)?key=k" }
      ?? "/securetoken.googleapis.com/v1/token?key=k"
    let answer = service.answer(target, body: question.body.reveal())
    if trouble == .losesAnswers { return .failure(AccountFailure(.offline, "lost")) }
    return AccountWire.reply(
      to: call, status: answer.status, body: answer.body.jsonBytes(), service: "test")
  }

  func readOne() {
    guard !reads.isEmpty else { return }
    let user = reads.removeFirst()
    if chance(10) { return handle(.unreadable(user)) }
    handle(memory.account(of: user).map { .read(user, $0) } ?? .gone(user, nil))
  }

  func step() {
    let name = chance(50) ? "ana" : "bo"
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: request(.signIn(email: "\(name)@x.org", password: Secret("secret-\(name)")))
    case 2: request(.signIn(email: "\(name)@x.org", password: Secret("wrong-one")))
    case 3: request(.reload)
    case 4: request(.changeProfile(AccountProfile(displayName: "N\(lastID)")))
    case 5: request(.reauthenticate(password: Secret("secret-\(name)")))
    case 6: request(.changePassword(Secret("secret-\(name)"), current: Secret("secret-\(name)")))
    case 7: wantToken(of: nil)
    case 8: wantToken(of: name)
    case 9: handle(.signOut(keepsCredential: chance(60)))
    case 10: handle(.departed(name))
    case 11:
      if let id = open.keys.sorted().randomElement(using: &random) { handle(.cancel(id)) }
    case 12: if chance(15) { service.revoke(name) }
    case 13:
      let troubles: [FakeAccounts.Trouble] = [.none, .none, .offline, .status(503), .losesAnswers]
      service.set(troubles.randomElement(using: &random) ?? .none)
    case 14:
      clock.advance(Int64.random(in: 0...2_000_000, using: &random))
      handle(.time)
    case 15: clock.advance(Int64.random(in: 0...5000, using: &random))
    case 16: readOne()
    default: answerOne()
    }
  }

  /// Ends all trouble, and lets everything come to its end.
  func settle() {
    service.set(.none)
    var rounds = 0
    while !calls.isEmpty || !reads.isEmpty {
      while !reads.isEmpty { readOne() }
      while !calls.isEmpty { answerOne() }
      rounds += 1
      if rounds > 1000 { break }
    }
    #expect(rounds < 1000, "it does not come to rest")
  }
}

/// The decisions of a session, with random events in random order, against the service's rules.
@Suite struct AccountMachineTests {
  @Test(arguments: 0..<8) func randomEventsKeepTheInvariants(block: Int) {
    for seed in (block * 60)..<((block + 1) * 60) {
      let world = World(seed: UInt64(seed))
      world.handle(.begin(nil, departing: []))
      for _ in 0..<150 { world.step() }
      world.settle()
      #expect(world.open.isEmpty, "seed \(seed): not finished: \(world.open)")
      // A1
      #expect(world.finishedCount.allSatisfy { $0.value == 1 }, "seed \(seed)")
      #expect(world.memory.signedIn()?.user.id == world.machine.keeper?.account.user.id)
      #expect(
        Set(world.memory.departing().map(\.user.id)) == Set(world.machine.departing.keys),
        "seed \(seed)")
      for account in [world.memory.signedIn()].compactMap({ $0 }) + world.memory.departing() {
        let id = FakeAccounts.State.claims(account.tokens.idToken.reveal())?["user_id"]
        #expect(id?.string == account.user.id, "seed \(seed): a token of another user is kept")
      }
    }
  }

  /// After any history a user who was not refused gets a token when the service can be reached.
  @Test func aUserWhoWasNotRefusedGetsATokenInTheEnd() {
    for seed in 1000..<1200 {
      let world = World(seed: UInt64(seed))
      world.handle(.begin(nil, departing: []))
      for _ in 0..<100 { world.step() }
      world.settle()
      guard let user = world.machine.state.user else { continue }
      world.clock.advance(10_000_000)
      world.lastID += 1
      let id = world.lastID
      world.open[id] = .some(user.id)
      var results: [Result<AccountOutcome, AccountFailure>] = []
      for effect in world.machine.handle(
        .wantToken(id, of: nil, refused: nil), now: world.clock.now)
      {
        if case .read(let user) = effect { world.reads.append(user) }
        if case .finish(_, let result) = effect { results.append(result) }
      }
      world.settle()
      let token = world.machine.keeper?.account.tokens
      // It was either refreshed, or refused by the service.
      if case .ended = world.machine.state { continue }
      #expect((token?.expires ?? 0) > world.clock.now, "seed \(seed)")
    }
  }
}
