/// A text searched for in other texts, regardless of case.
struct SearchText: Hashable, Sendable {
  private let units: [UInt8]

  init(_ text: String) { units = Array(text.lowercased().utf8) }

  /// Returns whether the other text contains this text; the empty text is always found.
  ///
  /// O(n m) in the worst case, usually O(n).
  func isFound(in text: String) -> Bool {
    guard let first = units.first else { return true }
    var text = text.lowercased()
    return text.withUTF8 { bytes in
      guard bytes.count >= units.count else { return false }
      for start in 0...(bytes.count - units.count)
      where bytes[start] == first && bytes[start...].starts(with: units) { return true }
      return false
    }
  }
}
