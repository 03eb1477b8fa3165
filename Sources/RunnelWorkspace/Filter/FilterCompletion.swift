import RunnelStreams
import RunnelTree

/// Completions of the last word of a filter: fields, states, or values that are in the list.
struct FilterCompletion {
  /// The greatest number of rows searched for values, and the greatest number of values offered.
  private static let rowsMax = 2000
  private static let candidatesMax = 20

  /// The completions in order.
  let candidates: [String]
  /// The number of characters of the word that a completion replaces.
  let wordLength: Int

  /// Finds the completions of the word at the end of a text.
  init(before text: String, in list: ListScreen) {
    var word =
      text.split(omittingEmptySubsequences: false, whereSeparator: \.isWhitespace).last ?? ""
    if word.hasPrefix("-") { word = word.dropFirst() }
    let marks = Set(":~<>=|")
    guard let mark = word.lastIndex(where: { marks.contains($0) }) else {
      wordLength = word.count
      candidates = FilterCompletion.fields(of: list).filter { $0.hasPrefix(word) }
      return
    }
    let typed = word[word.index(after: mark)...]
    let field = word.prefix { !marks.contains($0) }
    wordLength = typed.count
    let values = FilterCompletion.values(of: String(field), in: list)
    candidates = values.filter { $0.lowercased().hasPrefix(typed.lowercased()) }
      .prefix(FilterCompletion.candidatesMax).map(FilterCompletion.quoted)
  }

  /// The text that all completions begin with, or the only completion; nil if it adds nothing.
  var commonText: String? {
    guard let first = candidates.first else { return nil }
    let common = candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
    return common.count > wordLength || candidates.count == 1 ? common : nil
  }

  private static func fields(of list: ListScreen) -> [String] {
    var names: Set<String> = []
    for column in list.definition.columns { names.insert(name(of: column.field)) }
    for record in list.someRecords(rowsMax) {
      for child in record.row.node?.children ?? [] where child.node.leaf != nil {
        names.insert(child.key.text)
      }
    }
    return names.sorted().map { $0 + ":" } + ["is:", "has:"]
  }

  private static func name(of field: FieldPath) -> String {
    switch field {
    case .key: "$key"
    case .value: "$value"
    case .path(let path): String(path.description.dropFirst())
    }
  }

  private static func values(of field: String, in list: ListScreen) -> [String] {
    if field == "is" { return ["new", "marked", "mine"] + flags(in: list) }
    if field == "has" { return fields(of: list).map { String($0.dropLast()) } }
    // A name that is no field has no values to offer.
    guard let path = try? FieldPath(field) else { return [] }
    var counts: [String: Int] = [:]
    for record in list.someRecords(rowsMax) {
      let node = path.node(key: record.row.key, record.row.node ?? .empty)
      guard let leaf = node.leaf else { continue }
      counts[FieldKind.text(of: leaf.json), default: 0] += 1
    }
    // The most frequent values come first.
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }

  private static func flags(in list: ListScreen) -> [String] {
    var names: Set<String> = []
    for record in list.someRecords(rowsMax) {
      for child in record.row.node?.children ?? [] {
        if case .bool? = child.node.leaf { names.insert(child.key.text) }
      }
    }
    return names.sorted()
  }

  static func quoted(_ value: String) -> String {
    let isPlain = value.allSatisfy { !$0.isWhitespace && $0 != "|" && $0 != "\"" && $0 != "\\" }
    if isPlain, !value.isEmpty { return value }
    var text = "\""
    for character in value {
      if character == "\"" || character == "\\" { text.append("\\") }
      text.append(character)
    }
    return text + "\""
  }
}

extension String {
  fileprivate func commonPrefix(with other: String) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
