import RunnelStreams

/// A row with a number to order by and a word that says nothing about its place.
struct TestRow: KeyedItem, Hashable, CustomStringConvertible {
  var key: String
  var value: Int
  var word: String

  init(_ key: String, _ value: Int = 0, _ word: String = "") {
    self.key = key
    self.value = value
    self.word = word
  }

  var description: String { "\(key)=\(value)\(word)" }

  static func byValue(_ left: TestRow, _ right: TestRow) -> Bool { left.value < right.value }
}

extension [StreamSection<TestRow>] {
  /// The sections as `id: keys`, for comparing.
  var text: [String] { map { "\($0.id): \($0.items.map(\.key).joined(separator: " "))" } }
}

extension [KeyedSection] {
  /// The sections as `id: keys`, for comparing.
  var text: [String] { map { "\($0.id): \($0.keys.joined(separator: " "))" } }
}

/// Makes sections of `("a", ["1", "2"])`.
func list(_ sections: (String, [String])...) -> [KeyedSection] {
  sections.map { KeyedSection(id: $0.0, keys: $0.1) }
}
