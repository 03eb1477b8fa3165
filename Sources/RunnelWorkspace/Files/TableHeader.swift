import RunnelTree

/// The first line of a table: its headings as they stand there, and what the columns are called.
///
/// A column without a heading, and one whose heading a column before it has, gets a name of its own, which
/// depends on nothing but the headings.
struct TableHeader: Hashable, Sendable {
  /// The headings as they stand in the first line; empty for columns without one.
  let headings: [String]
  /// What the columns are called; all differ, also as keys.
  private(set) var names: [String]

  /// Reads the cells of the first line.
  ///
  /// O(cells).
  init(_ cells: [String]) {
    headings = cells.map(CellCoding.text)
    names = headings
    var taken = Set(headings.filter { !$0.isEmpty }.map(WritableKey.key))
    var seen: Set<Key> = []
    var counts: [String: Int] = [:]
    for (index, heading) in headings.enumerated() {
      counts[heading, default: 0] += 1
      if !heading.isEmpty, seen.insert(WritableKey.key(of: heading)).inserted { continue }
      var name =
        heading.isEmpty
        ? "\(TableHeader.unnamed)\(index + 1)" : "\(heading) \(max(counts[heading] ?? 2, 2))"
      while !taken.insert(WritableKey.key(of: name)).inserted { name += "'" }
      names[index] = name
    }
  }

  /// The beginning of the name of a column without a heading.
  private static let unnamed = "column "

  /// Whether a name is that of a column without a heading.
  static func isMade(_ name: String) -> Bool {
    name.hasPrefix(unnamed) && name.count > unnamed.count
      && name.dropFirst(unnamed.count).allSatisfy(\.isNumber)
  }

  /// Returns what is to be said of the columns that got a name and hold something in these lines, each in
  /// a sentence.
  func remarks(on lines: [[String]]) -> [String] {
    let made = names.indices.filter { index in
      names[index] != headings[index]
        && lines.contains { index < $0.count && !$0[index].isEmpty }
    }
    return [
      TableHeader.sentence(
        made.filter { headings[$0].isEmpty }.map { names[$0] },
        "1 column without a name in the first line is called",
        "columns without a name in the first line are called"),
      TableHeader.sentence(
        made.filter { !headings[$0].isEmpty }.map { names[$0] },
        "1 column whose name another one has in the first line is called",
        "columns whose names others have in the first line are called"),
    ].compactMap(\.self)
  }

  private static func sentence(_ names: [String], _ one: String, _ several: String) -> String? {
    if names.isEmpty { return nil }
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    return (names.count == 1 ? one : "\(names.count) \(several)") + " \(list)."
  }
}
