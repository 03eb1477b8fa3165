/// The life of signing keys: a key is published a day before it signs, signs for a month, and stays
/// published as long as something that it signed may be valid.
package struct KeyRing: Hashable, Sendable {
  /// A key, without its secret.
  package struct Entry: Hashable, Sendable {
    package var id: String
    /// When the key was made, in milliseconds since 1970.
    package var time: Int64

    package init(id: String, time: Int64) { (self.id, self.time) = (id, time) }
  }

  private static let day: Int64 = 86_400_000
  /// The time between the making of keys.
  package static let rotation = 30 * day
  /// The time for which a key is published before it signs.
  package static let lead = day
  /// The time for which a key is published after it signed for the last time: a session cookie lives
  /// for 14 days.
  package static let tail = 15 * day

  /// The keys, the oldest first.
  package let entries: [Entry]

  package init(_ entries: [Entry]) {
    self.entries = entries.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
  }

  /// The id of the key that signs; nil if there is none.
  package func signer(now: Int64) -> String? {
    let ready = entries.last { $0.time + KeyRing.lead <= now }
    // The first key of all signs at once.
    return (ready ?? entries.first)?.id
  }

  /// True if a new key has to be made.
  package func needsKey(now: Int64) -> Bool {
    guard let newest = entries.last else { return true }
    return newest.time + KeyRing.rotation <= now
  }

  /// The ids of keys that are not needed any more.
  package func expired(now: Int64) -> [String] {
    let signer = signer(now: now)
    return zip(entries, entries.dropFirst()).compactMap { entry, next in
      let end = next.time + KeyRing.lead + KeyRing.tail
      return end <= now && entry.id != signer ? entry.id : nil
    }
  }
}
