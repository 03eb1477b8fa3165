import RunnelBase
import RunnelStreams
import RunnelTree

/// Texts whose characters have another order than what they say: dates written day first, `01.02.2026`, and
/// numbers that are texts, `1432,85`.
///
/// A list that is sorted by them is in the order of their characters.
enum SortedTexts: Hashable, Sendable {
  case dates
  case numbers

  /// The most records of a list that are looked at.
  private static let recordsMax = 50
  /// The length of the longest text that is looked at, in bytes.
  private static let lengthMax = 30

  /// Looks at the loaded rows of a list; nil if the values of the field are something else, or if their
  /// characters have the right order.
  ///
  /// O(1): it looks at some rows only.
  init?(in list: ListScreen, sortedBy field: Path) {
    let texts = list.someRecords(SortedTexts.recordsMax).compactMap { record -> String? in
      if case .string(let text)? = record.row.node?[field].leaf { text } else { nil }
    }
    self.init(texts)
  }

  /// Looks at some texts; nil if most are neither dates nor numbers, or if their characters have the right
  /// order, as those of `2026-02-01` and `00999` have.
  ///
  /// O(texts).
  init?(_ texts: [String]) {
    let dates = texts.filter { $0.utf8.count <= Self.lengthMax && DateText($0, .utc) != nil }
    if dates.count * 2 >= texts.count, dates.contains(where: { !FieldProfile.isDate($0) }) {
      self = .dates
      return
    }
    let numbers = texts.filter(SortedTexts.isNumber)
    guard !numbers.isEmpty, numbers.count * 2 >= texts.count, !SortedTexts.areAligned(numbers)
    else { return nil }
    self = .numbers
  }

  /// Whether a text is a number as people write it: `-1.432,85 €`, `12 %`, `1'000`; a number with zeros in
  /// front is a name for something.
  private static func isNumber(_ text: String) -> Bool {
    guard text.utf8.count <= lengthMax, let last = text.lastIndex(where: isDigit),
      text[last...].dropFirst().allSatisfy({ " €$£%".contains($0) })
    else { return false }
    let digits = text[...last].drop { " +-−€$£".contains($0) }
    let parts = digits.split(omittingEmptySubsequences: false) { ".,'’".contains($0) }
    guard let first = parts.first, first == "0" || !first.hasPrefix("0"),
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) })
    else { return false }
    // Between two signs stand thousands.
    return parts.dropFirst().dropLast().allSatisfy { $0.count == 3 }
  }

  /// Whether a text is a number with a decimal part, with thousands or with a currency, which stands at
  /// the right of a column; whole numbers that are texts are often names.
  static func isAmount(_ text: String) -> Bool {
    isNumber(text) && text.contains { ".,'’€$£%".contains($0) }
  }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }

  /// Whether numbers have only digits, and all as many: then their characters have the right order.
  private static func areAligned(_ numbers: [String]) -> Bool {
    Set(numbers.map(\.utf8.count)).count == 1
      && numbers.allSatisfy { $0.allSatisfy(isDigit) }
  }

  /// What is said when a list is sorted by such texts.
  func words(_ field: Path) -> String {
    switch self {
    case .dates:
      "\(field.shownText) holds dates as texts: they are sorted by their characters, not by time"
    case .numbers:
      "\(field.shownText) holds numbers as texts: they are sorted by their characters, not by size"
    }
  }
}

extension ListScreen {
  /// The texts that the rows are sorted by, if their characters have another order than what they say; nil
  /// for any other order.
  var sortedTexts: SortedTexts? {
    guard case .child(let field) = definition.source.order.forward else { return nil }
    return SortedTexts(in: self, sortedBy: field)
  }
}
