import RunnelBase

/// When the next attempt to connect is made.
///
/// The longest wait grows by 1.3 with every attempt; of it a random part is waited, less the time since
/// the last attempt, so that many clients that lost one server do not come back at one moment.
///
/// Source: wire protocol, section A7.
struct Backoff: Sendable {
  private let delayMin: Int64
  private let delayMax: Int64
  private var delay: Int64
  private var random: SeededRandom

  init(_ limits: ClientLimits, seed: UInt64) {
    (delayMin, delayMax) = (limits.delayMin, limits.delayMax)
    delay = limits.delayMin
    random = SeededRandom(seed: seed)
  }

  /// What was good, or somebody asked: waits are short again.
  mutating func reset() { delay = delayMin }

  /// How long to wait after an attempt that began so long ago, in milliseconds.
  mutating func next(sinceLast elapsed: Int64) -> Int64 {
    let longest = max(0, delay - max(0, elapsed))
    delay = min(delayMax, delay + max(1, delay * 3 / 10))
    return longest == 0 ? 0 : Int64.random(in: 0...longest, using: &random)
  }
}
