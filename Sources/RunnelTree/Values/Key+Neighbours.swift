// The keys next to a key. Source: tree semantics, section 10.2.

extension Key {
  /// The next key, for a bound that excludes this key; the place after all keys, if there is none.
  ///
  /// It is greater than this key, and no key in the alphabet of push ids lies between, except
  /// integers with leading zeros, such as `01` between `1` and `2`. The result may be longer than a
  /// stored key.
  package var successor: IndexPosition.KeyBound { KeyNeighbour.successor(of: text, integer) }

  /// The previous key, for a bound that excludes this key; the place before all keys, if there is
  /// none.
  ///
  /// It is less than this key, and no key of 786 or fewer characters in the alphabet of push ids
  /// lies between, with these exceptions: integers with leading zeros; the integer itself, if this
  /// key has leading zeros; and the texts below a key such as `1-`, whose predecessor is the
  /// integer `1`. The result may be longer than a stored key.
  package var predecessor: IndexPosition.KeyBound { KeyNeighbour.predecessor(of: text, integer) }
}

/// The rules for neighboring keys, for texts that may be longer than a key.
///
/// The rules are those of the web clients. A character outside the alphabet is replaced by the next
/// one in it, so that no text of the alphabet is skipped.
enum KeyNeighbour {
  /// The length to which keys are filled up, in UTF-16 code units; not the limit of a stored key.
  static let unitsMax = 786

  private static let alphabet = PushIDGenerator.alphabet.map { Unicode.Scalar($0) }
  private static let first: Unicode.Scalar = "-"
  private static let last: Unicode.Scalar = "z"

  /// The key after a text that stands for `integer`, or for no integer.
  static func successor(of text: String, _ integer: Int32?) -> IndexPosition.KeyBound {
    if let integer {
      return key(integer == .max ? String(first) : String(integer + 1))
    }
    if text.utf16.count < unitsMax { return key(text + String(first)) }
    var scalars = Array(text.unicodeScalars)
    while let end = scalars.popLast() {
      guard let next = alphabet.first(where: { end < $0 }) else { continue }
      return key(scalars + [next])
    }
    return .maximum
  }

  /// The key before a text that stands for `integer`, or for no integer.
  static func predecessor(of text: String, _ integer: Int32?) -> IndexPosition.KeyBound {
    switch integer {
    case Int32.min?:
      // An integer with leading zeros comes after the same integer without them.
      let shortest = String(Int32.min)
      return text == shortest ? .minimum : key(shortest)
    case let integer?: return key(String(integer - 1))
    case nil: break
    }
    var scalars = Array(text.unicodeScalars)
    let end = scalars.removeLast()
    guard let lower = alphabet.last(where: { $0 < end }) else {
      return scalars.isEmpty ? key(String(Int32.max)) : key(scalars)
    }
    scalars.append(lower)
    let count = String(String.UnicodeScalarView(scalars)).utf16.count
    return key(scalars + Array(repeating: last, count: max(unitsMax - count, 0)))
  }

  private static func key(_ text: String) -> IndexPosition.KeyBound {
    .key(Key(unchecked: text))
  }

  private static func key(_ scalars: [Unicode.Scalar]) -> IndexPosition.KeyBound {
    key(String(String.UnicodeScalarView(scalars)))
  }
}
