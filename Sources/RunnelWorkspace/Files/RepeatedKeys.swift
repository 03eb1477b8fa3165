import RunnelBase
import RunnelTree

extension ImportPlan {
  /// Finds two records with one key, of which only one could stay.
  ///
  /// O(records).
  ///
  /// - Parameter isNumbered: whether records without a key have their numbers for keys, from 0.
  /// - Returns: What is wrong, with the places of both, in words that may stand behind a colon; nil if
  ///   all keys differ.
  package func repeatedKey(isNumbered: Bool = false) -> String? {
    // Numbers alone all differ.
    guard rows.contains(where: { $0.key != nil }) else { return nil }
    var places: [Key: String] = [:]
    for (number, row) in rows.enumerated() {
      guard let text = row.key ?? (isNumbered ? String(number) : nil) else { continue }
      guard let other = places.updateValue(row.place, forKey: Key(unchecked: text)) else {
        continue
      }
      let both =
        other == row.place
        ? "two records"
        : [other, row.place].map(ControlCharacters.escapedLine).joined(separator: " and ")
      return "\(both) have the same key, \(ControlCharacters.escapedLine(text)), "
        + "and one of them would be lost: give one of them another key"
    }
    return nil
  }
}
