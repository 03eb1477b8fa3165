import RunnelBase

extension Duration {
  /// The halves of the number of attoseconds, as Swift writes them itself, except that the lower one is
  /// a signed number too: the tree holds no integer beyond `Int64`.
  var stored: JSONValue {
    let halves = [attoseconds >> 64, attoseconds].map { Int64(truncatingIfNeeded: $0) }
    return .array(halves.map { .number(JSONNumber($0)) })
  }

  /// The duration whose halves are stored.
  init(high: Int64, low: Int64) {
    self.init(attoseconds: Int128(high) << 64 | Int128(UInt64(bitPattern: low)))
  }
}
