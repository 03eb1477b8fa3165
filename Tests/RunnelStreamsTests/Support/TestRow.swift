import RunnelStreams

/// A row with a number to order by and a word that says nothing about its place.
struct TestRow: StreamItem, Hashable, CustomStringConvertible {
  var id: String
  var value: Int
  var word: String

  init(_ id: String, _ value: Int = 0, _ word: String = "") {
    self.id = id
    self.value = value
    self.word = word
  }

  var description: String { "\(id)=\(value)\(word)" }

  static func byValue(_ left: TestRow, _ right: TestRow) -> Bool { left.value < right.value }
}

extension [StreamSection<TestRow>] {
  /// The sections as `id: row ids`, for comparing.
  var text: [String] { map { "\($0.id): \($0.items.map(\.id).joined(separator: " "))" } }
}

extension [SectionIDs] {
  /// The sections as `id: row ids`, for comparing.
  var text: [String] { map { "\($0.id): \($0.rowIDs.joined(separator: " "))" } }
}

/// Makes sections of `("a", ["1", "2"])`.
func list(_ sections: (String, [String])...) -> [SectionIDs] {
  sections.map { SectionIDs(id: $0.0, rowIDs: $0.1) }
}
