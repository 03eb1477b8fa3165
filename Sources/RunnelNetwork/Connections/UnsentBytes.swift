import Synchronization

/// A connection with bytes that its client has not taken.
///
/// Loop only.
package protocol UnsentHolder: AnyObject {
  /// The number of these bytes now.
  var unsentBytes: Int { get }
  /// The number of bytes that the client has taken since the connection began.
  var takenBytes: Int { get }
  /// Its part of the sum.
  var share: UnsentShare { get }
  /// Ends the connection at once, because its client does not read, and too many bytes wait for clients.
  func endUnread()
}

/// The unsent bytes of all connections of a server together.
///
/// If the sum is too large, connections are ended until it is not: first those whose clients have taken
/// nothing for the longest time, then those whose bytes have waited longest, then those that hold the most.
/// Someone who reads holds much for a moment only. What a connection noted may be late, so all that hold
/// some are asked again before any is ended.
package final class UnsentBytes: Sendable {
  /// The bytes of one connection from which on they count.
  private static let countedBytesMin = 16_384

  fileprivate struct Entry: Sendable {
    var bytes: Int
    var patience = UnsentPatience()
    let holder: LoopBound<any UnsentHolder>
  }

  private struct State {
    var last: Int64 = 0
    var sum = 0
    var entries: [Int64: Entry] = [:]
    /// The loops that are still to tell their bytes, before connections are ended.
    var loopsAsked = 0

    mutating func set(_ entry: Entry, of number: Int64) {
      sum += entry.bytes - (entries[number]?.bytes ?? 0)
      entries[number] = entry.bytes == 0 ? nil : entry
    }

    /// Removes those who read least, until the sum is at most `bytesMax`.
    mutating func removeSlowest(until bytesMax: Int) -> [Entry] {
      if sum <= bytesMax { return [] }
      var removed: [Entry] = []
      for (number, entry) in entries.sorted(by: { $0.value.isSlower(than: $1.value) }) {
        if sum <= bytesMax { break }
        set(Entry(bytes: 0, holder: entry.holder), of: number)
        removed.append(entry)
      }
      return removed
    }
  }

  private let bytesMax: Int
  /// Tells the time, in milliseconds on `NetworkClock`.
  fileprivate let uptime: @Sendable () -> Int64
  private let state = Mutex(State())

  /// Makes a sum that is kept at `bytesMax` or less.
  package init(
    max bytesMax: Int,
    uptime: @escaping @Sendable () -> Int64 = { NetworkClock.uptimeMilliseconds }
  ) {
    (self.bytesMax, self.uptime) = (bytesMax, uptime)
  }

  fileprivate func nextNumber() -> Int64 {
    state.withLock { state in
      state.last += 1
      return state.last
    }
  }

  /// The bytes that count.
  fileprivate static func counted(_ bytes: Int) -> Int { bytes < countedBytesMin ? 0 : bytes }

  fileprivate func note(_ bytes: Int, of number: Int64, _ holder: LoopBound<any UnsentHolder>) {
    let asked: [NetworkLoop: [(Int64, Entry)]] = state.withLock { state in
      let patience = state.entries[number]?.patience ?? UnsentPatience()
      state.set(Entry(bytes: bytes, patience: patience, holder: holder), of: number)
      if state.sum <= bytesMax || state.loopsAsked > 0 { return [:] }
      let asked = Dictionary(
        grouping: state.entries.map { ($0.key, $0.value) }, by: \.1.holder.loop)
      state.loopsAsked = asked.count
      return asked
    }
    for (loop, entries) in asked {
      loop.run {
        let now = self.uptime()
        let told = entries.map { number, entry in
          let holder = entry.holder.value
          let bytes = UnsentBytes.counted(holder.unsentBytes)
          let patience = holder.share.look(at: holder, now: now)
          return (number, Entry(bytes: bytes, patience: patience, holder: entry.holder))
        }
        self.take(told)
      }
    }
  }

  /// Takes what a loop was asked; after the last answer connections are ended.
  private func take(_ told: [(Int64, Entry)]) {
    let removed = state.withLock { state in
      // Connections that have ended meanwhile stay forgotten.
      for (number, entry) in told where state.entries[number] != nil {
        state.set(entry, of: number)
      }
      state.loopsAsked -= 1
      return state.loopsAsked == 0 ? state.removeSlowest(until: bytesMax) : []
    }
    for entry in removed { entry.holder.loop.run { entry.holder.value.endUnread() } }
  }
}

extension UnsentBytes.Entry {
  fileprivate func isSlower(than other: UnsentBytes.Entry) -> Bool {
    patience == other.patience ? bytes > other.bytes : patience > other.patience
  }
}

/// For how long a client has kept the server waiting, in whole seconds: who reads at all has less than one.
struct UnsentPatience: Comparable {
  /// The time since its client took bytes, or since they wait if it took none.
  var stalledSeconds: Int64 = 0
  /// The time since bytes wait without a break.
  var waitingSeconds: Int64 = 0

  static func < (left: UnsentPatience, right: UnsentPatience) -> Bool {
    (left.stalledSeconds, left.waitingSeconds) < (right.stalledSeconds, right.waitingSeconds)
  }
}

/// The unsent bytes of one connection, as a part of the sum.
///
/// Loop only.
package final class UnsentShare {
  private let sum: UnsentBytes
  private let loop: NetworkLoop
  /// The number in the sum; nil while nothing was noted.
  private var number: Int64?
  private var notedBytes = 0
  /// Since when bytes wait; nil if none do.
  private var waitingSince: Int64?
  /// When bytes were found taken, or began to wait.
  private var takenTime: Int64 = 0
  /// The bytes that were taken by then.
  private var takenBytes = 0

  /// Makes a share without bytes, of a connection on a loop.
  package init(of sum: UnsentBytes, _ loop: NetworkLoop) { (self.sum, self.loop) = (sum, loop) }

  /// Notes the number of unsent bytes; a holder that has ended notes 0.
  package func note(_ bytes: Int, of holder: any UnsentHolder) {
    if bytes > 0, waitingSince == nil { begin(holder, now: sum.uptime()) }
    if bytes == 0 { waitingSince = nil }
    let bytes = UnsentBytes.counted(bytes)
    if bytes == notedBytes { return }
    notedBytes = bytes
    let number = number ?? sum.nextNumber()
    self.number = number
    sum.note(bytes, of: number, LoopBound(holder, to: loop))
  }

  private func begin(_ holder: any UnsentHolder, now: Int64) {
    (waitingSince, takenTime, takenBytes) = (now, now, holder.takenBytes)
  }

  /// For how long no bytes were taken while some waited, in milliseconds; nil if none wait.
  ///
  /// It notices what was taken when it is called: who wants to know it exactly calls it often.
  func stalledMilliseconds(of holder: any UnsentHolder, now: Int64) -> Int64? {
    if holder.unsentBytes == 0 {
      waitingSince = nil
    } else if waitingSince == nil {
      begin(holder, now: now)
    }
    if waitingSince == nil { return nil }
    let taken = holder.takenBytes
    if taken != takenBytes { (takenTime, takenBytes) = (now, taken) }
    return now - takenTime
  }

  fileprivate func look(at holder: any UnsentHolder, now: Int64) -> UnsentPatience {
    guard let stalled = stalledMilliseconds(of: holder, now: now), let waitingSince else {
      return UnsentPatience()
    }
    return UnsentPatience(
      stalledSeconds: stalled / 1000, waitingSeconds: (now - waitingSince) / 1000)
  }
}
