/// A random number generator that gives the same numbers for the same seed, on every machine.
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood, 2014): 64 bits of state, a period of 2^64,
/// good statistics. It is for tests, simulation and demo data, not for secrets.
package struct SeededRandom: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  /// Makes a generator; any seed is as good as another.
  package init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
