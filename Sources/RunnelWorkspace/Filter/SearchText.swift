/// A text that is looked for in others, without regard to upper and lower case.
struct SearchText: Hashable, Sendable {
  private let units: [UInt8]

  init(_ text: String) { units = Array(text.lowercased().utf8) }

  /// True if the text is found in another one; the empty text always is.
  ///
  /// O(n m) in the worst case, O(n) as a rule.
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
