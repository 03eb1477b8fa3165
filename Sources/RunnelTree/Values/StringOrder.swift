extension String {
  /// True if this text comes before `other` by UTF-16 code unit, as the tree orders text.
  ///
  /// It compares UTF-8, whose order differs from that of UTF-16 only in one respect: UTF-16 puts
  /// scalars beyond U+FFFF (written with surrogates) before U+E000...U+FFFF. O(n).
  package func isOrderedBefore(_ other: String) -> Bool {
    withUnits(other) { $0.isOrderedBefore($1) } ?? isOrderedBeforeByScalars(other)
  }

  private func isOrderedBeforeByScalars(_ other: String) -> Bool {
    var left = utf8.makeIterator()
    var right = other.utf8.makeIterator()
    while true {
      switch (left.next(), right.next()) {
      case (nil, let byte): return byte != nil
      case (_?, nil): return false
      case (let a?, let b?):
        if a != b { return UTF8Rank.of(a) < UTF8Rank.of(b) }
      }
    }
  }

  /// True if both have the same code units; `==` on strings also accepts canonical equivalents.
  package func hasSameUnits(as other: String) -> Bool {
    withUnits(other) { $0.hasSameBytes(as: $1) } ?? utf8.elementsEqual(other.utf8)
  }

  /// Calls `body` with the bytes of both texts; returns nil if the bytes of one of them are not
  /// contiguous.
  private func withUnits<Result>(
    _ other: String,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result? {
    let result = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in body(left, right) }
    }
    return result ?? nil
  }

  /// Hashes the code units, as `hasSameUnits` compares them.
  package func hashUnits(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate func isOrderedBefore(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
    let shared = Swift.min(count, other.count)
    var index = 0
    while index < shared {
      let (a, b) = (self[index], other[index])
      if a != b { return UTF8Rank.of(a) < UTF8Rank.of(b) }
      index += 1
    }
    return count < other.count
  }

  fileprivate func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Texts of one kind often begin alike and differ at the end.
    var index = count - 1
    while index >= 0 {
      if self[index] != other[index] { return false }
      index -= 1
    }
    return true
  }
}

/// The rank of UTF-8 bytes when text is ordered by UTF-16 code unit.
///
/// The lead bytes of scalars beyond U+FFFF (0xF0...0xF4) come before those of U+E000...U+FFFF (0xEE
/// and 0xEF). The storage writes text with these ranks in place of the bytes, so that comparing the
/// stored bytes gives the tree's order.
package enum UTF8Rank {
  /// The rank of a byte: a permutation of 0...255 that moves 0xEE...0xF4 only.
  package static func of(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0xEE, 0xEF: byte + 5
    case 0xF0...0xF4: byte - 2
    default: byte
    }
  }

  /// The byte with a rank: the inverse of `of`.
  package static func byte(ofRank rank: UInt8) -> UInt8 {
    switch rank {
    case 0xF3, 0xF4: rank - 5
    case 0xEE...0xF2: rank + 2
    default: rank
    }
  }
}
