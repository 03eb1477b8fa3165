import RunnelBase
import RunnelStreams
import RunnelTerminal
import RunnelTree

/// Texts that an import puts into columns of numbers, such as `3,5`, and the numbers that they are, where
/// their form is clear.
struct ImportedTexts: Hashable, Sendable {
  /// A column of numbers that gets texts.
  struct Column: Hashable, Sendable {
    /// The name of the field, as the records have it.
    let name: String
    let count: Int
    /// The first of the texts.
    let example: String
    /// Whether all texts are numbers with a decimal comma.
    let isClear: Bool
    /// The first text that is no number with a decimal comma, where others are.
    let obstacle: String?
  }

  /// The most loaded records that are looked at.
  private static let recordsMax = 50
  /// The most columns that are named.
  private static let namedMax = 3

  /// The columns, by name.
  let columns: [Column]

  /// Looks for texts in fields that hold only numbers in the loaded rows of the list.
  ///
  /// O(members of the plan).
  init(_ plan: ImportPlan, into list: ListScreen) {
    let loaded = list.someRecords(ImportedTexts.recordsMax)
    var values: [String: [JSONValue]] = [:]
    for case .object(let members) in plan.rows.map(\.value) {
      for member in members { values[member.name, default: []].append(member.value) }
    }
    columns = values.sorted { $0.key < $1.key }.compactMap { name, values in
      let texts = values.compactMap(\.string)
      guard let example = texts.first,
        ImportedTexts.isOfNumbers(Path(unchecked: [Key(unchecked: name)]), loaded)
      else { return nil }
      return Column(
        name: name, count: texts.count, example: example,
        isClear: ImportedTexts.isClear(texts, beside: values),
        obstacle: texts.contains { ImportedTexts.number($0) != nil }
          ? texts.first { ImportedTexts.number($0) == nil } : nil)
    }
  }

  private static func isOfNumbers(_ field: Path, _ records: [Record]) -> Bool {
    let leaves = records.compactMap { $0.row.node?[field].leaf }
    return !leaves.isEmpty
      && leaves.allSatisfy { if case .number = $0 { true } else { false } }
  }

  /// Whether some texts all have a decimal comma: `1,250` alone may be a thousand, and beside `1.5` a comma
  /// means something else.
  private static func isClear(_ texts: [String], beside values: [JSONValue]) -> Bool {
    let hasPoint = values.contains {
      if case .number(let number) = $0 { number.integer == nil } else { false }
    }
    return !hasPoint && texts.allSatisfy { number($0) != nil }
      && texts.contains { !isThousands($0) }
  }

  /// Whether a number with a comma may be one with a sign between thousands.
  private static func isThousands(_ text: String) -> Bool {
    let parts = text.drop { "-−".contains($0) }.split(separator: ",")
    return parts.count == 2 && parts[1].count == 3 && parts[0].count <= 3 && parts[0] != "0"
  }

  /// Returns the number that a text with a decimal comma is: `3,5`, `-0,25` or `1.432,85`; nil for another
  /// text.
  static func number(_ text: String) -> JSONNumber? {
    func isDigits(_ text: Substring) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    let isNegative = text.hasPrefix("-") || text.hasPrefix("−")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(
      separator: ",", omittingEmptySubsequences: false)
    guard text.utf8.count <= 24, parts.count == 2, isDigits(parts[1]) else { return nil }
    let groups = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard groups.allSatisfy(isDigits), let first = groups.first,
      first == "0" && groups.count == 1 || first.first != "0",
      groups.count == 1 || first.count <= 3 && groups.dropFirst().allSatisfy({ $0.count == 3 })
    else { return nil }
    let digits = (isNegative ? "-" : "") + groups.joined() + "." + parts[1]
    guard case .number(let number)? = try? JSONValue(parsing: digits) else { return nil }
    return number
  }

  private func shown(_ text: String) -> String {
    ControlCharacters.escapedLine(String(text.prefix(24)))
  }

  /// Whether some of the texts can be imported as numbers.
  var hasNumbers: Bool { columns.contains(where: \.isClear) }

  /// The lines that say it before the import, where the key imports the numbers.
  func lines(key: String?) -> [StyledLine] {
    var lines = columns.prefix(ImportedTexts.namedMax).map { column in
      let name = ControlCharacters.escapedLine(WritableKey.name(of: column.name))
      let texts = column.count == 1 ? "a text" : "\(column.count) texts"
      let example = shown(column.example)
      let number =
        column.isClear
        ? ImportedTexts.number(column.example).map { JSONValue.number($0).jsonText() } : nil
      let offer =
        number.flatMap { number in key.map { "; \($0) imports \(number)" } }
        ?? column.obstacle.map { "; \(shown($0)) is no number" } ?? ""
      return StyledLine("\(name) holds numbers, and gets \(texts): \(example)\(offer)", .warn)
    }
    let others = columns.count - lines.count
    if others > 0 { lines.append(StyledLine("\(others) more columns of numbers get texts", .warn)) }
    return lines
  }

  /// Returns the plan with numbers for the texts whose form is clear.
  func withNumbers(_ plan: ImportPlan) -> ImportPlan {
    let clear = Set(columns.filter(\.isClear).map(\.name))
    var plan = plan
    for index in plan.rows.indices {
      guard case .object(var members) = plan.rows[index].value else { continue }
      for place in members.indices where clear.contains(members[place].name) {
        if let number = members[place].value.string.flatMap(ImportedTexts.number) {
          members[place].value = .number(number)
        }
      }
      plan.rows[index].value = .object(members)
    }
    return plan
  }
}
