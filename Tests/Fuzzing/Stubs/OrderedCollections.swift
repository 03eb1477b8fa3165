/// In place of swift-collections, so that the fuzzer needs no package: what the tree uses of it, simple and slow.
public struct OrderedDictionary<Key: Hashable, Value>: ExpressibleByDictionaryLiteral, Sequence {
  /// The keys, in the order in which they came.
  public private(set) var keys: [Key] = []
  /// Their values.
  public var values: [Value] = []

  /// Makes a dictionary.
  public init(dictionaryLiteral elements: (Key, Value)...) {
    for (key, value) in elements { self[key] = value }
  }

  /// Where a key is.
  public func index(forKey key: Key) -> Int? { keys.firstIndex(of: key) }

  /// The value of a key.
  public subscript(key: Key) -> Value? {
    get { index(forKey: key).map { values[$0] } }
    set {
      switch (index(forKey: key), newValue) {
      case (let index?, let value?): values[index] = value
      case (let index?, nil):
        keys.remove(at: index)
        values.remove(at: index)
      case (nil, let value?):
        keys.append(key)
        values.append(value)
      case (nil, nil): break
      }
    }
  }

  /// True if there are none.
  public var isEmpty: Bool { keys.isEmpty }
  /// How many there are.
  public var count: Int { keys.count }

  /// All of them, in order.
  public func makeIterator() -> AnyIterator<(key: Key, value: Value)> {
    var index = 0
    return AnyIterator {
      defer { index += 1 }
      return index < keys.count ? (keys[index], values[index]) : nil
    }
  }
}

extension OrderedDictionary: Sendable where Key: Sendable, Value: Sendable {}
