/// The counters of attempts, which make those who try too often wait.
///
/// Each attempt counts when it begins, so that many at once are no way around. After a number of
/// free attempts each further one has to wait, twice as long as the one before, up to a limit. A
/// success forgets what its user has failed. An attempt that has to wait is refused, and does not
/// count.
///
/// Memory is bounded: of too many counters, those that were not used for longest are dropped.
package struct AttemptGuard: Hashable, Sendable {
  /// What is counted, and the limits for it.
  package enum Subject: String, Hashable, Sendable, CaseIterable {
    /// Passwords for one account from one address.
    case pair
    /// Passwords for one account from anywhere.
    case account
    /// Passwords from one address.
    case address
    /// Sign-ups, and questions about addresses, from one address.
    case question
    /// Mails to one account.
    case mail

    /// The attempts that need not wait.
    var freeCount: Int {
      switch self {
      case .pair: 5
      case .account: 25
      case .address: 50
      case .question: 60
      case .mail: 5
      }
    }

    /// The first wait, in milliseconds.
    var delay: Int64 {
      switch self {
      case .pair, .account, .address, .question: 1000
      case .mail: 60_000
      }
    }

    /// The longest wait, in milliseconds.
    var delayMax: Int64 {
      switch self {
      case .pair, .address: 900_000
      case .account: 300_000
      case .question: 60_000
      case .mail: 3_600_000
      }
    }
  }

  /// A counter.
  package struct Counter: Hashable, Sendable {
    package var count: Int
    /// The time of the last attempt, in milliseconds since 1970.
    package var time: Int64
    /// When the next attempt may be made.
    package var freeTime: Int64

    package init(count: Int, time: Int64, freeTime: Int64) {
      (self.count, self.time, self.freeTime) = (count, time, freeTime)
    }

    /// Returns the counter as if its last attempt was made now, if that has a later time: a clock that went
    /// back neither ends a wait nor makes it longer.
    func moved(to now: Int64) -> Counter {
      if time <= now { return self }
      return Counter(count: count, time: now, freeTime: max(0, freeTime - (time - now)))
    }
  }

  /// The name of a counter.
  package struct Name: Hashable, Sendable {
    package var subject: Subject
    /// The hash of the account and the address.
    package var hash: String

    package init(_ subject: Subject, hash: String) { (self.subject, self.hash) = (subject, hash) }
  }

  /// The time after which attempts are forgotten, in milliseconds.
  package static let memory: Int64 = 3_600_000
  /// The most counters.
  package static let counterMax = 65_536

  package private(set) var counters: [Name: Counter] = [:]
  /// The counters of those who have to wait, or do no longer, that changed since they were taken.
  private var changed: Set<Name> = []

  package init() {}

  /// Takes counters that were stored.
  package mutating func restore(_ stored: [Name: Counter], now: Int64) {
    for (name, counter) in stored where !AttemptGuard.isOver(counter, now) {
      counters[name] = counter.moved(to: now)
    }
  }

  private static func isOver(_ counter: Counter, _ now: Int64) -> Bool {
    now - counter.time > memory && now >= counter.freeTime
  }

  /// Begins an attempt; returns the milliseconds to wait, and 0 if it may go on.
  package mutating func begin(_ names: [Name], now: Int64) -> Int64 {
    var wait: Int64 = 0
    for name in names {
      guard let counter = counters[name] else { continue }
      if AttemptGuard.isOver(counter, now) {
        remove(name)
      } else {
        let counter = counter.moved(to: now)
        counters[name] = counter
        wait = max(wait, counter.freeTime - now)
      }
    }
    if wait > 0 { return wait }
    for name in names { count(name, now) }
    if counters.count > AttemptGuard.counterMax { shrink(now) }
    return 0
  }

  private mutating func count(_ name: Name, _ now: Int64) {
    var counter = counters[name] ?? Counter(count: 0, time: now, freeTime: 0)
    counter.count += 1
    counter.time = now
    let excess = counter.count - name.subject.freeCount
    if excess >= 0 {
      let doublings = min(excess, 20)
      let delay = min(name.subject.delay << Int64(doublings), name.subject.delayMax)
      counter.freeTime = now + delay
      changed.insert(name)
    }
    counters[name] = counter
  }

  /// Forgets the attempts of an account that has succeeded; those of the address count less by one.
  package mutating func succeeded(_ names: [Name]) {
    for name in names {
      switch name.subject {
      case .pair, .account: remove(name)
      case .address:
        guard var counter = counters[name] else { continue }
        counter.count -= 1
        if counter.count < name.subject.freeCount { counter.freeTime = 0 }
        counters[name] = counter
      // These count successes too.
      case .question, .mail: break
      }
    }
  }

  /// Takes back attempts with passwords of which nobody knows whether they were right, because the accounts could
  /// not be read or written.
  package mutating func undecided(_ names: [Name]) {
    for name in names where [.pair, .account, .address].contains(name.subject) {
      guard var counter = counters[name] else { continue }
      if counter.count <= 1 {
        remove(name)
        continue
      }
      counter.count -= 1
      // It was no wait that let the attempt begin.
      counter.freeTime = min(counter.freeTime, counter.time)
      if counter.count + 1 >= name.subject.freeCount { changed.insert(name) }
      counters[name] = counter
    }
  }

  private mutating func remove(_ name: Name) {
    guard let counter = counters.removeValue(forKey: name) else { return }
    if counter.count >= name.subject.freeCount { changed.insert(name) }
  }

  /// Drops the counters that are over, and if that is not enough, the half that is oldest.
  private mutating func shrink(_ now: Int64) {
    for (name, counter) in counters where AttemptGuard.isOver(counter, now) { remove(name) }
    guard counters.count > AttemptGuard.counterMax else { return }
    let times = counters.values.map(\.time).sorted()
    let middle = times[times.count / 2]
    for (name, counter) in counters where counter.time <= middle { remove(name) }
  }

  /// The changes to store since the last call: a counter, or nil for one that is over.
  package mutating func takeChanges() -> [Name: Counter?] {
    defer { changed = [] }
    var changes: [Name: Counter?] = [:]
    for name in changed { changes[name] = .some(counters[name]) }
    return changes
  }
}
