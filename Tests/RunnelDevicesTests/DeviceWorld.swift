import AccountSimulation
import RunnelBase
import RunnelNetwork
import RunnelStore
import Synchronization
import Testing

@testable import RunnelAccounts
@testable import RunnelDevices

/// What the lists of devices hold: the devices of each user.
final class DeviceLists {
  var lists: [String: [String: Device]] = [:]
}

/// A device with its two machines, its files, and what is under way; one step at a time.
final class DeviceNode {
  let name: String
  let world: DeviceWorld
  // Files, which outlive a kill:
  let memory = AccountMemory()
  var holders: [String] = []
  var token: String
  private var tokenNumber = 0
  // The process:
  var accounts: AccountMachine
  var devices: DeviceMachine
  var isOffline = false
  var isSubscribed = false
  private var calls: [(id: Int, call: AccountCall)] = []
  private var reads: [String] = []
  /// Questions to the storage: each first gets a token of its user.
  private var questions: [(id: Int, user: String, device: Device?, token: Secret<String>?)] = []
  private var tokenRequests: [Int: Int] = [:]
  private var chores: [() -> Void] = []
  private var departures: Set<String> = []
  private var departureRequests: [Int: String] = [:]
  private var lastID = 0
  private var signInCount = 0
  private var seenSignInCount: Int?
  /// Requests of the store that are not finished.
  var openCount = 0
  private var finished: Set<Int> = []

  init(_ name: String, _ world: DeviceWorld) {
    (self.name, self.world) = (name, world)
    token = "token-\(name)-0"
    accounts = AccountMachine(seed: 1)
    devices = DeviceMachine(
      Device(id: name, token: "", name: name, os: "Linux", type: "Linux"), holders: [], seed: 1)
  }

  var user: String? { accounts.state.user?.id }

  /// Begins a process with what the files hold.
  func start() {
    accounts = AccountMachine(seed: world.random.next())
    accounts.replacedDepart = true
    devices = DeviceMachine(
      Device(id: name, token: "", name: name, os: "Linux", type: "Linux"), holders: holders,
      seed: world.random.next())
    (calls, reads, questions, chores) = ([], [], [], [])
    (tokenRequests, departureRequests) = ([:], [:])
    (isSubscribed, openCount, seenSignInCount, signInCount) = (false, 0, nil, 0)
    finished = []
    departures = Set(memory.departing().map(\.user.id))
    tell(.begin(memory.signedIn(), departing: memory.departing()))
  }

  // MARK: Events

  func tell(_ event: AccountEvent) {
    for effect in accounts.handle(event, now: world.clock.now) { carryOut(effect) }
  }

  func tell(_ event: DeviceEvent) {
    for effect in devices.handle(event, now: world.clock.now) { carryOut(effect) }
  }

  func look() {
    let isFresh = seenSignInCount.map { $0 != signInCount } ?? false
    seenSignInCount = signInCount
    tell(
      .account(user, isFresh: isFresh, departing: Set(accounts.departing.keys)) as DeviceEvent)
  }

  private func newID() -> Int {
    lastID += 1
    return lastID
  }

  func signIn(_ user: String) {
    tell(
      .ask(newID(), .signIn(email: "\(user)@x.org", password: Secret("secret-\(user)")))
        as AccountEvent)
  }

  func subscribe() {
    isSubscribed = true
    openCount += 1
    tell(.subscribe(newID()) as DeviceEvent)
  }

  func unsubscribe() {
    isSubscribed = false
    tell(.unsubscribe as DeviceEvent)
  }

  func withdraw() {
    openCount += 1
    tell(.withdraw(newID()) as DeviceEvent)
  }

  func newToken() {
    tokenNumber += 1
    token = "token-\(name)-\(tokenNumber)"
    tell(.token(token) as DeviceEvent)
  }

  // MARK: Effects

  private func carryOut(_ effect: AccountEffect) {
    switch effect {
    case .call(let id, let call): calls.append((id, call))
    case .abandon(let id): calls.removeAll { $0.id == id }
    case .read(let user): reads.append(user)
    case .keep(let account, let isSignIn):
      if isSignIn { signInCount += 1 }
      memory.keep(account, isSignIn: isSignIn)
    case .forget(let user): memory.forget(user)
    case .depart(let account):
      memory.depart(account)
      departures.insert(account.user.id)
    case .forgetDeparting(let user):
      memory.forgetDeparting(user)
      departures.remove(user)
    case .finish(let id, let result):
      guard let question = tokenRequests.removeValue(forKey: id),
        let index = questions.firstIndex(where: { $0.id == question })
      else { return }
      switch result {
      case .success(let outcome): questions[index].token = outcome.token
      case .failure(let failure):
        questions.remove(at: index)
        tell(
          .answered(
            question,
            DeviceFailure(failure.isTemporary ? .unavailable : .notSignedIn, "no token"))
            as DeviceEvent)
      }
    case .show: chores.append { [unowned self] in look() }
    case .remember: break
    }
  }

  private func carryOut(_ effect: DeviceEffect) {
    switch effect {
    case .askPermission:
      chores.append { [unowned self] in tell(.permission(nil) as DeviceEvent) }
    case .watchTokens:
      chores.append { [unowned self] in tell(.token(token) as DeviceEvent) }
    case .renewToken:
      chores.append { [unowned self] in
        newToken()
        tell(.renewed(true) as DeviceEvent)
      }
    case .put(let id, let device, let user, _): ask(id, user, device)
    case .remove(let id, let user): ask(id, user, nil)
    case .remember(let users): holders = users
    case .finish(let id, let result):
      #expect(finished.insert(id).inserted, "seed \(world.seed): finished twice")
      if let user = departureRequests.removeValue(forKey: id) {
        if case .success(.done) = result, departures.contains(user) {
          tell(.departed(user) as AccountEvent)
        }
      } else {
        openCount -= 1
      }
    case .ignoreTokens, .standsAt, .revoked, .report: break
    }
  }

  private func ask(_ id: Int, _ user: String, _ device: Device?) {
    questions.append((id, user, device, nil))
    let request = newID()
    tokenRequests[request] = id
    chores.append { [unowned self] in
      tell(.wantToken(request, of: user, refused: nil) as AccountEvent)
    }
  }

  // MARK: Steps

  var isBusy: Bool { !calls.isEmpty || !reads.isEmpty || !chores.isEmpty || hasQuestion }

  private var hasQuestion: Bool { questions.contains { $0.token != nil } }

  /// Does one of the things that are under way.
  func step() {
    switch Int.random(in: 0..<4, using: &world.random) {
    case 0 where !chores.isEmpty: chores.removeFirst()()
    case 1 where !calls.isEmpty:
      let index = Int.random(in: 0..<calls.count, using: &world.random)
      let (id, call) = calls.remove(at: index)
      tell(.answered(id, world.answer(call, isOffline: isOffline)) as AccountEvent)
    case 2 where !reads.isEmpty:
      let user = reads.removeFirst()
      let event = memory.account(of: user).map { AccountEvent.read(user, $0) }
      tell(event ?? .gone(user, nil))
    case 3 where hasQuestion: answerQuestion()
    default: if isBusy { step() }
    }
  }

  private func answerQuestion() {
    guard let index = questions.firstIndex(where: { $0.token != nil }) else { return }
    let (id, user, device, token) = questions.remove(at: index)
    let failure = world.store(
      device, of: name, user: user, token: token, isOffline: isOffline)
    tell(.answered(id, failure) as DeviceEvent)
  }

  /// Tries again what is to be done for users who signed out.
  func retryDepartures() {
    for user in departures.sorted() where !departureRequests.values.contains(user) {
      look()
      let id = newID()
      departureRequests[id] = user
      tell(.remove(id, user: user) as DeviceEvent)
    }
  }

  func tick() {
    tell(.time as AccountEvent)
    tell(.time as DeviceEvent)
  }

  /// Ends the process: what is under way is done, or not.
  func kill() {
    for (_, call) in calls where Bool.random(using: &world.random) {
      _ = world.answer(call, isOffline: isOffline)
    }
    for question in questions where question.token != nil && Bool.random(using: &world.random) {
      _ = world.store(
        question.device, of: name, user: question.user, token: question.token,
        isOffline: isOffline)
    }
    start()
  }
}

/// Two devices, an account service, and the lists.
final class DeviceWorld {
  let seed: UInt64
  let clock = ManualClock()
  let service: FakeAccounts
  let lists = DeviceLists()
  var random: SeededRandom
  var nodes: [DeviceNode] = []
  /// Users whose sessions an administrator ended, by device: what stood there cannot be removed.
  var writeCount = 0

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    service = FakeAccounts { [clock] in clock.now }
    for user in ["ana", "bo", "cy"] { service.add(user, "\(user)@x.org", "secret-\(user)") }
    service.change { $0.rotates = seed % 3 == 0 }
    nodes = ["one", "two"].map { DeviceNode($0, self) }
    for node in nodes { node.start() }
  }

  func answer(_ call: AccountCall, isOffline: Bool) -> Result<AccountReply, AccountFailure> {
    if isOffline { return .failure(AccountFailure(.offline, "offline")) }
    let question = AccountWire.question(call)
    let target =
      question.operation.map { "/identitytoolkit.googleapis.com/v1/accounts:\($0)?key=k" }
      ?? "/securetoken.googleapis.com/v1/token?key=k"
    let answer = service.answer(target, body: question.body.reveal())
    return AccountWire.reply(
      to: call, status: answer.status, body: answer.body.jsonBytes(), service: "test")
  }

  /// Writes to a list, if the token is the one of its user.
  func store(
    _ device: Device?, of id: String, user: String, token: Secret<String>?, isOffline: Bool
  ) -> DeviceFailure? {
    if isOffline { return DeviceFailure(.unavailable, "offline") }
    let claims = FakeAccounts.State.claims(token?.reveal() ?? "")
    #expect(
      claims?["user_id"]?.string == user, "seed \(seed): written under another user's credential")
    if Int64(claims?["exp"]?.int ?? 0) * 1000 <= clock.now {
      return DeviceFailure(.unavailable, "the token has expired")
    }
    lists.lists[user, default: [:]][id] = device
    writeCount += 1
    return Int.random(in: 0..<10, using: &random) == 0
      ? DeviceFailure(.unavailable, "the answer is lost") : nil
  }

  /// Does one random thing.
  func step(revokes: Bool) {
    let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
    let user = ["ana", "bo", "cy"][Int.random(in: 0..<3, using: &random)]
    switch Int.random(in: 0..<24, using: &random) {
    case 0, 1: node.signIn(user)
    case 2: node.tell(.signOut(keepsCredential: true) as AccountEvent)
    case 3, 4: node.subscribe()
    case 5: if Int.random(in: 0..<4, using: &random) == 0 { node.unsubscribe() }
    case 6: if node.user != nil { node.withdraw() }
    case 7: node.newToken()
    case 8: node.isOffline.toggle()
    case 9: node.kill()
    case 10: node.retryDepartures()
    case 11: clock.advance(Int64.random(in: 0...600_000, using: &random))
    case 12: for node in nodes { node.tick() }
    case 13: node.look()
    case 14: if revokes, Int.random(in: 0..<4, using: &random) == 0 { service.revoke(user) }
    default: node.step()
    }
  }

  /// Ends all trouble, subscribes everywhere, and lets all come to its end.
  func settle() {
    for node in nodes {
      node.isOffline = false
      node.look()
      node.subscribe()
    }
    for _ in 0..<25 {
      for node in nodes {
        var count = 0
        while node.isBusy, count < 2000 {
          node.step()
          count += 1
        }
        #expect(count < 2000, "seed \(seed): it does not come to rest")
        node.retryDepartures()
        node.look()
      }
      clock.advance(400_000)
      for node in nodes { node.tick() }
    }
    for node in nodes { while node.isBusy { node.step() } }
  }
}
