import RunnelBase
import RunnelStreams
import RunnelTree

/// The reason why a section of a view fits no row whatever the rows hold: its condition asks for a value
/// of another kind than all loaded rows have, such as true for a field with texts, or it asks for a day
/// where no row has a date.
///
/// It is a hint and no error: a row that is not loaded may have such a value.
struct SectionDoubt {
  /// The most rows that are looked at.
  private static let rowsMax = 200

  /// What to say to the user, in one line.
  let message: String

  /// Looks at the conditions of the sections of a list, which is loaded; nil if each may fit.
  ///
  /// O(conditions x rows).
  init?(_ list: ListScreen) {
    let rows = list.someRecords(SectionDoubt.rowsMax).filter { !list.isTransient($0) }
    for case .day(let field) in list.definition.sections {
      let leaves = rows.compactMap { field.node(key: $0.row.key, $0.row.node ?? .empty).leaf }
      guard !leaves.isEmpty, leaves.allSatisfy({ StoredTime.milliseconds(of: $0, .utc) == nil })
      else { continue }
      message = "the sections by day fit no row: \(field.menuTitle) holds no dates"
      return
    }
    for case .match(let title, let conditions) in list.definition.sections {
      for (field, value) in conditions.sorted(by: { $0.key.text < $1.key.text }) {
        let leaves = rows.compactMap {
          field.node(key: $0.row.key, $0.row.node ?? .empty).leaf?.json
        }
        guard let word = SectionDoubt.word(value), !leaves.isEmpty,
          leaves.allSatisfy({ SectionDoubt.word($0) != word })
        else { continue }
        let held = Set(leaves.compactMap(SectionDoubt.word)).sorted().joined(separator: " and ")
        let start = "the section \(title) fits no row: \(field.text) holds \(held), and its where "
        message = start + SectionDoubt.demand(value)
        return
      }
    }
    return nil
  }

  /// The word for values like one; nil for a value that is no leaf.
  private static func word(_ value: JSONValue) -> String? {
    switch value {
    case .string: "texts"
    case .number: "numbers"
    case .bool: "true or false"
    case .null, .array, .object: nil
    }
  }

  /// What a condition asks for, and how to ask for a text that looks like something else.
  private static func demand(_ value: JSONValue) -> String {
    switch value {
    case .bool(let isTrue):
      "asks for \(isTrue): write \"\(isTrue)\" in quotes for the text"
    case .number: "asks for a number: write \"\(value.jsonText())\" in quotes for the text"
    default: "asks for the text \(value.jsonText())"
    }
  }
}
