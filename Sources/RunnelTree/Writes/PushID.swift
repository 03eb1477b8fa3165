/// Makes keys that sort by the time at which they were made.
///
/// A key has 20 characters: 8 for the milliseconds since 1970, 12 random. Keys made in one millisecond
/// count upwards from the random number of the first, so that they keep their order too.
///
/// Source: tree semantics, section 10.1.
package struct PushIDGenerator: Sendable {
  /// The 64 characters of a push id, in ASCII order.
  package static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
  private static let randomCount = 12

  private var lastMilliseconds: Int64 = -1
  private var lastRandom: [UInt8] = []

  /// Makes a generator that has made no key yet.
  package init() {}

  /// Makes the next key.
  ///
  /// If the clock goes backwards the keys do not: the latest time is kept.
  ///
  /// `now` is in milliseconds since 1970, from 0 to 2^48-1; other times are brought into this
  /// range. The 12 random characters come from `random`.
  package mutating func next(
    now: Int64, random: inout some RandomNumberGenerator
  ) -> Key {
    let now = max(min(max(now, 0), 0xFFFF_FFFF_FFFF), lastMilliseconds)
    if now != lastMilliseconds || !increment() {
      lastRandom = (0..<PushIDGenerator.randomCount).map { _ in
        UInt8.random(in: 0..<64, using: &random)
      }
    }
    lastMilliseconds = now
    let time = (0..<8).reversed().map { UInt8(truncatingIfNeeded: now >> (6 * Int64($0))) & 63 }
    let characters = (time + lastRandom).map { PushIDGenerator.alphabet[Int($0)] }
    return Key(unchecked: String(decoding: characters, as: UTF8.self))
  }

  /// Adds one to the random number; false if it was the greatest.
  private mutating func increment() -> Bool {
    guard let index = lastRandom.lastIndex(where: { $0 < 63 }) else { return false }
    lastRandom[index] += 1
    for later in (index + 1)..<lastRandom.count { lastRandom[later] = 0 }
    return true
  }

  /// True if a key has the form of a push id.
  package static func isPushID(_ key: Key) -> Bool {
    let bytes = key.text.utf8
    return bytes.count == 8 + randomCount && bytes.allSatisfy { alphabet.contains($0) }
  }

  /// The push id right after a key; a longer key after it, if it is not a push id or is the last
  /// one.
  package static func following(_ key: Key) -> Key {
    var digits = key.text.utf8.compactMap { byte in alphabet.firstIndex(of: byte) }
    let isPushID = digits.count == 8 + randomCount && digits.count == key.text.utf8.count
    guard isPushID, let index = digits.lastIndex(where: { $0 < 63 }) else {
      return Key(unchecked: key.text + "-")
    }
    digits[index] += 1
    for later in (index + 1)..<digits.count { digits[later] = 0 }
    return Key(unchecked: String(decoding: digits.map { alphabet[$0] }, as: UTF8.self))
  }
}

extension TreeReader {
  /// A new key for a collection: the generated one, or the one after the collection's last key if
  /// the clock went back here or was ahead where another process wrote.
  ///
  /// The last key is read within the write that adds the child, so that no other write comes
  /// between. This reads a few rows once. Limit: it looks for push ids of this century, which begin
  /// with `-`, among the last few rows of that form; many other keys there hide them.
  ///
  /// - Throws: `TreeError` (`storage`) if the collection cannot be read.
  package func pushID(_ key: Key, in collection: Path) throws(TreeError) -> Key {
    let query = try Query(collection).ordered(by: .key)
      .starting(at: .leaf(.string("-")))
      .ending(at: .leaf(.string("-" + String(repeating: "z", count: 19))))
      .limited(to: 8, from: .last)
    let found = try rows(of: collection, in: RowSlice(query), detail: .shallow)
    guard let last = found.last(where: { PushIDGenerator.isPushID($0.key) })?.key, !(last < key)
    else { return key }
    return PushIDGenerator.following(last)
  }
}
