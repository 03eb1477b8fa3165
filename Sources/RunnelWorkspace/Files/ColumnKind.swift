import RunnelBase

/// What the cells of a column of comma separated values stand for, so that one column has one kind of
/// value.
enum ColumnKind: Hashable {
  /// Texts, whatever they look like: all are digits, and some are codes such as `007`, or numbers that
  /// are too long.
  case texts
  /// Numbers, also those with zeros at their end: `9.50`.
  case numbers
  /// True or false, in any case of letters: spreadsheets write `TRUE`.
  case booleans
  /// Each what it reads as.
  case each

  /// Looks at the cells of a column.
  ///
  /// O(cells).
  init(ofColumn index: Int, in lines: [[String]]) {
    var hasCode = false
    let filled = lines.lazy.compactMap { index < $0.count && !$0[index].isEmpty ? $0[index] : nil }
    if let first = filled.first, ColumnKind.boolean(first) != nil {
      self = filled.allSatisfy { ColumnKind.boolean($0) != nil } ? .booleans : .each
      return
    }
    for cell in filled {
      if ColumnKind.isCode(cell) {
        hasCode = true
      } else if ColumnKind.number(cell) == nil {
        self = .each
        return
      }
    }
    self = hasCode ? .texts : .numbers
  }

  /// Returns the value of a cell.
  func value(_ cell: String) -> JSONValue {
    switch self {
    case .texts: .string(CellCoding.text(of: cell))
    case .numbers: ColumnKind.number(cell).map { .number($0) } ?? ImportPlan.value(cell)
    case .booleans: ColumnKind.boolean(cell).map { .bool($0) } ?? ImportPlan.value(cell)
    case .each: ImportPlan.value(cell)
    }
  }

  /// Returns whether a cell says true or false, or nil if it says neither.
  private static func boolean(_ cell: String) -> Bool? {
    guard cell.utf8.count <= 5 else { return nil }
    return switch cell.lowercased() {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Returns the number that a cell reads as, or nil if it reads as none.
  private static func number(_ cell: String) -> JSONNumber? {
    guard case .number(let number)? = try? JSONValue(parsing: cell) else { return nil }
    return number
  }

  /// Whether a cell of digits says something that a number would lose: zeros before it, or more digits
  /// than a number holds.
  private static func isCode(_ cell: String) -> Bool {
    guard cell.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else {
      return false
    }
    let whole = cell.prefix { $0 != "." }
    if whole.count > 1, whole.first == "0" { return true }
    guard let number = number(cell) else { return false }
    let written = JSONValue.number(number).jsonText()
    return ColumnKind.withoutLastZeros(cell) != ColumnKind.withoutLastZeros(written)
  }

  /// The text of a decimal number without the zeros at its end.
  private static func withoutLastZeros(_ text: String) -> Substring {
    guard text.contains(".") else { return text[...] }
    var rest = text[...]
    while rest.last == "0" { rest.removeLast() }
    return rest.last == "." ? rest.dropLast() : rest
  }
}
