/// The characters of a text that is edited, by their numbers.
///
/// Most characters are one scalar. They are kept as numbers, so that a long text is copied, compared
/// and turned into a string as a block of memory, and not character by character: all this is done
/// for each key. A character of several scalars stands in a table of its own.
struct EditText: RandomAccessCollection, RangeReplaceableCollection, Sendable {
  /// The numbers from this one on are places in `clusters`.
  private static let clusterStart: UInt32 = 0x8000_0000

  /// For each character its scalar, or the place in `clusters` after `clusterStart`.
  private var codes: [UInt32] = []
  /// The characters of several scalars that were ever in the text.
  private var clusters: [Character] = []

  init() {}

  /// Makes the characters of a text.
  ///
  /// O(n).
  init(_ text: String) {
    codes.reserveCapacity(text.utf8.count)
    for character in text { codes.append(code(of: character)) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { codes.count }

  subscript(position: Int) -> Character { character(codes[position]) }

  private func character(_ code: UInt32) -> Character {
    if code >= EditText.clusterStart { return clusters[Int(code - EditText.clusterStart)] }
    guard let scalar = Unicode.Scalar(code) else { preconditionFailure("a code is a scalar") }
    return Character(scalar)
  }

  private mutating func code(of character: Character) -> UInt32 {
    let scalars = character.unicodeScalars
    if let first = scalars.first, scalars.index(after: scalars.startIndex) == scalars.endIndex {
      return first.value
    }
    clusters.append(character)
    return EditText.clusterStart + UInt32(clusters.count - 1)
  }

  mutating func replaceSubrange(
    _ range: Range<Int>, with characters: some Collection<Character>
  ) {
    let new = characters.map { code(of: $0) }
    codes.replaceSubrange(range, with: new)
  }

  /// The text.
  ///
  /// O(n), as a block of memory if all characters are ASCII.
  var string: String { string(of: 0..<codes.count) }

  /// A part of the text.
  ///
  /// O(n) in the part.
  func string(of range: Range<Int>) -> String {
    if codes[range].allSatisfy({ $0 < 0x80 }) {
      return String(unsafeUninitializedCapacity: range.count) { bytes in
        for (offset, code) in codes[range].enumerated() {
          bytes[offset] = UInt8(truncatingIfNeeded: code)
        }
        return range.count
      }
    }
    var text = String.UnicodeScalarView()
    for code in codes[range] {
      if let scalar = Unicode.Scalar(code) {
        text.append(scalar)
      } else {
        text.append(contentsOf: character(code).unicodeScalars)
      }
    }
    return String(text)
  }
}

extension EditText {
  /// The places of the line ends, in order.
  ///
  /// O(n), without a look at the characters.
  var lineEnds: [Int] {
    codes.indices.filter { index in
      switch codes[index] {
      case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
      case EditText.clusterStart...: character(codes[index]).isNewline
      default: false
      }
    }
  }
}

extension EditText: Hashable {
  /// True if the characters are equal.
  static func == (left: EditText, right: EditText) -> Bool {
    guard left.codes.count == right.codes.count else { return false }
    // Without characters of several scalars, the numbers tell; a composed character may equal one.
    if left.clusters.isEmpty, right.clusters.isEmpty { return left.codes == right.codes }
    return left.elementsEqual(right)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for character in self { hasher.combine(character) }
  }
}
