import RunnelAccounts
import RunnelBase

/// What a store of devices is told.
enum DeviceEvent: Equatable, Sendable {
  /// The program wants the device to be in the list of whoever is signed in.
  case subscribe(Int)
  /// The user was asked for permission.
  case permission(DeviceFailure?)
  /// The program does not want that any more; what stands in the list stays.
  case unsubscribe
  /// The device has another token for notices.
  case token(String)
  /// Another token was requested; false if there is none.
  case renewed(Bool)
  /// Who is signed in. `isFresh` is true if the user signed in just now; `departing` are users who
  /// signed out, and whose credentials are kept for this.
  case account(String?, isFresh: Bool, departing: Set<String>)
  /// The device is to be removed from the list of a user who signed out.
  case remove(Int, user: String)
  /// The device is to be removed from the list of the user who is signed in.
  case withdraw(Int)
  /// The list of a user says that the device was taken away.
  case takenAway(user: String)
  /// A question to the storage was answered; nil for success.
  case answered(Int, DeviceFailure?)
  /// Time passed.
  case time
}

/// What a store of devices does.
enum DeviceEffect: Equatable, Sendable {
  case askPermission
  case watchTokens
  case ignoreTokens
  /// Request another token, for the present one may stand in the list of another user.
  case renewToken
  case put(Int, Device, user: String, isFresh: Bool)
  case remove(Int, user: String)
  /// Remember in whose lists the device may stand.
  case remember([String])
  case finish(Int, Result<DepartureResult, DeviceFailure>)
  /// The device stands in the list of this user; nil if it stands in none of which this program knows.
  case standsAt(String?)
  /// The device was taken away.
  case revoked(user: String)
  case report(DeviceFailure)
}

/// Decides what is written about this device, and under which user; it is pure.
///
/// Invariants:
/// - D1. One question to the storage is under way at a time, so the last one decides what stands.
/// - D2. The device is put only into the list of the user who is signed in, and only while the program
///   is subscribed; late permissions, tokens and answers change nothing after `unsubscribe`.
/// - D3. A token is put for a user only after the removal from other users' lists was tried; if it may
///   still stand there, another token is requested first.
/// - D4. Each request is finished once.
struct DeviceMachine: Sendable {
  enum Phase: Equatable { case off, asking, on }

  private struct Question: Equatable {
    var id: Int
    var user: String
    /// The device that is put; nil for a removal.
    var device: Device?
    /// Whether it is put as that of a user who signed in just now.
    var isFresh = false
  }

  private struct Removal {
    var waiters: [Int] = []
    /// True if the user is still signed in, so that nobody else repeats it.
    var isWithdrawal = false
    var time: Int64 = .min
  }

  private static let pauseMin: Int64 = 2000
  private static let pauseMax: Int64 = 300_000
  /// The longest time that `subscribe` waits for the first token.
  private static let tokenMilliseconds: Int64 = 2000

  private let device: Device
  private(set) var phase = Phase.off
  private(set) var user: String?
  private var isFresh = false
  private var token: String?
  /// The user from whose list the program has removed the device.
  private var withdrawn: String?
  /// What was put into the list of the user who is signed in.
  private var confirmed: Device?
  /// What was refused for good there.
  private var refused: Device?
  /// Users in whose lists the device may stand, with the token; nil if that is not known.
  private(set) var holders: [String: String?] = [:]
  /// Users from whose lists the device was removed.
  private var absent: Set<String> = []
  private var removals: [String: Removal] = [:]
  private var subscribers: [Int] = []
  /// The time until which `subscribe` waits for the first token.
  private var tokenTime: Int64 = .min
  private var question: Question?
  private var lastQuestion = 0
  private var isRenewing = false
  private var cannotRenew = false
  private var attempts = 0
  private var retryTime: Int64 = .min
  private var effects: [DeviceEffect] = []
  private var random: SeededRandom

  /// Makes a machine for a device, which may stand in the lists of these users.
  init(_ device: Device, holders: [String], seed: UInt64) {
    self.device = device
    for user in holders { self.holders[user] = .some(nil) }
    random = SeededRandom(seed: seed)
  }

  /// The time at which `time` is due; nil for never.
  var deadline: Int64? {
    if question != nil { return nil }
    var times = removals.values.map(\.time)
    if wanted != nil, retryTime > .min { times.append(retryTime) }
    if phase == .on, token == nil, !subscribers.isEmpty { times.append(tokenTime) }
    return times.filter { $0 > .min }.min()
  }

  /// Handles an event at a time in milliseconds since 1970.
  mutating func handle(_ event: DeviceEvent, now: Int64) -> [DeviceEffect] {
    react(event, now: now)
    ask(now: now)
    defer { effects = [] }
    return effects
  }

  private mutating func react(_ event: DeviceEvent, now: Int64) {
    switch event {
    case .subscribe(let id): subscribe(id)
    case .permission(let failure): takePermission(failure, now: now)
    case .unsubscribe:
      if phase == .on { effects.append(.ignoreTokens) }
      phase = .off
      (token, confirmed) = (nil, nil)
      finishSubscribers(.failure(.cancelled))
      effects.append(.standsAt(nil))
    case .token(let text):
      guard phase == .on, text != token else { return }
      if isRenewing {
        // What the others have is void from now on.
        for holder in holders.keys where holder != user { holders[holder] = "" }
      }
      (token, isRenewing, cannotRenew, retryTime) = (text, false, false, .min)
    case .renewed(let isNew):
      if !isNew { (isRenewing, cannotRenew) = (false, true) }
    case .account(let user, let isFresh, let departing):
      take(user, isFresh: isFresh, departing)
    case .remove(let id, let user): remove(id, user)
    case .withdraw(let id): withdraw(id)
    case .answered(let id, let failure): take(id, failure, now: now)
    case .takenAway(let user): takeAway(from: user)
    case .time: break
    }
  }

  // MARK: Requests

  private mutating func subscribe(_ id: Int) {
    subscribers.append(id)
    if withdrawn != nil {
      if let removal = removals.removeValue(forKey: withdrawn ?? "") {
        for waiter in removal.waiters { effects.append(.finish(waiter, .success(.done))) }
      }
      (withdrawn, confirmed) = (nil, nil)
    }
    refused = nil
    if phase == .off {
      phase = .asking
      effects.append(.askPermission)
    }
  }

  private mutating func takePermission(_ failure: DeviceFailure?, now: Int64) {
    guard phase == .asking else { return }
    if let failure {
      phase = .off
      return finishSubscribers(.failure(failure))
    }
    (phase, tokenTime) = (.on, now + DeviceMachine.tokenMilliseconds)
    effects.append(.watchTokens)
  }

  private mutating func finishSubscribers(_ result: Result<DepartureResult, DeviceFailure>) {
    for id in subscribers { effects.append(.finish(id, result)) }
    subscribers = []
  }

  private mutating func take(_ new: String?, isFresh: Bool, _ departing: Set<String>) {
    if let new, let removal = removals.removeValue(forKey: new) {
      for waiter in removal.waiters { effects.append(.finish(waiter, .success(.done))) }
    }
    if new == user {
      if isFresh { self.isFresh = true }
      return
    }
    (user, self.isFresh) = (new, isFresh && new != nil)
    (withdrawn, confirmed, refused, attempts, retryTime) = (nil, nil, nil, 0, .min)
    effects.append(.standsAt(nil))
    for user in departing where user != new && !absent.contains(user) && removals[user] == nil {
      removals[user] = Removal()
    }
  }

  private mutating func remove(_ id: Int, _ user: String) {
    // The user came back, or the device is gone already.
    if user == self.user || absent.contains(user) {
      return effects.append(.finish(id, .success(.done)))
    }
    removals[user, default: Removal()].waiters.append(id)
    removals[user]?.time = .min
  }

  private mutating func withdraw(_ id: Int) {
    guard let user else { return effects.append(.finish(id, .failure(.notSignedIn))) }
    (withdrawn, confirmed) = (user, nil)
    var removal = removals[user] ?? Removal()
    removal.waiters.append(id)
    (removal.isWithdrawal, removal.time) = (true, .min)
    removals[user] = removal
    effects.append(.standsAt(nil))
  }

  // MARK: Questions

  /// The device as it is to stand in the list of the user; nil if it is not to be put there.
  private var wanted: Device? {
    guard phase == .on, let user, let token, withdrawn != user else { return nil }
    var wanted = device
    wanted.token = token
    return wanted == refused || (wanted == confirmed && !isFresh) ? nil : wanted
  }

  /// Asks the storage the next question, if none is under way.
  private mutating func ask(now: Int64) {
    guard question == nil else { return }
    let due = removals.filter { $0.value.time <= now }.keys.min()
    if let user = due {
      lastQuestion += 1
      question = Question(id: lastQuestion, user: user)
      return effects.append(.remove(lastQuestion, user: user))
    }
    guard let wanted, let user else {
      let waitsForToken = user != nil && token == nil && withdrawn != user && now < tokenTime
      if phase == .on, !waitsForToken { finishSubscribers(.success(.done)) }
      return
    }
    guard retryTime <= now, !isRenewing else { return }
    let isElsewhere = holders.contains { holder, token in
      holder != user && (token == nil || token == wanted.token)
    }
    if isElsewhere, !wanted.token.isEmpty, !cannotRenew {
      isRenewing = true
      return effects.append(.renewToken)
    }
    holders[user] = wanted.token
    absent.remove(user)
    lastQuestion += 1
    question = Question(id: lastQuestion, user: user, device: wanted, isFresh: isFresh)
    effects.append(.remember(holders.keys.sorted()))
    effects.append(.put(lastQuestion, wanted, user: user, isFresh: isFresh))
  }

  private mutating func take(_ id: Int, _ failure: DeviceFailure?, now: Int64) {
    guard let asked = question, asked.id == id else { return }
    question = nil
    if let device = asked.device {
      // The user may have signed in again meanwhile.
      let wasFresh = asked.isFresh && (failure == nil || failure?.code == .queued)
      if wasFresh, asked.user == user { isFresh = false }
      takePut(device, of: asked.user, failure, now: now)
    } else {
      takeRemoval(of: asked.user, failure, now: now)
    }
  }

  private mutating func takePut(
    _ put: Device, of user: String, _ failure: DeviceFailure?, now: Int64
  ) {
    // The user may have changed meanwhile: then only the removal is left to do.
    guard user == self.user, phase == .on, withdrawn != user else { return }
    if failure == nil || failure?.code == .queued {
      (confirmed, attempts, retryTime) = (put, 0, .min)
      finishSubscribers(.success(failure == nil ? .done : .later))
      return effects.append(.standsAt(user))
    }
    guard let failure else { return }
    if failure.isTemporary {
      attempts += 1
      retryTime = now + pause
      return finishSubscribers(.success(.later))
    }
    refused = put
    if failure.code == .revoked { takeAway(from: user) }
    if subscribers.isEmpty { effects.append(.report(failure)) }
    finishSubscribers(.failure(failure))
  }

  /// Notes that the user has taken the device away: it stands in that list no more.
  private mutating func takeAway(from user: String) {
    guard user == self.user else { return }
    holders[user] = nil
    effects.append(.remember(holders.keys.sorted()))
    effects.append(.revoked(user: user))
  }

  private mutating func takeRemoval(of user: String, _ failure: DeviceFailure?, now: Int64) {
    let removal = removals.removeValue(forKey: user)
    if failure == nil {
      holders[user] = nil
      absent.insert(user)
      effects.append(.remember(holders.keys.sorted()))
    }
    guard var removal else {
      // The user came back meanwhile.
      if user == self.user { confirmed = nil }
      return
    }
    let isLater = failure?.isTemporary == true
    for waiter in removal.waiters {
      effects.append(.finish(waiter, .success(isLater ? .later : .done)))
    }
    if let failure, !isLater { effects.append(.report(failure)) }
    if isLater, removal.isWithdrawal, user == self.user {
      attempts += 1
      (removal.waiters, removal.time) = ([], now + pause)
      removals[user] = removal
    }
  }

  private var pause: Int64 {
    mutating get {
      let longest = min(DeviceMachine.pauseMax, DeviceMachine.pauseMin << Int64(min(attempts, 16)))
      return Int64.random(in: (longest / 2)...longest, using: &random)
    }
  }
}
