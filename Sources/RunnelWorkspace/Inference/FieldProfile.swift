import RunnelBase
import RunnelTerminal
import RunnelTree

/// The common properties of a field's values, over a sample of records.
struct FieldProfile {
  /// The kind of the values, if all are alike.
  enum Kind: Hashable {
    case bool
    /// A number, or an amount that is a text: `1432,85`.
    case number
    /// Milliseconds since 1970, or seconds in a field that its name tells to be a time.
    case moment
    /// A date, or a date and time, as text: `2026-11-23T08:00:00Z`, or day first, `23.11.2026`.
    case dateText
    case text
    case mixed
  }

  /// The number of characters from which a text is long.
  static let longText = 40

  /// The greatest number of values in a sample that get colors: more have the same ones too often.
  private static let coloredMax = 12

  /// The fraction of the records from which most of them have a field, and below which few have it.
  private static let fillRates = (most: 0.7, few: 0.4)

  /// The greatest width of a value that identifies a record, the fraction of the records that have such
  /// values, and from how many numbers in their order on they count the records.
  private static let identifying = (widest: 12, rate: 0.9, countedMin: 6)

  /// The path of the field below a record.
  let path: Path
  let role: FieldRole
  let kind: Kind
  /// The fraction of the records that have the field, from 0 to 1.
  let fillRate: Double
  /// Whether the values tell the records apart, as the number of an invoice does: short, and another one in
  /// each record.
  let isIdentifying: Bool
  /// The greatest width of a value, in columns.
  let widest: Int
  /// The greatest width of what stands before the decimal sign of a value, or of a value without one.
  let widestWhole: Int
  /// Whether the values are texts to be read, rather than names or states.
  let isText: Bool
  /// Whether all records have the same value, in at least 4 records.
  let isConstant: Bool
  /// Whether the values are names or states that a color helps to tell apart.
  let isColored: Bool
  /// Whether the values are moments with a time of day.
  let hasTimes: Bool
  /// Whether many of the moments are on the same day, and differ by their times of day.
  let isDense: Bool
  /// Whether the values are for programs only, such as keys and addresses.
  let isTechnical: Bool

  /// Whether the field is a column of a table without a name, which is called after its place.
  let isUnnamed: Bool

  /// Analyzes the values of a field in `count` records.
  ///
  /// - Precondition: there is at least one value.
  init(_ path: Path, _ leaves: [Leaf], of count: Int) {
    let texts = leaves.map { FieldKind.text(of: $0.json) }
    let role = FieldRole(ofFieldAt: path)
    let kind = FieldProfile.kind(of: leaves, isTime: role == .date)
    self.path = path
    isUnnamed = path.lastKey.map { TableHeader.isMade($0.text) } == true
    self.kind = kind
    fillRate = Double(leaves.count) / Double(max(count, 1))
    widest = texts.map { CellWidth.width(of: $0) }.max() ?? 0
    widestWhole = texts.map { FieldProfile.wholeWidth(of: $0) }.max() ?? 0
    let distinct = Set(texts).count
    isConstant = leaves.count >= 4 && distinct == 1
    let isLong = texts.contains { $0.count > FieldProfile.longText || $0.contains("\n") }
    isIdentifying =
      fillRate >= FieldProfile.identifying.rate && distinct == leaves.count && distinct > 1
      && role == .other && widest <= FieldProfile.identifying.widest
      && (kind == .number || kind == .text)
      && (FieldRole.isNumber(path) || FieldProfile.isCounted(leaves))
    isText = kind == .text && (role == .text || (isLong && role != .title))
    isTechnical =
      role == .identifier || (kind == .text && texts.allSatisfy(FieldProfile.isForPrograms))
    hasTimes = FieldProfile.hasTimes(leaves, kind)
    let days = hasTimes ? Set(leaves.map(FieldProfile.day)).count : distinct
    isDense = distinct > days && days * 2 <= leaves.count
    let isNamed = [.person, .status, .priority, .category].contains(role)
    isColored =
      kind == .text && isNamed && !isText && !isConstant && distinct <= FieldProfile.coloredMax
    self.role = role == .date && ![.moment, .dateText].contains(kind) ? .other : role
  }

  /// Whether most records have the field.
  var isInMost: Bool { fillRate >= FieldProfile.fillRates.most }
  /// Whether few records have the field.
  var isInFew: Bool { fillRate < FieldProfile.fillRates.few }

  /// Whether whole numbers rise or fall from each record to the next one.
  private static func isCounted(_ leaves: [Leaf]) -> Bool {
    let numbers = leaves.compactMap { leaf -> Int64? in
      if case .number(let number) = leaf { number.integer } else { nil }
    }
    if numbers.count < max(leaves.count, identifying.countedMin) { return false }
    let pairs = Array(zip(numbers, numbers.dropFirst()))
    return pairs.allSatisfy { $0 < $1 } || pairs.allSatisfy { $0 > $1 }
  }

  /// The width of a number before the digits behind its decimal sign; that of the whole text if there are few
  /// of these digits, or none.
  private static func wholeWidth(of text: String) -> Int {
    guard let sign = text.lastIndex(where: { $0 == "." || $0 == "," }) else {
      return CellWidth.width(of: text)
    }
    let digits = text[text.index(after: sign)...]
    return digits.count <= fewDigits || !digits.allSatisfy(\.isNumber)
      ? CellWidth.width(of: text) : CellWidth.width(of: String(text[..<sign]))
  }

  /// The number of digits behind a decimal sign that are always shown.
  private static let fewDigits = 3

  private static func hasTimes(_ leaves: [Leaf], _ kind: Kind) -> Bool {
    leaves.contains { leaf in
      switch leaf {
      case .bool: false
      // Days are whole numbers of them.
      case .number(let number):
        kind == .moment
          && number.integer.map { StoredTime.milliseconds(of: $0) % 86_400_000 != 0 } == true
      case .string(let text): kind == .dateText && text.utf8.count > 10
      }
    }
  }

  /// A text for the day of a moment or date, the same for all of the day.
  private static func day(of leaf: Leaf) -> String {
    switch leaf {
    case .bool: ""
    case .number(let number):
      "\((number.integer.map { StoredTime.milliseconds(of: $0) } ?? 0) / 86_400_000)"
    case .string(let text): String(text.prefix(10))
    }
  }

  private static func kind(of leaves: [Leaf], isTime: Bool) -> Kind {
    let kinds = Set(leaves.map { kind(of: $0, isTime: isTime) })
    return kinds.count == 1 ? kinds.first ?? .mixed : .mixed
  }

  private static func kind(of leaf: Leaf, isTime: Bool) -> Kind {
    switch leaf {
    case .bool: .bool
    case .number(let number):
      number.integer.map {
        isTime ? StoredTime.contains($0) : StoredTime.milliseconds.contains($0)
      } == true ? .moment : .number
    case .string(let text):
      isDate(text) || DateText(text, .utc) != nil
        ? .dateText : SortedTexts.isAmount(text) ? .number : .text
    }
  }

  /// Whether a text is a date, or a date followed by a time.
  static func isDate(_ text: String) -> Bool {
    let bytes = Array(text.utf8.prefix(30))
    guard bytes.count >= 10, text.utf8.count <= 30 else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    for (index, byte) in bytes.prefix(10).enumerated() {
      let isRight = index == 4 || index == 7 ? byte == UInt8(ascii: "-") : digits ~= byte
      if !isRight { return false }
    }
    return bytes.count == 10 || bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ")
  }

  /// Whether a text is an address, or a long word of digits and letters such as a key or a hash.
  private static func isForPrograms(_ text: String) -> Bool {
    if text.hasPrefix("https://") || text.hasPrefix("http://") { return true }
    return text.utf8.count >= 16 && !text.contains(" ") && text.contains { $0.isNumber }
      && !text.contains("@")
  }
}
