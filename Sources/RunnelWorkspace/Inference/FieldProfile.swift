import RunnelBase
import RunnelTerminal
import RunnelTree

/// What the values of one field have in common, over the records that were seen.
struct FieldProfile {
  /// What the values are, if they are all alike.
  enum Kind: Hashable {
    case bool, number
    /// Milliseconds since 1970.
    case moment
    /// A date, or a date and time, as text: `2026-11-23T08:00:00Z`.
    case dateText
    case text
    case mixed
  }

  /// A text of more characters is long.
  static let longText = 40

  /// Where the field is below a record.
  let path: Path
  let role: FieldRole
  let kind: Kind
  /// In how many of the records it is, from 0 to 1.
  let fillRate: Double
  /// The columns that its widest value takes.
  let widest: Int
  /// True if the values are texts to be read, not names or words for a state.
  let isText: Bool
  /// True if all records have the same value, and that is no chance.
  let isConstant: Bool
  /// True if the values name things for programs only.
  let isTechnical: Bool

  /// Looks at the values of a field in `count` records.
  ///
  /// - Precondition: there is a value.
  init(_ path: Path, _ leaves: [Leaf], of count: Int) {
    let texts = leaves.map { FieldKind.text(of: $0.json) }
    let kind = FieldProfile.kind(of: leaves)
    self.path = path
    self.kind = kind
    fillRate = Double(leaves.count) / Double(max(count, 1))
    widest = texts.map { CellWidth.width(of: $0) }.max() ?? 0
    isConstant = leaves.count >= 4 && Set(texts).count == 1
    let role = FieldRole(ofFieldAt: path)
    let isLong = texts.contains { $0.count > FieldProfile.longText || $0.contains("\n") }
    isText = kind == .text && (role == .text || (isLong && role != .title))
    isTechnical =
      role == .identifier || (kind == .text && texts.allSatisfy(FieldProfile.isForPrograms))
    self.role = role == .date && ![.moment, .dateText].contains(kind) ? .other : role
  }

  private static func kind(of leaves: [Leaf]) -> Kind {
    let kinds = Set(leaves.map(kind))
    return kinds.count == 1 ? kinds.first ?? .mixed : .mixed
  }

  private static func kind(of leaf: Leaf) -> Kind {
    switch leaf {
    case .bool: .bool
    case .number(let number):
      number.integer.map(TreeText.moments.contains) == true ? .moment : .number
    case .string(let text): isDate(text) ? .dateText : .text
    }
  }

  /// True for a text that begins with a date, and has nothing after it but a time.
  private static func isDate(_ text: String) -> Bool {
    let bytes = Array(text.utf8.prefix(30))
    guard bytes.count >= 10, text.utf8.count <= 30 else { return false }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    for (index, byte) in bytes.prefix(10).enumerated() {
      let isRight = index == 4 || index == 7 ? byte == UInt8(ascii: "-") : digits ~= byte
      if !isRight { return false }
    }
    return bytes.count == 10 || bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ")
  }

  /// True for addresses, and for long words of digits and letters such as keys and hashes.
  private static func isForPrograms(_ text: String) -> Bool {
    if text.hasPrefix("https://") || text.hasPrefix("http://") { return true }
    return text.utf8.count >= 16 && !text.contains(" ") && text.contains { $0.isNumber }
      && !text.contains("@")
  }
}
