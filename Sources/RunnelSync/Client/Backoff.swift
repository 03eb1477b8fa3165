import RunnelBase

/// The waiting times between attempts to connect.
///
/// The upper bound grows by the factor 1.3 with every attempt. The wait is a random part of it,
/// less the time since the last attempt, so that many clients that lost one server do not return at
/// the same moment.
///
/// A connection that was made shows that the origin is there, however long it was not: the next wait is short. Each that
/// is no good one has a longer wait after it, so that an origin which ends them at once is not asked without rest.
///
/// Source: wire protocol, section A7.
struct Backoff: Sendable {
  private let delayMin: Int64
  private let delayMax: Int64
  private var delay: Int64
  /// The upper bound after the next connection that is made.
  private var delayOfConnected: Int64
  private var random: SeededRandom

  init(_ limits: ClientLimits, seed: UInt64) {
    (delayMin, delayMax) = (limits.delayMin, limits.delayMax)
    (delay, delayOfConnected) = (limits.delayMin, limits.delayMin)
    random = SeededRandom(seed: seed)
  }

  /// Makes the next waits short again, after a good connection or when the user asks for an
  /// attempt.
  mutating func reset() { (delay, delayOfConnected) = (delayMin, delayMin) }

  /// Notes that a connection was made, which may be a short one.
  mutating func noteConnection() {
    delay = min(delay, delayOfConnected)
    delayOfConnected = grown(delayOfConnected)
  }

  private func grown(_ delay: Int64) -> Int64 { min(delayMax, delay + max(1, delay * 3 / 10)) }

  /// Returns the wait before the next attempt, in milliseconds; `elapsed` is the time since the
  /// last attempt began, in milliseconds.
  mutating func next(sinceLast elapsed: Int64) -> Int64 {
    let longest = max(0, delay - max(0, elapsed))
    delay = grown(delay)
    return longest == 0 ? 0 : Int64.random(in: 0...longest, using: &random)
  }
}
