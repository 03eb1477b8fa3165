/// In place of swift-crypto, so that the fuzzer needs no package: a hash that is none of security's.
public enum Insecure {
  /// In place of SHA-1.
  public struct SHA1: Sendable {
    private var state: (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)

    /// Begins.
    public init() {}

    /// Takes bytes.
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {
      for byte in bufferPointer {
        state.0 = (state.0 ^ UInt64(byte)) &* 0x100_0000_01B3
        state.1 = (state.1 &+ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
      }
    }

    /// The 20 bytes of the hash.
    public func finalize() -> [UInt8] {
      (0..<20).map { UInt8(truncatingIfNeeded: ($0 < 8 ? state.0 : state.1) >> UInt64($0 % 8 * 8)) }
    }
  }
}
