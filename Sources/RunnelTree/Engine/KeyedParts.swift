/// Values by key; a change copies only a small part of them, also while another copy is kept.
///
/// Whoever may have to take a change back keeps a copy. Then the first change of a dictionary copies all of it,
/// which is slow with thousands of keys.
struct KeyedParts<Name: Hashable & Sendable, Value: Sendable>: Sendable {
  /// From so many keys on there are `partCount` parts.
  private static var splitCount: Int { 64 }
  /// A power of two.
  private static var partCount: Int { 128 }

  /// No part, one, or `partCount`; then a key is in the part that its hash says.
  private var parts: [[Name: Value]] = []

  /// True if there is no key.
  var isEmpty: Bool {
    // A key path would be made at each call.
    parts.allSatisfy { $0.isEmpty }
  }

  /// The keys and their values, in no order.
  var all: FlattenSequence<[[Name: Value]]> { parts.joined() }

  /// The value of a key.
  subscript(key: Name) -> Value? { parts.isEmpty ? nil : parts[partIndex(of: key)][key] }

  /// The value of a key, which is added when it is changed.
  subscript(key: Name, default value: @autoclosure () -> Value) -> Value {
    get { self[key] ?? value() }
    _modify {
      makeRoom()
      let index = partIndex(of: key)
      yield &parts[index][key, default: value()]
    }
  }

  /// Changes the value of a key in place; does nothing if there is none.
  mutating func update<Failure: Error>(
    _ key: Name, _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) {
    if parts.isEmpty { return }
    let part = partIndex(of: key)
    guard let index = parts[part].index(forKey: key) else { return }
    try body(&parts[part].values[index])
  }

  /// Changes all values in place.
  mutating func updateAll(_ body: (inout Value) -> Void) {
    for part in parts.indices {
      for index in parts[part].indices { body(&parts[part].values[index]) }
    }
  }

  /// Removes a key; returns its value, or nil if there is none.
  @discardableResult
  mutating func remove(_ key: Name) -> Value? {
    if parts.isEmpty { return nil }
    let index = partIndex(of: key)
    return parts[index].removeValue(forKey: key)
  }

  private func partIndex(of key: Name) -> Int {
    parts.count == 1 ? 0 : key.hashValue & (KeyedParts.partCount - 1)
  }

  private mutating func makeRoom() {
    if parts.isEmpty { parts = [[:]] }
    guard parts.count == 1, parts[0].count >= KeyedParts.splitCount else { return }
    let whole = parts[0]
    parts = Array(repeating: [:], count: KeyedParts.partCount)
    for (key, value) in whole {
      let index = partIndex(of: key)
      parts[index][key] = value
    }
  }
}
