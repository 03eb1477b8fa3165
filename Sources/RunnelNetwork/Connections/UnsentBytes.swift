import Synchronization

/// A connection with bytes that its client has not taken.
///
/// Loop only.
package protocol UnsentHolder: AnyObject {
  /// The number of these bytes now.
  var unsentBytes: Int { get }
  /// Ends the connection at once, because its client does not read, and too many bytes wait for clients.
  func endUnread()
}

/// The unsent bytes of all connections of a server together.
///
/// If the sum is too large, the connections that hold the most are ended until it is not. What a connection
/// noted may be late, so all that hold some are asked again before any is ended.
package final class UnsentBytes: Sendable {
  /// The bytes of one connection from which on they count.
  private static let countedBytesMin = 16_384

  fileprivate struct Entry: Sendable {
    var bytes: Int
    let holder: LoopBound<any UnsentHolder>
  }

  private struct State {
    var last: Int64 = 0
    var sum = 0
    var entries: [Int64: Entry] = [:]
    /// The loops that are still to tell their bytes, before connections are ended.
    var loopsAsked = 0

    mutating func set(_ bytes: Int, of number: Int64, _ holder: LoopBound<any UnsentHolder>) {
      sum += bytes - (entries[number]?.bytes ?? 0)
      entries[number] = bytes == 0 ? nil : Entry(bytes: bytes, holder: holder)
    }

    /// Removes those who hold the most, until the sum is at most `bytesMax`.
    mutating func removeLargest(until bytesMax: Int) -> [Entry] {
      if sum <= bytesMax { return [] }
      var removed: [Entry] = []
      for (number, entry) in entries.sorted(by: { $0.value.bytes > $1.value.bytes }) {
        if sum <= bytesMax { break }
        set(0, of: number, entry.holder)
        removed.append(entry)
      }
      return removed
    }
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  /// Makes a sum that is kept at `bytesMax` or less.
  package init(max bytesMax: Int) { self.bytesMax = bytesMax }

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
      state.set(bytes, of: number, holder)
      if state.sum <= bytesMax || state.loopsAsked > 0 { return [:] }
      let asked = Dictionary(
        grouping: state.entries.map { ($0.key, $0.value) }, by: \.1.holder.loop)
      state.loopsAsked = asked.count
      return asked
    }
    for (loop, entries) in asked {
      loop.run {
        let told = entries.map { number, entry in
          let bytes = UnsentBytes.counted(entry.holder.value.unsentBytes)
          return (number, Entry(bytes: bytes, holder: entry.holder))
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
        state.set(entry.bytes, of: number, entry.holder)
      }
      state.loopsAsked -= 1
      return state.loopsAsked == 0 ? state.removeLargest(until: bytesMax) : []
    }
    for entry in removed { entry.holder.loop.run { entry.holder.value.endUnread() } }
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

  /// Makes a share without bytes, of a connection on a loop.
  package init(of sum: UnsentBytes, _ loop: NetworkLoop) { (self.sum, self.loop) = (sum, loop) }

  /// Notes the number of unsent bytes; a holder that has ended notes 0.
  package func note(_ bytes: Int, of holder: any UnsentHolder) {
    let bytes = UnsentBytes.counted(bytes)
    if bytes == notedBytes { return }
    notedBytes = bytes
    let number = number ?? sum.nextNumber()
    self.number = number
    sum.note(bytes, of: number, LoopBound(holder, to: loop))
  }
}
